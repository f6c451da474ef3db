//! What can happen to a workspace while nobody looks: an engine that dies in the middle, things removed or replaced behind
//! our back, a store that nobody can write, a clock that jumped. A clear answer each, and nothing lost.

use crate::bench::{Bench, Ran, files_below};
use crate::dockerd::Dockerd;
use crate::fetch::{commit_inside, fetched, tip};
use crate::lifecycle::only_record;
use serde_json::json;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// What docker's client says when there is no daemon; podman's says it of its own.
const NOBODY: &str = "Cannot connect to the daemon. Is it running?";

/// From the first step of this name on the engine is dead, until [`Bench::wrap`] says otherwise. `done` tells whether it did
/// that step before it died.
fn dies_at(bench: &mut Bench, step: &str, done: bool) {
    let down = bench.path("down");
    let _ = fs::remove_file(&down);
    let first = if done { "\"$orca_real\" \"$@\" >/dev/null 2>&1;" } else { "" };
    let script = format!(
        "dead() {{ echo '{NOBODY}' >&2; exit 125; }}
         [ ! -e {0} ] || dead
         case \"$orca_step $2\" in {step}) {first} : >{0}; dead;; esac",
        down.display()
    );
    bench.wrap(bench.engine, &script);
}

#[track_caller]
fn says(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, code, "{ran:?}");
    for word in words {
        assert!(ran.stderr.contains(word), "{word}: {ran:?}");
    }
}

#[track_caller]
fn work_is_there(bench: &Bench, when: &str) {
    assert_eq!(bench.exec(&["cat", "work"]).stdout, "work\n", "{when}");
}

/// The engine dies before or after a step: it is said, the record stays, and the same command goes on once it is back.
pub fn engine_dies(bench: &mut Bench) {
    bench.wrap(bench.engine, "");
    for (step, done) in [
        ("'network create'", false),
        ("'volume create'", true),
        ("start*", false),
        ("start*", true),
        ("exec*", false),
    ] {
        dies_at(bench, step, done);
        let died = bench.create(&[]);
        says(&died, 1, &[NOBODY, "Run rm"]);
        let gone = bench.run(&["ls"]).ok().stdout;
        assert!(!gone.contains("missing") && !gone.contains("running"), "{step} {done}: {gone}");
        bench.wrap(bench.engine, "");
        bench.create(&[]).ok();
        assert_eq!(bench.exec(&["cat", "readme"]).ok().stdout, "hello again\n");
        bench.run(&["rm", "acme", "--force"]).ok();
        bench.nothing_is_left();
    }

    bench.create(&[]).ok();
    bench.exec(&["sh", "-c", "echo work > work"]).ok();
    for (step, done) in [("stop*", false), ("rm*", true), ("create*", true), ("start*", false)] {
        dies_at(bench, step, done);
        let died = bench.run(&["recreate", "acme"]);
        assert!(died.code != 0 && died.stderr.contains(NOBODY), "{step} {done}: {died:?}");
        assert_eq!(bench.status()["status"], "unverifiable", "{step} {done}");
        bench.wrap(bench.engine, "");
        bench.run(&["recreate", "acme"]).ok();
        work_is_there(bench, step);
    }
    // Whether it holds work cannot be known then, and that is no yes.
    dies_at(bench, "run*", false);
    says(&bench.run(&["rm", "acme"]), 1, &["could not be found out", NOBODY]);
    bench.wrap(bench.engine, "");
    work_is_there(bench, "after a look that was not possible");
    for (step, done) in [("stop*", true), ("rm*", false), ("'volume rm'", false), ("'network rm'", true)] {
        dies_at(bench, step, done);
        says(&bench.run(&["rm", "acme", "--force"]), 1, &[NOBODY]);
        assert_eq!(bench.status()["status"], "unverifiable", "{step} {done}");
        bench.wrap(bench.engine, "");
        assert_eq!(bench.status()["status"], "removing", "{step} {done}");
    }
    bench.run(&["rm", "acme"]).ok();
    bench.nothing_is_left();
}

/// A daemon that is stopped under a running agent, and started again: the agent's work is there.
pub fn daemon_stops(bench: &mut Bench) {
    let mut daemon = Dockerd::start(&[], &crate::bench::image("docker"));
    bench.env.insert("DOCKER_HOST".into(), daemon.socket());
    bench.create(&["--network=none"]).ok();
    bench.exec(&["sh", "-c", "echo work > work"]).ok();
    let mut agent = bench.command(&["exec", "acme", "--", "sleep", "600"]);
    let mut agent = agent.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    daemon.stop();
    assert!(!agent.wait().unwrap().success(), "it ends with its container");
    assert_eq!(bench.status()["status"], "unverifiable");
    for command in ["rm", "recreate", "start", "stop", "fetch"] {
        let refused = bench.run(&[command, "acme"]);
        assert!(refused.code == 1 || refused.code == 3, "{command}: {refused:?}");
        assert!(refused.stderr.contains("Cannot connect to the Docker daemon"), "{command}: {refused:?}");
    }
    daemon.start_again();
    assert_eq!(bench.status()["status"], "stopped");
    bench.run(&["start", "acme"]).ok();
    work_is_there(bench, "after the daemon was stopped");
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_eq!(daemon.left(), "");
}

/// Container and network are removed by somebody else: each command says so, and a recreate mends it with the work.
pub fn removed_behind_our_back(bench: &mut Bench) {
    bench.create(&[]).ok();
    bench.exec(&["sh", "-c", "echo work > work"]).ok();
    bench.client(&["rm", "-f", &bench.container_id()]).ok();
    let status = bench.status();
    assert_eq!(status["status"], "missing", "{status}");
    assert!(status["help"].as_str().unwrap().contains("recreate \"acme\""), "{status}");
    assert!(bench.run(&["ls"]).ok().stdout.contains("missing"));
    says(&bench.run(&["start", "acme"]), 1, &["The container is gone", "recreate"]);
    for launched in [bench.exec(&["true"]), bench.run(&["shell", "acme"])] {
        let words = ["Nothing was started in \"acme\"", "no such container any more", "recreate \"acme\""];
        says(&launched, 1, &words);
        // Not in the engine's words beside.
        assert_eq!(launched.stderr.lines().count(), 1, "{launched:?}");
    }
    says(&bench.run(&["fetch", "acme"]), 1, &["has no container now", "recreate"]);
    bench.run(&["stop", "acme"]).ok();
    says(&bench.run(&["rm", "acme"]), 1, &["1 changed file"]);
    bench.run(&["recreate", "acme"]).ok();
    work_is_there(bench, "after the container was removed");

    // A network goes only when nothing of it runs, on podman only with its container.
    bench.run(&["stop", "acme"]).ok();
    for launched in [bench.exec(&["true"]), bench.run(&["shell", "acme"])] {
        says(&launched, 1, &["Nothing was started in \"acme\"", "is stopped", "Run start \"acme\""]);
        assert_eq!(launched.stderr.lines().count(), 1, "{launched:?}");
    }
    let network = only_record(bench)["plan"]["network"]["name"].as_str().unwrap().to_owned();
    if bench.client(&["network", "rm", &network]).code == 0 {
        says(&bench.run(&["start", "acme"]), 1, &["network: It is gone", "recreate"]);
        assert_eq!(bench.status()["status"], "stopped");
    } else {
        assert_eq!(bench.engine, "podman");
        bench.client(&["network", "rm", "-f", &network]).ok();
        says(&bench.run(&["start", "acme"]), 1, &["recreate"]);
    }
    bench.run(&["recreate", "acme"]).ok();
    work_is_there(bench, "after the network was removed");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A volume in place of the workspace's that leads to a folder of the host, with our labels and without: nothing is mounted
/// from it, written to it or read of it, whatever is asked for.
pub fn volume_replaced(bench: &mut Bench) {
    let decoy = bench.path("decoy");
    fs::create_dir(&decoy).unwrap();
    fs::write(decoy.join("kept"), "host").unwrap();
    let device = format!("device={}", decoy.display());
    for labelled in [true, false] {
        bench.create(&["--network=none"]).ok();
        let record = only_record(bench);
        let volume = record["plan"]["names"]["workspaceVolume"].as_str().unwrap().to_owned();
        let labels = record["plan"]["labels"].as_object().unwrap().clone();
        let labels: Vec<String> = labels
            .iter()
            .filter(|_| labelled)
            .map(|(name, value)| format!("--label={name}={}", value.as_str().unwrap()))
            .collect();
        bench.client(&["rm", "-f", &bench.container_id()]).ok();
        bench.client(&["volume", "rm", &volume]).ok();
        let mut hostile = vec!["volume", "create", "-o", "type=none", "-o", "o=bind", "-o", &device];
        hostile.extend(labels.iter().map(String::as_str));
        hostile.push(&volume);
        bench.client(&hostile).ok();

        let calls = bench.path("calls");
        let _ = fs::remove_file(&calls);
        bench.wrap(bench.engine, &format!("echo \"$*\" >>{}", calls.display()));
        let refused = bench.run(&["recreate", "acme"]).code(1);
        let words = if labelled { "volumes.workspace" } else { "not recorded as its own" };
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
        bench.exec(&["true"]).code(1);
        bench.run(&["start", "acme"]).code(1);
        let kept = bench.run(&["rm", "acme"]).code(1);
        assert!(kept.stderr.contains("could not be found out"), "{}", kept.stderr);
        let forced = bench.run(&["rm", "acme", "--force"]);
        // What bears our labels is ours to remove, which removes a name; what does not is left.
        assert_eq!(forced.code, i32::from(!labelled), "{forced:?}");
        assert_eq!(bench.client(&["volume", "inspect", &volume]).code == 0, !labelled);
        let calls = fs::read_to_string(&calls).unwrap();
        let uses = |call: &&str| call.contains(&format!("={volume},")) && !call.starts_with("volume");
        assert_eq!(calls.lines().find(uses), None);
        let left: Vec<_> = fs::read_dir(&decoy).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!((left, fs::read(decoy.join("kept")).unwrap()), (vec!["kept".into()], b"host".to_vec()));
        bench.wrap(bench.engine, "");
        if !labelled {
            bench.client(&["volume", "rm", &volume]).ok();
            bench.run(&["rm", "acme", "--force"]).ok();
        }
        bench.nothing_is_left();
    }
}

/// Runs the command where the store is mounted read-only, in a mount namespace of its own: root minds no modes.
fn read_only(bench: &Bench, args: &[&str]) -> Ran {
    let script = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation=private", "--", "sh", "-c", script]).arg(bench.path("state"));
    command.arg(crate::bench::COMMAND).args(args).env_clear().envs(&bench.env);
    Ran::of(&command.current_dir(bench.folder()).stdin(Stdio::null()).output().unwrap())
}

/// Whether this machine lets us.
pub fn can_mount_read_only() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let tried = Command::new("unshare")
        .args(["--mount", "--propagation=private", "--", "mount", "-t", "tmpfs", "tmpfs"])
        .arg(folder.path())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// What is there can be looked at and worked in; whatever would change is refused before the engine hears of it.
pub fn read_only_store(bench: &mut Bench) {
    bench.create(&[]).ok();
    bench.exec(&["sh", "-c", "echo work > work"]).ok();
    bench.git(&["worktree", "add", "-q", "-b", "second", bench.path("second").to_str().unwrap()]);
    let contents = |bench: &Bench| -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let mut files = files_below(&bench.path("state"));
        files.sort();
        files.into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
    };
    let (before, things, id) = (contents(bench), bench.left_on_engine(), bench.container_id());
    let references = bench.git(&["for-each-ref"]);
    for command in [&["ls"][..], &["status", "acme"], &["env", "acme"]] {
        assert_eq!(read_only(bench, command).code, 0, "{command:?}");
    }
    let worked = read_only(bench, &["exec", "acme", "--", "cat", "work"]).ok();
    assert_eq!(worked.stdout, "work\n");
    assert!(worked.stderr.contains("Read-only file system"), "{}", worked.stderr);
    let image = crate::bench::image(bench.engine);
    let create = crate::bench::create_args(bench.engine, "second", &image);
    let commands: [&[&str]; 9] = [
        &create,
        &["recreate", "acme"],
        &["fetch", "acme"],
        &["stop", "acme"],
        &["start", "acme"],
        &["rm", "acme"],
        &["rm", "acme", "--force"],
        &["env", "set", "acme", "A=1"],
        &["copy", "acme"],
    ];
    for command in commands {
        let refused = read_only(bench, command);
        says(&refused, 1, &["Read-only file system", "state/orca-container"]);
        assert_eq!(
            (contents(bench), bench.left_on_engine()),
            (before.clone(), things.clone()),
            "{command:?}"
        );
        assert_eq!(bench.git(&["for-each-ref"]), references, "{command:?}");
    }
    assert_eq!(bench.container_id(), id);
    work_is_there(bench, "after all that");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Every file of a folder gets this time.
fn at(folder: &Path, time: SystemTime) {
    for file in files_below(folder) {
        File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }
}

/// A clock that stood at its beginning or ran far ahead: of files of the store and of what an agent commits. What a sweep
/// makes of it is told in `sweep`.
pub fn clock_jumps(bench: &mut Bench) {
    bench.create(&["--network=none"]).ok();
    bench.git(&["switch", "-q", "main"]);
    let far = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(4_000_000_000)).unwrap();
    for (time, date) in [(SystemTime::UNIX_EPOCH, "@1 +0000"), (far, "@4000000000 +0000")] {
        at(&bench.path("state"), time);
        let script = format!(
            "GIT_AUTHOR_DATE='{date}' GIT_COMMITTER_DATE='{date}' git commit -q --allow-empty -m '{date}'"
        );
        let new = commit_inside(bench, &script);
        assert_eq!(fetched(bench)["moved"], json!(true), "{date}");
        assert_eq!(tip(bench), new);
        bench.run(&["sweep"]).ok();
        for command in ["stop", "start", "recreate"] {
            at(&bench.path("state"), time);
            bench.run(&[command, "acme"]).ok();
        }
        assert_eq!(bench.status()["status"], "running", "{date}");
        assert_eq!(bench.exec(&["git", "rev-parse", "HEAD"]).ok().stdout.trim(), new);
    }
    at(&bench.path("state"), far);
    bench.run(&["rm", "acme"]).ok();
    bench.nothing_is_left();
}
