//! `sweep` removes what a record of this installation names and nobody uses, and nothing of anybody else.

use crate::bench::{Bench, build_image, files_below, image};
use serde_json::Value;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

/// Makes all records an hour old.
fn age(bench: &Bench) {
    for file in files_below(&bench.path("state/orca-container/records")) {
        let times = SystemTime::now().checked_sub(Duration::from_secs(3600)).unwrap();
        File::options().write(true).open(file).unwrap().set_modified(times).unwrap();
    }
}

/// Names and fates.
fn fates(bench: &Bench, args: &[&str]) -> Vec<String> {
    let ran = bench.run(&[&["sweep", "--json"], args].concat());
    let all: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    all.iter()
        .map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["fate"].as_str().unwrap()))
        .collect()
}

fn second(bench: &Bench) {
    bench.git(&["worktree", "add", "-q", "-b", "second", bench.path("second").to_str().unwrap()]);
    bench.create_from("second", &image(bench.engine), &[]).ok();
}

fn remove_worktree(bench: &Bench) {
    bench.git(&["worktree", "remove", "--force", bench.path("second").to_str().unwrap()]);
    bench.git(&["branch", "-D", "second"]);
}

/// A workspace whose worktree is gone goes, once it is old enough and holds no work; a dry run tells the same list.
pub fn orphans(bench: &mut Bench) {
    bench.create(&[]).ok();
    second(bench);
    let bench = &*bench;
    age(bench);
    assert_eq!(fates(bench, &[]), Vec::<String>::new(), "both are in use");
    let said = bench.run(&["exec", "second", "--", "sh", "-c", "echo work > work"]).ok();
    assert!(said.stdout.is_empty());
    remove_worktree(bench);
    for file in files_below(&bench.path("state/orca-container/records")) {
        File::options().write(true).open(file).unwrap().set_modified(SystemTime::now()).unwrap();
    }
    assert_eq!(fates(bench, &[]), Vec::<String>::new(), "too young");
    age(bench);
    assert_eq!(fates(bench, &["--dry-run"]), ["second remove"]);
    let kept = bench.run(&["sweep"]).code(1);
    assert!(kept.stdout.contains("1 changed file"), "{}", kept.stdout);
    bench.run(&["exec", "second", "--", "rm", "work"]).ok();
    // A drive that is not there proves nothing.
    let away = bench.path("away");
    fs::rename(bench.repository().join(".git"), &away).unwrap();
    assert_eq!(fates(bench, &["--force"]), ["second unverifiable"]);
    fs::rename(&away, bench.repository().join(".git")).unwrap();
    age(bench);
    assert_eq!(fates(bench, &["--dry-run"]), ["second remove"]);
    assert_eq!(fates(bench, &[]), ["second removed"]);
    assert_eq!(fates(bench, &[]), Vec::<String>::new());
    assert_eq!(bench.status()["status"], "running");
    bench.run(&["rm", "acme"]).ok();
    bench.nothing_is_left();
}

/// Work goes with it only where a person says so; a clock that jumped back keeps everything.
pub fn forced(bench: &mut Bench) {
    second(bench);
    bench.run(&["exec", "second", "--", "sh", "-c", "echo work > work"]).ok();
    remove_worktree(bench);
    let future = SystemTime::now().checked_add(Duration::from_secs(86_400)).unwrap();
    for file in files_below(&bench.path("state/orca-container/records")) {
        File::options().write(true).open(file).unwrap().set_modified(future).unwrap();
    }
    assert_eq!(fates(bench, &["--force"]), Vec::<String>::new());
    age(bench);
    assert_eq!(fates(bench, &["--force"]), ["second removed"]);
    bench.nothing_is_left();
}

/// Two installations on one engine, a copied install id, copied labels, an image that brings ours, names that begin alike:
/// all of them stay.
pub fn strangers(bench: &mut Bench) {
    second(bench);
    let bench = &*bench;
    let record: Value = serde_json::from_slice(
        &fs::read(&files_below(&bench.path("state/orca-container/records"))[0]).unwrap(),
    )
    .unwrap();
    let name = record["plan"]["names"]["container"].as_str().unwrap().to_owned();
    let labels = record["plan"]["labels"].as_object().unwrap().clone();
    let install = labels["orca.install"].as_str().unwrap().to_owned();
    let flags: Vec<String> =
        labels.iter().map(|(label, value)| format!("--label={label}={}", value.as_str().unwrap())).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();

    // Another installation with a workspace of its own, and one that has a copy of this one's id.
    let other = Bench::new(bench.engine);
    other.create(&[]).ok();
    let copied = Bench::new(bench.engine);
    fs::create_dir_all(copied.path("state/orca-container")).unwrap();
    let of = |world: &Bench, name: &str| world.path(&format!("state/orca-container/{name}"));
    fs::copy(of(bench, "install"), of(&copied, "install")).unwrap();
    let private = |path: &std::path::Path, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    private(&of(&copied, "install"), 0o600);
    private(&copied.path("state/orca-container"), 0o700);
    let told = fates(&copied, &["--force"]);
    assert!(!told.is_empty() && told.iter().all(|line| line.ends_with(" unverifiable")), "{told:?}");

    // A person's own container with our labels, one from an image that brings them, and volumes that begin alike.
    let image_name = image(bench.engine);
    let like = build_image(bench.engine, "full", &format!("LABEL orca.install={install}"));
    let mut own = Vec::new();
    let longer = format!("{name}x");
    for (named, words) in [
        (
            "a-person",
            [&["create", "--name=a-person-orca-test"][..], &flags, &["--", &image_name, "sleep", "1"]]
                .concat(),
        ),
        ("longer", [&["create", "--name", &longer][..], &flags, &["--", &image_name, "sleep", "1"]].concat()),
        ("image", ["create", "--name=from-image-orca-test", "--", &like, "sleep", "1"].to_vec()),
    ] {
        let id = bench.client(&words).ok().stdout.trim().to_owned();
        own.push((named, id));
    }
    let volume = format!("{name}-agentx");
    bench.client(&[&["volume", "create"][..], &flags, &["--", &volume]].concat()).ok();

    remove_worktree(bench);
    age(bench);
    let told = fates(bench, &[]);
    assert!(told.contains(&"second removed".to_owned()), "{told:?}");
    assert_eq!(told.iter().filter(|line| line.ends_with(" unverifiable")).count(), 4, "{told:?}");
    for (named, id) in &own {
        bench.client(&["container", "inspect", id]).ok();
        assert!(!id.is_empty(), "{named}");
    }
    bench.client(&["volume", "inspect", &volume]).ok();
    assert_eq!(other.status()["status"], "running");
    for (_, id) in &own {
        bench.client(&["rm", "-f", "-v", id]).ok();
    }
    bench.client(&["volume", "rm", &volume]).ok();
    bench.client(&["image", "rm", "-f", &like]).ok();
    other.run(&["rm", "acme"]).ok();
    other.nothing_is_left();
    bench.nothing_is_left();
}

/// A store that cannot be read names nothing, so nothing is removed.
pub fn broken_store(bench: &mut Bench) {
    second(bench);
    remove_worktree(bench);
    let file = files_below(&bench.path("state/orca-container/records")).remove(0);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, "{ not json").unwrap();
    let before = bench.left_on_engine();
    for args in [&["sweep"][..], &["sweep", "--force"], &["sweep", "--dry-run"]] {
        let ran = bench.run(args).code(1);
        assert!(ran.stderr.contains("nothing was touched"), "{}", ran.stderr);
        assert_eq!(bench.left_on_engine(), before);
    }
    fs::write(&file, whole).unwrap();
    age(bench);
    assert_eq!(fates(bench, &[]), ["second removed"]);
    bench.nothing_is_left();
}
