//! A later copy into a clone that is there: what it has is kept, or gives way where a person says so. A folder never gives
//! way to a file.

use std::time::Duration;

use orca_container_core::ARE_THERE;

use super::super::WorkspaceError;
use super::{Again, Runner};
use crate::copy::{CopyReport, Item, ItemKind, Reason};

/// How long the container may take to look at some paths.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of paths that one call asks about: an argument list has 2 MiB, of which the environment takes a part.
const ASKED: usize = 256 * 1024;

/// What the clone has at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    File,
    Folder,
}

impl There {
    fn of(word: &str) -> Self {
        match word {
            "0" => Self::Nothing,
            "2" => Self::Folder,
            _ => Self::File,
        }
    }
}

impl Runner<'_> {
    /// The items that are copied. What the container says decides nothing but what it gets: one that says too little gets
    /// less, and one whose file comes between is told by tar.
    pub(super) fn without_those_there(
        &self,
        items: Vec<Item>,
        report: &mut CopyReport,
        again: Again,
    ) -> Result<Vec<Item>, WorkspaceError> {
        let mut copied = Vec::new();
        let mut asked: Vec<Item> = Vec::new();
        let mut size: usize = 0;
        for item in items {
            size = size.saturating_add(item.target.len().saturating_mul(4));
            asked.push(item);
            if size > ASKED {
                self.ask_about(std::mem::take(&mut asked), report, again, &mut copied)?;
                size = 0;
            }
        }
        self.ask_about(asked, report, again, &mut copied)?;
        Ok(copied)
    }

    fn ask_about(
        &self,
        items: Vec<Item>,
        report: &mut CopyReport,
        again: Again,
        copied: &mut Vec<Item>,
    ) -> Result<(), WorkspaceError> {
        if items.is_empty() {
            return Ok(());
        }
        let there = self.are_there(&items)?;
        for (item, there) in items.into_iter().zip(there) {
            let is_folder = item.kind == ItemKind::Folder;
            if there == There::Nothing || (again == Again::Replace && there == There::File && !is_folder) {
                copied.push(item);
                continue;
            }
            report.entries = report.entries.saturating_sub(1);
            if let ItemKind::File(size) = item.kind {
                report.bytes = report.bytes.saturating_sub(size);
            }
            if !is_folder || there == There::File {
                report.leave_out(&item.target, Reason::ExistsInClone);
            }
        }
        Ok(())
    }

    fn are_there(&self, items: &[Item]) -> Result<Vec<There>, WorkspaceError> {
        let target = self.record.plan.clone.as_ref().map_or("", |clone| clone.target.as_str());
        let id = self.container_id();
        let words =
            ["exec", "--workdir=/", "--", &id, "/usr/bin/env", "-i", "/bin/sh", "-c", ARE_THERE, "sh"];
        let paths: Vec<String> = items.iter().map(|item| escaped(&item.target)).collect();
        let args: Vec<&str> =
            words.into_iter().chain([target]).chain(paths.iter().map(String::as_str)).collect();
        let answer = self.client.ask(&args, PATIENCE)?;
        let there: Vec<There> = answer.text().lines().map(There::of).collect();
        if answer.code != 0 || there.len() != items.len() {
            return Err(answer.unusable("The container's shell").into());
        }
        Ok(there)
    }
}

/// A path as `printf %b` reads it back; one that begins with a dash is a path all the same.
fn escaped(path: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b' ');
    let mut text = String::from("./");
    for byte in path {
        if plain(byte) { text.push(char::from(*byte)) } else { text.push_str(&format!("\\0{byte:03o}")) }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same in every shell that can be an image's.
    #[test]
    fn any_path_is_found_and_folders_are_told_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let names: [&[u8]; 6] =
            [b"plain", b"a b\nc\n", b"-rf", b"\\0101", b"\xff\xfe", "\u{e9}\u{1f980}'\"$(id)".as_bytes()];
        use std::os::unix::ffi::OsStrExt;
        let path = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
        for shell in ["dash", "bash", "busybox"] {
            let words: &[&str] = if shell == "busybox" { &["busybox", "sh"] } else { &[shell] };
            if std::process::Command::new(words[0]).arg("--help").output().is_err() {
                continue;
            }
            for name in names {
                std::fs::write(path(name), "x").unwrap();
            }
            std::fs::create_dir_all(path(b"folder")).unwrap();
            std::os::unix::fs::symlink("nowhere", path(b"link")).unwrap();
            let mut asked: Vec<String> = names.iter().map(|name| escaped(name)).collect();
            asked.extend([escaped(b"folder"), escaped(b"link"), escaped(b"absent")]);
            let mut command = std::process::Command::new(words[0]);
            command.args(&words[1..]).args(["-c", ARE_THERE, "sh"]).arg(folder.path()).args(&asked);
            let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
            assert_eq!(said, "1\n".repeat(6) + "2\n1\n0\n", "{shell}");
            std::fs::remove_file(path(b"link")).unwrap();
        }
    }
}
