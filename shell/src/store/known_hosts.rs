//! The person's own known_hosts: the line of a workspace's host, from the first connection details to the workspace's removal.
//!
//! The file belongs to the person and to their ssh. A line is appended as ssh does it (a last line without an end gets one);
//! taking it out leaves all other lines, the mode and a link as they are, and a file that changes meanwhile is left for another
//! try. A file that is not there is made, and stays.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Bytes of a known_hosts that is read at all.
const BOUND: u64 = 16 * 1024 * 1024;

/// Appends a line `HOST KIND KEY` where it is not there; the host's other lines go.
pub(super) fn add(file: &Path, host: &str, line: &str) -> io::Result<()> {
    let text = text(file)?;
    if text.split(|byte| *byte == b'\n').any(|there| there == line.as_bytes()) {
        return Ok(());
    }
    remove(file, host)?;
    if let Some(folder) = file.parent().filter(|folder| !folder.exists()) {
        fs::DirBuilder::new().mode(0o700).create(folder)?;
    }
    let mut opened = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    let begins = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
    opened.write_all(format!("{begins}{line}\n").as_bytes())
}

/// Takes a host's lines out. The host is a name of ours, which no other line can begin with by chance.
pub(super) fn remove(file: &Path, host: &str) -> io::Result<()> {
    let is_hosts =
        |line: &[u8]| line.strip_prefix(host.as_bytes()).is_some_and(|rest| rest.starts_with(b" "));
    let looked_at = match fs::metadata(file) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // Where it is a link, what it leads to is the file.
    let place = fs::canonicalize(file)?;
    // By a name that the next try finds, should this one be killed.
    let mut beside = place.clone().into_os_string();
    beside.push(format!(".{host}"));
    let _ = fs::remove_file(&beside);
    let before = text(file)?;
    let lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
    if !lines.iter().any(|line| is_hosts(line)) {
        return Ok(());
    }
    let kept: Vec<u8> = lines.into_iter().filter(|line| !is_hosts(line)).flatten().copied().collect();
    let written = written(Path::new(&beside), &kept, &looked_at).and_then(|()| {
        let now = fs::metadata(&place)?;
        let same = (now.len(), now.mtime(), now.mtime_nsec())
            == (looked_at.len(), looked_at.mtime(), looked_at.mtime_nsec());
        if same { fs::rename(&beside, &place) } else { Err(passing()) }
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// It is being changed by somebody else.
pub(super) fn passing() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "it is being changed")
}

/// Whether a failure is of that kind.
pub(super) fn is_passing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

fn written(beside: &Path, kept: &[u8], as_is: &fs::Metadata) -> io::Result<()> {
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(beside)?;
    opened.set_permissions(fs::Permissions::from_mode(as_is.permissions().mode() & 0o7777))?;
    opened.write_all(kept)?;
    opened.sync_all()
}

/// The bytes; none where there is no file.
fn text(file: &Path) -> io::Result<Vec<u8>> {
    let opened = match fs::metadata(file) {
        Ok(found) if found.is_file() => File::open(file)?,
        Ok(_) => return Err(io::Error::other("it is no file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    opened.take(BOUND.saturating_add(1)).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|len| len <= BOUND);
    if fits { Ok(bytes) } else { Err(io::Error::other("it is larger than 16 MiB")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "orca-ws-abcdefghijklmnopqrstuvwxyz";

    fn line(key: &str) -> String {
        format!("{HOST} ssh-ed25519 {key}")
    }

    #[test]
    fn a_line_comes_and_goes_and_every_other_byte_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known_hosts");
        for others in
            [&b""[..], b"a ssh-rsa X\n", b"# c\n\n|1|h= ssh-rsa Y\n\xff z", b"orca-ws-abc ssh-rsa Z\n"]
        {
            fs::write(&file, others).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            add(&file, HOST, &line("AAAA")).unwrap();
            let once = fs::read(&file).unwrap();
            assert!(once.starts_with(others) && once.ends_with(format!("{}\n", line("AAAA")).as_bytes()));
            add(&file, HOST, &line("AAAA")).unwrap();
            assert_eq!(fs::read(&file).unwrap(), once, "a second time adds nothing");
            add(&file, HOST, &line("BBBB")).unwrap();
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert!(text.contains("BBBB") && !text.contains("AAAA"), "{text}");
            remove(&file, HOST).unwrap();
            let left = fs::read(&file).unwrap();
            assert_eq!(
                left.strip_suffix(b"\n").unwrap_or(&left),
                others.strip_suffix(b"\n").unwrap_or(others)
            );
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside it");
    }

    #[test]
    fn a_file_and_its_folder_are_made_for_the_person_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".ssh/known_hosts");
        remove(&file, HOST).unwrap();
        add(&file, HOST, &line("AAAA")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{}\n", line("AAAA")));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_a_killed_one_left_beside_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known_hosts");
        fs::write(&file, "a ssh-rsa X\n").unwrap();
        fs::write(folder.path().join(format!("known_hosts.{HOST}")), "half").unwrap();
        remove(&file, HOST).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), "a ssh-rsa X\n");
    }

    #[test]
    fn a_link_stays_one_and_what_is_no_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("known_hosts"));
        fs::write(&real, "a ssh-rsa X\n").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        add(&link, HOST, &line("AAAA")).unwrap();
        remove(&link, HOST).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "a ssh-rsa X\n");
        assert!(add(Path::new("/dev/null"), HOST, &line("AAAA")).is_err());
        assert!(add(folder.path(), HOST, &line("AAAA")).is_err());
    }
}
