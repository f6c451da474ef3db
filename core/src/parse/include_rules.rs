//! Which ignored files a .worktreeinclude names: literal paths as Orca reads them, patterns as gitignore reads
//! them, over a list that the caller took from git. Pure: nothing is looked up.
//!
//! The rules of gitignore(5): the last rule that matches a path, or a folder above it, decides; `!` takes a path
//! out again; a pattern with a slash before its end is anchored at the root, one without matches at any depth;
//! a slash at the end means folders.

use super::worktree_include::{Entry, Form};
use alloc::{format, string::String, vec::Vec};
use fast_glob::glob_match;

/// One rule.
#[derive(Debug)]
struct Rule {
    glob: String,
    takes_out: bool,
    folders_only: bool,
    /// Index of the entry that it is.
    entry: usize,
}

/// The rules of a file, in order.
#[derive(Debug)]
pub(crate) struct Rules(Vec<Rule>);

impl Rules {
    /// The rules of all entries that are safe.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut rules = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match entry.form {
                Form::Unsafe => {}
                Form::Literal => {
                    let glob = escape(&entry.path);
                    rules.push(Rule { glob, takes_out: false, folders_only: false, entry: index });
                }
                Form::Pattern => rules.push(pattern(entry, index)),
            }
        }
        Self(rules)
    }

    /// The entry that takes a path in, or `None` when none does or a later one takes it out again.
    pub(crate) fn taken_in_by(&self, path: &str) -> Option<usize> {
        let is_folder = path.ends_with('/');
        let whole = path.trim_end_matches('/');
        let last = self.0.iter().rev().find(|rule| {
            let itself = (is_folder || !rule.folders_only) && glob_match(&rule.glob, whole);
            itself || parents(whole).any(|parent| glob_match(&rule.glob, parent))
        })?;
        (!last.takes_out).then_some(last.entry)
    }
}

/// The folders above a path, nearest first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').filter_map(|(at, _)| path.get(..at))
}

fn pattern(entry: &Entry, index: usize) -> Rule {
    let (takes_out, text) = match entry.path.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, entry.path.as_str()),
    };
    let text = text.strip_prefix('/').unwrap_or(text);
    let anchored = entry.rooted || text.contains('/');
    let text = text.replace('{', "[{]").replace('}', "[}]");
    let text = if anchored { text } else { format!("**/{text}") };
    // gitignore's `a/**` is everything inside a, not a itself.
    let text = match text.strip_suffix("/**") {
        Some(folder) => format!("{folder}/**/*"),
        None => text,
    };
    Rule { glob: text, takes_out, folders_only: entry.folder, entry: index }
}

/// A path in which nothing is special.
fn escape(path: &str) -> String {
    let mut escaped = String::new();
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!') {
            escaped.push('[');
            escaped.push(c);
            escaped.push(']');
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Names that a literal entry without a slash would match deeper if gitignore read it.
pub(crate) fn deeper<'a>(entry: &Entry, ignored: &'a [String]) -> impl Iterator<Item = &'a String> {
    let name = entry.path.clone();
    let bare = entry.form == Form::Literal && !entry.rooted && !name.contains('/');
    ignored.iter().filter(move |path| {
        let path = path.trim_end_matches('/');
        bare && path != name && path.rsplit('/').next() == Some(name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::worktree_include::read;

    fn taken(include: &str, path: &str) -> bool {
        Rules::of(&read(include)).taken_in_by(path).is_some()
    }

    #[test]
    fn literal_entries_are_anchored_and_bring_what_is_below() {
        assert!(taken(".env\n", ".env"));
        assert!(!taken(".env\n", "sub/.env"));
        assert!(taken("config/\n", "config/"));
        assert!(taken("config\n", "config/a/b"));
        assert!(taken("/config\n", "config"));
        assert!(!taken("con\n", "config"));
        assert!(taken("a{b}c\n", "a{b}c"));
    }

    #[test]
    fn patterns_follow_gitignore() {
        assert!(taken("*.local\n", "a/b/x.local") && taken("*.local\n", "x.local"));
        assert!(taken("**/.env\n", "a/.env") && taken("**/.env\n", ".env"));
        assert!(taken("/*.local\n", "x.local") && !taken("/*.local\n", "a/x.local"));
        assert!(taken("a/*.local\n", "a/x.local") && !taken("a/*.local\n", "a/b/x.local"));
        assert!(taken("a/**\n", "a/b/c") && !taken("a/**\n", "a"));
        assert!(taken(".env.?\n", ".env.a") && !taken(".env.?\n", ".env.ab"));
        assert!(taken(".env.[ab]\n", ".env.b") && !taken(".env.[ab]\n", ".env.c"));
        assert!(taken("cach*/\n", "cache/") && !taken("cach*/\n", "cachefile"));
        assert!(!taken("{a,b}*\n", "ax"));
    }

    #[test]
    fn the_last_rule_decides() {
        assert!(!taken("*.local\n!secret.local\n", "secret.local"));
        assert!(taken("!secret.local\n*.local\n", "secret.local"));
        assert!(!taken(".env\n!.env\n", ".env"));
    }
}
