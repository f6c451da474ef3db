//! git's bundle on its way into a container: made while it is read, never whole in memory or on disk, and ended with
//! all that it started when nobody reads it any more.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::bounds::{BUNDLE_MEMORY, Bounds};
use super::client::{Output, Wanted, collect};
use super::detect::{host_path, host_program};
use super::feed::Input;
use super::pace::{Heard, Pace};
use crate::trace;

/// How long git may go on once its output is read to its end, or once nobody reads it.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(10);

/// A git that writes a bundle.
pub(super) struct Bundle {
    child: Child,
    args: Vec<String>,
    begun: Instant,
    complaints: Option<mpsc::Receiver<(Vec<u8>, bool)>>,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// It is whole.
    Whole,
    /// It is not, and why: where it was not read to its end, git mostly says no more than that.
    Failed(String),
}

impl Bundle {
    /// Starts git. What it gives is ended when nothing of it comes for so long and git tells no progress.
    pub(super) fn start(
        git: &[String],
        env: &BTreeMap<String, String>,
        no_progress: Duration,
    ) -> Result<(Self, Input<'static>), String> {
        let (program, args) = git.split_first().ok_or("there is no git command")?;
        let program = host_program(program).ok_or_else(|| format!("{program} is not on PATH"))?;
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(env).env("LC_ALL", "C").env("PATH", host_path()).current_dir("/");
        // safe.directory is the user's own word about whose repositories are trusted.
        command.envs(std::env::var_os("HOME").map(|home| ("HOME", home)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: the git that packs is a child of the one that is started here.
        command.process_group(0);
        let begun = Instant::now();
        let bounds = Bounds { deadline: Duration::MAX, memory: Some(BUNDLE_MEMORY) };
        let mut child =
            bounds.spawn(&mut command).map_err(|cause| format!("git could not be run: {cause}"))?;
        let pipe = child.stdout.take().ok_or("git has no output")?;
        let pace = Pace::new();
        // Read beside the bundle: git stops at a full pipe that nobody reads.
        let complaints = child.stderr.take().map(|pipe| heard(pipe, &pace));
        let bundle = Self { child, args: args.to_vec(), begun, complaints };
        Ok((bundle, Input::Program { pipe, pace, no_progress }))
    }

    /// Waits for git's end, not for long: whoever read its output has ended.
    pub(super) fn end(mut self, patience: Duration) -> io::Result<Made> {
        let begun = Instant::now();
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break Some(status);
            }
            if begun.elapsed() > patience {
                break None;
            }
            thread::sleep(pause);
            pause = pause.saturating_mul(2).min(Duration::from_millis(20));
        };
        let Some(status) = status else {
            self.kill();
            self.tell("ended, since nobody reads it", &[]);
            return Ok(Made::Failed("it did not end".into()));
        };
        let said = self.complaints.take().and_then(|said| said.recv_timeout(Duration::from_secs(5)).ok());
        let stderr = said.map(|(said, _)| said).unwrap_or_default();
        self.tell(&status.to_string(), &stderr);
        if status.success() {
            return Ok(Made::Whole);
        }
        Ok(Made::Failed(Output { code: 1, stderr, ..Output::default() }.complaint()))
    }

    /// Ends git and what it started.
    pub(super) fn kill(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }

    fn tell(&self, ended: &str, stderr: &[u8]) {
        trace::call("git", self.args.iter(), ended, self.begun.elapsed(), stderr);
    }
}

fn heard(pipe: ChildStderr, pace: &Arc<Pace>) -> mpsc::Receiver<(Vec<u8>, bool)> {
    collect(Heard::of(pipe, pace), 64 * 1024, Wanted::Kept)
}

#[cfg(test)]
mod tests {
    use super::super::client::{ClientError, run};
    use super::*;

    /// A repository whose attributes are a pipe that nobody writes to: git reads it and waits.
    fn hanging() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let script = "git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m one \
            && echo text >file && git add file && git -c user.name=n -c user.email=e commit -q -m two \
            && mkfifo .git/info/attributes";
        let made = Command::new("sh").args(["-ec", script]).current_dir(folder.path()).status().unwrap();
        assert!(made.success());
        folder
    }

    fn words(folder: &tempfile::TempDir) -> Vec<String> {
        let place = folder.path().to_str().unwrap();
        ["git", "-C", place, "bundle", "create", "--progress", "-", "HEAD"].map(String::from).to_vec()
    }

    /// What was killed is there until somebody takes its exit code.
    fn wait_until_gone(group: Pid) {
        let begun = Instant::now();
        while rustix::process::test_kill_process_group(group).is_ok() {
            assert!(begun.elapsed() < Duration::from_secs(60), "a git is left");
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_git_that_gets_no_further_is_ended_with_all_that_it_started() {
        let folder = hanging();
        let (mut bundle, input) =
            Bundle::start(&words(&folder), &BTreeMap::new(), Duration::from_millis(500)).unwrap();
        let group = Pid::from_child(&bundle.child);
        let bounds = Bounds::time(Duration::from_secs(600));
        let error = run(Command::new("cat"), "cat", input, Wanted::Kept, bounds).unwrap_err();
        assert!(matches!(error, ClientError::NoProgress { .. }), "{error}");
        bundle.kill();
        wait_until_gone(group);
    }

    #[test]
    fn a_reader_that_ends_early_leaves_no_git() {
        let folder = hanging();
        let (bundle, input) =
            Bundle::start(&words(&folder), &BTreeMap::new(), Duration::from_secs(600)).unwrap();
        let group = Pid::from_child(&bundle.child);
        let bounds = Bounds::time(Duration::from_secs(600));
        let ran = run(Command::new("false"), "false", input, Wanted::Kept, bounds).unwrap();
        assert!(ran.unread && ran.code == 1);
        assert_ne!(bundle.end(Duration::from_millis(100)).unwrap(), Made::Whole);
        wait_until_gone(group);
    }

    #[test]
    fn a_git_that_tells_its_progress_is_waited_for() {
        let script = "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >&2; sleep 0.3; done; echo made";
        let git = ["sh", "-c", script].map(String::from);
        let (bundle, input) = Bundle::start(&git, &BTreeMap::new(), Duration::from_secs(2)).unwrap();
        let bounds = Bounds::time(Duration::from_secs(600));
        assert_eq!(run(Command::new("cat"), "cat", input, Wanted::Kept, bounds).unwrap().text(), "made");
        assert_eq!(bundle.end(LAST_WORDS).unwrap(), Made::Whole);
    }
}
