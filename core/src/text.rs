//! Untrusted text in messages: quoted, escaped, bounded.

use alloc::{borrow::Cow, string::String};

/// Characters of an untrusted text that a message shows before it cuts.
const SHOWN: usize = 80;

/// Whether a character could change how a terminal or a reader sees the text around it:
/// controls (C0, DEL, C1), bidirectional controls, zero-width and blank characters, separators, the byte order mark.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(
            c,
            '\u{034f}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180e}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{ffa0}'
        )
        || matches!(c, '\u{061c}' | '\u{feff}' | '\u{00ad}' | '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffb}')
}

/// The text in double quotes, deceptive characters escaped, cut after 80 characters.
pub fn quoted(text: &str) -> String {
    let mut shown = String::from("\"");
    shown.push_str(&escaped(text));
    shown.push('"');
    shown
}

/// The text in double quotes, deceptive characters escaped, never cut: what a person agrees to is shown whole.
pub fn quoted_whole(text: &str) -> String {
    alloc::format!("\"{}\"", escaped_up_to(text, usize::MAX))
}

/// What may be shown of a name: a name with `=` in it probably carries a value behind it.
pub fn name_only(name: &str) -> Cow<'_, str> {
    match name.split_once('=') {
        Some((name, _)) => Cow::Owned(alloc::format!("{name}=…")),
        None => Cow::Borrowed(name),
    }
}

/// A variable's name in double quotes, by [`name_only`].
pub fn quoted_name(name: &str) -> String {
    quoted(&name_only(name))
}

/// A variable's name, escaped, by [`name_only`].
pub fn escaped_name(name: &str) -> String {
    escaped(&name_only(name))
}

/// The text with quotes, backslashes and deceptive characters escaped, cut after 80 characters.
pub fn escaped(text: &str) -> String {
    escaped_up_to(text, SHOWN)
}

/// The same whole: for a line whose length is bounded already.
pub fn escaped_whole(text: &str) -> String {
    escaped_up_to(text, usize::MAX)
}

fn escaped_up_to(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == most {
            shown.push('…');
            break;
        }
        match c {
            '"' | '\\' => {
                shown.push('\\');
                shown.push(c);
            }
            c if is_deceptive(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Length in UTF-16 code units, the way Orca (JavaScript) counts.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Every text in double quotes and whole, for what a person agrees to.
pub fn whole_list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut list = String::new();
    for text in texts {
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&quoted_whole(text));
    }
    list
}

/// Names in double quotes, at most five, then "and N more" (Orca's style).
pub fn name_list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let total = names.len();
    let mut list = String::new();
    for (index, name) in names.take(5).enumerate() {
        if index > 0 {
            list.push_str(", ");
        }
        list.push_str(&quoted(name));
    }
    if total > 5 {
        list.push_str(&alloc::format!(" and {} more", total.saturating_sub(5)));
    }
    list
}

/// The known word nearest to a mistyped one, when it is near enough to be meant.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace(['_', '-'], "");
    known
        .map(|word| (distance(&typed, &word.to_ascii_lowercase()), word))
        .filter(|(d, word)| *d <= (word.len() / 4).saturating_add(1))
        .min()
        .map(|(_, word)| word)
}

/// Edit distance, bounded by the length of the words (both are short: keys of a settings block).
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 64 {
        return usize::MAX;
    }
    let mut row: alloc::vec::Vec<usize> = (0..=b.chars().count()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i.saturating_add(1);
        for (cell, cb) in row.iter_mut().skip(1).zip(b.chars()) {
            let cost = diagonal.saturating_add(usize::from(ca != cb));
            diagonal = *cell;
            left = cost.min(left.saturating_add(1)).min(cell.saturating_add(1));
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i.saturating_add(1);
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn quoting_escapes_what_could_deceive() {
        assert_eq!(quoted("a\"b\\c\n\u{202e}x"), r#""a\"b\\c\u{a}\u{202e}x""#);
        assert_eq!(quoted(&"x".repeat(200)).chars().count(), 83);
    }

    #[test]
    fn long_lists_end_in_a_count() {
        let names = vec!["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(name_list(names.into_iter()), r#""a", "b", "c", "d", "e" and 2 more"#);
    }

    #[test]
    fn a_typo_finds_its_word_and_nonsense_does_not() {
        let keys = ["mode", "image", "forwardHostEnv", "copyIgnoredFiles"];
        assert_eq!(nearest("forwardHostEnvs", keys.into_iter()), Some("forwardHostEnv"));
        assert_eq!(nearest("imgae", keys.into_iter()), Some("image"));
        assert_eq!(nearest("privileged", keys.into_iter()), None);
    }
}
