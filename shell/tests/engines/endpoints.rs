//! Engines that are not behind a local socket: in the clear no value goes there, over ssh all of them do.

use crate::bench::{Bench, files_below};
use crate::delivery::{exec_with_secrets, write_settings};
use orca_container_testkit::Canary;
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

type Seen = Arc<Mutex<Vec<u8>>>;

/// Everything that flows through, in both directions.
struct Wire {
    port: u16,
    seen: Seen,
}

/// What a wire ends at.
#[derive(Clone)]
enum Far {
    Socket(String),
    Port(u16),
}

impl Wire {
    fn to(far: Far) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Seen::default();
        let kept = Arc::clone(&seen);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let (far, kept) = (far.clone(), Arc::clone(&kept));
                thread::spawn(move || match far {
                    Far::Socket(path) => {
                        let far = UnixStream::connect(path).unwrap();
                        let ends = (far.try_clone().unwrap(), far.try_clone().unwrap());
                        both_ways(&near, far, ends.0, &kept, move || drop(ends.1.shutdown(Shutdown::Write)));
                    }
                    Far::Port(port) => {
                        let far = TcpStream::connect(("127.0.0.1", port)).unwrap();
                        let ends = (far.try_clone().unwrap(), far.try_clone().unwrap());
                        both_ways(&near, far, ends.0, &kept, move || drop(ends.1.shutdown(Shutdown::Write)));
                    }
                });
            }
        });
        Self { port, seen }
    }

    #[track_caller]
    fn has_not(&self, canary: &Canary) {
        canary.assert_absent("the wire", &self.seen.lock().unwrap());
    }

    fn has(&self, text: &str) -> bool {
        self.seen.lock().unwrap().windows(text.len()).any(|part| part == text.as_bytes())
    }

    fn bytes(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

/// Copies until both sides have ended, each end told to the other side as it comes.
fn both_ways(
    near: &TcpStream,
    mut far_in: impl Read + Send + 'static,
    mut far_out: impl Write + Send + 'static,
    seen: &Seen,
    end_far: impl FnOnce() + Send + 'static,
) {
    let (mut near_in, mut near_out) = (near.try_clone().unwrap(), near.try_clone().unwrap());
    let (out, back) = (Arc::clone(seen), Arc::clone(seen));
    let sending = thread::spawn(move || {
        copy(&mut near_in, &mut far_out, &out);
        end_far();
    });
    copy(&mut far_in, &mut near_out, &back);
    let _ = near_out.shutdown(Shutdown::Write);
    let _ = sending.join();
}

fn copy(from: &mut impl Read, to: &mut impl Write, seen: &Seen) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || to.write_all(&buffer[..count]).is_err() {
            return;
        }
        seen.lock().unwrap().extend_from_slice(&buffer[..count]);
    }
}

/// docker's own socket.
fn docker_socket() -> String {
    let host = std::env::var("DOCKER_HOST").unwrap_or_default();
    host.strip_prefix("unix://").unwrap_or("/var/run/docker.sock").to_owned()
}

/// docker over TCP in the clear, each byte of it read.
pub fn docker_in_the_clear(bench: &mut Bench) {
    crate::bench::image("docker");
    let wire = Wire::to(Far::Socket(docker_socket()));
    bench.env.insert("DOCKER_HOST".into(), format!("tcp://127.0.0.1:{}", wire.port));
    no_value_goes(bench, &wire);
    no_password_goes(bench, &wire);
}

/// podman's own service over TCP in the clear.
pub fn podman_in_the_clear(bench: &mut Bench) {
    let service = Service::start();
    let wire = Wire::to(Far::Port(service.port));
    bench.env.insert("CONTAINER_HOST".into(), format!("tcp://127.0.0.1:{}", wire.port));
    no_value_goes(bench, &wire);
    no_password_goes(bench, &wire);
}

/// Nor does the password of a registry, with a pull that anybody may ask for.
fn no_password_goes(bench: &mut Bench, wire: &Wire) {
    let password = Canary::new("registry password");
    let auth = data_encoding::BASE64.encode(format!("ada:{}", password.marker()).as_bytes());
    let folder = bench.path("home/.docker");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("config.json"), json!({"auths": {"registry.invalid": {"auth": auth}}}).to_string())
        .unwrap();
    let before = wire.bytes();
    bench.create_from("acme", "registry.invalid/x:1", &[]).code(1);
    assert!(wire.bytes() > before, "nothing was pulled");
    wire.has_not(&password);
    bench.nothing_is_left();
}

/// A workspace without values works, and each way to give it one is refused before anything is sent.
fn no_value_goes(bench: &mut Bench, wire: &Wire) {
    let refused = |ran: crate::bench::Ran| {
        assert!(ran.code(1).stderr.contains("endpoint_plain_with_values"), "another refusal");
    };
    let [typed, started, host, secret, ignored] = ["typed", "started", "host", "secret", "ignored"]
        .map(|seed| Canary::new(&format!("{} {seed}", bench.engine)));
    refused(bench.create(&["--container-env", &format!("TYPED={}", typed.marker())]));
    write_settings(
        bench,
        &json!({"globalSettings": {"container": {"env": {"STARTED": started.marker()}, "startEnv": ["STARTED"]}}}),
    );
    refused(bench.create(&[]));
    bench.commit_file(".gitignore", ".env\n");
    fs::write(bench.repository().join(".worktreeinclude"), ".env\n").unwrap();
    fs::write(bench.repository().join(".env"), format!("IGNORED={}\n", ignored.marker())).unwrap();
    refused(bench.create(&["--copy-ignored-files"]));
    bench.nothing_is_left();

    write_settings(bench, &json!({}));
    let made = bench.create(&[]).ok();
    assert!(made.stderr.contains("[endpoint_plain]"), "{}", made.stderr);
    assert_eq!(
        bench.exec(&["sh", "-c", "cat readme; echo $CODEX_HOME"]).ok().stdout,
        "hello again\n/orca/agent/codex\n"
    );
    assert_eq!(bench.status()["mode"], json!("volume"));
    assert!(wire.has("/orca/agent/codex"), "a variable's value would not be seen here");

    bench.env.insert("HOSTVAR".into(), host.marker().into());
    write_settings(bench, &json!({"globalSettings": {"container": {"forwardHostEnv": ["HOSTVAR"]}}}));
    refused(bench.exec(&["true"]));
    write_settings(bench, &json!({"secrets": [{"name": "SECRET"}]}));
    refused(exec_with_secrets(bench, &json!({"SECRET": secret.marker()}), &["true"]));
    write_settings(bench, &json!({}));
    bench.exec(&["true"]).ok();
    for canary in [&typed, &started, &host, &secret, &ignored] {
        wire.has_not(canary);
        for file in files_below(&bench.path("state")) {
            canary.assert_absent("the store", &fs::read(file).unwrap());
        }
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A service of podman on a port of loopback; ended with the test.
struct Service {
    port: u16,
    child: Child,
}

impl Service {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("podman")
            .args(["system", "service", "--time=0", &format!("tcp:127.0.0.1:{port}")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let service = Self { port, child };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "podman's service does not answer");
            thread::sleep(Duration::from_millis(50));
        }
        service
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// docker's own way over ssh, its far end on this machine: `ssh` runs `docker system dial-stdio` there.
pub fn docker_over_ssh(bench: &mut Bench) {
    crate::bench::image("docker");
    let folder = bench.path("bin");
    fs::create_dir(&folder).unwrap();
    let log = bench.path("ssh-calls");
    let script = format!(
        "#!/bin/sh\necho \"$*\" >>\"{}\"\nunset DOCKER_HOST\nwhile [ $# -gt 0 ] && [ \"$1\" != docker ]; do shift; done\nexec \"$@\"\n",
        log.display()
    );
    fs::write(folder.join("ssh"), script).unwrap();
    fs::set_permissions(folder.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    bench.env.insert("PATH".into(), format!("{}:{}", folder.display(), bench.env["PATH"]));
    bench.env.insert("DOCKER_HOST".into(), "ssh://ada@far.invalid".into());

    let mounted = bench.create(&["--container=mounted"]).code(1);
    assert!(mounted.stderr.contains("mounted_not_supported_yet"), "{}", mounted.stderr);
    bench.nothing_is_left();

    let value = Canary::new("over ssh");
    bench.create(&["--container-env", &format!("TYPED={}", value.marker())]).ok();
    assert_eq!(bench.status()["mode"], json!("volume"));
    assert_eq!(
        bench.exec(&["sh", "-c", "cat readme; echo $TYPED"]).ok().stdout,
        format!("hello again\n{}\n", value.marker())
    );
    let calls = fs::read(&log).unwrap();
    assert!(
        String::from_utf8_lossy(&calls).contains("far.invalid docker system dial-stdio"),
        "ssh was not used"
    );
    value.assert_absent("ssh's command lines", &calls);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();

    let doctor = bench.run(&["doctor", "--json", "--engine", "docker"]).ok().stdout;
    assert!(doctor.contains("\"endpoint_remote\"") && !doctor.contains("far.invalid"), "{doctor}");
}
