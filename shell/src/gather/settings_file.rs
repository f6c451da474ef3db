//! The user's and operator's settings file.
//!
//! Takes the path that a person typed, if any, and two variables of the environment; gives the file's text,
//! which the core's types parse. Refuses a file that anybody could have written or that belongs to somebody
//! else, because settings grant rights. It is looked for in no other place: not below the path that is planned for, whose author must
//! grant nothing, and not in the current folder.

use std::ffi::OsStr;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::bounded_read::{Links, ReadFault, open_regular, read_at_most};
use super::shown::Shown;
use super::text_file::text_of;

/// Bytes of a settings file; thousands of times what a person writes.
pub const SETTINGS_CAP: usize = 1024 * 1024;

/// A settings file as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Where it was found.
    pub path: PathBuf,
    /// Its text, which may hold values of variables.
    pub text: String,
}

impl fmt::Debug for SettingsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SettingsFile({}, …)", Shown(&self.path))
    }
}

/// Where settings are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsPlace {
    /// A person named the file, so it must be there.
    Named(PathBuf),
    /// The usual place, where nothing need be.
    Usual(PathBuf),
    /// There is no usual place: neither variable names an absolute folder.
    Nowhere,
}

/// Why settings were not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsFileError {
    /// The file that a person or a link names is not there.
    #[error("The settings file {} must exist.", Shown(path))]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is no file.
    #[error("The settings file {} must be a regular file, but is {found}.", Shown(path))]
    NotRegular {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// Every user could write it.
    #[error(
        "The settings file {0} must not be writable by everybody, because it grants rights; run \"chmod o-w\" on {0}.",
        Shown(path)
    )]
    WritableByEverybody {
        /// The file.
        path: PathBuf,
    },
    /// Another user owns it.
    #[error(
        "The settings file {} must belong to you (user id {caller}) or to root, because it grants rights, but belongs to user id {owner}; make a copy of your own.",
        Shown(path)
    )]
    ForeignOwner {
        /// The file.
        path: PathBuf,
        /// Who owns it, or the link to it.
        owner: u32,
        /// Who asks.
        caller: u32,
    },
    /// It is larger than any real one.
    #[error("The settings file {} must hold at most {SETTINGS_CAP} bytes.", Shown(path))]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is not text.
    #[error("The settings file {} must be UTF-8, but line {line} is not.", Shown(path))]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The system refused to read it.
    #[error("The settings file {} cannot be read: {cause}.", Shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
}

impl SettingsPlace {
    /// The place for this process: what `--settings` says, else the folders of the environment.
    pub fn of_process(named: Option<&Path>) -> Self {
        let (config, home) = (std::env::var_os("XDG_CONFIG_HOME"), std::env::var_os("HOME"));
        Self::locate(named, config.as_deref(), home.as_deref())
    }

    /// The same for given variables. A relative folder is ignored, as the XDG Base Directory
    /// Specification demands; a relative `HOME` would mean the current folder and is ignored too.
    pub fn locate(named: Option<&Path>, xdg_config_home: Option<&OsStr>, home: Option<&OsStr>) -> Self {
        if let Some(named) = named {
            return Self::Named(named.to_path_buf());
        }
        let absolute =
            |folder: Option<&OsStr>| folder.map(PathBuf::from).filter(|folder| folder.is_absolute());
        let folder = absolute(xdg_config_home).or_else(|| absolute(home).map(|home| home.join(".config")));
        folder
            .map_or(Self::Nowhere, |folder| Self::Usual(folder.join("orca-container").join("settings.json")))
    }

    /// Reads the file; `None` when nobody named one and there is none in the usual place.
    pub fn read(&self) -> Result<Option<SettingsFile>, SettingsFileError> {
        let (path, required) = match self {
            Self::Named(path) => (path, true),
            // A link to nothing is not "no settings": somebody meant there to be some.
            Self::Usual(path) => (path, path.is_symlink()),
            Self::Nowhere => return Ok(None),
        };
        match read(path)? {
            Some(text) => Ok(Some(SettingsFile { path: path.clone(), text })),
            None if required => Err(SettingsFileError::Missing { path: path.clone() }),
            None => Ok(None),
        }
    }
}

/// Links are followed, because people keep their settings elsewhere and link to them.
fn read(path: &Path) -> Result<Option<String>, SettingsFileError> {
    let opened = open_regular(path, Links::Follow).map_err(|fault| fault_at(path, fault))?;
    let Some(file) = opened else { return Ok(None) };
    let unreadable = |cause| fault_at(path, ReadFault::Io(cause));
    require_own(path, &path.symlink_metadata().map_err(unreadable)?)?;
    let opened = file.metadata().map_err(unreadable)?;
    require_own(path, &opened)?;
    require_closed(path, &opened)?;
    let bytes = read_at_most(file, SETTINGS_CAP.saturating_add(1)).map_err(unreadable)?;
    if bytes.len() > SETTINGS_CAP {
        return Err(fault_at(path, ReadFault::TooLarge));
    }
    text_of(bytes).map(Some).map_err(|line| SettingsFileError::NotUtf8 { path: path.to_path_buf(), line })
}

#[cfg(unix)]
fn require_own(path: &Path, found: &Metadata) -> Result<(), SettingsFileError> {
    use std::os::unix::fs::MetadataExt;
    let (owner, caller) = (found.uid(), rustix::process::geteuid().as_raw());
    if owner == caller || owner == 0 {
        return Ok(());
    }
    Err(SettingsFileError::ForeignOwner { path: path.to_path_buf(), owner, caller })
}

/// Nobody but owner and group may write. The group's bit is no ground for a refusal: where every user has a
/// group of their own the umask is 002, so every checkout and every editor makes such files, and the group is
/// its owner alone. Who shares a group with others decides that with `chmod g-w`.
#[cfg(unix)]
fn require_closed(path: &Path, found: &Metadata) -> Result<(), SettingsFileError> {
    use std::os::unix::fs::MetadataExt;
    if found.mode() & 0o002 == 0 {
        return Ok(());
    }
    Err(SettingsFileError::WritableByEverybody { path: path.to_path_buf() })
}

/// Elsewhere a user's profile is closed to others by inheritance, and the standard library shows no owner.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn require_own(_: &Path, _: &Metadata) -> Result<(), SettingsFileError> {
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn require_closed(_: &Path, _: &Metadata) -> Result<(), SettingsFileError> {
    Ok(())
}

fn fault_at(path: &Path, fault: ReadFault) -> SettingsFileError {
    let path = path.to_path_buf();
    match fault {
        ReadFault::NotRegular(found) => SettingsFileError::NotRegular { path, found },
        ReadFault::TooLarge => SettingsFileError::TooLarge { path },
        ReadFault::Io(cause) => SettingsFileError::Unreadable { path, cause },
    }
}
