//! Where a value can be seen while it is used and afterwards: nowhere but in the process that gets it, in the
//! frozen texts, and in what a person typed for the workspace.

use crate::bench::{Bench, Ran, files_below};
use crate::delivery::{exec_flagged, exec_reading, exec_with_secrets, secrets_file, write_settings};
use orca_container_testkit::Canary;
use serde_json::json;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Folders in which the engines keep state, volumes left out: what is in a volume is the workspace's own.
const ENGINE_STATE: &[&str] = &[
    "/var/lib/docker/containers",
    "/var/lib/docker/volumes/metadata.db",
    "/var/lib/docker/network",
    "/run/docker",
    "/var/lib/containers/storage/libpod",
    "/var/lib/containers/storage/overlay-containers",
    "/run/containers",
    "/run/libpod",
];

/// A value of its own for every place that a person or the repository can write one to.
pub struct Planted(Vec<(&'static str, Canary)>);

impl Planted {
    /// Plants them; `create` gives the flags for the rest.
    pub fn in_world(bench: &mut Bench) -> Self {
        let seeds = [
            "agent", "project", "local", "host", "secret", "shared", "file", "start", "typed", "piped",
            "imported", "adopted",
        ];
        // Another run of the tests on this machine has markers of its own.
        let (engine, run, world) = (bench.engine, std::process::id(), bench.folder().display().to_string());
        let canary = |seed: &str| Canary::new(&format!("{engine} {seed} {run} {world}"));
        let planted = Self(seeds.map(|seed| (seed, canary(seed))).into());
        let marker = |seed| planted.marker(seed);
        let mut repositories = serde_json::Map::new();
        repositories.insert(
            bench.repository().to_str().unwrap().to_owned(),
            json!({"commandSourcePolicy": "run-both", "agentEnv": {"PROJECT": marker("project")}, "container": {"env": {"LOCAL": marker("local")}}}),
        );
        write_settings(
            bench,
            &json!({
                "agent": "claude", "secrets": [{"name": "SECRET"}],
                "globalSettings": {"agentDefaultEnv": {"claude": {"AGENT": marker("agent")}}, "container": {"forwardHostEnv": ["HOSTVAR"]}},
                "repositories": repositories
            }),
        );
        bench.commit_file(
            "orca.yaml",
            &format!("worktree:\n  container:\n    env:\n      SHARED: {}\n", marker("shared")),
        );
        fs::write(bench.path("w.env"), format!("FILE={}\n", marker("file"))).unwrap();
        bench.env.insert("HOSTVAR".into(), marker("host"));
        planted
    }

    pub fn marker(&self, seed: &str) -> String {
        self.0.iter().find(|(name, _)| *name == seed).unwrap().1.marker().to_owned()
    }

    pub fn secrets(&self) -> serde_json::Value {
        json!({"SECRET": self.marker("secret")})
    }

    #[track_caller]
    pub fn absent(&self, what: &str, bytes: &[u8]) {
        for (_, canary) in &self.0 {
            canary.assert_absent(what, bytes);
        }
    }

    #[track_caller]
    pub fn unsaid(&self, what: &str, ran: &Ran) {
        self.absent(&format!("what {what} said"), format!("{}{}", ran.stdout, ran.stderr).as_bytes());
    }

    /// No file of the store but records and typed values holds one.
    #[track_caller]
    pub fn absent_from_store(&self, bench: &Bench, when: &str) {
        let store = bench.path("state/orca-container");
        for file in files_below(&store) {
            let kept = file.starts_with(store.join("values")) || file.starts_with(store.join("records"));
            if !kept {
                self.absent(&format!("{} {when}", file.display()), &fs::read(&file).unwrap_or_default());
            }
        }
    }
}

fn look_everywhere(bench: &Bench, planted: &Planted, when: &str) {
    planted.absent_from_store(bench, when);
    for (place, bytes) in &places(bench, &bench.container_id(), &bench.container_name()) {
        planted.absent(&format!("{place} {when}"), bytes);
    }
}

/// Where a value can be seen while a workspace is there, each place with what is in it.
pub fn places(bench: &Bench, id: &str, volume: &str) -> Vec<(String, Vec<u8>)> {
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        if process.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()) {
            places.push((
                format!("the command line of process {}", process.file_name().display()),
                fs::read(process.path().join("cmdline")).unwrap_or_default(),
            ));
        }
    }
    places.push(("the container's inspect".into(), bench.client(&["inspect", id]).ok().stdout.into_bytes()));
    places.push((
        "the volume's inspect".into(),
        bench.client(&["volume", "inspect", volume]).ok().stdout.into_bytes(),
    ));
    for root in ENGINE_STATE {
        for file in
            files_below(Path::new(root)).into_iter().chain(Path::new(root).is_file().then(|| root.into()))
        {
            // Pipes and sockets hold nothing that stays.
            if fs::symlink_metadata(&file)
                .is_ok_and(|found| found.is_file() && found.len() < 64 * 1024 * 1024)
            {
                places.push((file.display().to_string(), fs::read(&file).unwrap_or_default()));
            }
        }
    }
    for file in
        files_below(&std::env::temp_dir()).into_iter().filter(|file| !file.starts_with(bench.path("")))
    {
        if fs::symlink_metadata(&file).is_ok_and(|found| found.is_file() && found.len() < 1024 * 1024) {
            let ours = file.to_string_lossy().contains("orca");
            if ours {
                places.push((file.display().to_string(), fs::read(&file).unwrap_or_default()));
            }
        }
    }
    places
}

/// The search finds what is there: one value is planted in each kind of place.
pub fn the_search_finds(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    let settings = bench.path("config/orca-container/settings.json");
    let with_start = fs::read_to_string(&settings)
        .unwrap()
        .replace("\"forwardHostEnv\"", "\"startEnv\": [\"START\"], \"forwardHostEnv\"");
    fs::write(&settings, with_start).unwrap();
    let start = format!("START={}", planted.marker("start"));
    bench.create(&["--network=none", "--container-env", &start]).ok();
    let mut sleeping = Command::new("sleep").arg0(planted.marker("host")).arg("60").spawn().unwrap();
    // A started program has its command line a moment later (the kernel wakes us before it sets it).
    let command_line = format!("/proc/{}/cmdline", sleeping.id());
    while fs::read(&command_line).unwrap().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let left = tempfile::Builder::new().prefix("orca-left").tempfile().unwrap();
    fs::write(left.path(), planted.marker("file")).unwrap();

    let places = places(bench, &bench.container_id(), &bench.container_name());
    let _ = sleeping.kill();
    let _ = sleeping.wait();
    let found = |seed: &str| -> Vec<&str> {
        let canary = &planted.0.iter().find(|(name, _)| *name == seed).unwrap().1;
        let holding = places.iter().filter(|(_, bytes)| canary.found_in(bytes).is_some());
        holding.map(|(place, _)| place.as_str()).collect()
    };
    assert!(found("start").contains(&"the container's inspect"), "{:?}", found("start"));
    assert!(found("start").iter().any(|place| place.starts_with("/var/lib/")), "{:?}", found("start"));
    assert!(
        found("host").iter().any(|place| place.starts_with("the command line of")),
        "{:?}",
        found("host")
    );
    assert!(found("file").contains(&left.path().to_str().unwrap()), "{:?}", found("file"));
    assert_eq!(found("secret"), Vec::<&str>::new());
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn no_value_anywhere(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    let made = bench.create(&["--container-env-file", "w.env"]).ok();
    planted.unsaid("create", &made);

    // While it runs.
    let secrets = secrets_file(bench, &planted.secrets());
    let script = "for n in AGENT PROJECT LOCAL HOSTVAR SECRET SHARED FILE; do eval \"[ -n \\\"\\$$n\\\" ]\" || exit 9; done; touch /tmp/ready; sleep 30";
    let mut shell = exec_reading(bench, &secrets, &["sh", "-c", script]);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let begun = Instant::now();
    let id = bench.container_id();
    while bench.client(&["exec", &id, "test", "-e", "/tmp/ready"]).code != 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", child.try_wait());
        std::thread::sleep(Duration::from_millis(100));
    }
    look_everywhere(bench, &planted, "while it runs");
    bench.client(&["exec", &id, "sh", "-c", "kill $(pidof sleep) 2>/dev/null; true"]);
    // The client killed while it works.
    let _ = child.kill();
    planted.unsaid("exec", &Ran::of(&child.wait_with_output().unwrap()));
    // Afterwards, and in what we print about it.
    look_everywhere(bench, &planted, "afterwards");
    for args in [vec!["ls", "--json"], vec!["status", "acme", "--json"], vec!["status", "acme"]] {
        planted.unsaid(&format!("{args:?}"), &bench.run(&args).ok());
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
    for file in files_below(&bench.path("state")) {
        planted.absent(&format!("{} after rm", file.display()), &fs::read(&file).unwrap());
    }
}

/// Each way for a launch or a create to fail, with every value in use, and every call told.
pub fn no_value_in_failures(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    let start = format!("START={}", planted.marker("start"));
    let flags = ["--debug", "--container-env-file", "w.env", "--container-env", &start];

    // An engine that repeats what it reads, as docker does with a line of an env file that it cannot take.
    let settings = fs::read_to_string(bench.path("config/orca-container/settings.json")).unwrap();
    let with_start = settings.replace("\"forwardHostEnv\"", "\"startEnv\": [\"START\"], \"forwardHostEnv\"");
    fs::write(bench.path("config/orca-container/settings.json"), &with_start).unwrap();
    bench.wrap(
        bench.engine,
        "case \"$*\" in *--env-file*) cat >&2; echo \"invalid line in '$(cat w.env 2>/dev/null)'\" >&2; exit 125;; esac",
    );
    let refused = bench.create(&flags).code(1);
    assert!(refused.stderr.contains("START=[hidden]"), "{}", refused.stderr);
    planted.unsaid("create with a talkative engine", &refused);
    planted.absent_from_store(bench, "after a failed create");
    bench.nothing_is_left();
    // Present in every call from here on, silent until it is told to fail.
    bench.wrap(bench.engine, "");
    fs::write(bench.path("config/orca-container/settings.json"), settings).unwrap();

    let made = bench.create(&flags).ok();
    let told =
        |text: &str, what: &str| text.lines().any(|line| line.starts_with("debug:") && line.contains(what));
    assert!(told(&made.stderr, " bundle create "), "{}", made.stderr);
    planted.unsaid("create --debug", &made);
    let secrets = planted.secrets();
    let file = secrets_file(bench, &secrets);
    let shown = Ran::of(&exec_flagged(bench, &["--debug"], &file, &["true"]).output().unwrap()).ok();
    assert!(told(&shown.stderr, "(in our place)") && shown.stderr.contains("SECRET"), "{}", shown.stderr);
    planted.unsaid("exec --debug", &shown);
    let missing = exec_with_secrets(bench, &secrets, &["/nowhere"]);
    assert!(matches!(missing.code, 126 | 127), "{missing:?}");
    planted.unsaid("a command that is not there", &missing);
    let lost = bench.run(&["exec", "acme", "--workdir", "/nowhere", "--", "true"]);
    assert_ne!(lost.code, 0);
    planted.unsaid("a folder that is not there", &lost);
    look_everywhere(bench, &planted, "after failed launches");

    let id = bench.container_id();
    bench.client(&["rm", "-f", "-v", &id]).ok();
    let gone = exec_with_secrets(bench, &secrets, &["true"]);
    assert_ne!(gone.code, 0);
    planted.unsaid("a container that is gone", &gone);
    for args in [vec!["--debug", "status", "acme"], vec!["--debug", "start", "acme"]] {
        planted.unsaid(&format!("{args:?}"), &bench.run(&args));
    }
    // An engine that repeats everything it was given, whatever it is asked. A secret is never with us but at a launch,
    // and the engine keeps none.
    let unknown = ["secret", "typed", "piped", "imported", "adopted"];
    let known = planted.0.iter().filter(|(seed, _)| !unknown.contains(seed));
    let all: Vec<String> = known.map(|(seed, _)| planted.marker(seed)).collect();
    let talkative = format!("echo 'Cannot connect: {}' >&2; exit 1", all.join(" "));
    bench.wrap(bench.engine, &talkative);
    for args in
        [vec!["--debug", "status", "acme"], vec!["--debug", "stop", "acme"], vec!["--debug", "rm", "acme"]]
    {
        planted.unsaid(&format!("{args:?} without an engine"), &bench.run(&args));
    }
    let left = bench.left_in_store();
    assert_eq!(left.len(), 4, "record, values, last launch and lock stay, no contact is no proof: {left:?}");
    bench.wrap(bench.engine, "");
    planted.absent_from_store(bench, "after an engine that was down");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Edits, reports, a container anew, and what of these fails.
pub fn no_value_in_edits(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    let settings = bench.path("config/orca-container/settings.json");
    let with_start = fs::read_to_string(&settings)
        .unwrap()
        .replace("\"forwardHostEnv\"", "\"startEnv\": [\"PLAIN\"], \"forwardHostEnv\"");
    fs::write(&settings, with_start).unwrap();
    bench.commit_file(".gitignore", ".env\n");
    fs::write(bench.repository().join(".env"), planted.marker("file")).unwrap();
    fs::write(bench.repository().join(".worktreeinclude"), ".env\n").unwrap();
    bench
        .create(&["--container-env-file", "w.env", "--container-env", "PLAIN=1", "--copy-ignored-files"])
        .ok();
    let run = |args: &[&str]| {
        let ran = bench.run(&[&["--debug"], args].concat());
        planted.unsaid(&format!("{args:?}"), &ran);
        ran
    };
    let marker = |seed: &str| planted.marker(seed);
    run(&["env", "set", "acme", &format!("TYPED={}", marker("typed"))]).ok();
    let mut piped = bench.command(&["--debug", "env", "set", "acme", "PIPED"]);
    piped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), marker("piped").as_bytes()).unwrap();
    planted.unsaid("env set from standard input", &Ran::of(&child.wait_with_output().unwrap()).ok());
    fs::write(bench.path("more.env"), format!("IMPORTED={}\n", marker("imported"))).unwrap();
    run(&["env", "import", "acme", "more.env"]).ok();
    fs::write(bench.path("broken.env"), format!("GOOD=1\n{} = x\n", marker("imported"))).unwrap();
    for (args, code) in [
        (vec!["env", "set", "acme", &format!("ORCA_X={}", marker("typed"))], 1),
        (vec!["env", "set", "acme", &format!("{}=x y", marker("typed")), "="], 2),
        (vec!["env", "set", "acme", &format!("A={}", marker("typed")), "--secret", "SECRET"], 2),
        (vec!["env", "import", "acme", "broken.env"], 1),
    ] {
        run(&args.iter().map(|word| &**word).collect::<Vec<_>>()).code(code);
    }
    let given = secrets_file(bench, &planted.secrets());
    let script =
        "for n in TYPED PIPED IMPORTED SECRET SHARED; do eval \"[ -n \\\"\\$$n\\\" ]\" || exit 9; done";
    let ran =
        Ran::of(&exec_flagged(bench, &["--debug"], &given, &["sh", "-c", script]).output().unwrap()).ok();
    planted.unsaid("exec", &ran);
    for format in ["table", "json", "markdown"] {
        run(&["env", "acme", "--format", format]).ok();
    }
    for name in ["TYPED", "PIPED", "IMPORTED", "SECRET", "SHARED", "HOSTVAR", "PLAIN"] {
        run(&["env", "acme", "--why", name]).ok();
    }
    look_everywhere(bench, &planted, "after edits");
    run(&["copy", "acme"]).ok();
    run(&["copy", "acme", "--replace"]).ok();
    run(&["env", "set", "acme", "PLAIN=2"]).ok();
    run(&["recreate", "acme"]).ok();
    let yaml = format!("worktree:\n  container:\n    env:\n      SHARED: {}\n", marker("adopted"));
    bench.commit_file("orca.yaml", &yaml);
    let adopted = run(&["recreate", "acme", "--adopt-repository-config"]).ok();
    assert!(adopted.stderr.contains("\"SHARED\" has another value"), "{}", adopted.stderr);
    run(&["status", "acme"]).ok();
    bench.commit_file("orca.yaml", &format!("{yaml}      SHARED: {}\n", marker("adopted")));
    run(&["recreate", "acme", "--adopt-repository-config"]).code(1);
    look_everywhere(bench, &planted, "after a recreate");
    run(&["env", "unset", "acme", "TYPED", "PIPED", "IMPORTED"]).ok();
    let store = bench.path("state/orca-container/values");
    for seed in ["typed", "piped", "imported"] {
        let canary = &planted.0.iter().find(|(name, _)| *name == seed).unwrap().1;
        for file in files_below(&store) {
            canary.assert_absent("what is kept of an unset variable", &fs::read(&file).unwrap());
        }
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A store whose disk is full: nothing half is left in it, and what is there can be removed.
pub fn full_disk(bench: &mut Bench) {
    let planted = Planted::in_world(bench);
    let state = bench.path("state");
    fs::create_dir_all(&state).unwrap();
    let mount = |args: &[&str]| Command::new("mount").args(args).arg(&state).status().unwrap().success();
    assert!(mount(&["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]), "this test mounts a tmpfs of 1 MiB");
    let unmount = Unmount(state.clone());
    let fill = || {
        let mut filler = fs::File::options().create(true).append(true).open(state.join("filler")).unwrap();
        while std::io::Write::write(&mut filler, &[0; 4096]).is_ok_and(|count| count > 0) {}
    };
    // Full from the start, and full once the workspace is there.
    fs::create_dir_all(state.join("orca-container")).unwrap();
    fill();
    let refused = bench.create(&["--container-env-file", "w.env"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("No space left"), "{}", refused.stderr);
    planted.unsaid("create on a full disk", &refused);
    fs::remove_file(state.join("filler")).unwrap();
    planted.absent_from_store(bench, "after a create on a full disk");
    bench.nothing_is_left();

    bench.create(&["--container-env-file", "w.env"]).ok();
    fill();
    let removed = bench.run(&["rm", "acme", "--force"]).ok();
    planted.unsaid("rm on a full disk", &removed);
    bench.nothing_is_left();
    for file in files_below(&state) {
        planted.absent(&format!("{} after rm", file.display()), &fs::read(&file).unwrap());
    }
    drop(unmount);
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
