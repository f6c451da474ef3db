//! Ignored files on their way into a container: what is read, what is left out, what arrives.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use orca_container::copy::{Budget, Collected, CopyReport, Reason, collect, write_archive};
use orca_container_core::{RepositoryPath, UNPACK};
use orca_container_testkit::Canary;

/// A checkout with a secret beside it.
struct World {
    folder: tempfile::TempDir,
    tracked: BTreeMap<Vec<u8>, bool>,
    budget: Budget,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("acme/.git")).unwrap();
        fs::write(folder.path().join("secret"), "outside").unwrap();
        Self { folder, tracked: BTreeMap::new(), budget: Budget::ORCA }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("acme").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn link(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        symlink(text, self.path(name)).unwrap();
    }

    fn collect(&self, paths: &[&str]) -> Collected {
        let paths: Vec<RepositoryPath> = paths.iter().map(|path| RepositoryPath::from(*path)).collect();
        collect(&self.path(""), &paths, &self.tracked, self.budget, &|path| !path.ends_with(b"unignored"))
            .unwrap()
    }

    /// What arrives in an empty clone, by GNU tar or busybox.
    fn copy_with(&self, script: &str, paths: &[&str]) -> (tempfile::TempDir, CopyReport) {
        let Collected { items, mut report } = self.collect(paths);
        let mut archive = Vec::new();
        write_archive(&self.path(""), &items, &mut report, &mut archive).unwrap();
        (unpack(script, &archive), report)
    }

    fn copy(&self, paths: &[&str]) -> (tempfile::TempDir, CopyReport) {
        self.copy_with(UNPACK, paths)
    }
}

fn unpack(script: &str, archive: &[u8]) -> tempfile::TempDir {
    let clone = tempfile::tempdir().unwrap();
    fs::create_dir(clone.path().join(".git")).unwrap();
    assert!(run(script, clone.path(), archive));
    clone
}

/// Paths below a folder with what is there, the clone's `.git` aside.
fn found(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            let kind = path.symlink_metadata().unwrap();
            if name == ".git" {
                assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "nothing waits in .git any more");
            } else if kind.is_symlink() {
                all.push(format!("{name} -> {}", fs::read_link(&path).unwrap().display()));
            } else if kind.is_dir() {
                all.push(format!("{name}/"));
                open.push(path);
            } else {
                all.push(name);
            }
        }
    }
    all.sort();
    all
}

fn left(report: &CopyReport) -> Vec<(String, Reason)> {
    report.left_out.iter().map(|left| (left.path.lossy().into_owned(), left.reason)).collect()
}

/// The script as images run it: with GNU tar, and with busybox's where this computer has one.
fn unpackers() -> Vec<String> {
    let mut scripts = vec![UNPACK.to_owned()];
    if Path::new("/usr/bin/busybox").exists() {
        let other = UNPACK.replace(" tar -x", " /usr/bin/busybox tar -x");
        assert_ne!(other, UNPACK);
        scripts.push(other);
    }
    scripts
}

/// Runs a script with a clone and an archive, as the engine does in the container.
fn run(script: &str, clone: &Path, archive: &[u8]) -> bool {
    let mut child = Command::new("/bin/sh")
        .args(["-c", script, "sh"])
        .arg(clone)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // One that stops reading says why by its exit code.
    let _ = child.stdin.take().unwrap().write_all(archive);
    child.wait().unwrap().success()
}

#[test]
fn a_link_out_of_the_repository_is_refused_and_named() {
    let world = World::new();
    world.link(".env", "../secret");
    world.link(".aws", "/etc/passwd");
    world.link("config/deep/key", "../../../secret");
    world.link("config/absolute", "/etc/passwd");
    world.link("config/git", "../.git/config");
    world.link("behind", "..");
    world.write("config/kept", "x");
    let (clone, report) = world.copy(&[".env", ".aws", "config", "behind/secret"]);
    assert_eq!(found(clone.path()), ["config/", "config/deep/", "config/kept"]);
    let names: Vec<String> =
        left(&report).into_iter().map(|(name, reason)| format!("{name} {reason:?}")).collect();
    assert_eq!(
        names,
        [".env", ".aws", "config/absolute", "config/deep/key", "config/git", "behind/secret"]
            .map(|name| format!("{name} LinkLeavesRepository"))
    );
}

#[test]
fn a_link_that_is_named_brings_the_file_and_a_link_inside_a_folder_stays_one() {
    let world = World::new();
    world.write("shared/env", "shared");
    world.link(".env", "shared/env");
    world.write("modules/pkg/cli.js", "cli");
    world.link("modules/.bin/cli", "../pkg/cli.js");
    world.link("modules/dangling", "./nowhere//at-all");
    let (clone, report) = world.copy(&[".env", "modules"]);
    assert_eq!(
        found(clone.path()),
        [
            ".env",
            "modules/",
            "modules/.bin/",
            "modules/.bin/cli -> ../pkg/cli.js",
            "modules/dangling -> ./nowhere//at-all",
            "modules/pkg/",
            "modules/pkg/cli.js"
        ]
    );
    assert_eq!(fs::read_to_string(clone.path().join(".env")).unwrap(), "shared");
    assert_eq!(report.left_out, []);
}

#[test]
fn pipes_sockets_and_nested_repositories_are_left_out_and_named() {
    let world = World::new();
    world.write("cache/kept", "x");
    assert!(Command::new("mkfifo").arg(world.path("cache/pipe")).status().unwrap().success());
    let _socket = UnixListener::bind(world.path("cache/socket")).unwrap();
    world.write("cache/worktree/.git", "gitdir: /elsewhere");
    world.write("cache/worktree/secret", "x");
    world.write("cache/repo/.GIT/config", "x");
    let (clone, report) = world.copy(&["cache"]);
    assert_eq!(found(clone.path()), ["cache/", "cache/kept"]);
    assert_eq!(
        left(&report),
        [
            ("cache/pipe".into(), Reason::NotAFile),
            ("cache/repo".into(), Reason::NestedRepository),
            ("cache/socket".into(), Reason::NotAFile),
            ("cache/worktree".into(), Reason::NestedRepository),
        ]
    );
}

#[test]
fn what_lies_in_another_repository_is_never_reached_by_a_longer_path() {
    let world = World::new();
    world.write(".worktrees/other/.git", "gitdir: /elsewhere");
    world.write(".worktrees/other/.env", "secret");
    world.write(".worktrees/other/deep/.env", "secret");
    world.link("link", ".worktrees/other/.env");
    world.write("short/git~1/config", "x");
    world.write("notes.unignored", "private");
    world.link("private", "notes.unignored");
    let (clone, report) =
        world.copy(&[".worktrees/other/.env", ".worktrees/other/deep/.env", "link", "short", "private"]);
    assert_eq!(found(clone.path()), Vec::<String>::new());
    let nested = |path: &str| (path.to_owned(), Reason::NestedRepository);
    assert_eq!(
        left(&report),
        [
            nested(".worktrees/other/.env"),
            nested(".worktrees/other/deep/.env"),
            nested("link"),
            nested("short"),
            ("private".into(), Reason::LinkToUnignored)
        ]
    );
}

#[test]
fn every_name_arrives_as_it_is() {
    let names: [&[u8]; 12] = [
        b":!odd",
        b":(glob)x",
        b":^x",
        b"-rf",
        b"--checkpoint-action=exec=sh",
        b"a\nb",
        b"\"quoted\" 'name'",
        b"\xff\xfe",
        b"back\\slash",
        b" ",
        "\u{202e}\u{1f40b}".as_bytes(),
        &[b'n'; 255],
    ];
    for script in unpackers() {
        let world = World::new();
        let long = vec!["deep"; 60].join("/");
        world.write(&format!("odd/{long}/file"), "deep");
        for (index, name) in names.iter().enumerate() {
            fs::write(world.path("odd").join(OsStr::from_bytes(name)), index.to_string()).unwrap();
        }
        let (clone, report) = world.copy_with(&script, &["odd"]);
        for (index, name) in names.iter().enumerate() {
            let arrived = fs::read(clone.path().join("odd").join(OsStr::from_bytes(name)));
            assert_eq!(arrived.unwrap(), index.to_string().as_bytes(), "{script} {name:?}");
        }
        assert_eq!(fs::read_to_string(clone.path().join(format!("odd/{long}/file"))).unwrap(), "deep");
        assert_eq!(report.left_out, []);
        assert_eq!(report.entries, 12 + 1 + 60 + 1, "files, the folder, folders in it, the deep file");
    }
}

#[test]
fn large_files_arrive_whole_and_nothing_of_them_stays_elsewhere() {
    for script in unpackers() {
        let world = World::new();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
        world.write("data/small", "s");
        fs::write(world.path("data/large"), &bytes).unwrap();
        fs::set_permissions(world.path("data/large"), PermissionsExt::from_mode(0o4755)).unwrap();
        let (clone, _) = world.copy_with(&script, &["data"]);
        assert_eq!(found(clone.path()), ["data/", "data/large", "data/small"]);
        let large = clone.path().join("data/large");
        assert!(fs::read(&large).unwrap() == bytes, "byte for byte");
        assert_eq!(large.metadata().unwrap().mode() & 0o7777, 0o700, "no set-user-id, nobody else");
        assert_eq!(large.metadata().unwrap().nlink(), 1);
    }
}

#[test]
fn what_the_clone_has_is_kept() {
    let mut world = World::new();
    for (path, folder) in [("taken", false), ("shared", true), ("shared/a", false), ("file", false)] {
        world.tracked.insert(path.as_bytes().to_vec(), folder);
    }
    world.write("taken", "host");
    world.write("shared/a", "host");
    world.write("shared/b", "host");
    world.write("file/inside", "host");
    let (clone, report) = world.copy(&["taken", "shared", "file"]);
    assert_eq!(found(clone.path()), ["shared/", "shared/b"]);
    assert_eq!(
        left(&report),
        ["taken", "shared/a", "file"].map(|path| (path.to_owned(), Reason::ExistsInClone))
    );
}

#[test]
fn unpacking_never_writes_over_what_is_there() {
    for script in unpackers() {
        let world = World::new();
        world.write("a", "host");
        let Collected { items, mut report } = world.collect(&["a"]);
        let mut archive = Vec::new();
        write_archive(&world.path(""), &items, &mut report, &mut archive).unwrap();
        let clone = tempfile::tempdir().unwrap();
        fs::create_dir(clone.path().join(".git")).unwrap();
        fs::write(clone.path().join("a"), "agent").unwrap();
        run(&script, clone.path(), &archive);
        assert_eq!(fs::read_to_string(clone.path().join("a")).unwrap(), "agent", "{script}");
    }
}

#[test]
fn an_entry_that_is_too_large_is_left_out_alone() {
    let mut world = World::new();
    world.write(".env", "x");
    world.write("huge/small", "x");
    File::create(world.path("huge/sparse")).unwrap().set_len(20 * 1024 * 1024 * 1024).unwrap();
    for n in 0..=10 {
        world.write(&format!("many/{n}"), "");
    }
    world.budget.entries = 11;
    let (clone, report) = world.copy(&[".env", "huge", "many"]);
    assert_eq!(found(clone.path()), [".env"]);
    assert_eq!(left(&report), [("huge".into(), Reason::OverBytes), ("many".into(), Reason::OverEntries)]);
    world.budget.looked_at = 5;
    assert_eq!(left(&world.collect(&["many"]).report), [("many".into(), Reason::OverSizing)]);
    let said = report.lines().join("\n");
    assert!(
        said.contains("\"huge\", \"many\": copying it would exceed the 2 GB / 50,000 file limit"),
        "{said}"
    );
}

#[test]
fn the_bounds_are_inclusive() {
    let mut world = World::new();
    world.write("d/a", "12345");
    world.write("d/b", "12345");
    world.budget = Budget { bytes: 10, entries: 3, looked_at: 3 };
    assert_eq!(world.collect(&["d"]).report.left_out, []);
    for tighter in [
        Budget { bytes: 9, ..world.budget },
        Budget { entries: 2, ..world.budget },
        Budget { looked_at: 2, ..world.budget },
    ] {
        world.budget = tighter;
        assert_eq!(world.collect(&["d"]).items, []);
        world.budget = Budget { bytes: 10, entries: 3, looked_at: 3 };
    }
}

/// A writer that does something once it has taken so many bytes.
struct Meanwhile<F: FnMut()> {
    bytes: Vec<u8>,
    at: usize,
    act: Option<F>,
}

impl<F: FnMut()> Write for Meanwhile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= self.at
            && let Some(mut act) = self.act.take()
        {
            act();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies two large files; while the first is read, something happens to the checkout.
fn copy_meanwhile(world: &World, act: impl FnMut()) -> (Vec<String>, CopyReport) {
    let Collected { items, mut report } = world.collect(&["d"]);
    let mut output = Meanwhile { bytes: Vec::new(), at: 600_000, act: Some(act) };
    write_archive(&world.path(""), &items, &mut report, &mut output).unwrap();
    let clone = unpack(UNPACK, &output.bytes);
    (found(clone.path()), report)
}

#[test]
fn a_file_that_changes_while_it_is_read_is_left_out_and_named() {
    let changes: [fn(&Path); 4] = [
        |path| File::options().append(true).open(path).unwrap().write_all(b"more").unwrap(),
        |path| File::options().write(true).open(path).unwrap().set_len(1_500_000).unwrap(),
        |path| File::options().write(true).open(path).unwrap().write_all(b"other").unwrap(),
        |path| fs::write(path, "short now").unwrap(),
    ];
    for (index, change) in changes.iter().enumerate() {
        let world = World::new();
        world.write("d/a", &"x".repeat(2_000_000));
        world.write("d/b", "after it");
        let path = world.path("d/a");
        let (arrived, report) = copy_meanwhile(&world, || change(&path));
        assert_eq!(arrived, ["d/", "d/b"], "change {index}");
        assert_eq!(left(&report), [("d/a".into(), Reason::ChangedWhileRead)], "change {index}");
        assert_eq!(report.entries, 2);
        assert_eq!(report.bytes, 8);
    }
}

#[test]
fn what_is_swapped_for_a_link_is_not_followed() {
    let canary = Canary::new("swapped");
    let swaps: [fn(&Path); 3] = [
        |root| {
            fs::remove_file(root.join("d/b/file")).unwrap();
            symlink("../../../secret", root.join("d/b/file")).unwrap();
        },
        |root| {
            fs::rename(root.join("d/b"), root.join("moved")).unwrap();
            symlink("../../outside", root.join("d/b")).unwrap();
        },
        |root| {
            fs::rename(root.join("d"), root.join("moved")).unwrap();
            symlink("..", root.join("d")).unwrap();
        },
    ];
    for (index, swap) in swaps.iter().enumerate() {
        let world = World::new();
        let text = canary.marker();
        fs::write(world.folder.path().join("secret"), text).unwrap();
        fs::create_dir(world.folder.path().join("outside")).unwrap();
        fs::write(world.folder.path().join("outside/file"), text).unwrap();
        world.write("d/a", &"x".repeat(2_000_000));
        world.write("d/b/file", &"y".repeat(text.len()));
        let root = world.path("");
        let Collected { items, mut report } = world.collect(&["d"]);
        let mut output = Meanwhile { bytes: Vec::new(), at: 600_000, act: Some(|| swap(&root)) };
        write_archive(&root, &items, &mut report, &mut output).unwrap();
        canary.assert_absent(&format!("the archive of swap {index}"), &output.bytes);
        assert!(left(&report).contains(&("d/b/file".into(), Reason::ChangedWhileRead)), "swap {index}");
    }
}

#[test]
fn a_report_names_five_and_counts_the_rest() {
    let world = World::new();
    for n in 0..8 {
        world.link(&format!("d/{n}"), "/etc/passwd");
    }
    let lines = world.collect(&["d"]).report.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1].contains("\"d/4\" and 3 more: a link that is copied"), "{}", lines[1]);
    assert!(world.collect(&["nowhere"]).report.left_out.is_empty(), "what is not there is no fault");
}
