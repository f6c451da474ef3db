//! How wide text is, and whether it is marked.

use std::io::{self, IsTerminal};

/// How results look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether headings and refusals are marked.
    pub colour: bool,
}

impl Look {
    /// Columns where nobody says otherwise.
    const USUAL_WIDTH: usize = 80;
    /// Longer lines are hard to read, shorter ones hold no name.
    const WIDTHS: std::ops::RangeInclusive<usize> = 50..=120;

    /// The look that suits standard output: a terminal's width, and marks where it is one and NO_COLOR is
    /// unset or empty (no-color.org).
    pub fn of_standard_output() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let size = if terminal { terminal_size::terminal_size_of(&stdout) } else { None };
        let width = size.map_or(Self::USUAL_WIDTH, |(width, _)| usize::from(width.0));
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            width: width.clamp(*Self::WIDTHS.start(), *Self::WIDTHS.end()),
            colour: terminal && !no_colour,
        }
    }
}
