//! Every property of a devcontainer.json that the specification's schemas know, in one table: its type, what becomes
//! of it and why. The reader, the messages and `docs/devcontainer-keys.md` come from it; a new property goes here.
//!
//! Sources: the schemas devContainer.base, devContainer.vscode, devContainer.codespaces and the reference of the
//! specification (`facts` devcontainer 1); CIS Docker Benchmark 1.6 for the numbers.

/// Which schema knows a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// devContainer.base.
    Base,
    /// devContainer.vscode and devContainer.codespaces, older than `customizations`.
    Editors,
    /// Names from before `build`.
    Legacy,
}

/// The form of a property's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// true or false.
    Flag,
    /// A list of strings.
    Texts,
    /// A string or a list of strings.
    TextOrTexts,
    /// An object of strings.
    TextMap,
    /// An object of strings and nulls.
    NullableTextMap,
    /// An object.
    Object,
    /// A string, a list of strings, or an object of these.
    Command,
    /// A list of numbers and strings.
    Ports,
    /// A number, a string, or a list of these.
    PortOrPorts,
    /// A list of strings and objects.
    Mounts,
}

impl Kind {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Text => "a string",
            Self::Flag => "true or false",
            Self::Texts => "a list of strings",
            Self::TextOrTexts => "a string or a list of strings",
            Self::TextMap => "an object of strings",
            Self::NullableTextMap => "an object of strings and nulls",
            Self::Object => "an object",
            Self::Command => "a string, a list of strings, or an object of these",
            Self::Ports => "a list of ports",
            Self::PortOrPorts => "a port or a list of ports",
            Self::Mounts => "a list of strings and objects",
        }
    }
}

/// What becomes of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Judged by rules of its own; what passes counts.
    Judged,
    /// It is for other programs, or says what is so anyway; nothing is told.
    Silent,
    /// It has no effect here, and that is told.
    Ignored,
    /// It asks for what no repository gets; that is told as left out.
    Dropped,
    /// With it there is no workspace.
    Refused,
}

/// One property.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Its name, in exactly these letters.
    pub(crate) name: &'static str,
    /// The schema that knows it.
    pub(crate) schema: Schema,
    /// The form of its value.
    pub(crate) kind: Kind,
    /// What becomes of it.
    pub(crate) treatment: Treatment,
    /// Whether a wrong type is refused: readers that guess give it an effect its author did not write.
    pub(crate) strict: bool,
    /// Why, as the end of a sentence.
    pub(crate) why: &'static str,
    /// The rule of a public standard behind it.
    pub(crate) standard: Option<&'static str>,
}

use Kind::{
    Any, Command, Flag, Mounts, NullableTextMap, Object, PortOrPorts, Ports, Text, TextMap, TextOrTexts,
    Texts,
};
use Schema::{Base, Editors, Legacy};
use Treatment::{Dropped, Ignored, Judged, Refused, Silent};

/// Rows of the table: name, schema, type, `strict` where a wrong type is refused, treatment, why, and perhaps a
/// standard.
macro_rules! keys {
    ($($name:literal $schema:ident $kind:ident $($strict:ident)? => $treatment:ident, $why:literal $(, $standard:literal)?;)*) => {
        &[$(Key {
            name: $name,
            schema: $schema,
            kind: $kind,
            treatment: $treatment,
            strict: keys!(@strict $($strict)?),
            why: $why,
            standard: keys!(@standard $($standard)?),
        }),*]
    };
    (@strict strict) => { true };
    (@strict) => { false };
    (@standard $standard:literal) => { Some($standard) };
    (@standard) => { None };
}

/// The table, in the order of the specification.
pub(crate) const KEYS: &[Key] = keys! {
    "$schema" Base Text => Silent, "it is for editors and is never fetched";
    "name" Base Text => Silent, "it is a title for people";
    "image" Base Text strict => Judged, "an image of a repository waits for an approval before anything of it is pulled";
    "build" Base Object strict => Judged, "a build of a repository waits for an approval of its Dockerfile and options";
    "dockerFile" Legacy Text strict => Judged, "it is \"build.dockerfile\" by an older name";
    "context" Legacy Text strict => Judged, "it is \"build.context\" by an older name";
    "dockerComposeFile" Base TextOrTexts strict => Refused, "a compose file can ask for everything that is left out here; write an image or a build";
    "service" Base Text strict => Refused, "it belongs to a compose file";
    "runServices" Base Texts strict => Refused, "it belongs to a compose file";
    "features" Base Object strict => Ignored, "features run as root while the image is built and can ask for privileges; put what they install into the image";
    "overrideFeatureInstallOrder" Base Texts => Ignored, "features are not installed";
    "secrets" Base Object => Silent, "it describes secrets for people; a person declares them in settings";
    "forwardPorts" Base Ports strict => Judged, "a port of a repository waits for an approval and is published on 127.0.0.1 only", "CIS Docker 5.14";
    "portsAttributes" Base Object => Silent, "it is for editors";
    "otherPortsAttributes" Base Object => Silent, "it is for editors";
    "appPort" Base PortOrPorts strict => Judged, "a port of a repository waits for an approval and is published on 127.0.0.1 only", "CIS Docker 5.14";
    "updateRemoteUserUID" Base Flag => Ignored, "the user is numeric, and the image is never changed for it";
    "containerEnv" Base TextMap strict => Judged, "each variable is judged by its name";
    "remoteEnv" Base NullableTextMap strict => Judged, "each variable is judged by its name";
    "containerUser" Base Text strict => Judged, "the user is never root", "CIS Docker 4.1";
    "remoteUser" Base Text strict => Judged, "the user is never root", "CIS Docker 4.1";
    "mounts" Base Mounts strict => Judged, "volumes of the workspace's own and capped tmpfs only, nothing of the host", "CIS Docker 5.6";
    "workspaceMount" Base Text strict => Dropped, "the workspace is a volume of its own, never a folder of the host", "CIS Docker 5.6";
    "workspaceFolder" Base Text strict => Judged, "commands start in the clone or a folder of it";
    "runArgs" Base Texts strict => Judged, "each flag is read and judged; none is handed on as it stands";
    "privileged" Base Flag strict => Dropped, "it gives the whole host", "CIS Docker 5.5";
    "capAdd" Base Texts strict => Dropped, "the container has no capability", "CIS Docker 5.4";
    "securityOpt" Base Texts strict => Judged, "the engine's own profiles stay on; only \"no-new-privileges\" says what is so anyway", "CIS Docker 5.22";
    "init" Base Flag strict => Silent, "there is always an init process";
    "overrideCommand" Base Flag => Ignored, "the container always runs our own keep-alive";
    "shutdownAction" Base Text => Silent, "a person stops the workspace";
    "initializeCommand" Base Command strict => Dropped, "it would run on this computer, outside the container, and is never run";
    "onCreateCommand" Base Command strict => Judged, "it runs inside the container once a person allows commands of the repository";
    "updateContentCommand" Base Command strict => Judged, "it runs inside the container once a person allows commands of the repository";
    "postCreateCommand" Base Command strict => Judged, "it runs inside the container once a person allows commands of the repository";
    "postStartCommand" Base Command strict => Judged, "it runs inside the container once a person allows commands of the repository";
    "postAttachCommand" Base Command strict => Judged, "it runs inside the container once a person allows commands of the repository";
    "waitFor" Base Text => Silent, "commands run in their order, and nothing waits for less";
    "userEnvProbe" Base Text => Ignored, "what a shell of the container prints sets no variable";
    "hostRequirements" Base Object => Judged, "they are compared with the template and raise no limit";
    "customizations" Base Object => Silent, "they are for editors";
    "additionalProperties" Base Object => Silent, "the schema knows the word; it says nothing";
    "extensions" Editors Texts => Silent, "it is for editors";
    "settings" Editors Object => Silent, "it is for editors; nothing of it reaches this computer";
    "devPort" Editors Any => Silent, "it is for editors";
    "codespaces" Editors Object => Silent, "it is for another service";
};

/// The property of exactly this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// A property whose name differs in the case of letters only: other readers take it for that one.
pub(crate) fn find_other_case(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name != name && key.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec::Vec};

    /// The properties of devContainer.base, devContainer.vscode and devContainer.codespaces, and the older names.
    const SPECIFICATION: &str = "$schema name image build dockerFile context dockerComposeFile service runServices \
        workspaceFolder workspaceMount mounts runArgs privileged capAdd securityOpt init overrideCommand containerUser \
        remoteUser updateRemoteUserUID containerEnv remoteEnv features overrideFeatureInstallOrder initializeCommand \
        onCreateCommand updateContentCommand postCreateCommand postStartCommand postAttachCommand waitFor userEnvProbe \
        forwardPorts portsAttributes otherPortsAttributes appPort shutdownAction hostRequirements customizations \
        secrets additionalProperties extensions settings devPort codespaces";

    #[test]
    fn the_table_has_every_property_of_the_specification_once_and_no_other() {
        let expected: BTreeSet<&str> = SPECIFICATION.split_whitespace().collect();
        let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names.iter().copied().collect::<BTreeSet<_>>(), expected);
        assert_eq!(names.len(), expected.len(), "none twice");
    }

    #[test]
    fn what_gives_more_than_a_workspace_is_strict_and_never_silent() {
        for name in [
            "privileged",
            "capAdd",
            "securityOpt",
            "runArgs",
            "mounts",
            "workspaceMount",
            "initializeCommand",
        ] {
            let key = find(name).unwrap();
            assert!(key.strict && !matches!(key.treatment, Silent | Ignored), "{name}");
        }
    }

    #[test]
    fn reasons_read_as_the_end_of_a_sentence() {
        for key in KEYS {
            assert!(
                !key.why.ends_with('.') && key.why.starts_with(|c: char| c.is_lowercase()),
                "{}",
                key.name
            );
        }
    }

    #[test]
    fn names_count_by_their_letters() {
        assert!(find("Privileged").is_none());
        assert_eq!(find_other_case("PRIVILEGED").unwrap().name, "privileged");
        assert!(find_other_case("privileged").is_none());
    }
}
