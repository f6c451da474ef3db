//! What cannot be done is refused, and what was begun is undone.

use crate::bench::{Bench, Ran};
use crate::delivery::{exec_with_secrets, write_settings};
use orca_container_testkit::Canary;
use std::fs;
use std::os::unix::fs::PermissionsExt;

pub fn cannot_be_cloned(bench: &mut Bench) {
    let head = bench.git(&["rev-parse", "HEAD"]).trim().to_owned();
    bench.git(&["checkout", "-q", "--detach", &head]);
    let detached = bench.create(&[]).code(1);
    assert!(detached.stderr.contains("branch"), "{}", detached.stderr);
    bench.git(&["update-ref", "refs/heads/-x", &head]);
    bench.git(&["symbolic-ref", "HEAD", "refs/heads/-x"]);
    let dashed = bench.create(&[]).code(1);
    assert!(dashed.stderr.contains("branch"), "{}", dashed.stderr);
    bench.git(&["symbolic-ref", "HEAD", "refs/heads/feature/x"]);
    bench.git(&["config", "remote.origin.promisor", "true"]);
    let partial = bench.create(&[]).code(1);
    assert!(partial.stderr.contains("partial clone"), "{}", partial.stderr);
    bench.git(&["config", "--unset", "remote.origin.promisor"]);
    bench.nothing_is_left();
}

pub fn private_branches_stay(bench: &mut Bench) {
    bench.git(&["branch", "private"]);
    bench
        .commit_file(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = https://example.invalid/m.git\n");
    bench.commit_file(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    fs::write(bench.repository().join("readme"), "stashed\n").unwrap();
    bench.git(&["stash", "-q"]);
    let made = bench.create(&[]).ok();
    assert!(made.stderr.contains("submodules") && made.stderr.contains("LFS"), "{}", made.stderr);
    let inside = bench
        .exec(&[
            "sh",
            "-c",
            "git for-each-ref --format='%(refname)'; git stash list; git config --get-all remote.origin.url",
        ])
        .ok();
    assert_eq!(inside.stdout, "refs/heads/feature/x\nhttps://example.invalid/acme.git\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// An engine's client that fails at one step, once, as any engine can.
fn sabotage(bench: &mut Bench, step: &str) {
    let done = bench.path("sabotaged");
    let script = format!(
        "case $orca_step in {step}) if [ ! -e {0} ]; then : >{0}; echo sabotage >&2; exit 1; fi;; esac",
        done.display()
    );
    bench.wrap(bench.engine, &script);
}

pub fn a_failed_step_leaves_nothing(bench: &mut Bench) {
    for step in ["start", "exec", "create"] {
        let mut world = Bench::new(bench.engine);
        crate::bench::image(world.engine);
        sabotage(&mut world, step);
        let failed = world.create(&[]);
        if step == "create" {
            // The first `create` is the throwaway container that the image's user is looked up in: without it
            // the user is not known, and the workspace is made with the default one.
            if failed.code == 0 {
                world.run(&["rm", "acme", "--force"]).ok();
            }
        } else {
            assert_eq!(failed.code, 1, "{step}: {failed:?}");
            assert!(failed.stderr.contains("sabotage"), "{step}: {}", failed.stderr);
        }
        world.nothing_is_left();
    }
}

pub fn no_engine(bench: &mut Bench) {
    let mut world = Bench::new(bench.engine);
    world.env.insert("PATH".into(), "/nowhere".into());
    // git must be found for the commit to be read, the engine must not.
    let folder = world.path("only-git");
    fs::create_dir(&folder).unwrap();
    let git = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("git"))
        .find(|path| path.exists())
        .unwrap();
    std::os::unix::fs::symlink(git, folder.join("git")).unwrap();
    world.env.insert("PATH".into(), folder.to_str().unwrap().into());
    let missing =
        world.run(&["create", "acme", "--engine", world.engine, "--container-image", "x:1"]).code(3);
    assert!(missing.stderr.contains(world.engine), "{}", missing.stderr);
    world.nothing_is_left();
    if bench.engine == "docker" {
        let mut down = Bench::new("docker");
        down.env.insert("DOCKER_HOST".into(), "unix:///nowhere/docker.sock".into());
        let answer = down.run(&["create", "acme", "--engine", "docker", "--container-image", "x:1"]).code(3);
        assert!(answer.stderr.contains("does not answer"), "{}", answer.stderr);
    }
}

/// A container of the user's own that happens to be called like ours is not touched.
pub fn taken_name(bench: &mut Bench) {
    bench.create(&[]).ok();
    let name = bench.container_name();
    let id = bench.container_id();
    bench.client(&["rm", "-f", &id]).ok();
    let image = crate::bench::image(bench.engine);
    let args = [
        "create",
        "--name",
        &name,
        "--network=none",
        "--ulimit=nofile=1024:1024",
        "--ulimit=nproc=1000:1000",
        &image,
        "true",
    ];
    let foreign = bench.client(&args).ok().stdout.trim().to_owned();
    let refused = bench.run(&["rm", "acme", "--force"]);
    // The recorded container is gone; the foreign one is not ours, and what is recorded is removed around it.
    assert_eq!(bench.client(&["inspect", &foreign]).code, 0, "{refused:?}");
    bench.client(&["rm", "-f", &foreign]).ok();
    let _ = bench.run(&["rm", "acme", "--force"]);
    bench.nothing_is_left();
}

/// A client that is gone, that nobody may run, or that never answers: a launch ends, says why, and says no value.
pub fn client_that_cannot_be_run(bench: &mut Bench) {
    bench.wrap(bench.engine, "");
    bench.create(&["--network=none"]).ok();
    let secret = Canary::new("exec without a client");
    write_settings(bench, &serde_json::json!({"secrets": [{"name": "SECRET"}]}));
    let launch = || exec_with_secrets(bench, &serde_json::json!({"SECRET": secret.marker()}), &["true"]);
    let unsaid = |ran: &Ran| secret.assert_absent("what exec said", format!("{ran:?}").as_bytes());
    let client = bench.path("bin").join(bench.engine);
    let kept = bench.path("kept");

    fs::rename(&client, &kept).unwrap();
    // docker is asked for its mode first, and an engine that does not answer has a code of its own.
    let code = if bench.engine == "docker" { 3 } else { 1 };
    let gone = launch().code(code);
    assert!(gone.stderr.starts_with("error: ") && gone.stderr.contains("not"), "{}", gone.stderr);
    unsaid(&gone);
    fs::write(&client, "no program").unwrap();
    let odd = launch().code(code);
    assert!(odd.stderr.starts_with("error: "), "{}", odd.stderr);
    unsaid(&odd);
    if bench.engine == "docker" {
        fs::write(&client, "#!/bin/sh\nexec sleep 600\n").unwrap();
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
        let hanging = launch().code(code);
        assert!(hanging.stderr.contains("did not end within"), "{}", hanging.stderr);
        unsaid(&hanging);
    }
    fs::remove_file(&client).unwrap();
    fs::rename(&kept, &client).unwrap();
    launch().ok();
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A container that somebody renamed is the recorded one all the same, by its id and labels.
pub fn renamed(bench: &mut Bench) {
    for stopped in [false, true] {
        bench.create(&[]).ok();
        let name = bench.container_name();
        bench.client(&["rename", &name, &format!("{name}-renamed")]).ok();
        assert_eq!(bench.status()["status"], serde_json::json!("running"));
        bench.exec(&["true"]).ok();
        if stopped {
            bench.run(&["stop", "acme"]).ok();
            let refused = bench.run(&["start", "acme"]).code(1);
            assert!(refused.stderr.contains("container.name"), "{}", refused.stderr);
        }
        bench.run(&["rm", "acme", "--force"]).ok();
        bench.nothing_is_left();
    }
}

/// A program called docker that is podman, with a notice on standard error, as podman-docker is.
pub fn docker_is_podman(bench: &mut Bench) {
    if bench.engine != "podman" {
        return;
    }
    let folder = bench.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("docker");
    fs::write(&program, "#!/bin/sh\necho 'Emulate Docker CLI using podman.' >&2\nexec podman \"$@\"\n")
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), bench.env["PATH"]);
    bench.env.insert("PATH".into(), path);
    let image = crate::bench::image("podman");
    bench.run(&["create", "acme", "--engine", "docker", "--container-image", &image]).ok();
    assert_eq!(bench.status()["engine"], serde_json::json!("podman"));
    assert_eq!(bench.exec(&["cat", "readme"]).ok().stdout, "hello again\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}
