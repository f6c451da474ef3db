//! Repositories in folders that vanish, and the binary run in them, away from whoever runs the tests.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// How a run ended and what it printed.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A repository on the branch `main`, in a folder called `acme`.
pub(crate) struct Repository {
    pub(crate) root: PathBuf,
    pub(crate) home: TempDir,
    /// The host's variables.
    pub(crate) host: Vec<(String, String)>,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap().join("acme");
        fs::create_dir(&root).unwrap();
        let repository = Self { root, home, host: Vec::new() };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env_clear().env("HOME", self.home.path());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    pub(crate) fn git(&self, args: &[&str]) {
        assert!(self.command("git").args(args).status().unwrap().success(), "git {args:?}");
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "t"]);
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, "")
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        let mut child = self
            .command(env!("CARGO_BIN_EXE_orca-container"))
            .envs(self.host.iter().map(|(name, value)| (name, value)))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A run that does not read its input may be gone before it is written.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().expect("the command ends by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// A run that must end so.
    pub(crate) fn ends(&self, code: i32, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert!(!run.stderr.contains("panicked"), "{args:?}: {run:?}");
        run
    }
}

/// A folder of this project.
pub(crate) fn project(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(folder)
}

/// JSON that stands alone on one line.
pub(crate) fn one_line(stdout: &str) -> serde_json::Value {
    assert_eq!(stdout.matches('\n').count(), 1, "{stdout}");
    assert!(stdout.ends_with('\n'));
    serde_json::from_str(stdout).unwrap()
}
