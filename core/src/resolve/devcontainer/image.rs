//! The image of a devcontainer.json, or its build: exactly one of them.

use super::{Scene, wanted::image_question};
use crate::{
    diagnostic::{Code, Severity},
    parse::{
        image_reference::ImageReference,
        jsonc::{Node, Value},
    },
    policy::{approval::Subject, devcontainer::substitution},
    source::Position,
};
use alloc::vec::Vec;

impl Scene<'_, '_> {
    pub(super) fn image_or_build(&mut self) {
        let document = self.document;
        let named =
            |names: &[&str]| names.iter().find_map(|name| document.get(name).map(|node| (node.at, node)));
        let image = named(&["image"]);
        let build = named(&["build", "dockerFile"]);
        let compose = named(&["dockerComposeFile"]);
        let variants: Vec<Position> =
            [image, build, compose].into_iter().flatten().map(|(at, _)| at).collect();
        if let [_, second, ..] = variants.as_slice() {
            let message = "A devcontainer.json has an image, a build or a compose file; this one has several, and readers disagree about which one counts.";
            self.tell(Severity::Refused, Code::DevcontainerVariants, *second, "", message.into(), None);
            return;
        }
        if let (Some(_), Some((at, _))) = (named(&["build"]), named(&["dockerFile"])) {
            let message =
                "A build is named by \"build\" or by its older name \"dockerFile\"; this file has both.";
            self.tell(Severity::Refused, Code::DevcontainerVariants, at, "dockerFile", message.into(), None);
            return;
        }
        match (image, build, compose) {
            (Some((_, node)), ..) => self.image(node),
            (_, Some(_), _) => self.build(),
            (_, _, Some(_)) => {}
            (None, None, None) => {
                let message =
                    "It names no image and no build; the image of settings or orca.yaml is used with it.";
                self.tell(
                    Severity::Notice,
                    Code::DevcontainerKeyIgnored,
                    Position::START,
                    "",
                    message.into(),
                    None,
                );
            }
        }
    }

    /// Asked for where the options are resolved; told here, where the file is judged by itself.
    pub(super) fn ask_image_or_build(&mut self) {
        if let Some(build) = self.wanted.build.clone() {
            let subject = Subject::Build { build: &build.plan };
            self.ask(&subject, build.source.position(), "build.dockerfile", build.question());
        } else if let Some((image, source)) = self.wanted.image.clone() {
            let subject = Subject::Image { reference: image.as_str() };
            self.ask(&subject, source.position(), "image", image_question(&image));
        }
    }

    fn image(&mut self, node: &Node) {
        let Value::Text(written) = &node.value else { return };
        let resolved = match substitution::text(written, self.places()) {
            Ok(resolved) => resolved,
            Err(why) => return self.unresolved(node.at, "image", why),
        };
        match ImageReference::parse(&resolved) {
            Ok(image) => self.wanted.image = Some((image, self.document.source(node.at, "image"))),
            Err(message) => {
                self.tell(Severity::Refused, Code::ImageReferenceInvalid, node.at, "image", message, None);
            }
        }
    }
}
