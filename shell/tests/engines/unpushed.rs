//! `rm` takes no work with it that is nowhere else: what counts as work, and what cannot be looked at.

use crate::bench::{Bench, build_image};
use std::fs;

/// What `rm` says of a workspace that it keeps.
#[track_caller]
fn kept(bench: &Bench, what: &str) {
    let ran = bench.run(&["rm", "acme"]).code(1);
    assert!(
        ran.stderr.contains("holds work that is nowhere else") && ran.stderr.contains(what),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("rm --force"), "{}", ran.stderr);
    assert_eq!(bench.status()["status"], "running");
}

fn inside(bench: &Bench, script: &str) {
    let identity = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.invalid GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.invalid";
    bench.exec(&["sh", "-c", &format!("set -e; {identity}; {script}")]).ok();
}

/// Each kind of work keeps it; when it is safe elsewhere, or never was, the workspace goes.
pub fn work_is_kept(bench: &mut Bench) {
    bench.git(&["branch", "base-only", "main"]);
    bench.create(&[]).ok();
    for (make, what, undo) in [
        ("echo x > new", "1 changed file", "rm new"),
        ("echo x >> readme", "1 changed file", "git checkout -q readme"),
        ("echo x > one; echo y > two; git add one", "2 changed files", "git rm -q --cached one; rm one two"),
        ("mkdir d; echo x > d/a; echo x > d/b", "2 changed files", "rm -r d"),
        (
            "echo x > new; git add new; git commit -q -m x",
            "1 commit",
            "git reset -q --hard HEAD~1; git reflog expire --expire=now --all",
        ),
        (
            "git switch -q -c other; git commit -q --allow-empty -m x; git switch -q feature/x",
            "1 commit",
            "git branch -q -D other",
        ),
        ("git switch -q --detach; git commit -q --allow-empty -m x", "1 commit", "git switch -q feature/x"),
        (
            "git tag -a -m t t HEAD; git commit -q --allow-empty -m x; git tag u; git reset -q --hard HEAD~1",
            "1 commit",
            "git tag -d t u",
        ),
        ("echo x >> readme; git stash -q; echo y >> readme; git stash -q", "2 stashes", "git stash clear"),
        ("echo x > /workspace/notes", "1 file or folder beside the clone", "rm /workspace/notes"),
        ("mkdir /workspace/.other", "1 file or folder beside the clone", "rmdir /workspace/.other"),
    ] {
        inside(bench, make);
        kept(bench, what);
        inside(bench, undo);
    }
    // Ignored files are no work: they came from the host, or are made again.
    inside(bench, "mkdir -p .git/info; echo '*.o' > .git/info/exclude; echo x > a.o");
    // What origin has is safe.
    inside(bench, "git commit -q --allow-empty -m pushed; git update-ref refs/remotes/origin/feature/x HEAD");
    bench.run(&["rm", "acme"]).ok();
    bench.nothing_is_left();

    // A workspace that is stopped, and one whose container is gone, hold work all the same.
    bench.create(&[]).ok();
    inside(bench, "echo x > new");
    bench.run(&["stop", "acme"]).ok();
    let ran = bench.run(&["rm", "acme"]).code(1);
    assert!(ran.stderr.contains("1 changed file"), "{}", ran.stderr);
    bench.client(&["rm", "-f", "-v", &bench.container_id()]).ok();
    let ran = bench.run(&["rm", "acme"]).code(1);
    assert!(ran.stderr.contains("1 changed file"), "{}", ran.stderr);
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(bench.exec(&["cat", "new"]).ok().stdout, "x\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// What cannot be looked at is kept: a broken or hostile clone, an image that is gone, an engine that does not answer.
pub fn unknown_is_kept(bench: &mut Bench) {
    let image =
        build_image(bench.engine, "full", &format!("LABEL orca.test=unpushed-{}", std::process::id()));
    // Present in every call from here on, silent until it is told to fail.
    bench.wrap(bench.engine, "");
    bench.create_from("acme", &image, &[]).ok();
    let unknown = |bench: &Bench| {
        let ran = bench.run(&["rm", "acme"]).code(1);
        assert!(ran.stderr.contains("could not be found out"), "{}", ran.stderr);
        assert!(!bench.left_on_engine().is_empty());
    };
    inside(bench, "mv .git/HEAD .git/HEAD-away");
    unknown(bench);
    inside(bench, "mv .git/HEAD-away .git/HEAD; mv .git/objects /workspace/objects");
    unknown(bench);
    inside(bench, "mv /workspace/objects .git/objects");
    // A configuration that would run programs runs them there, where they reach nothing, or not at all.
    inside(
        bench,
        "git config core.fsmonitor /workspace/evil; git config core.pager /workspace/evil; printf '#!/bin/sh\\ntouch /workspace/ran; kill -9 1\\n' > /workspace/evil; chmod +x /workspace/evil",
    );
    kept(bench, "1 file or folder beside the clone");
    assert_ne!(bench.exec(&["test", "-e", "/workspace/ran"]).code, 0);
    inside(bench, "rm /workspace/evil");
    for fails in
        ["echo 'Cannot connect' >&2; exit 1", "echo commits 0; exit 0", "yes | head -c 9000000; exit 0"]
    {
        bench.wrap(bench.engine, &format!("case \"$*\" in *-look*--entrypoint*) {fails};; esac"));
        unknown(bench);
    }
    bench.wrap(bench.engine, "");
    inside(bench, "rm -rf /workspace/acme/.git");
    unknown(bench);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.client(&["image", "rm", "-f", &image]).ok();
    bench.nothing_is_left();
}

/// The look changes nothing, leaves nothing, and reaches nothing.
pub fn the_look_is_only_a_look(bench: &mut Bench) {
    bench.wrap(bench.engine, "");
    bench.create(&[]).ok();
    inside(bench, "echo x > new");
    let before = bench
        .exec(&["sh", "-c", "find /workspace -printf '%p %T@ %s\\n' 2>/dev/null || ls -lRa /workspace"])
        .ok()
        .stdout;
    let calls = bench.path("calls");
    bench.wrap(bench.engine, &format!("echo \"$*\" >> {}", calls.display()));
    kept(bench, "1 changed file");
    let calls = fs::read_to_string(calls).unwrap();
    let look = calls.lines().find(|line| line.contains(" --rm ") || line.starts_with("run ")).unwrap();
    for flag in [
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--network=none",
        "--read-only",
        "--pids-limit=512",
        "--user=1000:1000",
        "--pull=never",
    ] {
        assert!(look.contains(flag), "{flag} in {look}");
    }
    assert!(look.contains("dst=/workspace,readonly") || look.contains("dst=/workspace,ro=true"), "{look}");
    let after = bench
        .exec(&["sh", "-c", "find /workspace -printf '%p %T@ %s\\n' 2>/dev/null || ls -lRa /workspace"])
        .ok()
        .stdout;
    assert_eq!(before, after);
    assert!(!bench.left_on_engine().iter().any(|left| left.contains("-look")));
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}
