//! A command as a shell would read it: for people to look at, never for us to run.

use std::borrow::Cow;

use orca_container_core::{Arg, Command, is_deceptive};

use super::page::Page;

/// Program and first word on one line, then one argument on each.
pub(super) fn lines(page: &mut Page, command: &Command) {
    let mut words = command.argv.iter().map(word);
    let head: Vec<String> = words.by_ref().take(2).collect();
    let mut line = format!("  {}", head.join(" "));
    for word in words {
        page.raw(&(line + " \\"));
        line = format!("    {word}");
    }
    page.raw(&line);
}

/// One word; what an earlier step prints stands as a variable.
fn word(arg: &Arg) -> String {
    match arg {
        Arg::Text(text) => quote(text).into_owned(),
        Arg::Reference { reference } => format!("\"${}\"", reference.as_str()),
    }
}

/// Quoted where a shell needs it; characters that a terminal obeys stand as escapes of `$'…'`.
pub(crate) fn quote(text: &str) -> Cow<'_, str> {
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    if !text.chars().any(is_deceptive) {
        return shlex::try_quote(text).unwrap_or(Cow::Borrowed("''"));
    }
    let mut quoted = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if is_deceptive(c) => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    Cow::Owned(quoted)
}

/// What no shell reads as anything but itself after the first word (shlex also quotes "=", which hides flags).
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quote("--cap-drop=ALL"), "--cap-drop=ALL");
        assert_eq!(quote("a b;c"), "'a b;c'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's\u{1b}[0m\\"), "$'it\\'s\\U0000001b[0m\\\\'");
    }
}
