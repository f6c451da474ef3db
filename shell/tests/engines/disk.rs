//! A disk that is almost full: a tmpfs of 16 MiB in the test's own folder, never the machine's disk.

use crate::bench::{Bench, files_below};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mounted tmpfs; unmounted with the test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: &Path) -> Option<Self> {
        fs::create_dir(folder).ok()?;
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs"])
            .arg(folder)
            .stderr(Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then(|| Self(folder.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Whether this machine lets us mount one.
pub fn can_mount() -> bool {
    let folder = tempfile::tempdir().unwrap();
    SmallDisk::mount(&folder.path().join("small")).is_some()
}

/// The engine's own client, but for where it says that it keeps its data. Each call is written down.
fn pretend(bench: &mut Bench, place: &Path) {
    let folder = bench.path("bin");
    fs::create_dir(&folder).unwrap();
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(bench.engine))
        .find(|path| path.exists())
        .unwrap();
    let key = if bench.engine == "docker" { "DockerRootDir" } else { "graphRoot" };
    let script = format!(
        "#!/bin/sh\necho \"$*\" >>\"{log}\"\ncase $1 in\ninfo) {real} \"$@\" | sed 's#\"{key}\": *\"[^\"]*\"#\"{key}\": \"{place}\"#' ;;\n*) exec {real} \"$@\" ;;\nesac\n",
        log = bench.path("calls").display(),
        real = real.display(),
        place = place.display(),
    );
    let program = folder.join(bench.engine);
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    bench.env.insert("PATH".into(), format!("{}:{}", folder.display(), bench.env["PATH"]));
}

pub fn create_is_refused(bench: &mut Bench) {
    crate::bench::image(bench.engine);
    let place = bench.path("small");
    let disk = SmallDisk::mount(&place).unwrap();
    pretend(bench, &place);
    let refused = bench.create(&[]).code(1);
    for part in [place.to_str().unwrap(), "16.0 MiB", "2.0 GiB", &format!("{} system df", bench.engine)] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    let calls = fs::read_to_string(bench.path("calls")).unwrap();
    let makes = |call: &str| call.split(' ').any(|word| matches!(word, "create" | "pull" | "run" | "cp"));
    assert!(!calls.lines().any(makes), "{calls}");
    bench.nothing_is_left();

    let doctor = bench.run(&["doctor", "--json", "--engine", bench.engine]).code(1);
    assert!(
        doctor.stdout.contains("\"disk_low\"") && doctor.stdout.contains("16.0 MiB"),
        "{}",
        doctor.stdout
    );

    // The same engine with the same client, once there is room: it was the disk and nothing else.
    drop(disk);
    bench.create(&[]).ok();
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn launch_warns(bench: &mut Bench) {
    bench.create(&[]).ok();
    let quiet = bench.exec(&["cat", "readme"]).ok();
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("hello again\n", ""));
    let place = bench.path("small");
    let disk = SmallDisk::mount(&place).unwrap();
    let file = files_below(&bench.path("state/orca-container/records")).remove(0);
    let mut record: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(!record["engine"]["dataPlaces"].as_array().unwrap().is_empty(), "{record}");
    record["engine"]["dataPlaces"] = json!([place]);
    fs::write(&file, record.to_string()).unwrap();
    let warned = bench.exec(&["cat", "readme"]).ok();
    assert_eq!(warned.stdout, "hello again\n");
    assert!(
        warned.stderr.starts_with("warning: ") && warned.stderr.contains("16.0 MiB"),
        "{}",
        warned.stderr
    );
    drop(disk);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}
