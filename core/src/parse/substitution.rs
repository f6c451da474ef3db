//! References to variables in strings of devcontainer.json: `${form}`, `${form:NAME}`, `${form:NAME:default}`.
//!
//! The grammar is the reference CLI's (`facts` devcontainer 3): from `${` to the next `}` of the same line; forms by
//! their exact letters; what is no form stays as it is written; nothing is read again once it was put in. Decided
//! otherwise: a default is all that follows the name, colons included, where the CLI cuts it at the next colon
//! (`${localEnv:URL:https://x}` gives it `https`).

use alloc::{string::String, vec::Vec};

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `localEnv`, and its older name `env`: a variable of this computer.
    LocalEnv,
    /// `containerEnv`: a variable of the container.
    ContainerEnv,
    /// `localWorkspaceFolder`: the folder on this computer.
    LocalWorkspaceFolder,
    /// `localWorkspaceFolderBasename`: its name.
    LocalWorkspaceFolderBasename,
    /// `containerWorkspaceFolder`: the folder in the container.
    ContainerWorkspaceFolder,
    /// `containerWorkspaceFolderBasename`: its name.
    ContainerWorkspaceFolderBasename,
    /// `devcontainerId`: an id that stays while the container is made anew.
    DevcontainerId,
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text as it stands.
    Literal(String),
    /// A reference; only the forms of variables have a name and may have a default.
    Reference {
        /// What it refers to.
        form: Form,
        /// The variable.
        name: String,
        /// What stands for a variable that is not set.
        default: Option<String>,
    },
}

/// A variable's form without a name, as in `${localEnv}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameMissing;

/// The parts of a string.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece>, NameMissing> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        literal.push_str(before);
        let line = after.split('\n').next().unwrap_or_default();
        let Some((body, _)) = line.split_once('}') else {
            // Never closed on its line: no reference, and one may still begin behind it.
            literal.push_str("${");
            rest = after;
            continue;
        };
        rest = after.get(body.len().saturating_add(1)..).unwrap_or_default();
        match reference(body)? {
            Some(reference) => {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(core::mem::take(&mut literal)));
                }
                pieces.push(reference);
            }
            None => {
                literal.push_str("${");
                literal.push_str(body);
                literal.push('}');
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

fn reference(body: &str) -> Result<Option<Piece>, NameMissing> {
    let (form, argument) = match body.split_once(':') {
        Some((form, argument)) => (form, Some(argument)),
        None => (body, None),
    };
    let (form, takes_name) = match form {
        "localEnv" | "env" => (Form::LocalEnv, true),
        "containerEnv" => (Form::ContainerEnv, true),
        "localWorkspaceFolder" => (Form::LocalWorkspaceFolder, false),
        "localWorkspaceFolderBasename" => (Form::LocalWorkspaceFolderBasename, false),
        "containerWorkspaceFolder" => (Form::ContainerWorkspaceFolder, false),
        "containerWorkspaceFolderBasename" => (Form::ContainerWorkspaceFolderBasename, false),
        "devcontainerId" => (Form::DevcontainerId, false),
        _ => return Ok(None),
    };
    if !takes_name {
        return Ok(Some(Piece::Reference { form, name: String::new(), default: None }));
    }
    let argument = argument.ok_or(NameMissing)?;
    let (name, default) = match argument.split_once(':') {
        Some((name, default)) => (name, Some(default.into())),
        None => (argument, None),
    };
    Ok(Some(Piece::Reference { form, name: name.into(), default }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literals as they are, references as `<form name|default>`.
    fn shown(text: &str) -> String {
        let show = |piece: Piece| match piece {
            Piece::Literal(text) => text,
            Piece::Reference { form, name, default } => {
                let default = default.map(|text| alloc::format!("|{text}")).unwrap_or_default();
                alloc::format!("<{form:?} {name}{default}>")
            }
        };
        pieces(text).unwrap().into_iter().map(show).collect()
    }

    #[test]
    fn every_form_is_read_by_its_exact_letters() {
        assert_eq!(shown("${localEnv:V}"), "<LocalEnv V>");
        assert_eq!(shown("${env:V}"), "<LocalEnv V>");
        assert_eq!(shown("a${containerEnv:V}b"), "a<ContainerEnv V>b");
        assert_eq!(shown("${localWorkspaceFolder}/x"), "<LocalWorkspaceFolder >/x");
        assert_eq!(shown("${localWorkspaceFolderBasename}"), "<LocalWorkspaceFolderBasename >");
        assert_eq!(shown("${containerWorkspaceFolder}"), "<ContainerWorkspaceFolder >");
        assert_eq!(shown("${containerWorkspaceFolderBasename}"), "<ContainerWorkspaceFolderBasename >");
        assert_eq!(shown("${devcontainerId}"), "<DevcontainerId >");
        for literal in [
            "${workspaceFolder}",
            "${HOME}",
            "${LOCALENV:X}",
            "${ localEnv:X}",
            "${localWorkspaceFolderBaseName}",
            "$HOME",
            "${unclosed",
            "${local\nEnv:X}",
            "${}",
            "$",
            "${templateOption:x}",
            "{}",
        ] {
            assert_eq!(shown(literal), literal);
        }
    }

    #[test]
    fn a_default_is_all_that_follows_the_name() {
        assert_eq!(shown("${localEnv:U:https://a.b/c}"), "<LocalEnv U|https://a.b/c>");
        assert_eq!(shown("${localEnv:U:}"), "<LocalEnv U|>");
        assert_eq!(shown("${localEnv:A:-1001}"), "<LocalEnv A|-1001>");
        assert_eq!(shown("${localEnv:}"), "<LocalEnv >");
    }

    #[test]
    fn a_reference_ends_at_the_next_brace_and_nothing_escapes_one() {
        assert_eq!(shown("${localEnv:NOPE:${localEnv:FOO}}"), "<LocalEnv NOPE|${localEnv:FOO>}");
        assert_eq!(shown("$${localEnv:FOO}"), "$<LocalEnv FOO>");
        assert_eq!(shown("${x${localEnv:FOO}"), "${x${localEnv:FOO}");
        assert_eq!(shown("${open\n${localEnv:FOO}"), "${open\n<LocalEnv FOO>");
    }

    #[test]
    fn a_variable_without_a_name_is_a_fault() {
        for text in ["${localEnv}", "${env}", "a ${containerEnv} b"] {
            assert_eq!(pieces(text), Err(NameMissing), "{text}");
        }
    }
}
