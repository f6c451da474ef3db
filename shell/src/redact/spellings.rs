//! How a text looks once an engine, git or we have written it between double quotes.
//!
//! Go writes JSON with `&`, `<` and `>` as `\u0026`, `\u003c` and `\u003e`, and its `%q` writes `\x1b` where JSON has
//! `\u001b`. Each way is written out here rather than undone in what others say: a text that is looked for is exact.

use std::fmt::Write as _;

/// Every spelling of a line, itself first. Most lines have one.
pub(super) fn of(line: &str) -> Vec<String> {
    let mut known = vec![line.into(), written(line, |_, _| false), written(line, json)];
    // Before Go 1.22 its JSON has no short form of two controls; templates of docker and podman leave `&` as it is.
    for (html, long) in [(false, false), (false, true), (true, false), (true, true)] {
        known.push(written(line, |out, c| {
            separators(out, c) || (html && markup(out, c)) || (long && controls(out, c)) || json(out, c)
        }));
    }
    known.extend([written(line, go), rust(line)]);
    known
}

/// The line with quotes, backslashes and tabs escaped, as everybody does, and else what a format does with a character.
fn written(line: &str, format: impl Fn(&mut String, char) -> bool) -> String {
    let mut out = String::with_capacity(line.len().saturating_add(16));
    for c in line.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            _ if format(&mut out, c) => {}
            _ => out.push(c),
        }
    }
    out
}

/// Writes to a text cannot fail.
fn add(out: &mut String, escape: std::fmt::Arguments<'_>) -> bool {
    let _ = out.write_fmt(escape);
    true
}

fn json(out: &mut String, c: char) -> bool {
    match c {
        '\u{8}' => add(out, format_args!("\\b")),
        '\u{c}' => add(out, format_args!("\\f")),
        '\0'..='\u{1f}' => by_number(out, c),
        _ => false,
    }
}

/// What Go's encoder always escapes beyond JSON.
fn separators(out: &mut String, c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}') && by_number(out, c)
}

/// What it escapes unless it is told not to.
fn markup(out: &mut String, c: char) -> bool {
    matches!(c, '&' | '<' | '>') && by_number(out, c)
}

fn controls(out: &mut String, c: char) -> bool {
    matches!(c, '\u{8}' | '\u{c}') && by_number(out, c)
}

fn by_number(out: &mut String, c: char) -> bool {
    add(out, format_args!("\\u{:04x}", u32::from(c)))
}

/// `strconv.Quote`, which is `%q`: what cannot be printed as its number.
fn go(out: &mut String, c: char) -> bool {
    let code = u32::from(c);
    match c {
        '\u{7}' => add(out, format_args!("\\a")),
        '\u{8}' => add(out, format_args!("\\b")),
        '\u{b}' => add(out, format_args!("\\v")),
        '\u{c}' => add(out, format_args!("\\f")),
        '\0'..='\u{1f}' | '\u{7f}' => add(out, format_args!("\\x{code:02x}")),
        _ if c == ' ' || !(c.is_whitespace() || orca_container_core::is_deceptive(c)) => false,
        _ if code < 0x1_0000 => add(out, format_args!("\\u{code:04x}")),
        _ => add(out, format_args!("\\U{code:08x}")),
    }
}

/// What `{:?}` makes of it, without its quotes.
fn rust(line: &str) -> String {
    let debug = format!("{line:?}");
    debug.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&debug).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What docker (Go 1.24) and podman (Go 1.19) print of a label with `json` and `printf "%q"`, Go's encoder, and Rust.
    #[test]
    fn each_way_of_quoting_is_known() {
        let line = "a&b<c>\"\\\u{1b}\u{8}\u{7}\u{b}\u{7f}\u{a0}\u{2028}\u{200b}é\u{e0001}";
        let known = of(line);
        for said in [
            line,
            "a\\u0026b\\u003cc\\u003e\\\"\\\\\\u001b\\b\\u0007\\u000b\u{7f}\u{a0}\\u2028\u{200b}é\u{e0001}",
            "a\\u0026b\\u003cc\\u003e\\\"\\\\\\u001b\\u0008\\u0007\\u000b\u{7f}\u{a0}\\u2028\u{200b}é\u{e0001}",
            "a&b<c>\\\"\\\\\\u001b\\b\\u0007\\u000b\u{7f}\u{a0}\\u2028\u{200b}é\u{e0001}",
            "a&b<c>\\\"\\\\\\u001b\\u0008\\u0007\\u000b\u{7f}\u{a0}\\u2028\u{200b}é\u{e0001}",
            "a&b<c>\\\"\\\\\\u001b\\b\\u0007\\u000b\u{7f}\u{a0}\u{2028}\u{200b}é\u{e0001}",
            "a&b<c>\\\"\\\\\\x1b\\b\\a\\v\\x7f\\u00a0\\u2028\\u200bé\\U000e0001",
        ] {
            assert!(known.iter().any(|spelling| spelling == said), "{said:?}");
        }
        assert!(known.contains(&rust(line)));
    }

    #[test]
    fn a_plain_line_has_one_spelling() {
        assert!(
            of("postgres://db:5432/app?x=1").iter().all(|spelling| spelling == "postgres://db:5432/app?x=1")
        );
    }
}
