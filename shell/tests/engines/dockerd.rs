//! A docker daemon of a test's own, beside the one under test: other options, folders that go with it, no network.

use crate::bench::Ran;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The daemon; it ends with the test, and its folder with it.
pub struct Dockerd {
    folder: tempfile::TempDir,
    child: Child,
    options: Vec<String>,
    bridge: Bridge,
}

/// A bridge of its own: a daemon with `--bridge=none` removes docker0, which is the other daemon's (measured on 20.10).
struct Bridge(String);

impl Bridge {
    fn make() -> Self {
        static COUNT: AtomicU8 = AtomicU8::new(0);
        let (process, number) = (std::process::id() % 200, COUNT.fetch_add(1, Ordering::Relaxed));
        let name = format!("orca-t{process}-{number}");
        let bridge = Self(name.clone());
        let address = format!("10.217.{process}.{}/29", number.wrapping_mul(8).wrapping_add(1));
        for args in [&["link", "add", &name, "type", "bridge"][..], &["addr", "add", &address, "dev", &name]]
        {
            Ran::of(&Command::new("ip").args(args).output().unwrap()).ok();
        }
        bridge
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["link", "del", &self.0]).output();
    }
}

impl Dockerd {
    /// A daemon with more options, which has an image of the engine under test.
    pub fn start(options: &[String], image: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("d").tempdir().unwrap();
        let bridge = Bridge::make();
        let child = spawn(folder.path(), &bridge, options);
        let daemon = Self { folder, child, options: options.to_vec(), bridge };
        daemon.wait();
        daemon.load(image);
        daemon
    }

    /// Ends it in order, as a service is stopped: its containers end with it.
    pub fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, with what it had.
    pub fn start_again(&mut self) {
        self.child = spawn(self.folder.path(), &self.bridge, &self.options);
        self.wait();
    }

    fn wait(&self) {
        let begun = Instant::now();
        while self.client(&["version"]).code != 0 {
            assert!(begun.elapsed() < Duration::from_secs(120), "{}", self.log());
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Its local socket, as docker names it.
    pub fn socket(&self) -> String {
        format!("unix://{}", self.path("socket").display())
    }

    /// Writes its daemon.json, which options can name, and lets it read it again.
    pub fn reload(&self, config: &Path, text: &str) {
        fs::write(config, text).unwrap();
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    }

    /// What it wrote to its log so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.path("log")).unwrap()).into_owned()
    }

    /// docker's client by the local socket, without a configuration of anybody's.
    pub fn client(&self, args: &[&str]) -> Ran {
        let mut command = client_of(&self.socket(), self.folder.path());
        Ran::of(&command.args(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Everything that carries our labels.
    pub fn left(&self) -> String {
        let ours = "label=orca.install";
        [["ps", "-aq", "--filter", ours], ["volume", "ls", "-q", "--filter"]]
            .iter()
            .map(|args| {
                let more: &[&str] = if args[0] == "volume" { &[ours] } else { &[] };
                self.client(&[args.as_slice(), more].concat()).ok().stdout
            })
            .collect()
    }

    fn load(&self, image: &str) {
        let mut saved = Command::new("docker").args(["save", image]).stdout(Stdio::piped()).spawn().unwrap();
        let mut load = client_of(&self.socket(), self.folder.path());
        let archive = saved.stdout.take().unwrap();
        Ran::of(&load.arg("load").stdin(archive).output().unwrap()).ok();
        assert!(saved.wait().unwrap().success());
    }
}

fn spawn(folder: &Path, bridge: &Bridge, options: &[String]) -> Child {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    Command::new("dockerd")
        .args([format!("--data-root={}", path("data")), format!("--exec-root={}", path("exec"))])
        .args([format!("--pidfile={}", path("pid")), format!("--host=unix://{}", path("socket"))])
        .args([&format!("--bridge={}", bridge.0), "--iptables=false", "--ip6tables=false"])
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(path("log")).unwrap())
        .spawn()
        .unwrap()
}

fn client_of(host: &str, folder: &Path) -> Command {
    let mut command = Command::new("docker");
    command.env("DOCKER_HOST", host).env("DOCKER_CONFIG", folder.join("config"));
    command
}

impl Drop for Dockerd {
    /// A container that a failed test left would keep its mounts in the folder.
    fn drop(&mut self) {
        let mut list = client_of(&self.socket(), self.folder.path());
        if let Ok(listed) = list.args(["ps", "-aq"]).stderr(Stdio::null()).output() {
            for id in String::from_utf8_lossy(&listed.stdout).lines() {
                let mut remove = client_of(&self.socket(), self.folder.path());
                let _ = remove.args(["rm", "-f", "-v", id]).output();
            }
        }
        // Its containerd ends with it only where it may end in order.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}
