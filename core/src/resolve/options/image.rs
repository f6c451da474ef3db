//! The image: a reference, or the word for that of devcontainer.json.

use super::{Resolved, Scene, Verdict, Word};
use crate::{
    diagnostic::{Code, Findings, Severity},
    parse::image_reference::ImageReference,
    policy::{
        approval::{Desk, Subject},
        maximum,
    },
    resolve::devcontainer::image_ask_message,
    source::{Source, Sources},
    words::{Origin, Said},
};
use alloc::string::String;

/// The image, and whether devcontainer.json is asked for by the strongest word.
pub(super) fn image(scene: &mut Scene<'_, '_>) -> (Option<Resolved<ImageReference>>, bool) {
    let block = scene.block.and_then(|block| block.image.as_ref());
    let words = scene.words("image", |o| o.image.clone(), block);
    let refusals = |findings: &Findings| findings.iter().filter(|f| f.severity == Severity::Refused).count();
    let before = refusals(scene.findings);
    let by_file = words.first().is_some_and(|word| word.text == DEVCONTAINER);
    let mut picked = scene.pick(words, read_image, judge_image);
    if let (true, Some(picked), Some((_, source))) = (by_file, &mut picked, file_image(scene)) {
        // Whoever said "devcontainer", what the file names is the repository's word.
        picked.said = Said::Repository;
        picked.source = scene.sources.add(source);
    }
    if picked.is_none() && refusals(scene.findings) == before {
        image_required(scene);
    }
    (picked, by_file)
}

/// The word on an image that stands for the one of devcontainer.json.
pub(in crate::resolve) const DEVCONTAINER: &str = "devcontainer";

fn file_image(scene: &Scene<'_, '_>) -> Option<(ImageReference, Source)> {
    scene.devcontainer.and_then(|wanted| wanted.image.clone())
}

/// Nothing of a repository is pulled before a person approved it.
pub(super) fn ask_image(image: &Resolved<ImageReference>, sources: &Sources, desk: &mut Desk<'_>) {
    if image.said == Said::Repository {
        let subject = Subject::Image { reference: image.value.as_str() };
        desk.ask(&subject, sources.get(image.source), image_ask_message(&image.value));
    }
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

fn judge_image(
    scene: &mut Scene<'_, '_>,
    word: &Word,
    reference: Option<ImageReference>,
) -> Verdict<ImageReference> {
    let Some(reference) = reference.or_else(|| file_image(scene).map(|(image, _)| image)) else {
        // The file names no image (a weaker word may), or is none (said already).
        if scene.request.devcontainer.is_none() && scene.request.devcontainer_candidates.is_empty() {
            let message = "The image is that of devcontainer.json, and the repository has none.";
            scene.findings.refuse(Code::DevcontainerMissing, word.source.clone(), message);
            scene.findings.help("Name an image, or commit a .devcontainer/devcontainer.json.");
        }
        return Verdict::Next;
    };
    let is_build =
        scene.devcontainer.is_some_and(|wanted| wanted.build.is_some()) && word.text == DEVCONTAINER;
    let within = if is_build {
        maximum::builds_are_within(scene.request)
    } else {
        maximum::image_is_within(scene.request, &reference)
    };
    if !within {
        scene.beyond_maximum(word, "image");
        return Verdict::Next;
    }
    Verdict::Use(reference)
}
