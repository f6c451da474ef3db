//! Whatever ends at any moment, nothing of it is left.

use super::orca::{Orca, on_host, person, strict, wait_for, with_arguments, with_command};
use crate::bench::{Bench, Ran, build_image};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A client that is killed at any moment leaves no process inside and no lock.
pub fn killed(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let orca = Orca::create(bench, &image, "work/three", &["--network", "none"]).unwrap();
    for (pause, terminal) in
        [0, 50, 150, 300, 600, 1200, 2500].into_iter().flat_map(|pause| [(pause, "-tt"), (pause, "-T")])
    {
        let mut client = orca.client("ssh", &[terminal]);
        let mut client = client
            .arg("sleep 1000 & sleep 1001; sleep 1002")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        client.kill().unwrap();
        client.wait().unwrap();
        if pause < 1000 {
            // What had not begun yet begins, and ends.
            std::thread::sleep(Duration::from_secs(2));
        }
        wait_for(&format!("nothing is left after {pause} ms"), || orca.processes().is_empty());
        assert_eq!(bench.run(&["exec", &orca.name(), "--", "true"]).code, 0);
    }
    let left =
        orca.bench.client(&["exec", orca.status()["containerId"].as_str().unwrap(), "ls", "/dev/shm"]).ok();
    assert_eq!(left.stdout, "");
    bench.run(&["stop", &orca.name()]).ok();
}

/// The same where our own program or the engine's client is killed, which nobody can answer.
pub fn killed_between(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let orca = Orca::create(bench, &image, "work/four", &["--network", "none"]).unwrap();
    let id = orca.status()["containerId"].as_str().unwrap().to_owned();
    let name = orca.name();
    for words in [["ssh-proxy", &name], ["orca-ssh", &id]] {
        let mut client = orca.asleep("-tt", "sleep 1000 & sleep 1001");
        let between = on_host(bench, &words);
        assert!(!between.is_empty(), "{words:?}");
        for pid in between {
            // One of them may end with another.
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
        }
        wait_for(&format!("nothing is left without {words:?}"), || orca.processes().is_empty());
        client.wait().unwrap();
        assert_eq!(orca.ssh(&[], &["ls -d /dev/shm/*/ | wc -l"]).ok().stdout, "1\n", "its own only");
        wait_for("nobody is left on the host", || on_host(bench, &["ssh-proxy", &name]).is_empty());
        bench.run(&["stop", &name]).ok();
    }
}

/// Gives a create up as Orca does: a signal to its process group, and its pipes read to their end, which must come at once.
fn give_up(bench: &Bench, mut create: Command, signal: &str, once: impl Fn()) {
    let create = create.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let create = create.spawn().unwrap();
    once();
    let group = format!("-{}", create.id());
    Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status().unwrap();
    let begun = Instant::now();
    let output = create.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "Orca waits for the end of its pipes");
    if !output.stdout.is_empty() {
        // It was done before Orca gave it up, and Orca destroys what it got a result for.
        let result = strict(&String::from_utf8(output.stdout).unwrap());
        Orca { bench, result }.lifecycle(&["destroy"]);
    }
    wait_for("the maker ends", || on_host(bench, &["__make"]).is_empty());
    bench.nothing_is_left();
}

/// Orca ends the process group of a create that it does not want any more, at any moment; what was made goes.
pub fn given_up(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    for (signal, pause) in [("-TERM", 0), ("-KILL", 150), ("-TERM", 600), ("-KILL", 1200), ("-TERM", 2500)] {
        let create = Orca::creates(bench, &image, "work/five", &["--network", "none"]);
        give_up(bench, create, signal, || std::thread::sleep(Duration::from_millis(pause)));
    }
    // What the repository runs is not waited for.
    // The other engine's is tried at the same time.
    let seconds = if bench.engine == "docker" { "1003" } else { "1004" };
    let flags = with_command(bench, &image, "postCreateCommand", &format!("sleep {seconds}"));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let create = Orca::creates(bench, "devcontainer", "work/five", &flags);
    give_up(bench, create, "-TERM", || {
        wait_for("it runs", || !with_arguments(&[&format!("sleep\0{seconds}\0")]).is_empty());
    });
    // One that is done, and whose result nobody reads.
    let mut create = Orca::creates(bench, &image, "work/five", &["--network", "none"]);
    let mut create = create.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(create.stdout.take());
    let ran = Ran::of(&create.wait_with_output().unwrap()).code(1);
    assert!(ran.stderr.contains("did not take the result"), "{ran:?}");
    bench.nothing_is_left();
    let mut create = Orca::creates(bench, &image, "work/five", &["--network", "none"]);
    let ran = Ran::of(&create.stdout(Stdio::null()).output().unwrap()).code(1);
    assert!(ran.stderr.contains("Nobody reads the result"), "{ran:?}");
    bench.nothing_is_left();
    assert_eq!(fs::read_to_string(bench.path("known_hosts")).unwrap().trim(), super::orca::THEIRS);
    // And the same branch can be asked for again.
    fs::remove_dir_all(bench.repository().join(".devcontainer")).unwrap();
    bench.commit("without");
    let ran =
        Ran::of(&Orca::creates(bench, &image, "work/five", &["--network", "none"]).output().unwrap()).ok();
    strict(&ran.stdout);
}

/// What an agent stopped inside holds nobody on the host once the client has gone.
pub fn stopped_inside(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let orca = Orca::create(bench, &image, "work/nine", &["--network", "none"]).unwrap();
    let mut client = orca.asleep("-T", "sleep 1001");
    let stop = "for p in $(pgrep -f sshd) $(pgrep -f orca-ssh); do [ $p = $$ ] || kill -STOP $p; done 2>/dev/null; true";
    bench.run(&["exec", &orca.name(), "--", "sh", "-c", stop]).ok();
    client.kill().unwrap();
    client.wait().unwrap();
    wait_for("nobody is left on the host", || on_host(bench, &["ssh-proxy"]).is_empty());
    bench.run(&["rm", &orca.name(), "--force"]).ok();
    bench.nothing_is_left();
}

/// `rm` does not wait for terminals.
pub fn removed(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let orca = Orca::create(bench, &image, "work/six", &["--network", "none"]).unwrap();
    let mut client = orca.asleep("-tt", "sleep 1001");
    bench.run(&["rm", &orca.name(), "--force"]).ok();
    assert!(!client.wait().unwrap().success());
    wait_for("nobody is left on the host", || on_host(bench, &["ssh-proxy"]).is_empty());
    bench.nothing_is_left();
    // Who comes later is told, and so is who has an image without sshd, in whole sentences.
    bench.create(&["--network", "none"]).ok();
    let without = bench.run(&["ssh-proxy", "acme"]).code(1);
    let whole = |line: &str| {
        line.starts_with("The image has no sshd")
            && line.ends_with("apt-get install openssh-server openssh-sftp-server.")
    };
    assert!(without.stderr.lines().any(whole), "{without:?}");
    let late = orca.ssh(&[], &["true"]).code(255);
    assert!(late.stderr.contains(&orca.name()), "{late:?}");
}
