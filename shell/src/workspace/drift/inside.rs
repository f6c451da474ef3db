//! Files as a container has them, copied out by the engine itself: no process of ours runs among the agent's, which could
//! stop it, and one that the agent made endless is left where the bound is.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::Found;
use crate::engine::Client;

/// How long the engine may take to give a file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of the engine's complaint that are read.
const COMPLAINT: u64 = 4096;

/// Each file by its absolute path in the container and the bytes that are read of it, all at once.
pub(super) fn files(client: &Client, id: &str, wanted: &[(String, usize)]) -> Vec<Found> {
    thread::scope(|scope| {
        let asked: Vec<_> =
            wanted.iter().map(|(path, cap)| scope.spawn(move || file(client, id, path, *cap))).collect();
        asked.into_iter().map(|one| one.join().unwrap_or(Found::Unknown)).collect()
    })
}

fn file(client: &Client, id: &str, path: &str, cap: usize) -> Found {
    let mut command = Command::new(&client.program);
    command.args(["cp", &format!("{id}:{path}"), "-"]).env_clear().envs(&client.env).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return Found::Unknown };
    let found = read(&mut child, cap);
    // It may be in the middle of a file without end, or wait for an engine that does not answer.
    let _ = child.kill();
    let _ = child.wait();
    found
}

fn read(child: &mut Child, cap: usize) -> Found {
    let (sender, receiver) = mpsc::channel();
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Found::Unknown;
    };
    thread::spawn(move || {
        let found = entry(stdout, cap).unwrap_or_else(|| said(stderr));
        let _ = sender.send(found);
    });
    receiver.recv_timeout(PATIENCE).unwrap_or(Found::Unknown)
}

/// The one entry of the tar that an engine gives for a file; nothing where it gives none.
fn entry(stdout: impl Read, cap: usize) -> Option<Found> {
    let mut archive = tar::Archive::new(stdout);
    let entry = archive.entries().ok()?.next()?.ok()?;
    if !entry.header().entry_type().is_file() {
        return Some(Found::Other);
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(cap).unwrap_or(u64::MAX).saturating_add(4);
    let expected = entry.size().min(most);
    let read = entry.take(most).read_to_end(&mut bytes);
    let whole = read.is_ok() && u64::try_from(bytes.len()) == Ok(expected);
    Some(if whole { Found::Text(bytes) } else { Found::Unknown })
}

/// Only what the engine itself calls absent is.
fn said(stderr: impl Read) -> Found {
    let mut text = String::new();
    let _ = stderr.take(COMPLAINT).read_to_string(&mut text);
    let text = text.to_ascii_lowercase();
    let absent = ["could not find the file", "no such file", "could not be found on container"];
    if absent.iter().any(|words| text.contains(words)) { Found::Absent } else { Found::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar_of(kind: tar::EntryType, bytes: &[u8]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, "orca.yaml", bytes).unwrap();
        builder.into_inner().unwrap()
    }

    #[test]
    fn a_file_is_read_to_its_bound_and_anything_else_is_no_text() {
        let file = tar_of(tar::EntryType::Regular, b"0123456789");
        assert_eq!(entry(file.as_slice(), 100), Some(Found::Text(b"0123456789".to_vec())));
        assert_eq!(entry(file.as_slice(), 2), Some(Found::Text(b"012345".to_vec())));
        for kind in [tar::EntryType::Fifo, tar::EntryType::Symlink, tar::EntryType::Directory] {
            assert_eq!(entry(tar_of(kind, b"").as_slice(), 100), Some(Found::Other));
        }
        assert_eq!(entry(&b""[..], 100), None);
        assert_eq!(entry(&file[..516], 100), Some(Found::Unknown), "an answer that breaks off");
    }

    #[test]
    fn only_the_engines_own_words_make_a_file_absent() {
        for words in [
            "Error response from daemon: Could not find the file /workspace/x in container 1",
            "Error: \"/workspace/x\" could not be found on container 1: no such file or directory",
        ] {
            assert_eq!(said(words.as_bytes()), Found::Absent, "{words}");
        }
        for words in ["Error: No such container: 1", "Cannot connect to the Docker daemon", ""] {
            assert_eq!(said(words.as_bytes()), Found::Unknown, "{words}");
        }
    }
}
