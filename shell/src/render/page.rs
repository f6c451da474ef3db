//! A page: paragraphs and lists at one width, with marks for headings where the terminal shows them.

use textwrap::{Options, WordSplitter};

use super::Look;

/// Text in the making.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    look: Look,
}

/// How a word is marked, by SGR parameters of ECMA-48.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Heading,
    Refused,
}

impl Page {
    pub(super) fn new(look: Look) -> Self {
        Self { text: String::new(), look }
    }

    pub(super) fn width(&self) -> usize {
        self.look.width
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A title on a line of its own, after a blank line when something is above.
    pub(super) fn title(&mut self, text: &str, mark: Mark) {
        self.blank();
        let first = self.text.len();
        self.lines("", "", text);
        let marked = self.text.split_off(first);
        let code = match mark {
            Mark::Heading => "1",
            Mark::Refused => "1;31",
        };
        for line in marked.lines() {
            if self.look.colour {
                self.raw(&format!("\u{1b}[{code}m{line}\u{1b}[0m"));
            } else {
                self.raw(line);
            }
        }
    }

    /// A title of a part, and the blank line below it.
    pub(super) fn part(&mut self, text: &str) {
        self.title(text, Mark::Heading);
        self.raw("");
    }

    /// A blank line, unless the page begins or has one.
    pub(super) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.raw("");
        }
    }

    /// A paragraph whose first line begins with `first` and the others with `rest`.
    pub(super) fn lines(&mut self, first: &str, rest: &str, text: &str) {
        let options = Options::new(self.look.width)
            .initial_indent(first)
            .subsequent_indent(rest)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation);
        for line in textwrap::wrap(text, options) {
            self.raw(line.trim_end());
        }
    }

    /// One line as it is.
    pub(super) fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Whole lines that were laid out elsewhere.
    pub(super) fn block(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// "1 variable", "2 variables".
pub(super) fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_fit_and_hang_and_long_words_stay_whole() {
        let mut page = Page::new(Look { width: 20, colour: false });
        page.title("A title", Mark::Heading);
        page.lines("  - ", "    ", "one two three four five https://example.invalid/long-word six");
        let text = page.into_text();
        assert_eq!(
            text,
            "A title\n  - one two three\n    four five\n    https://example.invalid/long-word\n    six\n"
        );
    }

    #[test]
    fn marks_are_there_on_terminals_only() {
        let titled = |colour| {
            let mut page = Page::new(Look { width: 20, colour });
            page.title("A", Mark::Refused);
            page.into_text()
        };
        assert_eq!((titled(false).as_str(), titled(true).as_str()), ("A\n", "\u{1b}[1;31mA\u{1b}[0m\n"));
    }
}
