//! A create that is killed, with -9, at each of its effects: on the engine, and on the store's files.

use crate::bench::{Bench, Ran, create_args};
use crate::canary::Planted;
use std::fs;
use std::process::{Command, Stdio};

/// Effects on the engine that a create may have, far fewer than this.
const MOST: usize = 40;

/// System calls that change what a folder holds; `fsync` stands for a file that was just written.
const FILE_EFFECTS: &str = "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,fsync";

/// After a kill nothing of a value is outside its places, and `rm` leaves nothing at all.
fn nothing_survives(bench: &Bench, planted: &Planted, when: &str) {
    planted.absent_from_store(bench, when);
    // There may be no record yet; then there is nothing on the engine either.
    let removed = bench.run(&["rm", "acme"]);
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

pub fn at_every_file_effect(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    let image = crate::bench::image(bench.engine);
    let mut args = create_args(bench.engine, "acme", &image);
    args.extend(["--network", "none", "--container-env-file", "w.env"]);
    let mut ended = 0;
    for number in 1..MOST {
        let inject = format!("inject={FILE_EFFECTS}:signal=SIGKILL:when={number}");
        let mut traced = Command::new("strace");
        traced.args(["-qq", "-o", "/dev/null", "-e", &format!("trace={FILE_EFFECTS}"), "-e", &inject]);
        traced.arg(crate::bench::COMMAND).args(&args).env_clear().envs(&bench.env);
        let ran = Ran::of(&traced.current_dir(bench.path("")).stdin(Stdio::null()).output().unwrap());
        planted.unsaid("a killed create", &ran);
        nothing_survives(bench, &planted, &format!("after a kill at file effect {number}"));
        if ran.code == 0 {
            ended = number;
            break;
        }
        assert!(!ran.stderr.contains("strace:"), "{}", ran.stderr);
    }
    // Folders of the store, its files and their places: more than ten before the workspace is whole.
    assert!(ended > 10, "only {ended} effects were seen");
}
