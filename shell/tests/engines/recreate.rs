//! A container anew: what is refused before anything is touched, what a failure leaves, and what a kill at any effect does.

use crate::bench::{Bench, build_image, image};
use crate::policy::create_approved;
use serde_json::{Value, json};
use std::fs;

/// An image of another user cannot work with the volumes, so the container of before stays as it is.
pub fn another_user_is_refused(bench: &mut Bench) {
    let own = build_image(bench.engine, "full", &format!("LABEL orca.test=user-{}", std::process::id()));
    let other = build_image(bench.engine, "full", "USER 1234:1234");
    bench.create_from("acme", &own, &[]).ok();
    let id = bench.container_id();
    let refused = bench.run(&["recreate", "acme", "--container-image", &other]).code(1);
    assert!(
        refused.stderr.contains("1000:1000") && refused.stderr.contains("1234:1234"),
        "{}",
        refused.stderr
    );
    assert_eq!((bench.container_id(), bench.status()["status"].clone()), (id, json!("running")));
    // The same by a tag that moves.
    bench.client(&["tag", &other, &own]).ok();
    let refused = bench.run(&["recreate", "acme"]).code(1);
    assert!(refused.stderr.contains("image.id"), "{}", refused.stderr);
    assert_eq!(bench.exec(&["id", "-u"]).ok().stdout, "1000\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.client(&["image", "rm", "-f", &own]).ok();
    bench.nothing_is_left();
}

/// What is chosen at a recreate counts from then on; nothing else changes.
pub fn choices_are_taken_and_kept(bench: &mut Bench) {
    bench.create(&["--container-template", "small"]).ok();
    let memory = |bench: &Bench| bench.inspect()["HostConfig"]["Memory"].as_u64().unwrap() >> 30;
    let before = (bench.container_id(), fs::read_dir(bench.path("state/orca-container")).unwrap().count());
    let dry = bench.run(&["recreate", "acme", "--container-template", "medium", "--dry-run"]).ok();
    assert!(dry.stderr.contains("limits.memoryBytes: "), "{}", dry.stderr);
    assert_eq!(
        before,
        (bench.container_id(), fs::read_dir(bench.path("state/orca-container")).unwrap().count())
    );
    assert_eq!(memory(bench), 2);
    bench.run(&["recreate", "acme", "--container-template", "medium"]).ok();
    assert_eq!(memory(bench), 4);
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(memory(bench), 4);
    for wrong in [&["--container-env", "A=1"][..], &["--no-container"], &["--agent", "x"]] {
        bench.run(&[&["recreate", "acme"], wrong].concat()).code(2);
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A container that cannot be made leaves the volumes, the record of before, and the way on.
pub fn a_failure_leaves_the_way_on(bench: &mut Bench) {
    let lacking = build_image(bench.engine, "no-git", "");
    let whole = image(bench.engine);
    fs::create_dir(bench.repository().join(".devcontainer")).unwrap();
    let file = json!({"image": whole, "mounts": ["source=one,target=/data/one,type=volume"]});
    bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
    create_approved(bench, "devcontainer", &[]).ok();
    bench.exec(&["sh", "-c", "echo work > work; echo kept > /data/one/x"]).ok();
    // A new volume, and an image that a workspace cannot be made from.
    let file = json!({"image": lacking, "mounts": ["source=two,target=/data/two,type=volume"]});
    bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
    let dry = bench.run(&["recreate", "acme", "--adopt-repository-config", "--dry-run"]).ok();
    let digests: Vec<&str> =
        dry.stderr.lines().filter_map(|line| line.trim().strip_prefix("--approve ")).collect();
    assert_eq!(digests.len(), 1, "{}", dry.stderr);
    let again = bench
        .run(&["recreate", "acme", "--adopt-repository-config", "--dry-run", "--approve", digests[0]])
        .ok();
    assert!(!again.stderr.contains("Asked: "), "{}", again.stderr);
    let pending = bench.run(&["recreate", "acme", "--adopt-repository-config"]).code(1);
    assert!(pending.stderr.contains(digests[0]), "a dry run approves nothing: {}", pending.stderr);
    let failed =
        bench.run(&["recreate", "acme", "--adopt-repository-config", "--approve", digests[0]]).code(1);
    assert!(
        failed.stderr.contains("git") && failed.stderr.contains("the volumes are kept"),
        "{}",
        failed.stderr
    );
    let status = bench.status();
    assert_eq!(status["status"], "missing", "{status}");
    assert!(status["help"].as_str().unwrap().contains("recreate"));
    let launched = bench.exec(&["true"]).code(1);
    assert!(launched.stderr.contains("recreate"), "{}", launched.stderr);
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(bench.exec(&["cat", "work", "/data/one/x"]).ok().stdout, "work\nkept\n");
    // Also what was made for the plan that failed goes in the end.
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A repository's volume that somebody removed is made again and belongs to the user; the workspace's own is not.
pub fn lost_volumes(bench: &mut Bench) {
    fs::create_dir(bench.repository().join(".devcontainer")).unwrap();
    let file = json!({"image": image(bench.engine), "mounts": ["source=one,target=/data/one,type=volume"]});
    bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
    create_approved(bench, "devcontainer", &[]).ok();
    let record: Value = serde_json::from_slice(
        &fs::read(&crate::bench::files_below(&bench.path("state/orca-container/records"))[0]).unwrap(),
    )
    .unwrap();
    let volumes = record["plan"]["volumes"].as_array().unwrap().clone();
    let name =
        |role: &str| volumes.iter().find(|v| v["role"] == role).unwrap()["name"].as_str().unwrap().to_owned();
    bench.client(&["rm", "-f", &bench.container_id()]).ok();
    bench.client(&["volume", "rm", &name("devcontainer")]).ok();
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(bench.exec(&["sh", "-c", "echo x > /data/one/x; cat /data/one/x"]).ok().stdout, "x\n");
    bench.client(&["rm", "-f", &bench.container_id()]).ok();
    bench.client(&["volume", "rm", &name("workspace")]).ok();
    let gone = bench.run(&["recreate", "acme"]).code(1);
    assert!(gone.stderr.contains("It is gone, and what was in it with it"), "{}", gone.stderr);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A workspace of a folder adopts that folder's files, also while another branch is checked out that lacks it.
pub fn of_a_folder(bench: &mut Bench) {
    fs::create_dir(bench.repository().join("web")).unwrap();
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    env:\n      WHERE: root\n");
    bench.commit_file("web/orca.yaml", "worktree:\n  container:\n    env:\n      WHERE: web\n");
    let web = bench.repository().join("web");
    bench.create_from(web.to_str().unwrap(), &image(bench.engine), &[]).ok();
    let said = |bench: &Bench| bench.run(&["exec", "web", "--", "sh", "-c", "echo $WHERE"]).ok().stdout;
    assert_eq!(said(bench), "web\n");
    bench.commit_file("web/orca.yaml", "worktree:\n  container:\n    env:\n      WHERE: web again\n");
    bench.git(&["switch", "-q", "main"]);
    assert!(!web.exists());
    bench.run(&["recreate", "web", "--adopt-repository-config"]).ok();
    assert_eq!(said(bench), "web again\n");
    bench.run(&["rm", "web", "--force"]).ok();
    bench.nothing_is_left();
}

/// Killed before or after each call of the engine's client: the same command ends it, with the work.
pub fn killed_at_every_effect(bench: &mut Bench) {
    bench.wrap(bench.engine, "");
    bench.create(&["--container-env", "A=1"]).ok();
    bench.exec(&["sh", "-c", "echo work > work"]).ok();
    let mut ended = 0;
    for number in 1..40 {
        let mut whole = false;
        for after in [false, true] {
            let counter = bench.path("calls");
            let _ = fs::remove_file(&counter);
            let counter = counter.display();
            let death =
                if after { "\"$orca_real\" \"$@\"; kill -9 $PPID; exit" } else { "kill -9 $PPID; exit" };
            let script = format!(
                "case \"$orca_step $2\" in 'volume create'|'network create'|run*|create*|start*|stop*|rm*)
                   n=$(cat {counter} 2>/dev/null); n=$((${{n:-0}}+1)); echo $n >{counter}
                   [ $n -ne {number} ] || {{ {death}; }};; esac"
            );
            bench.wrap(bench.engine, &script);
            whole = bench.run(&["recreate", "acme"]).code == 0;
            bench.wrap(bench.engine, "");
            let when = format!("after a kill at effect {number}, done: {after}");
            let created = bench.create(&[]).code(1);
            assert!(created.stderr.contains("There is a workspace"), "{when}: {}", created.stderr);
            let again = bench.run(&["recreate", "acme"]);
            assert_eq!(again.code, 0, "{when}: {}", again.stderr);
            assert_eq!(bench.exec(&["sh", "-c", "cat work; echo $A"]).ok().stdout, "work\n1\n", "{when}");
        }
        if whole {
            ended = number;
            break;
        }
    }
    // The throwaway container of the user's lookup, stop, rm, create, start.
    assert!(ended >= 5, "only {ended} effects were seen");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Logins and settings of agents go, the work stays, also where the command is killed in the middle of it.
pub fn reset_agent(bench: &mut Bench) {
    bench.create(&["--network=none"]).ok();
    let write = "echo login >/orca/agent/claude/login; echo work >/workspace/acme/work";
    bench.exec(&["sh", "-c", write]).ok();
    let read = ["sh", "-c", "cat /orca/agent/claude/login /workspace/acme/work; ls -d /orca/agent/claude"];
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(bench.exec(&read).ok().stdout, "login\nwork\n/orca/agent/claude\n");
    bench.run(&["recreate", "acme", "--reset-agent", "--dry-run"]).ok();
    assert!(bench.exec(&read).stdout.contains("login"));
    let told = bench.run(&["recreate", "acme", "--reset-agent"]).ok();
    assert!(told.stderr.contains("The agent volume goes"), "{told:?}");
    assert_eq!(bench.exec(&read).stdout, "work\n/orca/agent/claude\n");

    // Killed right after the old volume went: the next recreate goes on, whatever it says of the agent.
    bench.exec(&["sh", "-c", write]).ok();
    let engine = bench.engine;
    let kill = "case \"$*\" in \"volume rm \"*) \"$orca_real\" \"$@\"; kill -9 $PPID; exit 1 ;; esac";
    bench.wrap(engine, kill);
    assert_ne!(bench.run(&["recreate", "acme", "--reset-agent"]).code, 0);
    // What it was reached by is recorded, so the wrapper stays.
    bench.wrap(engine, "");
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(bench.exec(&read).stdout, "work\n/orca/agent/claude\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}
