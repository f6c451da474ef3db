//! Which devcontainer.json is meant: the specification's three places in their order, in a folder or in a commit.
//!
//! First `.devcontainer/devcontainer.json`, then `.devcontainer.json`, then `.devcontainer/NAME/devcontainer.json`, where
//! several are no choice of ours: a person names one, or they are all listed. A file that is there and cannot be read is an
//! error, never a reason to take the next.

use data_encoding::HEXLOWER;
use orca_container_core::dockerfile_path;
use orca_container_core::input::{DockerfileFact, PlanRequest};
use sha2::{Digest, Sha256};

/// The places that come before a choice.
const FIRST: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/// Folders under `.devcontainer` that are looked into; no repository has as many.
const MOST: usize = 64;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The file that is meant: its path and text.
    pub(crate) file: Option<(String, String)>,
    /// The paths among which a person chooses.
    pub(crate) candidates: Vec<String>,
}

/// Looks in a tree, of which `text` gives a file's text and `folders` the folders in `.devcontainer`. `chosen` is the
/// path that a person named; it must be one of the three places.
pub(crate) fn find<E>(
    chosen: Option<&str>,
    text: impl Fn(&str) -> Result<Option<String>, E>,
    folders: impl Fn() -> Result<Vec<String>, E>,
) -> Result<Found, E> {
    let read = |path: &str| Ok(text(path)?.map(|text| (path.to_owned(), text)));
    if let Some(path) = chosen {
        return Ok(Found { file: if is_place(path) { read(path)? } else { None }, candidates: Vec::new() });
    }
    for path in FIRST {
        if let Some(file) = read(path)? {
            return Ok(Found { file: Some(file), candidates: Vec::new() });
        }
    }
    let mut names = folders()?;
    names.sort();
    // Behind the last folder that is looked into may be another file.
    let cut = names.len() > MOST;
    let mut files = Vec::new();
    for name in names.into_iter().take(MOST) {
        files.extend(read(&format!(".devcontainer/{name}/devcontainer.json"))?);
    }
    if files.len() > 1 || cut {
        return Ok(Found { file: None, candidates: files.into_iter().map(|(path, _)| path).collect() });
    }
    Ok(Found { file: files.pop(), candidates: Vec::new() })
}

/// Puts the digest of the Dockerfile that the request's file builds from into the request, of which `text` gives a file's
/// text; gives the path of one that is not there.
pub(crate) fn missing_dockerfile<E>(
    request: &mut PlanRequest,
    text: impl Fn(&str) -> Result<Option<String>, E>,
) -> Result<Option<String>, E> {
    let Some(path) = dockerfile_path(request) else { return Ok(None) };
    let Some(text) = text(&path)? else { return Ok(Some(path)) };
    let digest = HEXLOWER.encode(&Sha256::digest(text.as_bytes()));
    if let Some(file) = &mut request.devcontainer {
        file.dockerfile = Some(DockerfileFact { path, digest, text: Some(text.into()) });
    }
    Ok(None)
}

/// Whether a path is one of the three places.
fn is_place(path: &str) -> bool {
    let plain = |name: &str| !matches!(name, "" | "." | "..");
    match path.split('/').collect::<Vec<_>>().as_slice() {
        [".devcontainer", name, "devcontainer.json"] => plain(name),
        _ => FIRST.contains(&path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks among these paths; each file's text is its path.
    fn found(paths: &[&str], chosen: Option<&str>) -> Found {
        let text = |path: &str| Ok::<_, ()>(paths.contains(&path).then(|| path.to_owned()));
        let folders = || {
            let inner = paths.iter().filter_map(|path| path.strip_prefix(".devcontainer/")?.split_once('/'));
            Ok(inner.map(|(name, _)| name.to_owned()).collect())
        };
        find(chosen, text, folders).unwrap()
    }

    fn path(found: Found) -> Option<String> {
        found.file.map(|(path, _)| path)
    }

    #[test]
    fn the_places_have_an_order() {
        let (first, second, third) =
            (".devcontainer/devcontainer.json", ".devcontainer.json", ".devcontainer/web/devcontainer.json");
        assert_eq!(path(found(&[third, second, first], None)).as_deref(), Some(first));
        assert_eq!(path(found(&[third, second], None)).as_deref(), Some(second));
        assert_eq!(path(found(&[third], None)).as_deref(), Some(third));
        assert_eq!(found(&[], None), Found::default());
    }

    #[test]
    fn several_are_listed_in_order_and_a_person_chooses() {
        let several = [".devcontainer/web/devcontainer.json", ".devcontainer/api/devcontainer.json"];
        let listed = found(&several, None);
        assert_eq!(listed.file, None);
        assert_eq!(listed.candidates, [several[1], several[0]]);
        assert_eq!(path(found(&several, Some(several[0]))).as_deref(), Some(several[0]));
    }

    #[test]
    fn only_the_three_places_can_be_chosen() {
        let all = [
            "x/devcontainer.json",
            ".devcontainer/a/b/devcontainer.json",
            "../.devcontainer.json",
            ".devcontainer/../devcontainer.json",
        ];
        for place in all {
            assert_eq!(found(&all, Some(place)), Found::default(), "{place}");
        }
    }
}
