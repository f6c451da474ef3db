//! What a Dockerfile may ask of the builder. A builder fetches, mounts and opens files by itself, outside of any container
//! and before any hardening (measured: podman 4.3 mounts any folder of the host for `RUN --mount=type=cache,id=../…`, both
//! engines fetch `ADD http://127.0.0.1/…` from the host's own network, podman opens archives of the host for
//! `FROM oci-archive:/…`). So what is not a plain image, a committed file or a step inside a container is refused.

use crate::parse::{
    dockerfile::{DockerfileFault, Instruction, read},
    image_reference::ImageReference,
};
use crate::source::Position;
use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

/// A rule that a Dockerfile breaks.
#[derive(Debug)]
pub(crate) struct Broken {
    /// The instruction.
    pub(crate) at: Position,
    /// The rule, as a sentence without its end.
    pub(crate) rule: String,
}

/// The images that a Dockerfile begins from, in their order, each once.
pub(crate) fn judge(text: &str, arguments: &BTreeMap<String, String>) -> Result<Vec<String>, Broken> {
    let instructions = read(text).map_err(|(fault, at)| Broken { at, rule: rule_of(fault).into() })?;
    let mut judge = Judge { arguments, known: BTreeMap::new(), stages: Vec::new(), bases: Vec::new() };
    for instruction in &instructions {
        judge.instruction(instruction).map_err(|rule| Broken { at: instruction.at, rule })?;
    }
    if judge.stages.is_empty() {
        let rule = "A Dockerfile begins from an image".into();
        return Err(Broken { at: Position::START, rule });
    }
    Ok(judge.bases)
}

fn rule_of(fault: DockerfileFault) -> &'static str {
    match fault {
        DockerfileFault::Directive => {
            "A Dockerfile has no other escape character and no other frontend than docker's own"
        }
        DockerfileFault::Heredoc => "A Dockerfile has no heredoc, which builders read differently",
        DockerfileFault::Control => "A Dockerfile has no control characters",
    }
}

struct Judge<'a> {
    arguments: &'a BTreeMap<String, String>,
    /// Arguments before the first stage, which image names may hold.
    known: BTreeMap<String, String>,
    stages: Vec<String>,
    bases: Vec<String>,
}

impl Judge<'_> {
    fn instruction(&mut self, instruction: &Instruction) -> Result<(), String> {
        let rest = instruction.rest.as_str();
        match instruction.word.as_str() {
            "ARG" if self.stages.is_empty() => self.argument(rest),
            "FROM" => self.from(rest),
            "RUN" => run(instruction),
            "ADD" | "COPY" => self.copy(instruction),
            "ONBUILD" => Err("A Dockerfile has no ONBUILD, whose steps nobody sees where they run".into()),
            "ARG" | "CMD" | "ENTRYPOINT" | "ENV" | "EXPOSE" | "HEALTHCHECK" | "LABEL" | "MAINTAINER"
            | "SHELL" | "STOPSIGNAL" | "USER" | "VOLUME" | "WORKDIR" => Ok(()),
            _ => Err("A Dockerfile has the instructions that every builder knows".into()),
        }
    }

    fn argument(&mut self, rest: &str) -> Result<(), String> {
        for word in rest.split_whitespace() {
            let (name, default) = word.split_once('=').unwrap_or((word, ""));
            let default = self.expanded(default.trim_matches(['"', '\'']))?;
            let value = self.arguments.get(name).cloned().unwrap_or(default);
            self.known.insert(name.into(), value);
        }
        Ok(())
    }

    fn from(&mut self, rest: &str) -> Result<(), String> {
        let mut words = rest.split_whitespace().filter(|word| !word.starts_with("--platform="));
        let image = self.expanded(words.next().unwrap_or_default())?;
        let name = match (words.next(), words.next(), words.next()) {
            (None, ..) => String::new(),
            (Some(word), Some(name), None) if word.eq_ignore_ascii_case("as") => name.to_ascii_lowercase(),
            _ => {
                return Err(
                    "A stage is \"FROM image\", perhaps with a platform before and \"AS name\" behind it"
                        .into(),
                );
            }
        };
        if image != "scratch" && !self.is_stage(&image) {
            self.base(&image)?;
        }
        self.stages.push(name);
        Ok(())
    }

    fn is_stage(&self, name: &str) -> bool {
        let number = name.parse::<usize>().is_ok_and(|number| number < self.stages.len());
        number || (!name.is_empty() && self.stages.contains(&name.to_ascii_lowercase()))
    }

    /// A name in a registry or of the engine's own store: no transport, no path.
    fn base(&mut self, image: &str) -> Result<(), String> {
        let reference = ImageReference::parse(image).map_err(|why| why.trim_end_matches('.').to_string())?;
        let reference = reference.as_str().to_string();
        if !self.bases.contains(&reference) {
            self.bases.push(reference);
        }
        Ok(())
    }

    /// Files of the context, of an earlier stage, or of an image.
    fn copy(&mut self, instruction: &Instruction) -> Result<(), String> {
        let mut words = instruction.rest.split_whitespace().peekable();
        while let Some(flag) = words.next_if(|word| word.starts_with("--")) {
            match flag.split_once('=') {
                Some(("--chown" | "--chmod", _)) => {}
                Some(("--from", stage)) if instruction.word == "COPY" => {
                    if !self.is_stage(stage) {
                        self.base(stage)?;
                    }
                }
                _ if flag == "--link" => {}
                _ => return Err("COPY and ADD have the flags --from, --chown, --chmod and --link".into()),
            }
        }
        let rest = words.collect::<Vec<_>>().join(" ");
        let fetches = ["://", "git@", "$"].iter().any(|sign| rest.contains(sign));
        if instruction.word == "ADD" && fetches {
            return Err("ADD takes committed files by their names; what is fetched is fetched by a RUN, in the build's network".into());
        }
        Ok(())
    }

    /// `$NAME`, `${NAME}`, `${NAME:-default}`: what an image's name may hold.
    fn expanded(&self, text: &str) -> Result<String, String> {
        let rule = || {
            String::from(
                "An image's name holds $NAME, ${NAME} or ${NAME:-default} of an ARG before the first FROM",
            )
        };
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let (name, default, behind) = match after.strip_prefix('{') {
                Some(body) => {
                    let (body, behind) = body.split_once('}').ok_or_else(rule)?;
                    let (name, default) = body.split_once(":-").unwrap_or((body, ""));
                    (name, default, behind)
                }
                None => {
                    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                    let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
                    let (name, behind) = after.split_at(end);
                    (name, "", behind)
                }
            };
            let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !plain || default.contains('$') {
                return Err(rule());
            }
            let value = self.known.get(name).map(String::as_str).filter(|value| !value.is_empty());
            out.push_str(value.unwrap_or(default));
            rest = behind;
        }
        out.push_str(rest);
        if out.contains('\\') { Err(rule()) } else { Ok(out) }
    }
}

/// A step of a shell: what RUN's flags ask for is the builder's own doing, outside of the step's container.
fn run(instruction: &Instruction) -> Result<(), String> {
    if instruction.rest.starts_with("--") {
        return Err(
            "RUN has no flags such as --mount and --network, which the builder itself carries out".into()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> Result<Vec<String>, String> {
        let arguments = BTreeMap::from([("V".into(), "22".into()), ("EVIL".into(), "oci-archive:/x".into())]);
        judge(text, &arguments).map_err(|broken| broken.rule)
    }

    #[test]
    fn ordinary_files_pass_and_tell_their_images() {
        let text = "ARG V=18\nARG TAG=bookworm\nFROM --platform=linux/amd64 node:${V}-${TAG:-x} AS deps\nRUN npm ci --network=x\n\
            FROM debian:$TAG\nCOPY --from=deps --chown=1:1 /a /b\nCOPY --from=0 /a /b\nCOPY --from=ghcr.io/acme/tool:1 /t /t\nADD x.tar.gz /x\n\
            HEALTHCHECK CMD true\nUSER dev\nRUN [\"a\", \"b\"]\n";
        assert_eq!(judged(text).unwrap(), ["node:22-bookworm", "debian:bookworm", "ghcr.io/acme/tool:1"]);
    }

    #[test]
    fn what_a_builder_does_outside_of_a_container_is_refused() {
        for bad in [
            "FROM a:1\nRUN --mount=type=cache,id=../../x,target=/m cat /m/f",
            "FROM a:1\nRUN \\\n  --mount=type=cache,id=../x,target=/m id",
            "FROM a:1\nrun --MOUNT=type=bind,target=/m id",
            "FROM a:1\nRUN --network=host id",
            "FROM a:1\nRUN --security=insecure id",
            "FROM a:1\nADD http://127.0.0.1:1/x /x",
            "FROM a:1\nADD --checksum=sha256:1 https://x/y /x",
            "FROM a:1\nADD git@github.com:a/b.git /x",
            "FROM a:1\nARG U=http://x\nADD $U /x",
            "FROM oci-archive:/tmp/x.tar",
            "FROM oci:/tmp/x",
            "FROM dir:/tmp/x",
            "FROM docker-archive:/x.tar",
            "FROM /tmp/x",
            "FROM ./x",
            "ARG B=oci-archive:/x\nFROM $B",
            "ARG EVIL\nFROM ${EVIL}",
            "FROM ${A:+x}",
            "FROM a:1\nCOPY --from=oci-archive:/x.tar /etc/passwd /l",
            "FROM a:1\nCOPY --from=$X /a /b",
            "FROM a:1\nONBUILD RUN --mount=type=cache,target=/m id",
            "FROM a:1\nINCLUDE x",
            "FROM a:1 AS b c",
            "RUN id",
            "",
        ] {
            assert!(judged(bad).is_err(), "{bad}");
        }
    }
}
