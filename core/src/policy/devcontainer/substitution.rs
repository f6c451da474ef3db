//! Which references are resolved where (design 8). A variable of this computer is resolved in values of variables
//! only, at launch, once a person granted its name, and what it gives is never read again; anywhere else the whole
//! property is left out: an empty text in its place would turn `source=${localEnv:HOME}/.ssh` into `/.ssh`.

use crate::parse::substitution::{Form, Piece, pieces};
use alloc::{format, string::String, vec::Vec};

/// What references other than variables stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    /// The clone in the container. It stands for the folder on this computer as well: no path of this computer is
    /// told to a repository.
    pub(crate) clone: &'a str,
    /// The folder in which commands start.
    pub(crate) workspace_folder: &'a str,
    /// The workspace's own id.
    pub(crate) id: &'a str,
}

/// A part of a variable's value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text.
    Text(String),
    /// A variable of this computer, and what stands for it where it is not set or not granted.
    Host {
        /// Its name.
        name: String,
        /// Its default.
        default: Option<String>,
    },
    /// A variable of the container as it is before this layer.
    Container {
        /// Its name.
        name: String,
        /// Its default.
        default: Option<String>,
    },
}

impl core::fmt::Debug for Part {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text"),
            Self::Host { name, .. } => write!(f, "Host({name})"),
            Self::Container { name, .. } => write!(f, "Container({name})"),
        }
    }
}

/// Why a property is left out, as the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unresolved {
    /// `${localEnv}` and the like.
    NameMissing,
    /// A variable of this computer outside a variable's value.
    LocalEnv,
    /// A variable of the container outside remoteEnv.
    ContainerEnv,
}

impl Unresolved {
    /// The rule that it breaks.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::NameMissing => "A reference to a variable names it, as in \"${localEnv:NAME}\"",
            Self::LocalEnv => {
                "A variable of this computer is resolved in values of \"containerEnv\" and \"remoteEnv\" only"
            }
            Self::ContainerEnv => "A variable of the container is resolved in values of \"remoteEnv\" only",
        }
    }
}

/// A string that is no variable's value.
pub(crate) fn text(text: &str, places: Places<'_>) -> Result<String, Unresolved> {
    let mut resolved = String::new();
    for piece in pieces(text).map_err(|_| Unresolved::NameMissing)? {
        match piece {
            Piece::Literal(text) => resolved.push_str(&text),
            Piece::Reference { form: Form::LocalEnv, .. } => return Err(Unresolved::LocalEnv),
            Piece::Reference { form: Form::ContainerEnv, .. } => return Err(Unresolved::ContainerEnv),
            Piece::Reference { form, .. } => resolved.push_str(&place(form, places)),
        }
    }
    Ok(resolved)
}

/// A variable's value; `remote` for one of remoteEnv.
pub(crate) fn value(text: &str, remote: bool, places: Places<'_>) -> Result<Vec<Part>, Unresolved> {
    let mut parts = Vec::new();
    for piece in pieces(text).map_err(|_| Unresolved::NameMissing)? {
        parts.push(match piece {
            Piece::Literal(text) => Part::Text(text),
            Piece::Reference { form: Form::LocalEnv, name, default } => Part::Host { name, default },
            Piece::Reference { form: Form::ContainerEnv, name, default } if remote => {
                Part::Container { name, default }
            }
            Piece::Reference { form: Form::ContainerEnv, .. } => return Err(Unresolved::ContainerEnv),
            Piece::Reference { form, .. } => Part::Text(place(form, places)),
        });
    }
    Ok(parts)
}

fn place(form: Form, places: Places<'_>) -> String {
    let name = |path: &str| String::from(path.rsplit('/').next().unwrap_or_default());
    match form {
        Form::LocalWorkspaceFolder => places.clone.into(),
        Form::LocalWorkspaceFolderBasename => name(places.clone),
        Form::ContainerWorkspaceFolder => places.workspace_folder.into(),
        Form::ContainerWorkspaceFolderBasename => name(places.workspace_folder),
        Form::DevcontainerId => places.id.into(),
        // Told apart by the callers.
        Form::LocalEnv | Form::ContainerEnv => format!("{form:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: Places<'_> =
        Places { clone: "/workspace/acme", workspace_folder: "/workspace/acme/web", id: "id52" };

    #[test]
    fn folders_and_the_id_stand_for_what_is_in_the_container() {
        let all = "${localWorkspaceFolder} ${localWorkspaceFolderBasename} ${containerWorkspaceFolder} \
                   ${containerWorkspaceFolderBasename} ${devcontainerId}";
        assert_eq!(text(all, PLACES).unwrap(), "/workspace/acme acme /workspace/acme/web web id52");
    }

    #[test]
    fn variables_are_resolved_in_values_only() {
        assert_eq!(text("${localEnv:HOME}/.ssh", PLACES), Err(Unresolved::LocalEnv));
        assert_eq!(
            text("${localEnv:HOME:/tmp}", PLACES),
            Err(Unresolved::LocalEnv),
            "a default is no way around"
        );
        assert_eq!(text("${containerEnv:PATH}", PLACES), Err(Unresolved::ContainerEnv));
        assert_eq!(text("${localEnv}", PLACES), Err(Unresolved::NameMissing));
        let host = |name: &str, default: Option<&str>| Part::Host {
            name: name.into(),
            default: default.map(String::from),
        };
        assert_eq!(
            value("a${localEnv:B:c}", false, PLACES).unwrap(),
            [Part::Text("a".into()), host("B", Some("c"))]
        );
        assert_eq!(value("${containerEnv:PATH}:/x", false, PLACES), Err(Unresolved::ContainerEnv));
        assert_eq!(
            value("${containerEnv:PATH}:/x", true, PLACES).unwrap(),
            [Part::Container { name: "PATH".into(), default: None }, Part::Text(":/x".into())]
        );
    }

    #[test]
    fn nothing_that_was_put_in_is_read_again() {
        let tricky = Places { clone: "/workspace/${localEnv:HOME}", ..PLACES };
        assert_eq!(text("${localWorkspaceFolder}", tricky).unwrap(), "/workspace/${localEnv:HOME}");
    }

    #[test]
    fn debug_shows_no_value() {
        let shown = format!("{:?}", value("hunter2${localEnv:A:hunter2}", false, PLACES).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
