//! A user of this machine for the length of one test: not root, with ids of its own for user namespaces.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A throwaway user; ends with all its processes.
pub struct User {
    name: String,
    uid: u32,
    gid: u32,
}

/// Why this machine cannot have one, in words for the list of tests.
pub fn cannot() -> Option<&'static str> {
    let on_path = |name: &str| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
    };
    let namespaces = fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap_or_default();
    if fs::metadata("/proc/self").map_or(1, |own| own.uid()) != 0 {
        Some("only root can make a user for it")
    } else if !on_path("useradd") {
        Some("useradd is not there")
    } else if !on_path("newuidmap") {
        Some("newuidmap is not there (package uidmap)")
    } else if namespaces.trim() == "0" {
        Some("this machine has no user namespaces")
    } else {
        None
    }
}

/// Why a user of this machine cannot make the network that podman uses where nobody says `--network none`.
pub fn cannot_network() -> Option<&'static str> {
    match fs::metadata("/dev/net/tun") {
        Ok(tun) if tun.mode() & 0o006 == 0o006 => None,
        Ok(_) => Some("/dev/net/tun is not for users here"),
        Err(_) => Some("this machine has no /dev/net/tun"),
    }
}

impl User {
    /// Makes one; `useradd` gives it a range of ids for user namespaces.
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("orca-t{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let made = Command::new("useradd")
            .args(["--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", &name])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let passwd = fs::read_to_string("/etc/passwd").unwrap();
        let line = passwd.lines().find(|line| line.starts_with(&format!("{name}:"))).unwrap();
        let number = |field: usize| line.split(':').nth(field).unwrap().parse().unwrap();
        let user = Self { uid: number(2), gid: number(3), name };
        let ids = fs::read_to_string("/etc/subuid").unwrap_or_default();
        assert!(ids.contains(&user.name), "useradd gave {} no range of ids", user.name);
        user
    }

    /// Gives a folder and all in it to this user.
    pub fn take(&self, folder: &Path) {
        let owner = format!("{}:{}", self.uid, self.gid);
        assert!(Command::new("chown").args(["-R", &owner]).arg(folder).status().unwrap().success());
    }

    /// Makes a command this user's.
    pub fn run(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// Ids of this user's processes: podman leaves one that holds its user namespace.
    fn processes(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let ours = entries.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == self.uid));
        ours.filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            .collect()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // A fork may slip through one look.
        for _ in 0..50 {
            let processes = self.processes();
            if processes.is_empty() {
                break;
            }
            let _ = Command::new("kill").arg("-9").args(&processes).stderr(Stdio::null()).status();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = Command::new("userdel").arg(&self.name).stderr(Stdio::null()).status();
        let _ = fs::remove_file(format!("/dev/shm/libpod_rootless_lock_{}", self.uid));
    }
}
