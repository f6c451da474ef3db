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

const fn key(
    name: &'static str,
    schema: Schema,
    kind: Kind,
    treatment: Treatment,
    strict: bool,
    why: &'static str,
    standard: Option<&'static str>,
) -> Key {
    Key { name, schema, kind, treatment, strict, why, standard }
}

use Kind::{
    Any, Command, Flag, Mounts, NullableTextMap, Object, PortOrPorts, Ports, Text, TextMap, TextOrTexts,
    Texts,
};
use Schema::{Base, Editors, Legacy};
use Treatment::{Dropped, Ignored, Judged, Refused, Silent};

/// The table, in the order of the specification.
pub(crate) const KEYS: &[Key] = &[
    key("$schema", Base, Text, Silent, false, "it is for editors and is never fetched", None),
    key("name", Base, Text, Silent, false, "it is a title for people", None),
    key(
        "image",
        Base,
        Text,
        Judged,
        true,
        "an image of a repository waits for an approval before anything of it is pulled",
        None,
    ),
    key(
        "build",
        Base,
        Object,
        Judged,
        true,
        "a build of a repository waits for an approval of its Dockerfile and options",
        None,
    ),
    key("dockerFile", Legacy, Text, Judged, true, "it is \"build.dockerfile\" by an older name", None),
    key("context", Legacy, Text, Judged, true, "it is \"build.context\" by an older name", None),
    key(
        "dockerComposeFile",
        Base,
        TextOrTexts,
        Refused,
        true,
        "a compose file can ask for everything that is left out here; write an image or a build",
        None,
    ),
    key("service", Base, Text, Refused, true, "it belongs to a compose file", None),
    key("runServices", Base, Texts, Refused, true, "it belongs to a compose file", None),
    key(
        "features",
        Base,
        Object,
        Ignored,
        true,
        "features run as root while the image is built and can ask for privileges; put what they install into the image",
        None,
    ),
    key("overrideFeatureInstallOrder", Base, Texts, Ignored, false, "features are not installed", None),
    key(
        "secrets",
        Base,
        Object,
        Silent,
        false,
        "it describes secrets for people; a person declares them in settings",
        None,
    ),
    key(
        "forwardPorts",
        Base,
        Ports,
        Judged,
        true,
        "a port of a repository waits for an approval and is published on 127.0.0.1 only",
        Some("CIS Docker 5.14"),
    ),
    key("portsAttributes", Base, Object, Silent, false, "it is for editors", None),
    key("otherPortsAttributes", Base, Object, Silent, false, "it is for editors", None),
    key(
        "appPort",
        Base,
        PortOrPorts,
        Judged,
        true,
        "a port of a repository waits for an approval and is published on 127.0.0.1 only",
        Some("CIS Docker 5.14"),
    ),
    key(
        "updateRemoteUserUID",
        Base,
        Flag,
        Ignored,
        false,
        "the user is numeric, and the image is never changed for it",
        None,
    ),
    key("containerEnv", Base, TextMap, Judged, true, "each variable is judged by its name", None),
    key("remoteEnv", Base, NullableTextMap, Judged, true, "each variable is judged by its name", None),
    key("containerUser", Base, Text, Judged, true, "the user is never root", Some("CIS Docker 4.1")),
    key("remoteUser", Base, Text, Judged, true, "the user is never root", Some("CIS Docker 4.1")),
    key(
        "mounts",
        Base,
        Mounts,
        Judged,
        true,
        "volumes of the workspace's own and capped tmpfs only, nothing of the host",
        Some("CIS Docker 5.6"),
    ),
    key(
        "workspaceMount",
        Base,
        Text,
        Dropped,
        true,
        "the workspace is a volume of its own, never a folder of the host",
        Some("CIS Docker 5.6"),
    ),
    key("workspaceFolder", Base, Text, Judged, true, "commands start in the clone or a folder of it", None),
    key(
        "runArgs",
        Base,
        Texts,
        Judged,
        true,
        "each flag is read and judged; none is handed on as it stands",
        None,
    ),
    key("privileged", Base, Flag, Dropped, true, "it gives the whole host", Some("CIS Docker 5.5")),
    key("capAdd", Base, Texts, Dropped, true, "the container has no capability", Some("CIS Docker 5.4")),
    key(
        "securityOpt",
        Base,
        Texts,
        Judged,
        true,
        "the engine's own profiles stay on; only \"no-new-privileges\" says what is so anyway",
        Some("CIS Docker 5.22"),
    ),
    key("init", Base, Flag, Silent, true, "there is always an init process", None),
    key("overrideCommand", Base, Flag, Ignored, false, "the container always runs our own keep-alive", None),
    key("shutdownAction", Base, Text, Silent, false, "a person stops the workspace", None),
    key(
        "initializeCommand",
        Base,
        Command,
        Dropped,
        true,
        "it would run on this computer, outside the container, and is never run",
        None,
    ),
    key(
        "onCreateCommand",
        Base,
        Command,
        Judged,
        true,
        "it runs inside the container once a person allows commands of the repository",
        None,
    ),
    key(
        "updateContentCommand",
        Base,
        Command,
        Judged,
        true,
        "it runs inside the container once a person allows commands of the repository",
        None,
    ),
    key(
        "postCreateCommand",
        Base,
        Command,
        Judged,
        true,
        "it runs inside the container once a person allows commands of the repository",
        None,
    ),
    key(
        "postStartCommand",
        Base,
        Command,
        Judged,
        true,
        "it runs inside the container once a person allows commands of the repository",
        None,
    ),
    key(
        "postAttachCommand",
        Base,
        Command,
        Judged,
        true,
        "it runs inside the container once a person allows commands of the repository",
        None,
    ),
    key(
        "waitFor",
        Base,
        Text,
        Silent,
        false,
        "commands run in their order, and nothing waits for less",
        None,
    ),
    key(
        "userEnvProbe",
        Base,
        Text,
        Ignored,
        false,
        "what a shell of the container prints sets no variable",
        None,
    ),
    key(
        "hostRequirements",
        Base,
        Object,
        Judged,
        false,
        "they are compared with the template and raise no limit",
        None,
    ),
    key("customizations", Base, Object, Silent, false, "they are for editors", None),
    key(
        "additionalProperties",
        Base,
        Object,
        Silent,
        false,
        "the schema knows the word; it says nothing",
        None,
    ),
    key("extensions", Editors, Texts, Silent, false, "it is for editors", None),
    key(
        "settings",
        Editors,
        Object,
        Silent,
        false,
        "it is for editors; nothing of it reaches this computer",
        None,
    ),
    key("devPort", Editors, Any, Silent, false, "it is for editors", None),
    key("codespaces", Editors, Object, Silent, false, "it is for another service", None),
];

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
