//! The path of this program, for other processes that run it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What Linux puts after the path of a running program whose file was replaced or removed (proc(5), `/proc/pid/exe`).
const REPLACED: &[u8] = b" (deleted)";

/// The path of this program. Where it was installed anew meanwhile, a connection that is held open for days goes on with the
/// new one.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    Ok(installed_anew(&path).unwrap_or(path))
}

fn installed_anew(path: &Path) -> Option<PathBuf> {
    let before = path.as_os_str().as_bytes().strip_suffix(REPLACED)?;
    Some(PathBuf::from(OsStr::from_bytes(before))).filter(|now| !path.exists() && now.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_installed_anew_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("orca-container");
        let replaced = folder.path().join("orca-container (deleted)");
        assert_eq!(installed_anew(&replaced), None, "it is gone");
        std::fs::write(&program, "").unwrap();
        assert_eq!(installed_anew(&replaced), Some(program.clone()));
        assert_eq!(installed_anew(&program), None);
        std::fs::write(&replaced, "").unwrap();
        assert_eq!(installed_anew(&replaced), None, "it is called so");
    }
}
