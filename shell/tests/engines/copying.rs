//! Ignored files into the volume: the right ones, byte for byte, and nothing else of this computer.

use crate::bench::Bench;
use orca_container_testkit::Canary;
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

const ASKING: &str = "worktree:\n  container:\n    copyIgnoredFiles: true\n";

fn copied(bench: &Bench) -> Value {
    bench.status()["copied"].clone()
}

/// Paths that were left out, with their reasons.
fn left_out(bench: &Bench) -> Vec<String> {
    let all = copied(bench)["leftOut"].as_array().unwrap().clone();
    let mut all: Vec<String> = all
        .iter()
        .map(|left| format!("{} {}", left["path"].as_str().unwrap(), left["reason"].as_str().unwrap()))
        .collect();
    all.sort();
    all
}

/// The repository asks, a person grants; until then nothing is copied.
pub fn asked_and_granted(bench: &mut Bench) {
    bench.commit_file(".gitignore", ".env\nconfig/\n*.local\n");
    bench.commit_file("orca.yaml", ASKING);
    fs::create_dir(bench.repository().join("config")).unwrap();
    for (name, text) in [
        (".env", "A=1\n"),
        ("config/a", "a\n"),
        ("x.local", "x\n"),
        ("not.local", "no\n"),
        (".worktreeinclude", ".env\nconfig/\n*.local\n!not.local\nreadme\nabsent\n"),
    ] {
        fs::write(bench.repository().join(name), text).unwrap();
    }
    bench.create(&[]).ok();
    assert_eq!(bench.exec(&["ls", "-A"]).ok().stdout, ".git\n.gitignore\norca.yaml\nreadme\n");
    assert_eq!(copied(bench), Value::Null);
    bench.run(&["rm", "acme", "--force"]).ok();

    let asked =
        bench.run(&["approve", "acme", "--container-image", &crate::bench::image(bench.engine)]).ok().stdout;
    let digest = asked.split("--approve ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let image = crate::bench::image(bench.engine);
    let planned = bench.run(&["plan", "acme", "--approve", &digest, "--container-image", &image, "--json"]);
    let planned: Value = serde_json::from_str(&planned.ok().stdout).unwrap();
    assert_eq!(planned["copy"]["files"], serde_json::json!([".env", "config/a", "x.local"]));
    let made = bench.create(&["--approve", &digest]).ok();
    assert!(made.stderr.contains("Copied 3 ignored files"), "{}", made.stderr);
    let listed =
        bench.exec(&["sh", "-c", "ls -A; cat .env config/a x.local; stat -c %a:%u .env"]).ok().stdout;
    assert_eq!(
        listed, ".env\n.git\n.gitignore\nconfig\norca.yaml\nreadme\nx.local\nA=1\na\nx\n600:1000\n",
        "in the clone, for its user alone"
    );
    assert_eq!(bench.exec(&["git", "status", "--porcelain"]).ok().stdout, "");
    bench.run(&["rm", "acme", "--force"]).ok();

    // What is listed from another .worktreeinclude was not approved.
    fs::write(bench.repository().join(".worktreeinclude"), ".env\n.git/config\nsecrets\n").unwrap();
    bench.create(&[]).ok();
    assert_eq!(copied(bench), Value::Null);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Everything that a hostile checkout can hold where a file is expected.
pub fn hostile_checkout(bench: &mut Bench) {
    let canary = Canary::new("outside");
    let root = bench.repository();
    fs::write(bench.path("outside"), canary.marker()).unwrap();
    bench.commit_file(".gitignore", "link\ndir/\nmany/\nsparse\nodd/\ntracked-link/id\n.worktrees/\n:*\n");
    fs::write(root.join(":!top"), "top").unwrap();
    symlink(bench.folder(), root.join("tracked-link")).unwrap();
    bench.commit("a link out of the repository");
    symlink("../outside", root.join("link")).unwrap();
    fs::create_dir_all(root.join("dir/nested")).unwrap();
    fs::write(root.join("dir/nested/kept"), "kept\n").unwrap();
    symlink("../../../outside", root.join("dir/nested/out")).unwrap();
    symlink("kept", root.join("dir/nested/in")).unwrap();
    let _socket = UnixListener::bind(root.join("dir/socket")).unwrap();
    for args in [vec!["mkfifo", "dir/pipe"], vec!["mknod", "dir/device", "c", "1", "3"]] {
        assert!(Command::new(args[0]).args(&args[1..]).current_dir(&root).status().unwrap().success());
    }
    fs::write(root.join("dir/suid"), "suid\n").unwrap();
    fs::set_permissions(root.join("dir/suid"), fs::Permissions::from_mode(0o6755)).unwrap();
    File::create(root.join("sparse")).unwrap().set_len(20 * 1024 * 1024 * 1024).unwrap();
    fs::create_dir(root.join("many")).unwrap();
    for n in 0..50_001 {
        File::create(root.join(format!("many/{n}"))).unwrap();
    }
    let odd: [&[u8]; 8] = [
        b":!odd",
        b":(glob)x",
        b"-rf",
        b"a\nb",
        b"\"q\" '$(id)'",
        b"\xff\xfe",
        b"\\",
        "\u{202e}x".as_bytes(),
    ];
    fs::create_dir(root.join("odd")).unwrap();
    for (n, name) in odd.iter().enumerate() {
        fs::write(root.join("odd").join(std::ffi::OsStr::from_bytes(name)), n.to_string()).unwrap();
    }
    bench.git(&["worktree", "add", "-q", "-b", "other", root.join(".worktrees/other").to_str().unwrap()]);
    let include = ":*\n.worktrees/other/readme\nlink\ndir\nmany\nsparse\nodd\ntracked-link/outside\n.worktrees\n../outside\n/etc/passwd\n";
    fs::write(root.join(".worktreeinclude"), include).unwrap();

    let made = bench.create(&["--copy-ignored-files"]).ok();
    assert_eq!(
        left_out(bench),
        [
            ".worktrees/other nested_repository",
            "dir/device not_a_file",
            "dir/nested/out link_leaves_repository",
            "dir/pipe not_a_file",
            "dir/socket not_a_file",
            "link link_leaves_repository",
            "many over_entries",
            "sparse over_bytes",
        ]
    );
    for said in
        ["\"many\", \"sparse\": copying it would exceed", "\"../outside\"", "\"tracked-link/outside\""]
    {
        assert!(made.stderr.contains(said), "{said}: {}", made.stderr);
    }
    let script = "ls -A dir dir/nested; cat dir/nested/in; stat -c %a dir/suid; ls many sparse link 2>/dev/null; ls -A .worktrees; cat ':!top'";
    let listed = bench.exec(&["sh", "-c", script]);
    assert_eq!(listed.stdout, "dir:\nnested\nsuid\n\ndir/nested:\nin\nkept\nkept\n700\ntop");
    // Names as bytes, each with its own text.
    let names = bench.exec(&["sh", "-c", "cd odd; for f in * .[!.]*; do [ -f \"$f\" ] && printf %s \"$f\" | od -An -tx1 | tr -d '\\n' && printf ' %s\\n' \"$(cat -- \"$f\")\"; done"]).stdout;
    for (n, name) in odd.iter().enumerate() {
        let hex: String = name.iter().map(|byte| format!(" {byte:02x}")).collect();
        assert!(names.contains(&format!("{hex} {n}\n")), "{hex} {n} in {names}");
    }
    let everything =
        bench.exec(&["sh", "-c", "cat /workspace/acme/*/* /workspace/acme/*/*/* 2>/dev/null; true"]);
    canary.assert_absent("the files of the workspace", everything.stdout.as_bytes());
    canary.assert_absent("what was said", format!("{}{}", made.stdout, made.stderr).as_bytes());
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A file that grows between being measured and being read, on its way into a real container.
pub fn changed_meanwhile(bench: &mut Bench) {
    bench.commit_file(".gitignore", "data/\n");
    fs::create_dir(bench.repository().join("data")).unwrap();
    fs::write(bench.repository().join("data/log"), vec![b'x'; 3_000_000]).unwrap();
    fs::write(bench.repository().join("data/still"), vec![b'y'; 3_000_000]).unwrap();
    fs::write(bench.repository().join(".worktreeinclude"), "data\n").unwrap();
    // The engine is called after everything was measured, and reads nothing before this is done.
    let log = bench.repository().join("data/log");
    bench.wrap(bench.engine, &format!("case \"$*\" in *'tar -x'*) echo more >>{};; esac", log.display()));
    let made = bench.create(&["--copy-ignored-files"]).ok();
    assert!(made.stderr.contains("\"data/log\": it changed while it was read"), "{}", made.stderr);
    assert_eq!(left_out(bench), ["data/log changed_while_read"]);
    let listed = bench.exec(&["sh", "-c", "ls data; wc -c <data/still; ls -A .git | grep orca"]);
    assert_eq!(listed.stdout, "still\n3000000\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A branch that moves after its files were judged is not cloned.
pub fn moved_branch(bench: &mut Bench) {
    let repository = bench.repository();
    let script = format!(
        "case \"$*\" in *bundle*) GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e $orca_real -C {0} commit -q --allow-empty -m moved >&2;; esac",
        repository.display()
    );
    bench.wrap("git", &script);
    let moved = bench.create(&[]).code(1);
    assert!(moved.stderr.contains("the branch moved since its files were judged"), "{}", moved.stderr);
    bench.nothing_is_left();
    bench.unwrap("git");
    bench.create(&[]).ok();
    bench.run(&["rm", "acme", "--force"]).ok();
}

/// A list of alternates that comes after the repository was judged, stays or goes again before git has ended.
pub fn borrowed_meanwhile(bench: &mut Bench) {
    let list = bench.repository().join(".git/objects/info/alternates");
    let borrowed = bench.path("borrowed");
    fs::create_dir_all(borrowed.join("pack")).unwrap();
    let come = format!("echo {} >{}", borrowed.display(), list.display());
    let go = format!("\"$orca_real\" \"$@\"; code=$?; rm -f {}; exit $code", list.display());
    for (at, script) in [
        ("volume create", format!("case \"$1 $2\" in 'volume create') {come};; esac")),
        ("bundle", format!("case \"$*\" in *bundle*) {come};; esac")),
        ("bundle and gone", format!("case \"$*\" in *bundle*) {come}; {go};; esac")),
    ] {
        let program = if at.starts_with("bundle") { "git" } else { bench.engine };
        bench.wrap(program, &script);
        let refused = bench.create(&["--network=none"]).code(1);
        let told = ["lead to another repository", "was exchanged while it was cloned"];
        assert!(told.iter().any(|told| refused.stderr.contains(told)), "{at}: {}", refused.stderr);
        bench.unwrap(program);
        bench.nothing_is_left();
        let _ = fs::remove_file(&list);
    }
    bench.create(&["--network=none"]).ok();
    bench.run(&["rm", "acme", "--force"]).ok();
}

/// What unpacks the files is the image's, so what it says of them is bounded and shown without its controls.
pub fn complaints_are_cut(bench: &mut Bench) {
    let complaints = "printf 'tar: complaint %s \\033[31m\\r\\n' $(seq 20000) >&2";
    bench.wrap(bench.engine, &format!("case \"$*\" in *'tar -x'*) {complaints}; exit 2;; esac"));
    bench.commit_file(".gitignore", ".env\n");
    fs::write(bench.repository().join(".env"), "A=1\n").unwrap();
    fs::write(bench.repository().join(".worktreeinclude"), ".env\n").unwrap();
    let failed = bench.create(&["--copy-ignored-files"]).code(1);
    assert!(failed.stderr.contains("copy_ignored_files failed with exit code 2"), "{}", failed.stderr);
    assert!(failed.stderr.contains("complaint 20000"), "the end of it is shown: {}", failed.stderr);
    assert!(failed.stderr.len() < 8 * 1024, "{} bytes of complaint", failed.stderr.len());
    assert!(!failed.stderr.contains('\u{1b}'), "{:?}", failed.stderr);
    bench.nothing_is_left();
}

/// A later copy goes by the frozen list: what the clone has is kept, or gives way file by file; a folder never does.
pub fn again(bench: &mut Bench) {
    bench.commit_file(".gitignore", ".env\nconfig/\n*.local\n");
    let write = |name: &str, text: &str| {
        let path = bench.repository().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".env", "one");
    write("config/a", "one");
    write("z.local", "one");
    write(".worktreeinclude", ".env\nconfig/\n*.local\n");
    bench.create(&["--copy-ignored-files"]).ok();
    let shown = |bench: &Bench| {
        bench.exec(&["sh", "-c", "for f in .env config/a config/b z.local new.local; do echo \"$f $(cat $f 2>&1 | head -c 30)\"; done"]).ok().stdout
    };
    bench.exec(&["sh", "-c", "echo edited > .env; rm config/a; rm z.local; mkdir z.local"]).ok();
    for (name, text) in
        [(".env", "two"), ("config/a", "two"), ("config/b", "two"), ("z.local", "two"), ("new.local", "two")]
    {
        write(name, text);
    }
    // Whoever lists more meanwhile gets none of it.
    write(".worktreeinclude", ".env\nconfig/\n*.local\nreadme\n../outside\n");
    let kept = bench.run(&["copy", "acme"]).ok();
    assert!(kept.stderr.contains("the clone has a file of that name, which is kept"), "{}", kept.stderr);
    let got = shown(bench);
    assert!(
        got.starts_with(".env edited\nconfig/a two\nconfig/b two\nz.local ")
            && got.ends_with("new.local two\n"),
        "{got}"
    );
    write(".env", "three");
    bench.run(&["copy", "acme", "--replace"]).ok();
    let got = shown(bench);
    assert!(got.starts_with(".env three\nconfig/a two\n") && got.contains("z.local cat"), "{got}");
    assert_eq!(
        bench.exec(&["sh", "-c", "stat -c %a:%u .env; test -d z.local && echo folder"]).ok().stdout,
        "600:1000\nfolder\n"
    );
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}
