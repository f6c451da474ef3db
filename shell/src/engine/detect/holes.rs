//! Known holes, by version.

/// Holes of runc that let a container's process out, by upstream version. A distribution may have mended its own.
pub(super) fn runc_holes(version: &str) -> Vec<String> {
    let numbers: Vec<u32> = version
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()
        .unwrap_or("")
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect();
    let [major, minor, patch] = numbers.as_slice() else { return Vec::new() };
    let at = (*major, *minor, *patch);
    let holes = [
        ("CVE-2024-21626 (runc before 1.1.12)", at < (1, 1, 12)),
        (
            "CVE-2025-31133 (runc before 1.2.8 and 1.3.3)",
            at < (1, 2, 8) || ((1, 3, 0)..(1, 3, 3)).contains(&at),
        ),
    ];
    holes.into_iter().filter(|(_, open)| *open).map(|(hole, _)| hole.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_known_by_version() {
        assert_eq!(runc_holes("1.1.5+ds1").len(), 2);
        assert_eq!(runc_holes("1.3.2").len(), 1);
        for whole in ["1.2.8", "1.2.9", "1.3.3", "1.4.0"] {
            assert_eq!(runc_holes(whole), Vec::<String>::new(), "{whole}");
        }
        assert_eq!(runc_holes("something"), Vec::<String>::new());
    }
}
