//! Workspaces of a URL and of branches that nobody checked out.

use crate::bench::{Bench, Ran, build_image_of, create_args, image, runtime};
use crate::canary::places;
use crate::delivery::write_settings;
use orca_container_testkit::Canary;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// An address of this machine that containers reach.
fn address() -> String {
    let said = Command::new("hostname").arg("-I").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    said.split_whitespace().find(|word| word.contains('.')).unwrap().into()
}

/// An authority and a server that it vouches for, for a day.
fn certificates(bench: &Bench) -> PathBuf {
    let folder = bench.path("authority");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("names"), format!("subjectAltName=IP:{}\n", address())).unwrap();
    let script = "\
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=authority -keyout authority.pem -out ca.pem
openssl req -newkey rsa:2048 -nodes -subj /CN=server -keyout key.pem -out server.csr
openssl x509 -req -days 1 -in server.csr -CA ca.pem -CAkey authority.pem -CAcreateserial -extfile names -out server.pem";
    Ran::of(&Command::new("sh").args(["-ec", script]).current_dir(&folder).output().unwrap()).ok();
    folder
}

/// A remote over https.
struct Server {
    child: Child,
    port: u16,
    asked: mpsc::Receiver<String>,
}

impl Server {
    fn start(bench: &Bench, certificates: &Path, token: &str, elsewhere: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/git-server.py");
        let mut child = Command::new("python3")
            .arg(script)
            .args([bench.path("served"), certificates.join("server.pem"), certificates.join("key.pem")])
            .arg(elsewhere)
            .env("GIT_SERVER_TOKEN", token)
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().parse().unwrap();
        let (sender, asked) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        Self { child, port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}:{}/{path}", address(), self.port)
    }

    /// What was asked of it so far.
    fn asked(&self) -> Vec<String> {
        std::thread::sleep(Duration::from_millis(200));
        self.asked.try_iter().collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bench's repository as a remote serves it, on `feature/x` as its own branch.
fn serve_repository(bench: &Bench) {
    let served = bench.path("served");
    let from = bench.repository();
    fs::create_dir(&served).unwrap();
    bench.git(&["clone", "-q", "--bare", from.to_str().unwrap(), served.join("web.git").to_str().unwrap()]);
    let update = Command::new("git").arg("-C").arg(served.join("web.git")).arg("update-server-info").output();
    Ran::of(&update.unwrap()).ok();
}

fn clone_args<'a>(engine: &'a str, image: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["clone", "--engine", engine, "--container-image", image];
    args.extend(runtime(engine).iter().flat_map(|name| ["--runtime", name]));
    args.extend(more);
    args
}

/// Runs a clone with something to read.
fn clone_reading(bench: &Bench, image: &str, text: &str, more: &[&str]) -> Ran {
    let mut command = bench.command(&clone_args(bench.engine, image, more));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    Ran::of(&child.wait_with_output().unwrap())
}

/// Nothing that the workspace's user can read has it.
fn is_not_inside(bench: &Bench, name: &str, token: &Canary) {
    let script = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; \
        find /workspace /orca /tmp /home -type f -exec cat {} + 2>/dev/null; ls -aR /workspace /tmp";
    let inside = bench.run(&["exec", name, "--", "sh", "-c", script]);
    assert!(inside.stdout.contains("[remote \"origin\"]"), "{inside:?}");
    token.assert_absent("the container's processes and files", inside.stdout.as_bytes());
}

pub fn over_https(bench: &mut Bench) {
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    env:\n      FROM_REMOTE: yes it is\n");
    serve_repository(bench);
    let certificates = certificates(bench);
    let image = build_image_of(bench.engine, "remote", "", Some(&certificates.join("ca.pem")));
    let token = Canary::new(&format!("{} token {}", bench.engine, bench.folder().display()));
    let server = Server::start(bench, &certificates, token.marker(), "");
    let url = server.url("web.git");

    for (text, flags) in [("wrong\n", &["--token-stdin"][..]), ("", &[])] {
        let refused = clone_reading(bench, &image, text, &[&[url.as_str()], flags].concat()).code(1);
        assert!(
            refused.stderr.contains("uthentication failed") || refused.stderr.contains("could not read"),
            "{refused:?}"
        );
        bench.nothing_is_left();
    }
    drop(server.asked());
    let typed = format!("{}\n", token.marker());
    let cloned = clone_reading(bench, &image, &typed, &[url.as_str(), "--token-stdin"]).ok();
    token.assert_absent("what clone said", format!("{}{}", cloned.stdout, cloned.stderr).as_bytes());
    let asked = server.asked();
    assert!(asked.iter().any(|line| line.ends_with("with credentials")), "{asked:?}");

    let inside = |words: &[&str]| bench.run(&[&["exec", "web", "--"], words].concat()).ok().stdout;
    assert_eq!(inside(&["git", "log", "--format=%s", "-1"]).trim(), "orca.yaml");
    assert_eq!(inside(&["git", "remote", "get-url", "origin"]).trim(), url);
    assert_eq!(inside(&["git", "branch", "--show-current"]).trim(), "feature/x");
    assert_eq!(
        inside(&["sh", "-c", "echo $FROM_REMOTE"]).trim(),
        "yes it is",
        "the file counts once it is there"
    );
    bench.nothing_waits();
    is_not_inside(bench, "web", &token);
    for (place, bytes) in places_of(bench, "web") {
        token.assert_absent(&place, &bytes);
    }
    for file in crate::bench::files_below(&bench.path("state")) {
        token.assert_absent(&file.display().to_string(), &fs::read(&file).unwrap());
    }

    // What it holds is looked for like any other's work; there is no repository here to bring it to.
    bench.run(&["fetch", "web"]).code(1);
    inside(&[
        "git",
        "-c",
        "user.name=n",
        "-c",
        "user.email=e",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "mine",
    ]);
    bench.run(&["rm", "web"]).code(1);
    bench.run(&["rm", "web", "--force"]).ok();
    bench.nothing_is_left();
}

/// Killed between the clone and what its files say: nobody is let in, and the same command goes on.
pub fn interrupted(bench: &mut Bench) {
    bench.commit_file(
        "orca.yaml",
        "worktree:\n  container:\n    network: none\n    env:\n      FROM_REMOTE: here\n",
    );
    serve_repository(bench);
    let certificates = certificates(bench);
    let image = build_image_of(bench.engine, "remote", "", Some(&certificates.join("ca.pem")));
    let server = Server::start(bench, &certificates, "", "");
    let url = server.url("web.git");
    bench.wrap(bench.engine, "case \"$*\" in *\"git ls-tree HEAD\"*) kill -9 $PPID; exit 1 ;; esac");
    assert_ne!(bench.run(&clone_args(bench.engine, &image, &[&url])).code, 0);
    bench.wrap(bench.engine, "");
    let kept_out = bench.run(&["exec", "web", "--", "true"]).code(1);
    assert!(kept_out.stderr.contains("was not settled yet"), "{kept_out:?}");
    bench.run(&clone_args(bench.engine, &image, &[&url])).ok();
    let seen =
        bench.run(&["exec", "web", "--", "sh", "-c", "echo $FROM_REMOTE; ip link | grep -c eth0"]).stdout;
    assert_eq!(seen, "here\n0\n");
    // From here on an agent can write what it likes, and a second clone of the name is another workspace's.
    bench.run(&["recreate", "web", "--adopt-repository-config"]).code(1);
    bench.run(&["recreate", "web"]).ok();
    bench.run(&clone_args(bench.engine, &image, &[&url])).code(1);
    for name in ["", ".", "a/b", "orca-ws-x"] {
        bench.run(&clone_args(bench.engine, &image, &[&url, "--name", name])).code(2);
    }
    bench.run(&["rm", "web"]).ok();
    bench.nothing_is_left();
}

/// The same search as for values, of the workspace with this name.
fn places_of(bench: &Bench, name: &str) -> Vec<(String, Vec<u8>)> {
    let status = bench.run(&["status", name, "--json"]).ok().stdout;
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    places(bench, status["containerId"].as_str().unwrap(), status["container"].as_str().unwrap())
}

/// A remote that leads elsewhere leads there without the token.
pub fn led_elsewhere(bench: &mut Bench) {
    serve_repository(bench);
    let certificates = certificates(bench);
    let image = build_image_of(bench.engine, "remote", "", Some(&certificates.join("ca.pem")));
    let token = Canary::new(&format!("{} led {}", bench.engine, bench.folder().display()));
    let other = Server::start(bench, &certificates, token.marker(), "");
    let server = Server::start(bench, &certificates, token.marker(), other.url("").trim_end_matches('/'));
    let typed = format!("{}\n", token.marker());
    clone_reading(bench, &image, &typed, &[server.url("moved/web.git").as_str(), "--token-stdin"]).code(1);
    let asked = other.asked();
    assert!(!asked.is_empty() && asked.iter().all(|line| line.ends_with("without")), "{asked:?}");
    bench.nothing_is_left();
}

/// Over ssh with a key that is in an agent of the clone and in no file.
pub fn over_ssh(bench: &mut Bench) {
    serve_repository(bench);
    let image = build_image_of(bench.engine, "remote", "", None);
    let remote = SshRemote::start(bench, &image);
    let url = format!("ssh://agent@{}:{}/served/web.git", address(), remote.port);
    let key = bench.path("ssh/key");
    let identity = ["--identity", key.to_str().unwrap()];

    let unknown =
        bench.run(&clone_args(bench.engine, &image, &[&[url.as_str()], &identity[..]].concat())).code(1);
    assert!(unknown.stderr.contains("knows no key of the host"), "{unknown:?}");
    let known = bench.path("home/.ssh/known_hosts");
    fs::create_dir_all(known.parent().unwrap()).unwrap();
    let host = format!("[{}]:{}", address(), remote.port);
    let other = fs::read_to_string(bench.path("ssh/key.pub")).unwrap();
    fs::write(&known, format!("{host} {other}")).unwrap();
    let another =
        bench.run(&clone_args(bench.engine, &image, &[&[url.as_str()], &identity[..]].concat())).code(1);
    assert!(another.stderr.to_lowercase().contains("host key"), "{another:?}");
    bench.nothing_is_left();

    let own = fs::read_to_string(bench.path("ssh/host.pub")).unwrap();
    fs::write(&known, format!("{host} {own}")).unwrap();
    bench.run(&clone_args(bench.engine, &image, &[url.as_str()])).code(1);
    bench
        .run(&clone_args(
            bench.engine,
            &image,
            &[&[url.as_str(), "--name=keyed", "--branch=main"], &identity[..]].concat(),
        ))
        .ok();
    let inside = |words: &[&str]| bench.run(&[&["exec", "keyed", "--"], words].concat()).ok().stdout;
    assert_eq!(inside(&["git", "log", "--format=%s", "-1", "origin/feature/x"]).trim(), "two");
    assert_eq!(inside(&["git", "branch", "--show-current"]).trim(), "main");
    let beside = inside(&["sh", "-c", "ls -A /workspace; ls -A /tmp; ps"]);
    assert!(!beside.contains("ssh") && !beside.contains(".orca"), "{beside}");
    let private = fs::read_to_string(&key).unwrap();
    let line = private.lines().nth(2).unwrap().to_owned();
    for (place, bytes) in places_of(bench, "keyed") {
        assert!(!bytes.windows(line.len()).any(|part| part == line.as_bytes()), "{place}");
    }
    bench.run(&["rm", "keyed"]).ok();
    bench.nothing_is_left();
}

/// sshd in a container of the host's network, which serves the bench's folder to the key `ssh/key`.
struct SshRemote {
    engine: &'static str,
    id: String,
    port: u16,
}

impl SshRemote {
    fn start(bench: &Bench, image: &str) -> Self {
        let folder = bench.path("ssh");
        fs::create_dir(&folder).unwrap();
        let port = TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "Port {port}\nHostKey /ssh/host\nAuthorizedKeysFile /ssh/key.pub\nStrictModes no\nPidFile none\n"
        );
        fs::write(folder.join("config"), config).unwrap();
        for name in ["host", "key"] {
            let args = ["-q", "-t", "ed25519", "-N", "", "-f", folder.join(name).to_str().unwrap()]
                .map(String::from);
            Ran::of(&Command::new("ssh-keygen").args(args).output().unwrap()).ok();
        }
        // They are its user's inside.
        Ran::of(
            &Command::new("chown")
                .args(["-R", "1000:1000"])
                .args([&folder, &bench.path("served")])
                .output()
                .unwrap(),
        )
        .ok();
        let mount = |name: &str| format!("type=bind,source={},target=/{name}", bench.path(name).display());
        let args = [
            &[
                "run",
                "-d",
                "--rm",
                "--network=host",
                "--user=1000:1000",
                "--ulimit=nofile=1024:1024",
                "--ulimit=nproc=4096:4096",
            ][..],
            &["--mount", &mount("ssh"), "--mount", &mount("served"), "--", image],
            &["/usr/sbin/sshd", "-D", "-e", "-f", "/ssh/config"],
        ];
        let id = bench.client(&args.concat()).ok().stdout.trim().to_owned();
        for _ in 0..50 {
            if std::net::TcpStream::connect((address().as_str(), port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Self { engine: bench.engine, id, port }
    }
}

impl Drop for SshRemote {
    fn drop(&mut self) {
        let _ = Command::new(self.engine).args(["rm", "-f", "-v", &self.id]).output();
    }
}

/// What git would run or read on this machine or inside for such a URL never gets as far.
pub fn refused(bench: &mut Bench) {
    let token = Canary::new(&format!("{} url {}", bench.engine, bench.folder().display()));
    let marker = bench.path("ran");
    let touch = format!("touch {}", marker.display());
    let image = image(bench.engine);
    for url in [
        format!("ext::sh -c {}", touch.replace(' ', "% ")),
        format!("--upload-pack={touch}"),
        format!("-oProxyCommand={touch}"),
        format!("-oProxyCommand={touch}:web"),
        format!("ssh://-oProxyCommand={touch}/web"),
        format!("https://ada:{}@host.invalid/web.git", token.marker()),
        format!("https://{}@host.invalid/web.git", token.marker()),
        format!("ssh://git:{}@host.invalid/web.git", token.marker()),
        format!("file://{}", bench.repository().display()),
        bench.repository().display().to_string(),
        "../acme".into(),
        "http://host.invalid/web.git".into(),
        "git://host.invalid/web.git".into(),
        "https::https://host.invalid/web.git".into(),
    ] {
        for before in [&["--"][..], &[]] {
            let mut args = clone_args(bench.engine, &image, before);
            args.push(&url);
            let ran = bench.run(&args);
            // As a flag it is no flag of ours.
            assert!(ran.code == 1 || (ran.code == 2 && url.starts_with('-')), "{url}: {ran:?}");
            assert!(ran.code == 2 || ran.stderr.contains("clone_url_refused"), "{url}: {ran:?}");
            token.assert_absent(&url, format!("{}{}", ran.stdout, ran.stderr).as_bytes());
        }
    }
    assert!(!marker.exists());
    bench.nothing_is_left();
}

/// A devcontainer.json in a folder of its own is found as in a repository on this computer; of several a person chooses one.
pub fn devcontainer_in_a_folder(bench: &mut Bench) {
    let certificates = certificates(bench);
    let image = build_image_of(bench.engine, "remote", "", Some(&certificates.join("ca.pem")));
    write_settings(bench, &serde_json::json!({"globalSettings": {"container": {"image": image}}}));
    let file = |said: &str| serde_json::json!({"image": image, "containerEnv": {"FOUND": said}}).to_string();
    let commit = |name: &str| {
        fs::create_dir_all(bench.repository().join(format!(".devcontainer/{name}"))).unwrap();
        bench.commit_file(&format!(".devcontainer/{name}/devcontainer.json"), &file(name));
    };
    fs::create_dir_all(bench.repository().join(".devcontainer/empty")).unwrap();
    bench.commit_file(".devcontainer/empty/readme", "no devcontainer.json");
    commit("web");
    serve_repository(bench);
    let server = Server::start(bench, &certificates, "", "");
    let url = server.url("web.git");
    let found = |name: &str| {
        bench.run(&["exec", name, "--", "sh", "-c", "echo $FOUND"]).ok().stdout.trim().to_owned()
    };
    let digest = |ran: &Ran| {
        assert!(ran.stderr.contains("--approve "), "{ran:?}");
        ran.stderr.lines().find_map(|line| line.trim().strip_prefix("--approve ")).unwrap().to_owned()
    };
    let asked = bench.run(&clone_args(bench.engine, "devcontainer", &[&url])).code(1);
    let approve = digest(&asked);
    let adopt = ["recreate", "web", "--adopt-repository-config", "--container-image", "devcontainer"];
    bench.run(&[&adopt[..], &["--approve", &approve]].concat()).ok();
    assert_eq!(found("web"), "web");
    bench.nothing_waits();
    bench.run(&["rm", "web", "--force"]).ok();

    commit("api");
    fs::remove_dir_all(bench.path("served")).unwrap();
    serve_repository(bench);
    let refused = bench.run(&clone_args(bench.engine, "devcontainer", &[&url])).code(1);
    assert!(
        refused.stderr.contains("devcontainer_ambiguous") && refused.stderr.contains("--devcontainer"),
        "{refused:?}"
    );
    // The image is approved for this repository already.
    let chosen = ["--devcontainer", ".devcontainer/api/devcontainer.json"];
    bench.run(&[&adopt[..], &chosen[..]].concat()).ok();
    assert_eq!(found("web"), "api");
    bench.run(&["rm", "web", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn branches(bench: &mut Bench) {
    bench.git(&["branch", "side", "main"]);
    bench.git(&["update-ref", "refs/remotes/origin/topic", "main"]);
    let image = image(bench.engine);
    let create =
        |flags: &[&str]| bench.run(&[&create_args(bench.engine, "acme", &image)[..], flags].concat());
    create(&["--network=none"]).ok();
    create(&["--network=none", "--branch=side"]).ok();
    create(&["--network=none", "--new-branch=begun", "--base=origin/topic"]).ok();
    // Each is one workspace of the folder, and the folder's own is that of what is checked out.
    create(&["--network=none", "--branch=side"]).code(1);
    create(&["--network=none", "--branch=feature/x"]).code(1);
    for missing in [&["--branch=none"][..], &["--new-branch=side"], &["--new-branch=y", "--base=none"]] {
        create(missing).code(1);
    }
    let inside = |name: &str, words: &[&str]| bench.run(&[&["exec", name, "--"], words].concat()).ok().stdout;
    for (name, branch, subject) in
        [("acme", "feature/x", "two"), ("acme@side", "side", "one"), ("acme@begun", "begun", "one")]
    {
        assert_eq!(inside(name, &["git", "branch", "--show-current"]).trim(), branch);
        assert_eq!(inside(name, &["git", "log", "--format=%s", "-1"]).trim(), subject);
    }
    assert_eq!(
        inside("acme@begun", &["git", "rev-parse", "origin/topic"]),
        bench.git(&["rev-parse", "main"])
    );
    bench.nothing_waits();
    // The files of the folder belong to another branch, and say nothing about these.
    fs::write(bench.repository().join("orca.yaml"), "worktree: {}\n").unwrap();
    let drift = |name: &str| {
        let status = bench.run(&["status", name, "--json"]).ok().stdout;
        serde_json::from_str::<serde_json::Value>(&status).unwrap()["drift"].as_array().unwrap().len()
    };
    assert_eq!([drift("acme"), drift("acme@side"), drift("acme@begun")], [1, 0, 0]);

    // A branch that began inside is made by its fetch, goes forward by the next, and is nobody's work any more.
    let commit =
        ["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "mine"];
    inside("acme@begun", &commit);
    bench.run(&["rm", "acme@begun"]).code(1);
    let made = bench.run(&["fetch", "acme@begun", "--json"]).ok().stdout;
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert_eq!((&made["moved"], &made["branchMade"]), (&true.into(), &true.into()), "{made}");
    assert_eq!(bench.git(&["log", "--format=%s", "begun"]), "mine\none\n");
    inside("acme@begun", &commit);
    bench.run(&["fetch", "acme@begun"]).ok();
    assert_eq!(bench.git(&["log", "--format=%s", "begun"]), "mine\nmine\none\n");
    bench.run(&["recreate", "acme@begun", "--adopt-repository-config"]).ok();
    for name in ["acme", "acme@side", "acme@begun"] {
        bench.run(&["rm", name]).ok();
    }
    bench.nothing_is_left();
    assert_eq!(bench.git(&["for-each-ref", "refs/orca"]), "");
}
