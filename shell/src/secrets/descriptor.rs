//! Values that the caller hands over: one JSON object of names and texts.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;

use orca_container_core::input::{UniqueMap, read_json};
use orca_container_core::{Sensitive, limits, quoted};
use zeroize::Zeroizing;

use super::{DeclaredSecret, Handed};
use crate::redact;

/// Bytes of the object: all values of a launch, and as much again for names, quotes and escapes.
const MOST: usize = 2 * limits::ENV_TOTAL_BYTES;

/// What the caller hands over. The error says what is wrong with it, by names only.
pub(super) fn read(handed: Handed, declared: &[DeclaredSecret]) -> Result<UniqueMap<Sensitive>, String> {
    let (what, text) = match handed {
        Handed::Nothing => return Ok(UniqueMap::default()),
        Handed::Descriptor(number) => {
            let what = format!("The descriptor {number}");
            let file = opened(number).map_err(|cause| format!("{what} cannot be read: {cause}."))?;
            let text = to_the_end(file);
            (what, text)
        }
        Handed::StandardInput => {
            let what = String::from("The first line of standard input");
            let input = io::stdin();
            if input.is_terminal() {
                // What is typed would be seen.
                return Err("Secrets on standard input come through a pipe or from a file.".into());
            }
            // Not through our own buffer, which would take what belongs to the process.
            let file = input.as_fd().try_clone_to_owned().map(File::from);
            let text = file.and_then(first_line);
            (what, text)
        }
    };
    let text = text.map_err(|cause| format!("{what} cannot be read: {cause}."))?;
    let values = object(&what, &text)?;
    for (_, value) in values.iter() {
        redact::know(value.reveal());
    }
    all_are_declared(&values, declared)?;
    Ok(values)
}

fn object(what: &str, text: &[u8]) -> Result<UniqueMap<Sensitive>, String> {
    if text.len() > MOST {
        return Err(format!("{what} gives at most {MOST} bytes."));
    }
    let text = std::str::from_utf8(text).map_err(|_| format!("{what} gives UTF-8."))?;
    read_json(text).map_err(|error| format!("{what} gives one JSON object of names and texts. {error}"))
}

fn all_are_declared(values: &UniqueMap<Sensitive>, declared: &[DeclaredSecret]) -> Result<(), String> {
    let is_declared = |name: &str| declared.iter().any(|secret| secret.name == name);
    let unknown: Vec<String> =
        values.iter().filter(|(name, _)| !is_declared(name)).map(|(name, _)| quoted(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(format!("Only secrets that the settings declare are handed over; {} is not.", unknown.join(", ")))
}

/// The descriptor that we inherited under this number.
fn opened(number: u32) -> io::Result<File> {
    match File::open(format!("/dev/fd/{number}")) {
        // Linux opens no socket by its path, and Node hands sockets over.
        #[cfg(target_os = "linux")]
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            duplicated(number)
        }
        opened => opened,
    }
}

#[cfg(target_os = "linux")]
fn duplicated(number: u32) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let ourselves = pidfd_open(getpid(), PidfdFlags::empty())?;
    let number = i32::try_from(number).map_err(io::Error::other)?;
    Ok(File::from(pidfd_getfd(ourselves, number, PidfdGetfdFlags::empty())?))
}

/// Room for all that is read: a buffer that grows would leave its parts behind.
fn buffer() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Vec::with_capacity(MOST.saturating_add(1)))
}

fn to_the_end(file: File) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut text = buffer();
    let most = u64::try_from(MOST).unwrap_or(u64::MAX).saturating_add(1);
    let mut file = file.take(most);
    let mut part = Zeroizing::new([0_u8; 4096]);
    loop {
        match file.read(&mut *part) {
            Ok(0) => return Ok(text),
            Ok(count) => text.extend_from_slice(part.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Byte by byte up to the first line end: what comes after it is not ours.
fn first_line(mut file: impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut text = buffer();
    let mut byte = Zeroizing::new([0_u8; 1]);
    while text.len() <= MOST {
        match file.read(&mut *byte) {
            Ok(0) => break,
            Ok(_) if *byte == [b'\n'] => break,
            Ok(_) => text.extend_from_slice(&*byte),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use std::os::fd::AsRawFd;

    fn declared(names: &[&str]) -> Vec<DeclaredSecret> {
        let secret = |name: &&str| DeclaredSecret { name: (*name).into(), command: None, keyring: None };
        names.iter().map(secret).collect()
    }

    fn judged(text: &str) -> Result<UniqueMap<Sensitive>, String> {
        let values = object("It", text.as_bytes())?;
        all_are_declared(&values, &declared(&["A", "B"]))?;
        Ok(values)
    }

    #[test]
    fn an_object_of_declared_names_and_texts_counts() {
        let values = judged("{\"A\": \"a\\n\\\"🦀\", \"B\": \"\"}").unwrap();
        assert_eq!(values.get("A").unwrap().reveal(), "a\n\"🦀");
        assert!(judged("{}").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_by_name_and_never_by_value() {
        for (text, said) in [
            (r#"{"A": "hunter2", "A": "hunter2"}"#, "\"A\" stands twice"),
            (r#"{"A": 4242424242}"#, "\"A\""),
            (r#"{"A": ["hunter2"]}"#, "\"A\""),
            (r#"{"A": null}"#, "\"A\""),
            (r#"{"A": "hunter2", "C": "hunter2", "D": "hunter2"}"#, "\"C\", \"D\" is not"),
            (r#"["hunter2"]"#, "one JSON object"),
            (r#""hunter2""#, "one JSON object"),
            (r#"{"A": "hunter2"} hunter2"#, "one JSON object"),
            ("", "one JSON object"),
        ] {
            let fault = judged(text).unwrap_err();
            assert!(fault.contains(said), "{text}: {fault}");
            assert!(!fault.contains("hunter2") && !fault.contains("4242"), "{fault}");
        }
        assert!(object("It", &vec![b' '; MOST + 1]).unwrap_err().contains("at most"));
        assert!(object("It", b"{\"A\": \"\xff\"}").unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn the_first_line_is_taken_and_the_rest_is_left() {
        let mut input = Cursor::new(b"{\"A\": \"a\"}\nthe rest\n".to_vec());
        assert_eq!(&**first_line(&mut input).unwrap(), b"{\"A\": \"a\"}");
        let mut rest = String::new();
        input.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "the rest\n");
        assert_eq!(&**first_line(Cursor::new(b"{}")).unwrap(), b"{}");
        assert_eq!(first_line(io::repeat(b' ')).unwrap().len(), MOST + 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_socket_is_read_as_well() {
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        theirs.write_all(br#"{"A": "a"}"#).unwrap();
        drop(theirs);
        let number = u32::try_from(ours.as_raw_fd()).unwrap();
        let values = read(Handed::Descriptor(number), &declared(&["A"])).unwrap();
        assert_eq!(values.get("A").unwrap().reveal(), "a");
    }

    #[test]
    fn a_descriptor_that_is_not_there_is_named() {
        let fault = read(Handed::Descriptor(987_654), &declared(&["A"])).unwrap_err();
        assert!(fault.contains("The descriptor 987654 cannot be read"), "{fault}");
    }
}
