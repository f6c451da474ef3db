//! Create, rm and sweep: each dies at each of its points, and the same command ends what it began. One workspace's life
//! tries a point of its create and one of its end.

use crate::bench::{Bench, Ran, files_below, image, runtime};
use crate::faults::{Point, dies as die, effects, points};
use crate::state::{State, same, state};
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

/// The worktree's name, and its branch's.
pub const NAME: &str = "wt";

/// Creates it with all that a create can do: variables, a network, a remote, ignored files.
pub fn create_args<'a>(engine: &'a str, image: &'a str) -> Vec<&'a str> {
    let mut args = vec!["create", NAME, "--engine", engine, "--container-image", image];
    args.extend(["--container-env", "A=1", "--copy-ignored-files"]);
    args.extend(runtime(engine).iter().flat_map(|name| ["--runtime", name]));
    args
}

/// Files that are ignored, and the list of those that are copied.
pub fn prepare(bench: &Bench) {
    bench.commit_file(".gitignore", ".env\n");
    fs::write(bench.repository().join(".env"), "COPIED=1\n").unwrap();
    bench.commit_file(".worktreeinclude", ".env\n");
    bench.git(&["branch", NAME]);
}

/// A linked worktree, which a sweep can find gone.
pub fn add_worktree(bench: &Bench) {
    bench.git(&["worktree", "add", "-q", bench.path(NAME).to_str().unwrap(), NAME]);
}

/// A commit inside, brought home to a branch that no worktree holds any more.
pub fn work_and_fetch(bench: &Bench) {
    let commit = "git -c user.name=n -c user.email=e commit -q --allow-empty -m inside";
    bench.run(&["exec", NAME, "--", "sh", "-c", commit]).ok();
    bench.git(&["worktree", "remove", "--force", bench.path(NAME).to_str().unwrap()]);
    bench.run(&["fetch", NAME]).ok();
}

/// Makes all records an hour old.
pub fn age(bench: &Bench) {
    let then = SystemTime::now().checked_sub(Duration::from_secs(3600)).unwrap();
    for file in files_below(&bench.path("state/orca-container/records")) {
        File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
    }
}

/// A store of nobody, as on a machine that never had one.
pub fn fresh_store(bench: &Bench) {
    let _ = fs::remove_dir_all(bench.path("state"));
}

/// What ends a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Rm,
    Sweep,
}

impl End {
    pub fn args(self) -> &'static [&'static str] {
        match self {
            Self::Rm => &["rm", NAME],
            Self::Sweep => &["sweep"],
        }
    }

    /// The same command again, after which nothing may be left. An interrupted sweep leaves a record that is young.
    #[track_caller]
    pub fn again(self, bench: &Bench, when: &str) {
        age(bench);
        let ran = bench.run(self.args());
        let gone = self == Self::Rm && ran.stderr.contains("There is no workspace");
        assert!(ran.code == 0 || gone, "{when}: {ran:?}");
    }
}

/// The same create again: it makes the workspace, or says that it is there and whole.
#[track_caller]
pub fn create_again(bench: &Bench, args: &[&str], when: &str) {
    let ran: Ran = bench.run(args);
    assert!(ran.code == 0 || ran.stderr.contains("There is a workspace"), "{when}: {ran:?}");
}

/// What whole runs do and leave.
struct Whole {
    create: Vec<Point>,
    ends: Vec<(End, Point)>,
    made: State,
    gone: State,
}

impl Whole {
    fn of(bench: &Bench, args: &[&str]) -> Self {
        let mut whole = Self { create: Vec::new(), ends: Vec::new(), made: State::new(), gone: State::new() };
        for end in [End::Rm, End::Sweep] {
            fresh_store(bench);
            add_worktree(bench);
            let (made, of_create) = effects(bench, args);
            made.ok();
            (whole.create, whole.made) = (points(&of_create), state(bench));
            work_and_fetch(bench);
            assert!(state(bench).contains(&format!("reference refs/orca/WORKSPACE/heads/{NAME}")));
            age(bench);
            let (ended, of_end) = effects(bench, end.args());
            ended.ok();
            whole.ends.extend(points(&of_end).into_iter().map(|point| (end, point)));
            whole.gone = state(bench);
            let left = |line: &&String| {
                !(line.starts_with("store docker/") || line.starts_with("reference refs/heads/"))
            };
            let left: Vec<_> = whole.gone.iter().filter(left).collect();
            assert_eq!(left, ["store install"], "after a whole {end:?}");
        }
        whole
    }
}

pub fn dies(bench: &mut Bench) {
    let image = image(bench.engine);
    prepare(bench);
    let args = create_args(bench.engine, &image);
    let whole = Whole::of(bench, &args);
    assert!(whole.create.len() > 30 && whole.ends.len() > 30, "{} {}", whole.create.len(), whole.ends.len());
    for number in 0..whole.create.len().max(whole.ends.len()) {
        fresh_store(bench);
        add_worktree(bench);
        if let Some(point) = whole.create.get(number) {
            die(bench, &args, point);
            let when = format!("a create that died {point}");
            create_again(bench, &args, &when);
            same(&state(bench), &whole.made, &when);
        } else {
            bench.run(&args).ok();
        }
        work_and_fetch(bench);
        age(bench);
        let mut when = "a whole rm".to_owned();
        let mut end = End::Rm;
        if let Some((of, point)) = whole.ends.get(number) {
            end = *of;
            die(bench, end.args(), point);
            when = format!("a {end:?} that died {point}");
        }
        end.again(bench, &when);
        same(&state(bench), &whole.gone, &when);
    }
    eprintln!(
        "{}: {} points of create, {} of rm and sweep",
        bench.engine,
        whole.create.len(),
        whole.ends.len()
    );
}
