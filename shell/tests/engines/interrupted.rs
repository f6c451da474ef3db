//! A create that is killed, with -9, at each of its effects: on the engine, and on the store's files.

use crate::bench::{Bench, Ran, create_args};
use crate::canary::Planted;
use std::fs;
use std::process::{Command, Stdio};

/// Effects on the engine that a create may have, far fewer than this.
const MOST: usize = 40;

/// System calls that change what a folder or a file holds; of `openat` those that make a file.
const FILE_EFFECTS: &str =
    "openat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,ftruncate,fsync";

/// After a kill nothing of a value is outside its places, and `rm` leaves nothing at all.
fn nothing_survives(bench: &Bench, planted: &Planted, when: &str) {
    planted.absent_from_store(bench, when);
    // There may be no record yet; then there is nothing on the engine either.
    let removed = bench.run(&["rm", "acme", "--force"]);
    planted.unsaid(&format!("rm {when}"), &removed);
    assert_eq!(bench.left_on_engine(), Vec::<String>::new(), "{when}: {removed:?}");
    assert_eq!(bench.left_in_store(), Vec::<std::path::PathBuf>::new(), "{when}: {removed:?}");
}

/// Kills the command before, or right after, the client call with a number; later calls do nothing.
fn kill_at(bench: &mut Bench, number: usize, after: bool) {
    let counter = bench.path("calls");
    let _ = fs::remove_file(&counter);
    let counter = counter.display();
    let death = if after { "\"$orca_real\" \"$@\"; kill -9 $PPID; exit" } else { "kill -9 $PPID; exit" };
    let script = format!(
        "case \"$orca_step $2\" in 'volume create'|'network create'|run*|create*|start*|exec*)
           n=$(cat {counter} 2>/dev/null); n=$((${{n:-0}}+1)); echo $n >{counter}
           [ $n -ne {number} ] || {{ {death}; }};; esac"
    );
    bench.wrap(bench.engine, &script);
}

pub fn at_every_engine_effect(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    fs::write(bench.repository().join(".git/info/exclude"), ".env\n").unwrap();
    fs::write(bench.repository().join(".env"), planted.marker("start")).unwrap();
    fs::write(bench.repository().join(".worktreeinclude"), ".env\n").unwrap();
    let mut ended = 0;
    for number in 1..MOST {
        let mut whole = false;
        for after in [false, true] {
            kill_at(bench, number, after);
            let ran = bench.create(&["--container-env-file", "w.env", "--copy-ignored-files"]);
            planted.unsaid("a killed create", &ran);
            whole = ran.code == 0;
            bench.wrap(bench.engine, "");
            nothing_survives(bench, &planted, &format!("after a kill at effect {number}, done: {after}"));
        }
        if whole {
            ended = number;
            break;
        }
    }
    // The throwaway container of the user's lookup, two volumes, the network, container, start, clone, copy.
    assert!(ended >= 8, "only {ended} effects were seen");
}

/// The effects of a whole create: each system call with its number among those of its name, as strace counts.
fn file_effects(bench: &Bench, args: &[&str]) -> Vec<(String, usize)> {
    let log = bench.path("trace");
    let ran = traced(bench, &["-o", log.to_str().unwrap(), "-e", &format!("trace={FILE_EFFECTS}")], args);
    assert_eq!(ran.code, 0, "{ran:?}");
    bench.run(&["rm", "acme", "--force"]).ok();
    let mut numbers = std::collections::BTreeMap::new();
    let mut effects = Vec::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        let number: &mut usize = numbers.entry(name.to_owned()).or_default();
        *number = number.saturating_add(1);
        if name != "openat" || rest.contains("O_CREAT") {
            effects.push((name.to_owned(), *number));
        }
    }
    effects
}

fn traced(bench: &Bench, flags: &[&str], args: &[&str]) -> Ran {
    let mut traced = Command::new("strace");
    traced.arg("-qq").args(flags).arg(crate::bench::COMMAND).args(args).env_clear().envs(&bench.env);
    Ran::of(&traced.current_dir(bench.path("")).stdin(Stdio::null()).output().unwrap())
}

pub fn at_every_file_effect(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    let image = crate::bench::image(bench.engine);
    let mut args = create_args(bench.engine, "acme", &image);
    args.extend(["--network", "none", "--container-env-file", "w.env"]);
    let effects = file_effects(bench, &args);
    assert!(effects.len() > 20, "only {effects:?} were seen");
    for kind in ["openat", "rename", "mkdir", "fsync", "unlink"] {
        assert!(effects.iter().any(|(name, _)| name.starts_with(kind)), "no {kind} in {effects:?}");
    }
    for (name, number) in effects {
        let inject = format!("inject={name}:signal=SIGKILL:when={number}");
        let flags = ["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject];
        let ran = traced(bench, &flags, &args);
        planted.unsaid("a killed create", &ran);
        nothing_survives(bench, &planted, &format!("after a kill at {name} {number}"));
    }
}
