//! What dies beside work in the volume: recreate, fetch, copy, an edit, stop, start, and an rm that is refused. The same
//! command ends it, and the work is there.

use crate::bench::{Bench, image};
use crate::faults::{dies as die, effects, points};
use crate::life::{NAME, add_worktree, create_args, prepare};
use crate::state::{same, state};
use std::process::Command;

/// Committed and uncommitted work of an agent.
const WORK: &str = "echo committed >one; git add one; git -c user.name=n -c user.email=e commit -q --allow-empty -m one; echo changed >two; echo agent >/orca/agent/three";

/// Says all of it.
const SAY: &str = "git log --format=%s -1; cat one two /orca/agent/three .env; git status --porcelain";

#[track_caller]
pub fn work_is_there(bench: &Bench, when: &str) {
    let said = bench.run(&["exec", NAME, "--", "sh", "-c", SAY]);
    assert_eq!(said.stdout, "one\ncommitted\nchanged\nagent\nCOPIED=1\n?? two\n", "{when}: {}", said.stderr);
}

/// A running workspace with work, whose branch no worktree holds.
fn with_work(bench: &Bench) {
    let image = image(bench.engine);
    prepare(bench);
    add_worktree(bench);
    bench.run(&create_args(bench.engine, &image)).ok();
    work(bench);
}

/// Has an agent work, and takes the worktree away.
pub fn work(bench: &Bench) {
    bench.run(&["exec", NAME, "--", "sh", "-c", WORK]).ok();
    bench.git(&["worktree", "remove", "--force", bench.path(NAME).to_str().unwrap()]);
}

/// What is tried at all points of a command, with its number among the tries.
struct Tried<'t> {
    /// The command.
    args: &'t dyn Fn(usize) -> Vec<&'static str>,
    /// How it ends.
    code: i32,
    /// What comes before each try.
    before: &'t dyn Fn(),
    /// What must hold after the command that follows.
    after: &'t dyn Fn(usize, &str),
}

impl Tried<'_> {
    /// Gives the number of points.
    #[track_caller]
    fn at_every_point(&self, bench: &Bench) -> usize {
        (self.before)();
        let (ran, effects) = effects(bench, &(self.args)(0));
        ran.code(self.code);
        (self.after)(0, "a whole one");
        let expected = state(bench);
        let points = points(&effects);
        for (number, point) in (1..).zip(&points) {
            (self.before)();
            let args = (self.args)(number);
            die(bench, &args, point);
            let when = format!("{args:?} that died {point}");
            let again = bench.run(&args);
            assert_eq!(again.code, self.code, "{when}: {again:?}");
            same(&state(bench), &expected, &when);
            (self.after)(number, &when);
        }
        points.len()
    }
}

/// The host's repository as it was: of what a fetch brought nothing is there.
fn put_back(bench: &Bench) {
    let (git, saved) = (bench.repository().join(".git"), bench.path("saved"));
    if !saved.exists() {
        copy(&git, &saved);
    }
    std::fs::remove_dir_all(&git).unwrap();
    copy(&saved, &git);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// A recreate to another size than before.
fn recreate(number: usize) -> Vec<&'static str> {
    let template = if number.is_multiple_of(2) { "small" } else { "medium" };
    vec!["recreate", NAME, "--container-template", template]
}

pub fn dies(bench: &mut Bench) {
    with_work(bench);
    let bench = &*bench;
    let nothing = || {};
    let there = |_: usize, when: &str| work_is_there(bench, when);
    let refused = Tried { args: &|_| vec!["rm", NAME], code: 1, before: &nothing, after: &there };

    let id = bench.run(&["exec", NAME, "--", "git", "rev-parse", "HEAD"]).ok().stdout;
    let home = |_: usize, when: &str| {
        let at = |reference: &str| bench.git(&["for-each-ref", "--format=%(objectname)", reference]);
        assert_eq!((at("refs/orca"), at(&format!("refs/heads/{NAME}"))), (id.clone(), id.clone()), "{when}");
        bench.git(&["fsck", "--strict", "--no-dangling"]);
        work_is_there(bench, when);
    };
    let put_back = || put_back(bench);
    let fetch = Tried { args: &|_| vec!["fetch", NAME], code: 0, before: &put_back, after: &home };

    // What is asked for is what is made, and not what the killed one was asked for.
    let made = |number: usize, when: &str| {
        let memory = bench.client(&["inspect", "--format={{.HostConfig.Memory}}", &container(bench)]).ok();
        let gigabytes: u64 = if number.is_multiple_of(2) { 2 } else { 4 };
        assert_eq!(memory.stdout.trim(), (gigabytes << 30).to_string(), "{when}");
        work_is_there(bench, when);
    };
    let recreate = Tried { args: &recreate, code: 0, before: &nothing, after: &made };

    let edit = ["env", "set", NAME, "B=1"].as_slice();
    let edit = Tried { args: &|_| edit.to_vec(), code: 0, before: &nothing, after: &there };
    let copy = Tried { args: &|_| vec!["copy", NAME, "--replace"], code: 0, before: &nothing, after: &there };
    let (running, stopped) = (|| run(bench, &["start", NAME]), || run(bench, &["stop", NAME]));
    let stop = Tried { args: &|_| vec!["stop", NAME], code: 0, before: &running, after: &|_, _| {} };
    let start = Tried { args: &|_| vec!["start", NAME], code: 0, before: &stopped, after: &there };

    let all = [
        ("a refused rm", refused),
        ("fetch", fetch),
        ("recreate", recreate),
        ("env set", edit),
        ("copy", copy),
        ("stop", stop),
        ("start", start),
    ];
    let tried: Vec<_> = all.iter().map(|(name, tried)| (*name, tried.at_every_point(bench))).collect();
    bench.run(&["rm", NAME, "--force"]).ok();
    bench.nothing_is_left();
    eprintln!("{}: points: {tried:?}", bench.engine);
}

#[track_caller]
fn run(bench: &Bench, args: &[&str]) {
    bench.run(args).ok();
}

fn container(bench: &Bench) -> String {
    let files = crate::bench::files_below(&bench.path("state/orca-container/records"));
    files[0].file_stem().unwrap().to_str().unwrap().to_owned()
}
