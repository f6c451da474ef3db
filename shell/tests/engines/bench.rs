//! One test's own world: a repository, a store, a home, and an image; gone with the test.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::user::User;

/// The command under test.
pub const COMMAND: &str = env!("CARGO_BIN_EXE_orca-container");

/// A test's world on one engine.
pub struct Bench {
    pub engine: &'static str,
    folder: tempfile::TempDir,
    pub env: BTreeMap<String, String>,
    /// Who runs the command and the client, where that is not whoever runs the tests. Gone after the folder.
    user: Option<User>,
}

/// What a command gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails unless it ended well.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Fails unless it ended with this code.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}

impl Bench {
    pub fn new(engine: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let mut env = BTreeMap::new();
        for name in ["PATH", "XDG_RUNTIME_DIR", "DOCKER_HOST"] {
            if let Ok(value) = std::env::var(name) {
                env.insert(name.to_owned(), value);
            }
        }
        env.insert("HOME".into(), path("home"));
        env.insert("XDG_STATE_HOME".into(), path("state"));
        env.insert("XDG_CONFIG_HOME".into(), path("config"));
        fs::create_dir(folder.path().join("home")).unwrap();
        let bench = Self { engine, folder, env, user: None };
        bench.make_repository();
        bench
    }

    /// The folder of everything.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The repository, a git worktree called acme on the branch feature/x.
    pub fn repository(&self) -> PathBuf {
        self.path("acme")
    }

    fn make_repository(&self) {
        fs::create_dir(self.repository()).unwrap();
        self.git(&["init", "-q", "-b", "main"]);
        fs::write(self.repository().join("readme"), "hello\n").unwrap();
        self.commit("one");
        self.git(&["switch", "-q", "-c", "feature/x"]);
        fs::write(self.repository().join("readme"), "hello again\n").unwrap();
        self.commit("two");
        self.git(&["remote", "add", "origin", "https://user:password@example.invalid/acme.git"]);
    }

    /// Puts this project's own repository in place of the small one, on a branch of its own.
    pub fn use_own_repository(&self) {
        fs::remove_dir_all(self.repository()).unwrap();
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = Command::new("git")
            .args(["-c", "protocol.file.allow=always", "clone", "-q"])
            .arg(own)
            .arg(self.repository())
            .output()
            .unwrap();
        Ran::of(&output).ok();
        self.git(&["switch", "-q", "-c", "own/branch"]);
    }

    /// Writes a file of the repository and commits everything.
    pub fn commit_file(&self, name: &str, text: &str) {
        fs::write(self.repository().join(name), text).unwrap();
        self.commit(name);
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=n",
                "-c",
                "user.email=n@example.invalid",
                "-c",
                "protocol.file.allow=always",
                "-C",
            ])
            .arg(self.repository())
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        Ran::of(&output).ok().stdout
    }

    /// The world of a user who is not root, with podman: the command, the image and all folders are that user's.
    pub fn rootless(user: User) -> Self {
        let image = rootless_image();
        let mut bench = Self::new("podman");
        bench.env.remove("DOCKER_HOST");
        bench.env.insert("XDG_RUNTIME_DIR".into(), bench.path("run").to_str().unwrap().into());
        fs::create_dir(bench.path("run")).unwrap();
        fs::copy(COMMAND, bench.path("orca-container")).unwrap();
        let archive = bench.path("image.tar");
        bench.client(&["save", "-q", "-o", archive.to_str().unwrap(), &image]).ok();
        user.take(bench.folder.path());
        bench.user = Some(user);
        bench.client(&["load", "-q", "-i", archive.to_str().unwrap()]).ok();
        bench
    }

    /// Gives what the test wrote to this world's user.
    pub fn give(&self, folder: &Path) {
        if let Some(user) = &self.user {
            user.take(folder);
        }
    }

    /// A program as this world's user, with this world's environment and nothing else.
    fn start(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.env).current_dir(self.folder.path()).stdin(Stdio::null());
        if let Some(user) = &self.user {
            user.run(&mut command);
        }
        command
    }

    /// The command under test.
    pub fn command(&self, args: &[&str]) -> Command {
        let program = if self.user.is_some() { self.path("orca-container") } else { COMMAND.into() };
        let mut command = self.start(&program);
        command.args(args);
        command
    }

    /// Puts a script before a program of this world's PATH: the script runs first, with the program's path in
    /// `$orca_real` and the first word that is no flag in `$orca_step`, then the program itself unless it ended.
    pub fn wrap(&mut self, program: &str, script: &str) {
        let folder = self.path("bin");
        fs::create_dir_all(&folder).unwrap();
        let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|path| path.exists())
            .unwrap();
        let text = format!(
            "#!/bin/sh\norca_real={}\norca_step=\nfor word in \"$@\"; do case $word in --) break ;; -*) ;; *) orca_step=$word; break ;; esac; done\n{script}\nexec \"$orca_real\" \"$@\"\n",
            real.display()
        );
        let wrapper = folder.join(program);
        fs::write(&wrapper, text).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let before = format!("{}:", folder.display());
        if !self.env["PATH"].starts_with(&before) {
            self.env.insert("PATH".into(), format!("{before}{}", self.env["PATH"]));
        }
    }

    /// Takes the wrapper away.
    pub fn unwrap(&mut self, program: &str) {
        fs::remove_file(self.path("bin").join(program)).unwrap();
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().unwrap())
    }

    /// Creates the workspace `acme` with more flags.
    pub fn create(&self, more: &[&str]) -> Ran {
        let image = if self.user.is_some() { rootless_image() } else { image(self.engine) };
        self.create_from("acme", &image, more)
    }

    /// Creates the workspace of a folder from an image with more flags.
    pub fn create_from(&self, folder: &str, image: &str, more: &[&str]) -> Ran {
        let mut args = create_args(self.engine, folder, image);
        args.extend(more);
        self.run(&args)
    }

    /// Runs a command in the workspace.
    pub fn exec(&self, words: &[&str]) -> Ran {
        let mut args = vec!["exec", "acme", "--"];
        args.extend(words);
        self.run(&args)
    }

    pub fn status(&self) -> Value {
        serde_json::from_str(&self.run(&["status", "acme", "--json"]).ok().stdout).unwrap()
    }

    /// No workspace waits for a recreate: nobody changed anything that its container is made of.
    #[track_caller]
    pub fn nothing_waits(&self) {
        let listed = self.run(&["ls", "--json"]).ok().stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert!(!listed.as_array().unwrap().is_empty());
        for one in listed.as_array().unwrap() {
            for field in ["recreate", "waitingFields", "notPlannable", "waitingUnknown"] {
                assert!(one[field].is_null(), "{field}: {one}");
            }
        }
    }

    pub fn container_id(&self) -> String {
        self.status()["containerId"].as_str().unwrap().to_owned()
    }

    pub fn container_name(&self) -> String {
        self.status()["container"].as_str().unwrap().to_owned()
    }

    /// The engine's own client, as the user's shell has it.
    #[track_caller]
    pub fn client(&self, args: &[&str]) -> Ran {
        let mut command = match &self.user {
            Some(_) => self.start(Path::new(self.engine)),
            None => Command::new(self.engine),
        };
        Ran::of(&command.args(args).stdin(Stdio::null()).output().unwrap())
    }

    pub fn inspect(&self) -> Value {
        let text = self.client(&["inspect", &self.container_id()]).ok().stdout;
        serde_json::from_str::<Value>(&text).unwrap()[0].clone()
    }

    /// Everything on the engine that carries this installation's label.
    pub fn left_on_engine(&self) -> Vec<String> {
        let Ok(install) = fs::read_to_string(self.path("state/orca-container/install")) else {
            return Vec::new();
        };
        let filter = format!("label=orca.install={}", install.trim());
        let mut left = Vec::new();
        for args in [
            vec!["ps", "-aq", "--filter", &filter],
            vec!["volume", "ls", "-q", "--filter", &filter],
            vec!["network", "ls", "-q", "--filter", &filter],
        ] {
            left.extend(self.client(&args).ok().stdout.lines().map(|line| format!("{} {line}", args[0])));
        }
        left
    }

    /// Files in the store that belong to a workspace.
    pub fn left_in_store(&self) -> Vec<PathBuf> {
        let root = self.path("state/orca-container");
        ["records", "values", "launches", "locks", "ssh"]
            .iter()
            .flat_map(|folder| files_below(&root.join(folder)))
            .collect()
    }

    #[track_caller]
    pub fn nothing_is_left(&self) {
        assert_eq!(self.left_on_engine(), Vec::<String>::new());
        assert_eq!(self.left_in_store(), Vec::<PathBuf>::new());
    }
}

impl Drop for Bench {
    /// A failed test leaves nothing on the engine: by this test's own installation id only.
    fn drop(&mut self) {
        let left = self.left_on_engine();
        for kind in ["ps", "volume", "network"] {
            for entry in left.iter().filter_map(|entry| entry.strip_prefix(&format!("{kind} "))) {
                let args = match kind {
                    "ps" => vec!["rm", "-f", "-v", entry],
                    kind => vec![kind, "rm", entry],
                };
                let _ = self.client(&args);
            }
        }
    }
}

/// The arguments that create the workspace of a folder from an image.
pub fn create_args<'a>(engine: &'a str, folder: &'a str, image: &'a str) -> Vec<&'a str> {
    let mut args = vec!["create", folder, "--engine", engine, "--container-image", image];
    args.extend(runtime(engine).iter().flat_map(|name| ["--runtime", name]));
    args
}

/// The runtime to ask for: podman's usual one, crun, fails on hybrid cgroups, and runc runs on all.
pub fn runtime(engine: &str) -> Option<&'static str> {
    static PODMAN: OnceLock<String> = OnceLock::new();
    let default = || {
        let args = ["info", "--format={{.Host.OCIRuntime.Name}}"];
        Ran::of(&Command::new("podman").args(args).output().unwrap()).ok().stdout.trim().to_owned()
    };
    (engine == "podman" && PODMAN.get_or_init(default) != "runc").then_some("runc")
}

/// All files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .flat_map(|entry| if entry.path().is_dir() { files_below(&entry.path()) } else { vec![entry.path()] })
        .collect()
}

/// The test image of an engine, built once per run.
pub fn image(engine: &str) -> String {
    static DOCKER: OnceLock<String> = OnceLock::new();
    static PODMAN: OnceLock<String> = OnceLock::new();
    let cell = if engine == "docker" { &DOCKER } else { &PODMAN };
    cell.get_or_init(|| build_image(engine, "full", "")).clone()
}

/// The same for podman without root, under a name that no other run of the tests gives another image meanwhile.
fn rootless_image() -> String {
    static IMAGE: OnceLock<String> = OnceLock::new();
    IMAGE.get_or_init(|| build_image("podman", "full", "LABEL orca.test=rootless")).clone()
}

/// Builds a variant of the test image; an engine that is not there fails here.
pub fn build_image(engine: &str, kind: &str, changes: &str) -> String {
    build_image_of(engine, kind, changes, None)
}

/// The same with an authority that it trusts.
pub fn build_image_of(engine: &str, kind: &str, changes: &str, authority: Option<&Path>) -> String {
    let prefix = if engine == "podman" { "localhost/" } else { "" };
    let trusted = authority.map(|file| fs::read_to_string(file).unwrap()).unwrap_or_default();
    let digest = format!("{changes}{trusted}")
        .bytes()
        .fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let name = format!("{prefix}orca-test-{kind}-{digest}:1");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../images/test/build.sh");
    let mut command = Command::new(script);
    command.args([engine, &name, kind]).env("IMAGE_CHANGES", changes);
    command.envs(authority.map(|file| ("CA_FILE", file)));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{engine}: {}", String::from_utf8_lossy(&output.stderr));
    name
}
