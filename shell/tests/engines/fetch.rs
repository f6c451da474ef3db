//! A workspace's branch home: what moves, what is left, and what a person is told.

use crate::bench::{Bench, Ran, files_below};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Everything in the host's repository, byte for byte.
pub type Everything = BTreeMap<PathBuf, Vec<u8>>;

pub fn everything(bench: &Bench) -> Everything {
    let files = files_below(&bench.repository());
    files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// What a fetch may not touch in any case: all but objects, logs, our references and one branch.
pub fn untouchable(bench: &Bench) -> Everything {
    let git = bench.repository().join(".git");
    let may = ["objects", "logs/refs/orca", "logs/refs/heads/feature", "refs/orca", "refs/heads/feature"];
    let mut all = everything(bench);
    all.retain(|path, _| !may.iter().any(|place| path.starts_with(git.join(place))));
    all
}

/// Nothing of an import lies about.
#[track_caller]
pub fn no_import_is_left(bench: &Bench) {
    let imports = bench.path("state/orca-container/imports");
    let left: Vec<_> = fs::read_dir(imports).into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[track_caller]
pub fn fetched(bench: &Bench) -> Value {
    let text = bench.run(&["fetch", "acme", "--json"]).ok().stdout;
    no_import_is_left(bench);
    serde_json::from_str(&text).unwrap()
}

/// Commits inside as an agent does.
#[track_caller]
pub fn commit_inside(bench: &Bench, script: &str) -> String {
    let script = format!(
        "set -e; export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; {script}; git rev-parse feature/x"
    );
    bench.exec(&["sh", "-c", &script]).ok().stdout.lines().last().unwrap().to_owned()
}

pub fn tip(bench: &Bench) -> String {
    bench.git(&["rev-parse", "refs/heads/feature/x"]).trim().to_owned()
}

pub fn kept(bench: &Bench) -> String {
    format!("refs/orca/{}/heads/feature/x", bench.container_name())
}

/// A branch that no worktree holds moves forward, a second time with little, and then there is nothing to do.
pub fn forward(bench: &mut Bench) {
    fs::write(bench.repository().join("large"), vec![b'x'; 200_000]).unwrap();
    bench.commit("large");
    bench.create(&["--network=none"]).ok();
    bench.git(&["switch", "-q", "main"]);
    let old = tip(bench);
    let nothing = fetched(bench);
    assert_eq!((&nothing["moved"], &nothing["commits"]), (&json!(false), &json!(0)));
    assert_eq!(nothing["ref"], Value::Null);

    // What a killed one left is in nobody's way.
    let left = bench.path("state/orca-container/imports").join(bench.container_name());
    fs::create_dir_all(left.join("git/objects")).unwrap();
    fs::write(left.join("bundle"), "left").unwrap();

    let before = untouchable(bench);
    let first = commit_inside(
        bench,
        "echo a >a; echo all: >Makefile; git add .; git commit -qm a; git commit -q --allow-empty -m b",
    );
    let told = fetched(bench);
    let expected = json!({
        "ok": true, "name": "acme", "branch": "feature/x", "from": old, "to": first, "moved": true,
        "ref": kept(bench), "commits": 2, "changedHostFiles": [{"path": "Makefile", "kind": "build"}],
    });
    assert_eq!(told, expected);
    assert_eq!(tip(bench), first);
    assert_eq!(bench.git(&["rev-parse", &kept(bench)]).trim(), first);

    let second = commit_inside(bench, "echo c >>a; git commit -qam c");
    let said = bench.run(&["fetch", "acme"]).ok();
    let short = |id: &str| id.chars().take(12).collect::<String>();
    let line =
        format!("\"feature/x\" moved forward by 1 commit, from {} to {}.\n", short(&first), short(&second));
    assert_eq!(said.stdout, line);
    let packs = files_below(&bench.repository().join(".git/objects/pack"));
    let sizes: Vec<u64> = packs.iter().map(|pack| fs::metadata(pack).unwrap().len()).collect();
    assert!(sizes.iter().all(|size| *size < 8 * 1024), "only what is new comes: {sizes:?}");
    assert_eq!(fetched(bench)["moved"], json!(false));
    assert_eq!(untouchable(bench), before, "nothing but the branch and our reference");
    bench.git(&["fsck", "--strict", "--no-dangling"]);

    bench.run(&["stop", "acme"]).ok();
    let stopped = bench.run(&["fetch", "acme"]).code(1);
    assert!(stopped.stderr.contains("start \"acme\" first"), "{}", stopped.stderr);
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_eq!(bench.git(&["for-each-ref", "refs/orca"]), "", "the branch has all of it");
    bench.nothing_is_left();
}

/// A branch moves together with its files: where a worktree holds it, it stays, and the command is told.
pub fn held(bench: &mut Bench) {
    bench.create(&["--network=none"]).ok();
    let (old, before) = (tip(bench), untouchable(bench));
    let new = commit_inside(
        bench,
        "echo new >readme; mkdir .husky; echo x >.husky/post-merge; git add .; git commit -qm new",
    );
    let told = fetched(bench);
    let place = bench.repository().canonicalize().unwrap();
    assert_eq!((&told["moved"], &told["checkedOutAt"]), (&json!(false), &json!(place)));
    assert_eq!((tip(bench), untouchable(bench)), (old.clone(), before));
    let said = bench.run(&["fetch", "acme"]).ok().stdout;
    assert!(said.contains("\".husky/post-merge\" (hook)"), "{said}");
    let command = said.lines().find_map(|line| line.strip_prefix("  take:  ")).unwrap();
    assert_eq!(
        command,
        format!("git -C {} -c core.hooksPath=/dev/null merge --ff-only {}", place.display(), kept(bench))
    );
    Ran::of(&Command::new("sh").args(["-c", command]).output().unwrap()).ok();
    assert_eq!(
        (tip(bench), fs::read_to_string(bench.repository().join("readme")).unwrap()),
        (new.clone(), "new\n".into())
    );
    assert_eq!(fetched(bench)["commits"], json!(0));

    // In another worktree, in one that is gone, and in what will come back to it.
    let newer = commit_inside(bench, "git commit -q --allow-empty -m newer");
    let other = bench.path("it's other");
    bench.git(&["switch", "-q", "main"]);
    bench.git(&["worktree", "add", "-q", other.to_str().unwrap(), "feature/x"]);
    assert_eq!(fetched(bench)["checkedOutAt"], json!(other));
    fs::remove_dir_all(&other).unwrap();
    let said = bench.run(&["fetch", "acme"]).ok().stdout;
    assert!(said.contains("which is gone") && said.contains("worktree prune"), "{said}");
    bench.git(&["worktree", "prune"]);
    bench.git(&["switch", "-q", "feature/x"]);
    bench.git(&["-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "-q", "-i", "HEAD~1"]);
    assert_eq!(bench.git(&["branch", "--show-current"]), "");
    assert_eq!(fetched(bench)["heldBy"], json!("rebase"));
    bench.git(&["rebase", "--abort"]);
    bench.git(&["bisect", "start", "HEAD", "main"]);
    assert_eq!(fetched(bench)["heldBy"], json!("bisect"));
    assert_eq!(tip(bench), new);
    bench.git(&["bisect", "reset"]);
    bench.git(&["switch", "-q", "main"]);
    assert_eq!(fetched(bench)["moved"], json!(true));
    assert_eq!(tip(bench), newer);
    bench.run(&["rm", "acme", "--force"]).ok();
}

/// What cannot be a step forward is kept beside the branch, and the branch is left.
pub fn diverged(bench: &mut Bench) {
    bench.create(&["--network=none"]).ok();
    let start = tip(bench);
    bench.commit_file("mine", "mine\n");
    bench.git(&["switch", "-q", "main"]);
    let mine = tip(bench);
    let ahead = bench.run(&["fetch", "acme"]).ok().stdout;
    assert!(ahead.contains("has all that the workspace has"), "{ahead}");

    let theirs = commit_inside(bench, "echo a >a; git add .; git commit -qm a");
    let told = fetched(bench);
    assert_eq!(
        (&told["diverged"], &told["moved"], &told["commits"]),
        (&json!(true), &json!(false), &json!(1))
    );
    assert_eq!(bench.git(&["rev-parse", &kept(bench)]).trim(), theirs);
    let said = bench.run(&["fetch", "acme"]).ok().stdout;
    assert!(said.contains("commits that the workspace lacks") && said.contains(&kept(bench)), "{said}");

    // Written anew inside: what came before stays in the reference's log.
    let anew = commit_inside(bench, "git commit -q --amend -m anew");
    assert_eq!(fetched(bench)["to"], json!(anew));
    assert_eq!(bench.git(&["rev-parse", &format!("{}@{{1}}", kept(bench))]).trim(), theirs);
    // Nothing in common at all, and nothing known any more.
    let alone = commit_inside(
        bench,
        "git checkout -q --orphan z; git commit -qm z; git branch -f feature/x; git reflog expire --expire=now --all; git gc -q --prune=now",
    );
    let told = fetched(bench);
    assert_eq!((&told["diverged"], &told["to"], &told["commits"]), (&json!(true), &json!(alone), &json!(1)));
    assert_eq!(tip(bench), mine);

    // A person's deletion stands.
    bench.git(&["branch", "-q", "-D", "feature/x"]);
    commit_inside(bench, "git commit -q --allow-empty -m more; git branch -f feature/x");
    let gone = fetched(bench);
    assert_eq!(
        (&gone["branchGone"], &gone["moved"], &gone["from"]),
        (&json!(true), &json!(false), &Value::Null)
    );
    assert_eq!(bench.git(&["for-each-ref", "refs/heads"]).lines().count(), 1);
    let said = bench.run(&["fetch", "acme"]).ok().stdout;
    let command = said.lines().find_map(|line| line.strip_prefix("  take:  ")).unwrap().to_owned();
    Ran::of(&Command::new("sh").args(["-c", &command]).output().unwrap()).ok();
    assert_eq!(tip(bench), gone["to"].as_str().unwrap());

    // One that stands for another would move the other.
    bench.git(&["branch", "-q", "other", &start]);
    bench.git(&["symbolic-ref", "refs/heads/feature/x", "refs/heads/other"]);
    let before = everything(bench);
    let symbolic = bench.run(&["fetch", "acme"]).code(1);
    assert!(symbolic.stderr.contains("stands for \"refs/heads/other\""), "{}", symbolic.stderr);
    assert_eq!(everything(bench), before);
    bench.git(&["symbolic-ref", "--delete", "refs/heads/feature/x"]);
    bench.git(&["branch", "-q", "feature/x", gone["to"].as_str().unwrap()]);
    // A reference that somebody holds: what came is kept, and that is said.
    commit_inside(bench, "git checkout -q feature/x; git commit -q --allow-empty -m last");
    let lock = bench.repository().join(".git/refs/heads/feature/x.lock");
    fs::write(&lock, "").unwrap();
    let locked = bench.run(&["fetch", "acme"]).code(1);
    assert!(
        locked.stderr.contains("was not moved") && locked.stderr.contains(&kept(bench)),
        "{}",
        locked.stderr
    );
    assert_eq!(tip(bench), gone["to"].as_str().unwrap());
    fs::remove_file(&lock).unwrap();
    assert_eq!(fetched(bench)["moved"], json!(true));
    bench.git(&["update-ref", "refs/heads/feature/x", &start]);
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_ne!(bench.git(&["for-each-ref", "refs/orca"]), "", "what the branch lacks stays");
}
