//! What planning needs to know about this computer.
//!
//! Takes this process's environment; gives the platform's name and the names of the variables. Never gives a
//! value: those are read at launch, and only the ones that were granted. Refuses nothing; a name that is not
//! UTF-8 cannot be asked for and is left out.

use std::collections::BTreeSet;
use std::ffi::OsString;

/// The platform as Orca (Node's `process.platform`) calls it: `linux`, `darwin` or `win32`. Another Unix
/// counts as `linux`, for its paths and rules are the same.
pub const fn platform() -> &'static str {
    if cfg!(target_os = "macos") {
        "darwin"
    } else if cfg!(windows) {
        "win32"
    } else {
        "linux"
    }
}

/// The names in this process's environment, sorted.
pub fn environment_names() -> Vec<String> {
    names(std::env::vars_os().map(|(name, _)| name))
}

/// Windows keeps the folders of its drives under names that start with `=`; nobody can ask for those.
fn names(all: impl Iterator<Item = OsString>) -> Vec<String> {
    let named = all.filter_map(|name| name.into_string().ok());
    let sorted: BTreeSet<String> = named.filter(|name| !name.is_empty() && !name.contains('=')).collect();
    sorted.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_only_text() {
        let mut all: Vec<OsString> = ["B", "a", "A", "=C:", ""].map(OsString::from).to_vec();
        #[cfg(unix)]
        all.push(std::os::unix::ffi::OsStringExt::from_vec(b"N\xff".to_vec()));
        assert_eq!(names(all.into_iter()), ["A", "B", "a"]);
    }

    #[test]
    fn the_real_environment_gives_names_without_values() {
        let found = environment_names();
        assert!(found.iter().any(|name| name == "PATH"));
        assert!(found.iter().all(|name| !name.contains('=')));
        assert!(["linux", "darwin", "win32"].contains(&platform()));
    }
}
