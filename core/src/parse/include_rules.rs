//! Which ignored files a .worktreeinclude names: literal paths as Orca reads them, patterns as gitignore reads
//! them, over a list that the caller took from git. Pure: nothing is looked up.
//!
//! The rules of gitignore(5): the last rule that matches a path, or a folder above it, decides; `!` takes a path
//! out again; a pattern with a slash before its end is anchored at the root, one without matches at any depth;
//! a slash at the end means folders.

use super::worktree_include::{Entry, Form, read};
use crate::repository_path::RepositoryPath;
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
    pub(crate) fn taken_in_by(&self, path: &RepositoryPath) -> Option<usize> {
        let whole = path.without_slash();
        let last = self.0.iter().rev().find(|rule| {
            let itself = (path.is_folder() || !rule.folders_only) && glob_match(&rule.glob, whole.as_bytes());
            itself || whole.parents().any(|parent| glob_match(&rule.glob, parent))
        })?;
        (!last.takes_out).then_some(last.entry)
    }
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

/// What a .worktreeinclude says, for a caller that asks git which of its paths are ignored. The answer goes into
/// the request as `worktreeInclude.ignored`; what is copied is decided from it by the plan.
#[derive(Debug)]
pub struct IncludeRules {
    entries: Vec<Entry>,
    rules: Rules,
}

impl IncludeRules {
    /// The rules of a text.
    pub fn of(text: &str) -> Self {
        let entries = read(text);
        let rules = Rules::of(&entries);
        Self { entries, rules }
    }

    /// Literal paths, anchored at the repository's root: git is asked about each.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| entry.form == Form::Literal).map(|entry| entry.path.as_str())
    }

    /// Whether a literal path is a bare name, which other tools read at any depth.
    pub fn has_bare_names(&self) -> bool {
        self.literals().any(|path| !path.contains('/'))
    }

    /// Whether files are named by patterns: all that git ignores are asked for.
    pub fn has_patterns(&self) -> bool {
        self.entries.iter().any(|entry| entry.form == Form::Pattern)
    }

    /// Whether an entry takes files out again: then a folder is no longer named whole, but by its files.
    pub fn takes_out(&self) -> bool {
        self.rules.0.iter().any(|rule| rule.takes_out)
    }

    /// Whether the decision needs to know that git ignores this path.
    pub fn concern(&self, path: &RepositoryPath) -> bool {
        let mut literals = self.entries.iter().filter(|entry| entry.form == Form::Literal);
        self.rules.taken_in_by(path).is_some()
            || literals.any(|entry| deeper(entry, core::slice::from_ref(path)).next().is_some())
    }
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
pub(crate) fn deeper<'a>(
    entry: &Entry,
    ignored: &'a [RepositoryPath],
) -> impl Iterator<Item = &'a RepositoryPath> {
    let name = entry.path.clone();
    let bare = entry.form == Form::Literal && !entry.rooted && !name.contains('/');
    ignored.iter().filter(move |path| {
        let path = path.without_slash();
        let last = path.as_bytes().rsplit(|byte| *byte == b'/').next();
        bare && path.as_bytes() != name.as_bytes() && last == Some(name.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(include: &str, path: &str) -> bool {
        Rules::of(&read(include)).taken_in_by(&path.into()).is_some()
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
