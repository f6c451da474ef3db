//! How much room is left where an engine keeps its data.
//!
//! An engine whose disk is full takes every workspace on it down, so none is made below a floor (design 7).

use std::path::{Path, PathBuf};

use orca_container_core::{EngineKind, quoted};

use super::detect::Detected;

/// Bytes that must be free: an image and a clone of usual size fit, and the engine still works beside them.
pub const DISK_FLOOR: u64 = 2 << 30;

/// A folder of an engine and what is free there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The folder.
    pub place: PathBuf,
    /// Bytes that are free; `None` where that cannot be measured from here.
    pub free: Option<u64>,
}

/// Too little is free.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "A workspace needs {} free where {engine} keeps its data; {} has {}. Free some, starting from what \"{engine} system df\" shows, or give the engine a larger disk.",
    gibibytes(DISK_FLOOR),
    quoted(&place.to_string_lossy()),
    gibibytes(*free)
)]
pub struct DiskLow {
    /// The engine.
    pub engine: EngineKind,
    /// Where.
    pub place: PathBuf,
    /// Bytes that are free there.
    pub free: u64,
}

/// Bytes free in a folder of this machine for whoever is not root, as `df` tells them.
pub fn free_bytes(place: &Path) -> Option<u64> {
    if !place.is_absolute() {
        return None;
    }
    let system = rustix::fs::statvfs(place).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// The engine's folders with what is free in each; nothing is measured of another machine's.
pub fn spaces(detected: &Detected) -> Vec<Space> {
    let here = detected.is_on_this_machine();
    let measured =
        |place: &PathBuf| Space { place: place.clone(), free: here.then(|| free_bytes(place)).flatten() };
    detected.details.data_places.iter().map(measured).collect()
}

/// An error where a folder has less than the floor. What could not be measured refuses nothing.
pub fn check_floor(engine: EngineKind, spaces: &[Space]) -> Result<(), DiskLow> {
    let measured = spaces.iter().filter_map(|space| Some((space.free?, &space.place)));
    match measured.min() {
        Some((free, place)) if free < DISK_FLOOR => Err(DiskLow { engine, place: place.clone(), free }),
        _ => Ok(()),
    }
}

/// The same of places that were noted when a workspace was made, with so many bytes still to come.
pub fn check_room(engine: EngineKind, places: &[String], to_come: u64) -> Result<(), DiskLow> {
    let after = |place: &String| {
        let place = PathBuf::from(place);
        let free = free_bytes(&place).map(|free| free.saturating_sub(to_come));
        Space { place, free }
    };
    check_floor(engine, &places.iter().map(after).collect::<Vec<_>>())
}

/// "2.0 GiB", rounded down; "15.9 MiB" where there is less than one.
pub fn gibibytes(bytes: u64) -> String {
    let (unit, name) = if bytes >= 1 << 30 { (1_u64 << 30, "GiB") } else { (1 << 20, "MiB") };
    let tenths = bytes.saturating_mul(10).checked_div(unit).unwrap_or(0);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(place: &str, free: Option<u64>) -> Space {
        Space { place: place.into(), free }
    }

    #[test]
    fn the_floor_counts_in_each_folder_and_is_inclusive() {
        let check = |spaces: &[Space]| check_floor(EngineKind::Docker, spaces);
        assert_eq!(check(&[space("/a", Some(DISK_FLOOR))]), Ok(()));
        let low = check(&[space("/a", Some(u64::MAX)), space("/b", Some(DISK_FLOOR - 1))]).unwrap_err();
        assert_eq!((low.place.to_str(), low.free), (Some("/b"), DISK_FLOOR - 1));
    }

    #[test]
    fn what_cannot_be_measured_refuses_nothing() {
        assert_eq!(check_floor(EngineKind::Podman, &[]), Ok(()));
        assert_eq!(check_floor(EngineKind::Podman, &[space("/a", None)]), Ok(()));
        assert_eq!(free_bytes(Path::new("/nowhere/at/all")), None);
        assert_eq!(free_bytes(Path::new("tmp")), None);
        assert!(free_bytes(Path::new("/")).is_some());
    }

    #[test]
    fn the_error_names_the_place_what_is_free_and_what_to_do() {
        let low = DiskLow { engine: EngineKind::Docker, place: "/data\u{1b}".into(), free: 16_700_000 };
        let text = low.to_string();
        for part in ["2.0 GiB", "\"/data\\u{1b}\"", "15.9 MiB", "docker system df"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
