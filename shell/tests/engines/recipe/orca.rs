//! A stand-in for Orca, written from its contract: strict about the one JSON object, and the person's own OpenSSH client with
//! exactly the arguments that Orca gives it for such a target.

use crate::bench::{Bench, Ran, runtime};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The person who has this Orca: their ssh, with a configuration and a known host.
pub fn person(bench: &mut Bench) {
    let configuration = bench.path("ssh_config");
    let known = bench.path("known_hosts");
    fs::write(&configuration, format!("UserKnownHostsFile {}\n", known.display())).unwrap();
    fs::write(&known, THEIRS).unwrap();
    bench.wrap("ssh", &format!("set -- -F {} \"$@\"", configuration.display()));
}

/// What the person's ssh knows already.
pub const THEIRS: &str = "example.invalid ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA";

/// What Orca does with a recipe.
pub struct Orca<'b> {
    pub bench: &'b Bench,
    pub result: Value,
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

impl<'b> Orca<'b> {
    /// `create`, from the repository's root.
    pub fn create(bench: &'b Bench, image: &str, branch: &str, more: &[&str]) -> Result<Self, Ran> {
        let ran = Ran::of(&Self::creates(bench, image, branch, more).output().unwrap());
        if ran.code != 0 {
            assert_eq!(ran.stdout, "", "a failure says nothing on standard output");
            return Err(ran);
        }
        Ok(Self { bench, result: strict(&ran.stdout) })
    }

    /// The command of `create`, with the variables that Orca gives it.
    pub fn creates(bench: &Bench, image: &str, branch: &str, more: &[&str]) -> Command {
        assert!(bench.path("ssh_config").exists(), "the files of whoever runs the tests are not touched");
        let mut args = vec!["recipe", "create", "--engine", bench.engine, "--container-image", image];
        args.extend(runtime(bench.engine).iter().flat_map(|name| ["--runtime", name]));
        args.extend(more);
        let head = bench.git(&["rev-parse", "HEAD"]);
        let mut command = bench.command(&args);
        command.current_dir(bench.repository()).env("ORCA_RECIPE_RESULT_SCHEMA_VERSION", "2");
        command.env("ORCA_REPO_BRANCH", branch).env("ORCA_REPO_REF_HEAD", head.trim());
        command.env("ORCA_VM_INSTANCE_ID", "orca-0b5e").env("ORCA_VM_MODE", "create").stdin(Stdio::null());
        command
    }

    /// `suspend`, `resume` or `destroy`, with the payload.
    pub fn lifecycle(&mut self, what: &[&str]) -> Ran {
        let payload = json!({"recipeResult": self.result, "reason": "user"}).to_string();
        let mut command = self.bench.command(&[&["recipe"], what].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
        let ran = Ran::of(&child.wait_with_output().unwrap());
        match what.first() {
            Some(&"resume") if ran.code == 0 => self.result = strict(&ran.stdout),
            _ => assert_eq!(ran.stdout, ""),
        }
        ran
    }

    /// The person's client, `ssh` or `sftp`, for the target, as Orca runs it: without a terminal to ask at, and with nothing but
    /// what the target says.
    pub fn client(&self, program: &str, flags: &[&str]) -> Command {
        let mut command = self.dialled(program, &[]);
        // Without a connection for all; sftp calls by the same letter the ssh that it runs.
        let ssh = self.bench.path("bin/ssh");
        let shared = if program == "sftp" { ssh.to_str().unwrap() } else { "none" };
        command.args(flags).args(["-S", shared]);
        self.to(&mut command);
        command
    }

    /// The same over one connection for all, which Orca holds open.
    pub fn shared(&self, control: &[&str]) -> Command {
        let path = format!("ControlPath={}", self.bench.path("control").display());
        let mut command =
            self.dialled("ssh", &["-o", "ControlMaster=auto", "-o", &path, "-o", "ControlPersist=300"]);
        command.args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"]).args(control);
        self.to(&mut command);
        command
    }

    fn dialled(&self, program: &str, flags: &[&str]) -> Command {
        let target = &self.result["connection"]["target"];
        let text = |key: &str| target[key].as_str().unwrap().to_owned();
        assert_eq!((&target["port"], &target["identitiesOnly"]), (&json!(22), &json!(true)));
        let mut command = Command::new(program);
        command.env_clear().envs(&self.bench.env).args(["-o", "BatchMode=no"]).args(flags);
        command.args(["-i", &text("identityFile"), "-o", "IdentitiesOnly=yes"]);
        command.args(["-o", &format!("ProxyCommand={}", text("proxyCommand"))]).stdin(Stdio::null());
        command
    }

    fn to(&self, command: &mut Command) {
        let target = &self.result["connection"]["target"];
        let text = |key: &str| target[key].as_str().unwrap();
        command.args(["--", &format!("{}@{}", text("username"), text("host"))]);
    }

    /// A client whose command sleeps inside by now.
    pub fn asleep(&self, terminal: &str, command: &str) -> Child {
        let mut client = self.client("ssh", &[terminal]);
        let child = client.arg(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("it sleeps", || self.processes().iter().any(|line| line.contains("sleep 1001")));
        child
    }

    pub fn ssh(&self, flags: &[&str], words: &[&str]) -> Ran {
        Ran::of(&self.client("ssh", flags).args(words).output().unwrap())
    }

    pub fn name(&self) -> String {
        self.result["userData"]["resourceId"].as_str().unwrap().into()
    }

    pub fn status(&self) -> Value {
        let status = self.bench.run(&["status", &self.name(), "--json"]).ok().stdout;
        serde_json::from_str(&status).unwrap()
    }

    /// Processes in the container beside the keep-alive, as the engine tells them.
    pub fn processes(&self) -> Vec<String> {
        let id = self.status()["containerId"].as_str().unwrap().to_owned();
        let args = ["exec", &id, "ps", "-o", "pid,args"];
        let all = self.bench.client(&args).ok().stdout;
        let ours = |line: &&str| {
            !["PID", "sleep 2147483647", "ps -o", "-init", "catatonit"].iter().any(|part| line.contains(part))
        };
        all.lines().filter(ours).map(String::from).collect()
    }
}

/// Exactly one JSON object with the keys of the contract, and no other.
pub fn strict(stdout: &str) -> Value {
    let value: Value = serde_json::from_str(stdout).unwrap();
    let target = &value["connection"]["target"];
    assert_eq!(keys(&value), BTreeSet::from(["schemaVersion", "checkoutMode", "connection", "userData"]));
    assert_eq!(keys(&value["connection"]), BTreeSet::from(["type", "projectRoot", "target"]));
    let allowed = BTreeSet::from([
        "label",
        "host",
        "port",
        "username",
        "identityFile",
        "identitiesOnly",
        "proxyCommand",
        "portForwards",
        "relayGracePeriodSeconds",
    ]);
    assert!(keys(target).is_subset(&allowed), "{target}");
    assert_eq!((&value["schemaVersion"], &value["checkoutMode"]), (&json!(2), &json!("provisioned-root")));
    assert!(value["connection"]["projectRoot"].as_str().unwrap().starts_with('/'));
    value
}

pub fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Commits a devcontainer.json with a command, lets such commands run, and gives the flags of a create that has it.
pub fn with_command(bench: &Bench, image: &str, stage: &str, command: &str) -> Vec<String> {
    fs::create_dir_all(bench.repository().join(".devcontainer")).unwrap();
    let file = json!({"image": image, stage: command});
    bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
    let settings = json!({"globalSettings": {"policy": {"runRepositoryCommands": true}}});
    crate::delivery::write_settings(bench, &settings);
    let network = ["--network", "none"];
    let digests = crate::devcontainer::asked(bench, &network).into_iter();
    let approvals = digests.flat_map(|digest| ["--approve".to_owned(), digest]);
    network.into_iter().map(String::from).chain(approvals).collect()
}

/// The processes of this world whose arguments have all of these words, by their numbers.
pub fn on_host(bench: &Bench, words: &[&str]) -> Vec<u32> {
    let ours = bench.folder().to_str().unwrap().to_owned();
    let of_this_world = |pid: &u32| of_process(*pid, "environ").contains(&ours);
    with_arguments(words).into_iter().filter(of_this_world).collect()
}

/// What /proc tells of a process.
fn of_process(pid: u32, file: &str) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default()).into_owned()
}

/// All processes whose arguments have all of these words, also those in containers.
pub fn with_arguments(words: &[&str]) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|pid| {
            let args = of_process(*pid, "cmdline");
            words.iter().all(|word| args.contains(word))
        })
        .collect()
}
