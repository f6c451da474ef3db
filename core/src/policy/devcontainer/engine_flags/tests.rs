use super::{Arity, Engines, Treatment, table::FLAGS};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

/// Flags of podman 4.4 to 5.6 that the measured 4.3 does not know yet, and old names that it turns into others.
const BEYOND: &[&str] = &[
    "override-arch",
    "override-os",
    "override-variant",
    "retry",
    "retry-delay",
    "health-startup-cmd",
    "health-startup-interval",
    "health-startup-retries",
    "health-startup-success",
    "health-startup-timeout",
    "health-max-log-count",
    "health-max-log-size",
    "healthcheck-command",
    "healthcheck-interval",
    "healthcheck-retries",
    "healthcheck-start-period",
    "healthcheck-timeout",
    "no-hostname",
    "hosts-file",
    "health-log-destination",
    "intel-rdt-closid",
    "shm-size-systemd",
    "imagestore",
    "transient-store",
    "group-entry",
    "preserve-fd",
    "cert-dir",
    "creds",
    "decryption-key",
    "signature-policy",
    "cdi-spec-dir",
    "db-backend",
    "network-backend",
    // podman's since 5.0; docker's is measured.
    "gpus",
];

/// One row of the measured catalogue: engine, long, short, whether it takes a value, class.
fn measured() -> Vec<(String, String, Option<u8>, bool, String)> {
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let short = columns[2].strip_prefix('-').and_then(|letter| letter.bytes().next());
        (columns[0].into(), columns[1].replacen("--", "", 1), short, columns[3] == "1", columns[4].into())
    };
    include_str!("../../../../../tests/golden/run-flags.tsv").lines().skip(1).map(row).collect()
}

#[test]
fn no_measured_flag_is_forgotten_and_each_takes_what_it_was_measured_to_take() {
    let rows = measured();
    assert!(rows.len() > 250);
    for (engine, long, short, takes_value, _) in &rows {
        let flag = super::by_name(long).unwrap_or_else(|| panic!("--{long} is missing"));
        assert_eq!(flag.arity == Arity::Value, *takes_value, "--{long} of {engine}");
        assert_eq!(flag.short, *short, "--{long} of {engine}");
        assert!(
            crate::words::EngineKind::parse(engine).is_some_and(|e| flag.is_known_to(e)),
            "{engine} --{long}"
        );
    }
    for flag in FLAGS.iter().filter(|flag| !BEYOND.contains(&flag.long)) {
        let engines: BTreeSet<&str> =
            rows.iter().filter(|row| row.1 == flag.long).map(|row| row.0.as_str()).collect();
        let told: &[&str] = match flag.engines {
            Engines::Both => &["docker", "podman"],
            Engines::Docker => &["docker"],
            Engines::Podman => &["podman"],
        };
        assert_eq!(engines, told.iter().copied().collect(), "--{}", flag.long);
    }
}

#[test]
fn what_the_catalogue_denies_is_never_simply_given() {
    for (_, long, _, _, class) in measured() {
        let treatment = super::by_name(&long).unwrap().treatment;
        assert!(treatment != Treatment::Given || class == "SAFE-ALLOW", "--{long}");
    }
}

#[test]
fn names_and_letters_are_unique_and_reasons_are_clauses() {
    let names: BTreeSet<&str> = FLAGS.iter().map(|flag| flag.long).collect();
    assert_eq!(names.len(), FLAGS.len());
    let letters: Vec<u8> = FLAGS.iter().filter_map(|flag| flag.short).collect();
    assert_eq!(letters.iter().collect::<BTreeSet<_>>().len(), letters.len());
    for flag in FLAGS {
        if let Treatment::Ignored(why) | Treatment::Never(why, _) = flag.treatment {
            let clause = format!("{}: {why}", flag.long);
            assert!(!why.ends_with('.') && why.len() > 10, "{clause}");
            assert!(why.starts_with(|c: char| c.is_ascii_lowercase()) || why.starts_with("Orca"), "{clause}");
        }
        if let Treatment::Never(_, Some(standard)) = flag.treatment {
            assert!(standard.starts_with("CIS Docker 5."), "{}", flag.long);
        }
    }
}
