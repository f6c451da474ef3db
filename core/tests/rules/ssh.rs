//! Sessions over ssh: what a launch leaves is what the session has, in every shell that can be an image's `sh`; less than all of it
//! is nothing. And what a connection leaves behind at its end.

use crate::{shim::shells, support};
use orca_container_core::{SshLogin, SshLoginError, ssh_environment_command, ssh_login, ssh_serve_argv};
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

/// 32 hex digits that no other test has.
fn connection() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{:016x}{:016x}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// One connection's folder, and a session in it that waits for its variables.
struct Session {
    connection: String,
    folder: PathBuf,
    child: Child,
    pid: u32,
}

impl Session {
    fn begin(shell: &[&str], command: &str) -> Self {
        let connection = connection();
        let folder = PathBuf::from(format!("/dev/shm/orca-ssh-{connection}"));
        fs::create_dir(&folder).unwrap();
        let asked = folder.join("asked");
        assert!(Command::new("mkfifo").arg(&asked).status().unwrap().success());
        // Opened for both, so that nobody waits for the other's end.
        let asked = OpenOptions::new().read(true).write(true).open(&asked).unwrap();
        let script = ssh_serve_argv("id", &connection, "key").pop().unwrap();
        let mut session = Command::new(shell[0]);
        session.args(&shell[1..]).args(["-c", &script, "sh"]).arg(&folder).env_clear();
        session.env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh").env("TERM", "xterm-256color");
        session.env("SSH_ORIGINAL_COMMAND", command);
        let child =
            session.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(asked).read_line(&mut line).unwrap();
        Self { connection, folder, child, pid: line.trim().parse().unwrap() }
    }

    /// The launch that answers, in an environment.
    fn launch(&self, shell: &[&str], environment: &BTreeMap<&str, &str>) {
        let plan = support::sealed(&support::with("docker", &[]));
        let words = ssh_environment_command(&plan, &self.connection, self.pid);
        let at = words.iter().position(|word| word == "/bin/sh").unwrap();
        let mut launch = Command::new(&words[0]);
        launch.args(&words[1..at]).args(shell).args(&words[at + 1..]).env_clear().envs(environment);
        assert!(launch.status().unwrap().success());
    }

    /// The same by hand: a text, and how it is said to be.
    fn answer(&self, text: &str, said: &str) {
        let answer = self.folder.join(format!("answer.{}", self.pid));
        fs::write(&answer, text).unwrap();
        let done: File = OpenOptions::new()
            .read(true)
            .write(true)
            .open(answer.with_extension(format!("{}.done", self.pid)))
            .unwrap();
        (&done).write_all(said.as_bytes()).unwrap();
        // The pipe keeps what is written while the session has it open.
        drop(done);
    }

    fn end(self) -> Output {
        let output = self.child.wait_with_output().unwrap();
        let left: Vec<String> = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("answer"))
            .collect();
        assert_eq!(left, Vec::<String>::new(), "no value stays");
        fs::remove_dir_all(&self.folder).unwrap();
        output
    }
}

fn environment(output: &Output) -> BTreeMap<String, String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn a_session_has_the_launchs_variables_byte_for_byte() {
    let given = BTreeMap::from([
        ("PATH", "/usr/bin:/bin"),
        ("TERM", "xterm"),
        ("ODD", "a'b\"c`d$e\\f\n  g\th*\u{1f980}\n\n"),
        ("EMPTY", ""),
        ("RUNS", "$(touch /nonexistent/x); `id`; ';id'"),
        // Names that the scripts themselves use, and some that shells keep for themselves.
        ("text", "1"),
        ("dir", "2"),
        ("answer", "3"),
        ("said", "4"),
        ("command", "5"),
        ("mask", "6"),
        ("IFS", "xyz"),
        ("UID", "7"),
        ("PS4", "$(id)"),
    ]);
    for shell in shells() {
        let session = Session::begin(&shell, "env -0");
        session.launch(&shell, &given);
        let output = session.end();
        let has = environment(&output);
        for (name, value) in &given {
            match *name {
                // The client's own; and a shell's own, which no session can be given.
                "TERM" => assert_eq!(has["TERM"], "xterm-256color", "{shell:?}"),
                "UID" | "IFS" | "PS4" => {}
                _ => assert_eq!(
                    has.get(*name).map(String::as_str),
                    Some(*value),
                    "{name} {shell:?} {output:?}"
                ),
            }
        }
        assert!(!has.contains_key("SSH_ORIGINAL_COMMAND") && !has.contains_key("ORCA_SSH_FOLDER"), "{has:?}");
    }
}

#[test]
fn half_an_environment_and_a_refusal_begin_nothing() {
    for shell in shells() {
        let half = Session::begin(&shell, "echo begun");
        half.answer("export A='1'\nexport B='2", "yes\n");
        let output = half.end();
        assert!(!output.status.success() && output.stdout.is_empty(), "{shell:?} {output:?}");
        let refused = Session::begin(&shell, "echo begun");
        refused.answer("a secret has no value\n", "no\n");
        let output = refused.end();
        assert!(!output.status.success() && output.stdout.is_empty(), "{shell:?} {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("a secret has no value"), "{output:?}");
    }
}

/// Stands in for sshd: a session that is on the list, one that is not, and the client's side read to its end.
const SSHD: &str = r#"sshd() {
setsid sh -c 'read -r stat </proc/$$/stat; set -- ${stat##*) }; echo "$$ ${20}" >>"$0"; sleep 1001 & wait' "$dir/sessions" &
echo "$OTHER 1" >>"$dir/sessions"; echo "4194301 5" >>"$dir/sessions"; echo "$$" >"$dir/began"; cat >/dev/null; }; "#;

/// A process that has nothing to do with a connection.
struct Stranger(Child);

impl Stranger {
    fn new() -> Self {
        let mut command = Command::new("setsid");
        command.args(["sleep", "1002"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(String::from).collect()
}

/// A connection's script, with a function in place of sshd.
fn serve(shell: &[&str], connection: &str, sshd: &str) -> Command {
    let argv = ssh_serve_argv("id", connection, "key");
    let at = argv.iter().position(|word| word == "-c").unwrap();
    // With the hangup as every container begins with it: whoever runs the tests may ignore it (nohup), and so would all below.
    let mut serve = Command::new("env");
    serve
        .args(["--default-signal=HUP", "setsid"])
        .args(shell)
        .arg("-c")
        .arg(format!("{sshd}{}", argv[at + 1]))
        .args(&argv[at + 2..]);
    serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    serve
}

/// Processes that run and have a connection's name in their arguments.
fn of_connection(connection: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let args = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let args = args.map(|args| String::from_utf8_lossy(&args).replace('\0', " "));
    args.filter(|args| args.contains(connection)).collect()
}

#[test]
fn a_session_that_begins_while_its_connection_ends_does_not_stay() {
    for shell in shells() {
        for number in 0..6 {
            // A session for every moment: some before the end, some after it.
            let pause = f64::from(number) / 200.0;
            let sshd = format!(
                "sshd() {{ for n in 1 2 3 4; do SSH_ORIGINAL_COMMAND=true SHELL=/bin/sh setsid sh \"$dir/session\" \"$dir\" & done >/dev/null 2>&1 </dev/null; sleep {pause}; }}; "
            );
            let connection = connection();
            let mut serve = serve(&shell, &connection, &sshd).spawn().unwrap();
            serve.stdin.take().unwrap().write_all(b"host key\n\n").unwrap();
            assert!(serve.wait_with_output().unwrap().status.success());
            wait_for(&format!("nobody stays: {shell:?} {pause}"), || of_connection(&connection).is_empty());
            for end in ["", ".ended"] {
                assert!(!PathBuf::from(format!("/dev/shm/orca-ssh-{connection}{end}")).exists(), "{shell:?}");
            }
        }
    }
}

#[test]
fn a_session_has_the_umask_of_any_other_process() {
    for shell in shells() {
        let mut serve = serve(&shell, &connection(), "umask 027; sshd() { umask; }; ").spawn().unwrap();
        serve.stdin.take().unwrap().write_all(b"host key\n\n").unwrap();
        let said = String::from_utf8(serve.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(said.trim(), "0027", "{shell:?}");
    }
}

/// What sshd is told, whole: whoever changes it changes it here as well.
#[test]
fn sshd_takes_one_key_and_forwards_to_the_containers_loopback_only() {
    let mut serve = serve(
        &["dash"],
        &"0".repeat(32),
        r#"sshd() { for word do printf '%s\n' "$word" | sed "s#$dir#DIR#g"; done; }; "#,
    )
    .spawn()
    .unwrap();
    serve.stdin.take().unwrap().write_all(b"host key\n\n").unwrap();
    let said = String::from_utf8(serve.wait_with_output().unwrap().stdout).unwrap();
    let options: Vec<&str> = said.lines().filter(|line| *line != "-o").collect();
    assert_eq!(
        options,
        [
            "-i",
            "-e",
            "-f",
            "/dev/null",
            "HostKey=DIR/host",
            "AuthorizedKeysFile=DIR/key",
            "ForceCommand=exec /bin/sh DIR/session DIR",
            "Subsystem=sftp orca-sftp",
            "AuthenticationMethods=publickey",
            "PasswordAuthentication=no",
            "KbdInteractiveAuthentication=no",
            "UsePAM=no",
            "StrictModes=no",
            "PermitUserRC=no",
            "PermitUserEnvironment=no",
            "PidFile=none",
            "UseDNS=no",
            "LogLevel=ERROR",
            "AllowAgentForwarding=no",
            "X11Forwarding=no",
            "PermitTunnel=no",
            "AllowStreamLocalForwarding=no",
            "GatewayPorts=no",
            "AllowTcpForwarding=local",
            "PermitOpen=127.0.0.1:* localhost:* [::1]:*",
            "MaxSessions=200",
            "LoginGraceTime=30",
        ]
    );
}

#[test]
fn a_connection_ends_its_own_sessions_and_nothing_else() {
    for shell in shells() {
        // A process that has the number of a session which is long gone, as the list knows it.
        let other = Stranger::new();
        let connection = connection();
        let folder = PathBuf::from(format!("/dev/shm/orca-ssh-{connection}"));
        let mut serve =
            serve(&shell, &connection, SSHD).env("OTHER", other.0.id().to_string()).spawn().unwrap();
        serve.stdin.as_mut().unwrap().write_all(b"host key\n\n").unwrap();
        let sessions = folder.join("sessions");
        wait_for("the session is on the list", || {
            folder.join("began").exists() && lines(&sessions).len() == 3
        });
        let leader = lines(&sessions)
            .into_iter()
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .find(|pid| *pid != "4194301" && *pid != other.0.id().to_string())
            .unwrap();
        let runs = |pid: &str| {
            fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
        };
        // The list does not grow with the sessions that ended.
        let mut asked = OpenOptions::new().write(true).open(folder.join("asked")).unwrap();
        for number in 0..64 {
            writeln!(asked, "{number}").unwrap();
        }
        wait_for("who is gone is off the list", || {
            let now = lines(&sessions);
            now.len() == 2 && now.iter().all(|line| !line.starts_with("4194301 "))
        });
        assert!(runs(&leader), "{shell:?}");
        drop(serve.stdin.take());
        let output = serve.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let numbers: Vec<String> = (0..64).map(|number| format!("orca-session {number}")).collect();
        assert_eq!(said.lines().collect::<Vec<_>>(), numbers, "{shell:?}");
        wait_for("the session ends", || !runs(&leader));
        assert!(runs(&other.0.id().to_string()), "{shell:?}: another's process is left alone");
        assert!(!folder.exists(), "{shell:?}");
    }
}

#[test]
fn who_may_log_in_is_what_the_container_says_and_nothing_else_of_it_counts() {
    let login = |user: &str, sftp| Ok(SshLogin { user: user.into(), sftp });
    assert_eq!(ssh_login("user agent\n"), login("agent", true));
    assert_eq!(ssh_login("user agent\nno sftp\n"), login("agent", false));
    assert_eq!(ssh_login("no sshd\nuser agent\n"), Err(SshLoginError::NoSshd));
    assert_eq!(ssh_login("no user\n"), Err(SshLoginError::NoUser));
    assert_eq!(ssh_login("user agent\nno shell\nno sftp\n"), Err(SshLoginError::NoShell));
    for said in
        ["", "agent\n", "user \n", "user -oProxyCommand=x\n", "user a b\n", "user a;id\n", "user $(id)\n"]
    {
        assert_eq!(ssh_login(said), Err(SshLoginError::Unusable), "{said}");
    }
}
