//! A build: which files it reads, which options and arguments it has. It runs on the engine before any hardening, so
//! little is let through.

use super::{Scene, texts, wanted::Build};
use crate::{
    canonical::sha256_hex,
    diagnostic::{Code, Severity},
    limits,
    parse::{
        env_name::is_env_name,
        image_reference::ImageReference,
        jsonc::{Member, Node, Value},
    },
    plan::{BuildPlan, build_reference},
    policy::{
        devcontainer::{
            dockerfile::{self, Broken},
            run_args::is_platform,
            substitution,
        },
        env_names,
    },
    source::{Position, Source},
    text::{is_deceptive, quoted, quoted_name},
    words::Origin,
};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// What an option of a build takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// Nothing, and it changes nothing here.
    Ignored,
    Platform,
    /// A value that changes nothing here.
    Anything,
}

/// Options of a build that are let through.
const OPTIONS: &[(&str, Takes)] = &[
    ("--no-cache", Takes::Nothing),
    // An image that is there is looked at before the build, and is the one that it begins from.
    ("--pull", Takes::Ignored),
    ("--platform", Takes::Platform),
    // The image's labels are ours.
    ("--label", Takes::Anything),
];

/// What a build's properties come to.
#[derive(Default)]
struct Parts {
    target: Option<String>,
    arguments: BTreeMap<String, String>,
    options: Vec<String>,
}

impl Scene<'_, '_> {
    pub(super) fn build(&mut self) {
        let document = self.document;
        let mut parts = Parts::default();
        let mut dockerfile = document.get("dockerFile");
        let mut context = document.get("context");
        if let Some(Value::Object(members)) = document.get("build").map(|node| &node.value) {
            for member in members {
                match member.key.as_str() {
                    "dockerfile" => dockerfile = Some(&member.node),
                    "context" => context = Some(&member.node),
                    "target" => parts.target = self.target(member),
                    "args" => parts.arguments = self.build_arguments(member),
                    "options" => parts.options = self.options(member),
                    "cacheFrom" => self.cache_from(member),
                    _ => {
                        let message = format!(
                            "The build option {} is not known and has no effect.",
                            quoted(&member.key)
                        );
                        self.tell(
                            Severity::Notice,
                            Code::DevcontainerUnknownKey,
                            member.at,
                            "build",
                            message,
                            None,
                        );
                    }
                }
            }
        }
        let Some(dockerfile) = dockerfile else {
            let message = "A build names its \"dockerfile\".";
            self.tell(
                Severity::Refused,
                Code::PathInvalid,
                Position::START,
                "build.dockerfile",
                message.into(),
                None,
            );
            return;
        };
        let file = self.path(dockerfile, "build.dockerfile");
        // Without a context it is the Dockerfile's own folder.
        let context = match (context, &file) {
            (Some(context), _) => self.path(context, "build.context"),
            (None, Some(file)) => Some(file.rsplit_once('/').map_or(".", |(folder, _)| folder).into()),
            (None, None) => None,
        };
        if let (Some(file), Some(context)) = (file, context) {
            let Parts { target, arguments, options } = parts;
            let source = document.source(dockerfile.at, "build.dockerfile");
            let read = self.request.devcontainer.as_ref().and_then(|file| file.dockerfile.as_ref());
            let read =
                read.filter(|read| read.path == file).and_then(|read| Some((read, read.text.as_ref()?)));
            let bases = match read.map(|(_, text)| dockerfile::judge(text.reveal(), &arguments)) {
                None => Vec::new(),
                Some(Ok(bases)) => bases,
                Some(Err(broken)) => return self.refuse_dockerfile(&file, &broken),
            };
            let plan = BuildPlan {
                // Of the text that was judged, whatever the caller says of it.
                dockerfile_digest: read.map(|(_, text)| sha256_hex(text.reveal().as_bytes())),
                bases,
                dockerfile: file,
                context,
                target,
                arguments,
                options,
            };
            let reference = build_reference(&self.request.install.id, &plan.digest());
            self.wanted.image = ImageReference::parse(&reference).ok().map(|image| (image, source.clone()));
            self.wanted.build = Some(Build { plan, source });
        }
    }

    /// A path inside the repository, read from the file's own folder. Where links lead is looked at when it is built.
    fn path(&mut self, node: &Node, name: &str) -> Option<String> {
        let Value::Text(written) = &node.value else {
            self.refuse_path(node.at, name, "A path of a build is a string");
            return None;
        };
        let resolved = match substitution::text(written, self.places()) {
            Ok(resolved) => resolved,
            Err(why) => {
                self.unresolved(node.at, name, why);
                return None;
            }
        };
        let folder = self.document.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let inside = inside(folder, &resolved);
        if inside.is_none() {
            let rule = "A path of a build is relative, stays inside the repository and outside its .git, and is no address";
            self.refuse_path(node.at, name, rule);
        }
        inside
    }

    fn refuse_dockerfile(&mut self, path: &str, broken: &Broken) {
        let source = Source::file(Origin::Devcontainer, path, broken.at);
        let message = format!("{}; this one is not built.", broken.rule);
        self.findings.refuse(Code::DockerfileRefused, source, message);
    }

    fn refuse_path(&mut self, at: Position, name: &str, rule: &str) {
        self.tell(
            Severity::Refused,
            Code::PathInvalid,
            at,
            name,
            format!("{rule}; {} is none.", quoted(name)),
            None,
        );
    }

    fn target(&mut self, member: &Member) -> Option<String> {
        let fits = |text: &str| {
            !text.starts_with('-')
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        };
        match &member.node.value {
            Value::Text(text) if !text.is_empty() && fits(text) => Some(text.clone()),
            _ => {
                let message = "A build's target is a name of letters, digits, dots, dashes and underscores; this one is left out.";
                self.drop_value(member.node.at, "build.target", message.into());
                None
            }
        }
    }

    /// Values are written on the builder's command line and into the image's history, so nothing of this computer is
    /// in them.
    fn build_arguments(&mut self, member: &Member) -> BTreeMap<String, String> {
        let mut passed = BTreeMap::new();
        let Value::Object(arguments) = &member.node.value else {
            let message = "A build's arguments are an object of strings; they are left out.";
            self.drop_value(member.node.at, "build.args", message.into());
            return passed;
        };
        for argument in arguments {
            let path = format!("build.args.{}", crate::text::escaped_name(&argument.key));
            let Value::Text(value) = &argument.node.value else {
                let message =
                    format!("A build's argument is a string; {} is left out.", quoted_name(&argument.key));
                self.drop_value(argument.node.at, &path, message);
                continue;
            };
            let upper = argument.key.to_ascii_uppercase();
            if !is_env_name(&argument.key)
                || upper.starts_with("BUILDKIT_")
                || env_names::is_redirecting(&upper)
            {
                let message = format!(
                    "A build's argument has a variable's name and steers no builder; {} is left out.",
                    quoted_name(&argument.key)
                );
                self.drop_value(argument.at, &path, message);
                continue;
            }
            match substitution::text(value, self.places()) {
                Err(why) => self.unresolved(argument.node.at, &path, why),
                Ok(value) if value.contains('\0') || value.len() > limits::BUILD_ARGUMENT_BYTES => {
                    let message = format!(
                        "A build's argument has at most {} bytes and no NUL; {} is left out.",
                        limits::BUILD_ARGUMENT_BYTES,
                        quoted_name(&argument.key)
                    );
                    self.drop_value(argument.node.at, &path, message);
                }
                Ok(value) => {
                    passed.insert(argument.key.clone(), value);
                }
            }
        }
        passed
    }

    /// Written anew; a flag that is not in the table ends the list, since what follows may be its value.
    fn options(&mut self, member: &Member) -> Vec<String> {
        let mut passed = Vec::new();
        let mut words = texts(&member.node).into_iter().enumerate();
        while let Some((index, (at, word))) = words.next() {
            let path = format!("build.options[{index}]");
            let (flag, value) =
                word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
            let Some((_, takes)) = OPTIONS.iter().find(|(name, _)| *name == flag) else {
                let message = format!(
                    "A build has the options {}; {} and what follows it are left out.",
                    OPTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
                    quoted(flag)
                );
                self.drop_value(at, &path, message);
                return passed;
            };
            if *takes == Takes::Ignored {
                continue;
            }
            if *takes == Takes::Nothing {
                if value.is_none_or(|value| value == "true") {
                    passed.push(flag.into());
                }
                continue;
            }
            let value = value.or_else(|| words.next().map(|(_, (_, word))| word));
            match value {
                Some(_) if *takes == Takes::Anything => {}
                Some(value) if is_platform(value) => passed.push(format!("{flag}={value}")),
                Some(_) => {
                    let message = "A platform is \"linux/amd64\" or \"linux/arm64\"; this one is left out.";
                    self.drop_value(at, &path, message.into());
                }
                None => {
                    let message = format!("The option {} takes a value; it is left out.", quoted(flag));
                    self.drop_value(at, &path, message);
                }
            }
        }
        passed
    }

    fn cache_from(&mut self, member: &Member) {
        let message =
            "The build option \"cacheFrom\" has no effect here: it would pull with the person's logins.";
        self.tell(
            Severity::Notice,
            Code::DevcontainerKeyIgnored,
            member.at,
            "build.cacheFrom",
            message.into(),
            None,
        );
    }
}

/// The path in the repository, read from a folder in it.
fn inside(folder: &str, path: &str) -> Option<String> {
    let bad = path.is_empty()
        || path.starts_with(['/', '-', '~', '\\'])
        || path.contains("://")
        || path.contains(['\\', ':'])
        || path.starts_with("git@")
        || path.chars().any(is_deceptive);
    if bad {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part if part.eq_ignore_ascii_case(".git") => return None,
            part => parts.push(part),
        }
    }
    Some(if parts.is_empty() { ".".into() } else { parts.join("/") })
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn paths_are_read_from_the_files_folder_and_stay_inside() {
        let of = |path: &str| inside(".devcontainer/web", path);
        assert_eq!(of("Dockerfile").unwrap(), ".devcontainer/web/Dockerfile");
        assert_eq!(of("../..").unwrap(), ".");
        assert_eq!(of("../../docker/./Dockerfile").unwrap(), "docker/Dockerfile");
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "../../..",
            "-",
            "~/x",
            "https://x/y.git",
            "git@host:x",
            "../../.git",
            "../../.GIT/x",
            "C:\\x",
            "a\nb",
            "github.com:x",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
