//! Variables that a person typed for one workspace: one of the two places that hold values.

use std::collections::BTreeMap;

use orca_container_core::input::{EnvFile, EnvSetting, UniqueMap};
use orca_container_core::{Sensitive, env_file_lines};
use serde::{Deserialize, Serialize};

/// The workspace's own variables.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceValues {
    #[serde(default)]
    env: BTreeMap<String, StoredSetting>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    env_file: Option<StoredFile>,
    /// Counts edits; a launch notes which it had.
    #[serde(default)]
    revision: u64,
    /// The edit that changed a name last. Names only, also of those that are gone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    edits: BTreeMap<String, u64>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredSetting {
    Value(String),
    Secret { secret: String },
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredFile {
    name: String,
    text: String,
}

impl std::fmt::Debug for WorkspaceValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WorkspaceValues({} names)", self.env.len())
    }
}

impl WorkspaceValues {
    /// What the command line said of variables.
    pub fn of(env: Option<&UniqueMap<EnvSetting>>, file: Option<&EnvFile>) -> Self {
        let stored = |setting: &EnvSetting| match setting {
            EnvSetting::Value(value) => StoredSetting::Value(value.reveal().to_owned()),
            EnvSetting::Secret(secret) => StoredSetting::Secret { secret: secret.clone() },
        };
        Self {
            env: env
                .into_iter()
                .flat_map(UniqueMap::iter)
                .map(|(name, setting)| (name.to_owned(), stored(setting)))
                .collect(),
            env_file: file.map(StoredFile::of),
            revision: 0,
            edits: BTreeMap::new(),
        }
    }

    /// Whether there are none, and never were.
    pub fn is_empty(&self) -> bool {
        self.env.is_empty() && self.env_file.is_none() && self.revision == 0
    }

    /// Counts the edits.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Names that were edited after a revision.
    pub fn edited_since(&self, revision: u64) -> Vec<String> {
        let later = self.edits.iter().filter(|(_, edit)| **edit > revision);
        later.map(|(name, _)| name.clone()).collect()
    }

    /// All names that are set.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.env.keys().cloned().collect();
        names.extend(self.file_lines().into_iter().map(|(name, _)| name));
        names.sort();
        names.dedup();
        names
    }

    /// The names that the file sets.
    pub fn imported(&self) -> Vec<String> {
        let mut names: Vec<String> = self.file_lines().into_iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        names
    }

    fn file_lines(&self) -> Vec<(String, u32)> {
        self.env_file().map(|file| env_file_lines(&file.text)).unwrap_or_default()
    }

    /// Sets variables. What the file says of them loses, as in the layers.
    pub fn set(&mut self, settings: &UniqueMap<EnvSetting>) {
        let set = Self::of(Some(settings), None);
        self.edited(set.env.keys().cloned().collect());
        self.env.extend(set.env);
    }

    /// Takes variables away, also out of the file; gives the names that were not set.
    pub fn unset(&mut self, names: &[String]) -> Vec<String> {
        let there = self.names();
        let (gone, absent): (Vec<String>, Vec<String>) =
            names.iter().cloned().partition(|name| there.contains(name));
        self.env.retain(|name, _| !gone.contains(name));
        let lines: Vec<u32> = self
            .file_lines()
            .into_iter()
            .filter(|(name, _)| gone.contains(name))
            .map(|(_, line)| line)
            .collect();
        if let Some(file) = &mut self.env_file {
            file.blank(&lines);
        }
        self.edited(gone);
        absent
    }

    /// Puts a file in place of the one before, and its variables in place of those that were set. Gives the names that
    /// only the file before had.
    pub fn import(&mut self, file: &EnvFile) -> Vec<String> {
        let before: Vec<String> = self.file_lines().into_iter().map(|(name, _)| name).collect();
        self.env_file = Some(StoredFile::of(file));
        let now: Vec<String> = self.file_lines().into_iter().map(|(name, _)| name).collect();
        self.env.retain(|name, _| !now.contains(name));
        let mut gone: Vec<String> =
            before.into_iter().filter(|name| !now.contains(name) && !self.env.contains_key(name)).collect();
        gone.dedup();
        self.edited(now.into_iter().chain(gone.clone()).collect());
        gone
    }

    fn edited(&mut self, names: Vec<String>) {
        self.revision = self.revision.saturating_add(1);
        self.edits.extend(names.into_iter().map(|name| (name, self.revision)));
    }

    /// The variables, as the core takes them.
    pub fn env(&self) -> UniqueMap<EnvSetting> {
        self.env
            .iter()
            .map(|(name, setting)| {
                let setting = match setting {
                    StoredSetting::Value(value) => EnvSetting::Value(Sensitive::new(value)),
                    StoredSetting::Secret { secret } => EnvSetting::Secret(secret.clone()),
                };
                (name.clone(), setting)
            })
            .collect()
    }

    /// The file, as the core takes it.
    pub fn env_file(&self) -> Option<EnvFile> {
        self.env_file
            .as_ref()
            .map(|file| EnvFile { name: file.name.clone(), text: Sensitive::new(&file.text) })
    }
}

impl StoredFile {
    fn of(file: &EnvFile) -> Self {
        Self { name: file.name.clone(), text: file.text.reveal().to_owned() }
    }

    /// Empties lines, so that the others keep their numbers.
    fn blank(&mut self, lines: &[u32]) {
        let kept = (1_u32..).zip(self.text.split('\n'));
        let kept: Vec<&str> = kept.map(|(n, line)| if lines.contains(&n) { "" } else { line }).collect();
        self.text = kept.join("\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> EnvFile {
        EnvFile { name: "w.env".into(), text: Sensitive::new(text) }
    }

    fn setting(name: &str, value: &str) -> UniqueMap<EnvSetting> {
        [(name.to_owned(), EnvSetting::Value(Sensitive::new(value)))].into_iter().collect()
    }

    fn text_of(values: &WorkspaceValues) -> String {
        values.env_file().unwrap().text.reveal().to_owned()
    }

    #[test]
    fn the_last_word_counts_and_other_lines_keep_their_numbers() {
        let mut values =
            WorkspaceValues::of(Some(&setting("A", "set")), Some(&file("A=1\n# c\nB=2\nB=3\nC=4\n")));
        assert_eq!(values.names(), ["A", "B", "C"]);
        assert_eq!(values.unset(&["B".into(), "X".into()]), ["X"]);
        assert_eq!(text_of(&values), "A=1\n# c\n\n\nC=4\n");
        assert_eq!(values.names(), ["A", "C"]);
        values.unset(&["A".into()]);
        assert_eq!(values.names(), ["C"], "set twice, taken away once");
        values.set(&setting("C", "typed"));
        assert_eq!(values.import(&file("C=again\nD=5\n")), Vec::<String>::new());
        assert!(values.env().iter().next().is_none(), "the file came last");
        assert_eq!(values.import(&file("D=6\n")), ["C"]);
        assert_eq!(values.names(), ["D"]);
    }

    #[test]
    fn edits_are_known_by_name_after_each_launch() {
        let mut values = WorkspaceValues::default();
        assert!(values.is_empty());
        values.set(&setting("A", "1"));
        let launched = values.revision();
        assert_eq!(values.edited_since(launched), Vec::<String>::new());
        values.set(&setting("B", "1"));
        values.unset(&["A".into()]);
        assert_eq!(values.edited_since(launched), ["A", "B"]);
        values.unset(&["B".into()]);
        assert!(!values.is_empty(), "an empty one would forget how often it was edited");
    }

    #[test]
    fn files_of_before_are_read() {
        let old: WorkspaceValues = serde_json::from_str(r#"{"env":{"A":"1","B":{"secret":"S"}}}"#).unwrap();
        assert_eq!((old.names(), old.revision()), (vec!["A".into(), "B".into()], 0));
    }
}
