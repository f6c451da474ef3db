//! The image: a reference, or the word for that of devcontainer.json.

use super::{Resolved, Scene, Verdict, Word};
use crate::{
    diagnostic::{Code, Findings, Severity},
    parse::image_reference::ImageReference,
    policy::{
        approval::{Desk, Subject, build_binding},
        maximum,
    },
    resolve::devcontainer::wanted::{Build, image_question},
    source::Source,
    words::{Origin, Said},
};
use alloc::string::String;

/// The image that won.
pub(super) struct Winner {
    /// The image.
    pub(super) image: Option<Resolved<ImageReference>>,
    /// Whether devcontainer.json counts: its own image won, or its turn came and it names none.
    pub(super) file_counts: bool,
}

/// The image. What the file names is the repository's word, whoever said "devcontainer".
pub(super) fn image(scene: &mut Scene<'_, '_>) -> Winner {
    let block = scene.block.and_then(|block| block.image.as_ref());
    let words = scene.words("image", |o| o.image.clone(), block);
    let refusals = |findings: &Findings| findings.iter().filter(|f| f.severity == Severity::Refused).count();
    let before = refusals(scene.findings);
    let mut file_counts = false;
    let picked =
        scene.pick(words, read_image, |scene, word, said| judge_image(scene, word, said, &mut file_counts));
    if picked.is_none() && refusals(scene.findings) == before {
        image_required(scene);
    }
    let image = picked.map(|picked| {
        let Resolved { value: (value, of_file), source, said, shadowed } = picked;
        match of_file {
            Some(file) => {
                Resolved { value, source: scene.sources.add(file), said: Said::Repository, shadowed }
            }
            None => Resolved { value, source, said, shadowed },
        }
    });
    Winner { image, file_counts }
}

/// The word on an image that stands for the one of devcontainer.json.
pub(in crate::resolve) const DEVCONTAINER: &str = "devcontainer";

/// Nothing of a repository is pulled or built before a person approved it.
pub(super) fn ask(winner: &Winner, scene: &Scene<'_, '_>, desk: &mut Desk<'_>) {
    let Some(image) = winner.image.as_ref().filter(|image| image.said == Said::Repository) else { return };
    let source = scene.sources.get(image.source);
    match build_of(winner, scene) {
        // What is not known cannot be approved; the plan says that it needs the Dockerfile.
        Some(build) if build.plan.dockerfile_digest.is_none() => {}
        Some(build) => {
            desk.ask(&Subject::Build { build: &build.plan }, source, build.question());
        }
        None => {
            let subject = Subject::Image { reference: image.value.as_str() };
            desk.ask(&subject, source, image_question(&image.value));
        }
    }
}

/// What every approval is bound to.
pub(super) fn binding(winner: &Winner, scene: &Scene<'_, '_>) -> Option<(String, Said)> {
    match build_of(winner, scene) {
        Some(build) => Some((build_binding(&build.plan), Said::Repository)),
        None => winner.image.as_ref().map(|image| (image.value.as_str().into(), image.said)),
    }
}

/// The file's build, where it is what the image comes of: a file that counts and names an image has won.
fn build_of<'a>(winner: &Winner, scene: &Scene<'a, '_>) -> Option<&'a Build> {
    scene.devcontainer.filter(|_| winner.file_counts)?.build.as_ref()
}

fn image_required(scene: &mut Scene<'_, '_>) {
    let message =
        "A container needs an image with sh, tar and git; no setting, choice or orca.yaml names one.";
    scene.findings.refuse(Code::ImageRequired, Source::origin(Origin::Default), message);
    scene.findings.help(
        "Build one from a Dockerfile with sh, tar, git and a non-root USER (\"docker build -t orca-base:1 .\"), then name \
         it with --container-image orca-base:1 or as \"image\" in settings.",
    );
}

/// `None` stands for the word `devcontainer`.
fn read_image(text: &str) -> Result<Option<ImageReference>, (Code, String)> {
    if text == DEVCONTAINER {
        return Ok(None);
    }
    ImageReference::parse(text).map(Some).map_err(|message| (Code::ImageReferenceInvalid, message))
}

/// The image, and the place in the file where it stands there.
type Chosen = (ImageReference, Option<Source>);

fn judge_image(
    scene: &mut Scene<'_, '_>,
    word: &Word,
    reference: Option<ImageReference>,
    file_counts: &mut bool,
) -> Verdict<Chosen> {
    let Some(reference) = reference else { return judge_file(scene, word, file_counts) };
    if !maximum::image_is_within(scene.request, &reference) {
        scene.beyond_maximum(word, "image");
        return Verdict::Next;
    }
    Verdict::Use((reference, None))
}

/// The turn of devcontainer.json.
fn judge_file(scene: &mut Scene<'_, '_>, word: &Word, file_counts: &mut bool) -> Verdict<Chosen> {
    let Some(file) = scene.devcontainer else {
        // What is wrong with one that is there was found when it was read, and counts.
        *file_counts = true;
        if scene.request.devcontainer.is_none() && scene.request.devcontainer_candidates.is_empty() {
            let message = "The image is that of devcontainer.json, and the repository has none.";
            scene.findings.refuse(Code::DevcontainerMissing, word.source.clone(), message);
            scene.findings.help("Name an image, or commit a .devcontainer/devcontainer.json.");
        }
        return Verdict::Next;
    };
    let Some((reference, source)) = file.image.clone() else {
        // A weaker word names the image; the rest of the file counts.
        *file_counts = true;
        return Verdict::Next;
    };
    let within = match &file.build {
        Some(_) => maximum::builds_are_within(scene.request),
        None => maximum::image_is_within(scene.request, &reference),
    };
    if !within {
        scene.beyond_maximum(word, "image");
        return Verdict::Next;
    }
    *file_counts = true;
    Verdict::Use((reference, Some(source)))
}
