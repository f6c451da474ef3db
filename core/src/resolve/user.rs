//! The user of the container: a person's, else the image's, else 1000:1000; never root (design 7).

use super::options::Resolved;
use crate::{
    diagnostic::{Code, Findings},
    input::PlanRequest,
    limits,
    parse::metadata_label,
    policy::orca_env::FALLBACK_HOME,
    source::{Source, Sources},
    text::{is_deceptive, quoted},
    words::Origin,
};
use alloc::{format, string::String};

/// uid and gid where nothing better is known: what most images call their first user.
pub const DEFAULT_USER_ID: u32 = 1000;

/// Largest id a person may ask for; above it ids are negative to some tools.
const LARGEST_ID: u32 = 0x7fff_ffff;

/// A numeric, non-root user.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedUser {
    /// 1 to 2^31-1.
    pub(crate) uid: u32,
    /// 1 to 2^31-1: group root owns too much in images.
    pub(crate) gid: u32,
    /// Where it comes from.
    pub(crate) source: Source,
    /// Whether the image was not looked at yet.
    pub(crate) assumed: bool,
    /// HOME of ours, where the user has no home of its own in the image.
    pub(crate) home: Option<&'static str>,
}

/// Resolves the user; a root user of a person is a refusal, one of the repository or the image is not used.
pub(super) fn resolve(
    request: &PlanRequest,
    option: Option<&Resolved<String>>,
    of_file: Option<&(String, Source)>,
    findings: &mut Findings,
    sources: &Sources,
) -> ResolvedUser {
    let image = request.image_facts.as_ref();
    if let Some(option) = option {
        let source = sources.get(option.source);
        let (uid, gid) = persons_user(request, &option.value, &source, findings);
        return ResolvedUser { uid, gid, source, assumed: false, home: home_of(request, uid) };
    }
    if let Some(user) = of_file.and_then(|(said, source)| files_user(request, said, source, findings)) {
        return user;
    }
    let source = Source::origin(Origin::Image);
    let Some(image) = image else {
        return ResolvedUser {
            uid: DEFAULT_USER_ID,
            gid: DEFAULT_USER_ID,
            source: Source::origin(Origin::Default),
            assumed: true,
            home: Some(FALLBACK_HOME),
        };
    };
    let by_label = || label_user(request).and_then(|said| looked_up(request, &said, &source));
    match (image.uid, image.gid) {
        (Some(uid @ 1..=LARGEST_ID), Some(gid @ 1..=LARGEST_ID)) => {
            ResolvedUser { uid, gid, source, assumed: false, home: home_of(request, uid) }
        }
        _ if let Some(user) = by_label() => user,
        _ => {
            let message = format!(
                "The image's user {} is root, has group root or could not be resolved; the container runs as {DEFAULT_USER_ID}:{DEFAULT_USER_ID}.",
                quoted(&image.user)
            );
            findings.notice(Code::ImageUserUnresolved, source, message);
            findings.help("Give the image a USER with a non-zero uid and gid, or set \"user\" in settings.");
            ResolvedUser {
                uid: DEFAULT_USER_ID,
                gid: DEFAULT_USER_ID,
                source: Source::origin(Origin::Default),
                assumed: false,
                home: Some(FALLBACK_HOME),
            }
        }
    }
}

/// The user of a devcontainer.json, as the image's own files know it. `None`: the image's user is used.
fn files_user(
    request: &PlanRequest,
    said: &str,
    source: &Source,
    findings: &mut Findings,
) -> Option<ResolvedUser> {
    // Until the image was looked at, what a name means is not known.
    request.image_facts.as_ref()?;
    let user = looked_up(request, said, source);
    if user.is_none() {
        let message = format!(
            "The user {} is root in the image, has group root or is not in it; the image's own user is used.",
            quoted(said)
        );
        findings.notice(Code::ImageUserUnresolved, source.clone(), message);
    }
    user
}

/// A user who was looked up in the image's own files; never root, never in root's group.
fn looked_up(request: &PlanRequest, said: &str, source: &Source) -> Option<ResolvedUser> {
    let user = request.image_facts.as_ref()?.asked_user.as_ref().filter(|user| user.said == said)?;
    let (uid, gid) = (user.uid?, user.gid?);
    let fits = |id: u32| (1..=LARGEST_ID).contains(&id);
    (fits(uid) && fits(gid)).then(|| ResolvedUser {
        uid,
        gid,
        source: source.clone(),
        assumed: false,
        home: home_of(request, uid),
    })
}

/// The user of the image's label `devcontainer.metadata`: images made for devcontainers run as root by themselves.
fn label_user(request: &PlanRequest) -> Option<String> {
    request
        .image_facts
        .as_ref()?
        .labels
        .get(metadata_label::LABEL)
        .and_then(|label| metadata_label::user(label))
}

/// HOME of ours for a uid that has no home of its own in the image.
pub(super) fn home_of(request: &PlanRequest, uid: u32) -> Option<&'static str> {
    let image = request.image_facts.as_ref();
    let asked = image.and_then(|image| image.asked_user.as_ref()).filter(|user| user.uid == Some(uid));
    let home = asked.and_then(|user| user.home.as_deref());
    let of_image = image.filter(|image| image.uid == Some(uid)).and_then(|image| image.home.as_deref());
    let home = home.or(of_image).unwrap_or("");
    if is_own_home(home) { None } else { Some(FALLBACK_HOME) }
}

/// A folder of the image that a person could live in: absolute, tidy, of nobody else.
fn is_own_home(home: &str) -> bool {
    let tidy = home.split('/').skip(1).all(|part| !matches!(part, "" | "." | ".."));
    let first = home.split('/').nth(1).unwrap_or("");
    home.starts_with('/')
        && tidy
        && home.len() <= limits::PATH_BYTES
        && !home.chars().any(is_deceptive)
        && !matches!(first, "root" | "nonexistent" | "proc" | "sys" | "dev")
}

/// `UID`, `UID:GID`, or the image's own user by its name.
fn persons_user(
    request: &PlanRequest,
    written: &str,
    source: &Source,
    findings: &mut Findings,
) -> (u32, u32) {
    let fallback = (DEFAULT_USER_ID, DEFAULT_USER_ID);
    let image = request.image_facts.as_ref();
    let (user, group) = match written.split_once(':') {
        Some((user, group)) => (user, Some(group)),
        None => (written, None),
    };
    let named = image.filter(|image| group.is_none() && !user.is_empty() && image.user == user);
    let uid = number(user).or(named.and_then(|image| image.uid));
    let (Some(uid), false) = (uid, group.is_some_and(|group| number(group).is_none())) else {
        let message = format!(
            "A user is UID, UID:GID or the image's own user by name; {} is none of them.",
            quoted(written)
        );
        findings.refuse(Code::RequestInvalid, source.clone(), message);
        return fallback;
    };
    let image_gid =
        image.filter(|image| image.uid == Some(uid)).and_then(|image| image.gid).filter(|gid| *gid != 0);
    let gid = group.and_then(number).or(image_gid).unwrap_or(uid);
    if uid == 0 || gid == 0 || uid > LARGEST_ID || gid > LARGEST_ID {
        let message =
            "The container's user and group are numbers from 1 to 2147483647; root is never one of them.";
        findings.refuse(Code::UserIsRoot, source.clone(), message);
        return fallback;
    }
    (uid, gid)
}

/// Decimal digits only: no sign, no blank.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
