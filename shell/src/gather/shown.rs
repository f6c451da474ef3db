//! Names of files in messages.
//!
//! Takes any path, gives it whole, in double quotes and without a character that could deceive a reader.
//! Refuses nothing; bytes that are not UTF-8 show as U+FFFD.

use std::fmt;
use std::path::Path;

/// A path without quotes, as compilers and editors write the places of their messages.
pub(crate) fn shown_bare(path: &Path) -> String {
    let shown = Shown(path).to_string();
    shown.strip_prefix('"').and_then(|shown| shown.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// A path in double quotes. Unlike the core's quoting it is never cut: the end of a path says the most.
pub(crate) struct Shown<'a>(pub(crate) &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.to_string_lossy().chars() {
            match c {
                '\'' => f.write_str("'")?,
                c if is_deceptive(c) => write!(f, "{}", c.escape_unicode())?,
                c => write!(f, "{}", c.escape_debug())?,
            }
        }
        f.write_str("\"")
    }
}

/// Bidirectional controls, zero-width characters and separators; `escape_debug` alone would leave it to the
/// Unicode tables of the compiler whether they show.
fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{00ad}' | '\u{061c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_is_escaped_and_letters_stay() {
        let path = Path::new("/a b/it's/\"q\"/\n\u{1b}[31m/\u{202e}txt/ü漢");
        assert_eq!(Shown(path).to_string(), r#""/a b/it's/\"q\"/\n\u{1b}[31m/\u{202e}txt/ü漢""#);
    }
}
