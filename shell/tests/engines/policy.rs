//! What only a person decides: an agent that edits the repository's files, names that redirect, and what the host has.

use crate::bench::{Bench, Ran, build_image, image};
use crate::delivery::write_settings;
use orca_container_testkit::Canary;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::net::UnixListener;

/// Creates the workspace of a devcontainer.json with everything approved that `approve` shows.
pub fn create_approved(bench: &Bench, image: &str, more: &[&str]) -> Ran {
    let asked = ["approve", "acme", "--engine", bench.engine, "--container-image", image];
    let shown = bench.run(&[&asked[..], more].concat()).ok().stdout;
    let digests: Vec<String> =
        shown.lines().filter_map(|line| line.trim().strip_prefix("--approve ").map(String::from)).collect();
    let mut flags: Vec<&str> = digests.iter().flat_map(|digest| ["--approve", digest]).collect();
    flags.extend(more);
    bench.create_from("acme", image, &flags)
}

/// From inside, and on the host in the worktree: what an agent writes into the repository's files changes nothing but the
/// report, until a person adopts it.
pub fn agent_against_policy(bench: &mut Bench) {
    bench.commit_file(".gitignore", ".env\nother.secret\n");
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    env:\n      LOG_LEVEL: info\n");
    fs::create_dir(bench.repository().join(".devcontainer")).unwrap();
    // Of this run alone: a tag that another run moves would be a difference.
    let image = build_image(bench.engine, "full", &format!("LABEL orca.test=agent-{}", std::process::id()));
    let file = json!({"image": image, "containerEnv": {"NODE_ENV": "test"}});
    bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
    fs::write(bench.repository().join(".env"), "one").unwrap();
    fs::write(bench.repository().join("other.secret"), "not listed").unwrap();
    fs::write(bench.repository().join(".worktreeinclude"), ".env\n").unwrap();
    create_approved(bench, "devcontainer", &["--copy-ignored-files"]).ok();
    let bench = &*bench;
    let variables = || {
        let lines = bench.exec(&["env"]).ok().stdout;
        let mut lines: Vec<String> = lines
            .lines()
            .filter(|line| !line.starts_with("ORCA_LAUNCH_ID=") && !line.starts_with("HOSTNAME="))
            .map(String::from)
            .collect();
        lines.sort();
        lines
    };
    let plan = || bench.inspect()["Config"]["Labels"]["orca.plan"].clone();
    let before = (variables(), plan());
    assert_eq!(bench.status()["drift"], json!([]));

    let hostile_yaml = "worktree:\n  container:\n    image: evil:1\n    network: bridge\n    env:\n      LOG_LEVEL: evil\n      NEW: x\n    forwardHostEnv: [HOME]\n";
    let hostile_file = json!({"image": "evil:1", "privileged": true, "containerEnv": {"NODE_ENV": "evil"}, "postStartCommand": "touch /tmp/evil"}).to_string();
    let write = format!(
        "cat > orca.yaml <<'E'\n{hostile_yaml}E\ncat > .devcontainer/devcontainer.json <<'E'\n{hostile_file}\nE\nprintf 'other.secret\\n' > .worktreeinclude"
    );
    bench.exec(&["sh", "-c", &write]).ok();
    fs::write(bench.repository().join("orca.yaml"), hostile_yaml).unwrap();
    fs::write(bench.repository().join(".devcontainer/devcontainer.json"), &hostile_file).unwrap();
    fs::write(bench.repository().join(".worktreeinclude"), ".env\nother.secret\n../outside\n").unwrap();

    let drift = || {
        let mut all: Vec<String> = bench.status()["drift"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| {
                format!(
                    "{} {} {}",
                    d["file"].as_str().unwrap(),
                    d["place"].as_str().unwrap(),
                    d["kind"].as_str().unwrap()
                )
            })
            .collect();
        all.sort();
        all
    };
    let expected = [
        ".devcontainer/devcontainer.json workspace changed",
        ".devcontainer/devcontainer.json worktree changed",
        ".worktreeinclude workspace changed",
        ".worktreeinclude worktree changed",
        "orca.yaml workspace changed",
        "orca.yaml worktree changed",
    ];
    assert_eq!(drift(), expected);
    let launched = bench.exec(&["true"]).ok();
    assert_eq!(
        launched.stderr.lines().filter(|line| line.contains("is not used")).count(),
        6,
        "{}",
        launched.stderr
    );
    assert_eq!((variables(), plan()), before);
    let copied = bench.run(&["copy", "acme"]).ok();
    assert!(copied.stderr.contains("orca.yaml was changed"), "{}", copied.stderr);
    assert_eq!(
        bench
            .exec(&["sh", "-c", "ls -A; test -e /tmp/evil || echo clean"])
            .ok()
            .stdout
            .matches("other.secret")
            .count(),
        0
    );
    let recreated = bench.run(&["recreate", "acme"]).ok();
    assert!(recreated.stderr.contains("Nothing differs"), "{}", recreated.stderr);
    assert_eq!((variables(), plan()), before);
    assert_eq!(bench.exec(&["sh", "-c", "test -e /tmp/evil || echo clean"]).ok().stdout, "clean\n");
    assert_eq!(drift(), expected);

    // Adopting takes what is committed on the host, and asks for what it wants.
    let adopted = bench.run(&["recreate", "acme", "--adopt-repository-config"]).ok();
    assert!(adopted.stderr.contains("Nothing differs"), "nothing is committed: {}", adopted.stderr);
    bench.commit("what the agent wrote");
    let refused = bench.run(&["recreate", "acme", "--adopt-repository-config"]).code(1);
    assert!(refused.stderr.contains("evil:1") && refused.stderr.contains("--approve"), "{}", refused.stderr);
    assert!(refused.stderr.contains("new in it: \"other.secret\""), "{}", refused.stderr);
    assert_eq!(bench.status()["status"], "running", "nothing was touched");
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    env:\n      LOG_LEVEL: trace\n");
    bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
    let dry = bench.run(&["recreate", "acme", "--adopt-repository-config", "--dry-run"]).ok();
    assert!(dry.stderr.contains("\"LOG_LEVEL\" has another value"), "{}", dry.stderr);
    assert_eq!(bench.exec(&["sh", "-c", "echo $LOG_LEVEL"]).ok().stdout, "info\n");
    bench.run(&["recreate", "acme", "--adopt-repository-config"]).ok();
    assert_eq!(bench.exec(&["sh", "-c", "echo $LOG_LEVEL"]).ok().stdout, "trace\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Whatever an agent puts in place of a file, the report is soon there and tells that it is another one; no process of ours
/// is in the container for it, which the agent could stop.
pub fn odd_files(bench: &mut Bench) {
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    env:\n      A: b\n");
    bench.create(&[]).ok();
    let kinds = |bench: &Bench| -> Vec<String> {
        let drift = bench.status()["drift"].clone();
        drift
            .as_array()
            .unwrap()
            .iter()
            .map(|d| format!("{} {}", d["file"].as_str().unwrap(), d["kind"].as_str().unwrap()))
            .collect()
    };
    // An agent that stops whatever else of its user begins.
    let stopper = "while [ ! -e /tmp/done ]; do for p in /proc/[0-9]*; do n=${p#/proc/}; [ $n -le 20 ] || [ $n = $$ ] || kill -STOP $n 2>/dev/null; done; done";
    for (make, expected) in [
        (
            "rm orca.yaml; truncate -s 200G orca.yaml 2>/dev/null || dd if=/dev/zero of=orca.yaml bs=1 count=0 seek=200G",
            "changed",
        ),
        ("rm orca.yaml; ln -s /dev/zero orca.yaml", "changed"),
        ("rm orca.yaml; mkfifo orca.yaml", "changed"),
        ("rm orca.yaml; mkdir orca.yaml", "changed"),
        ("rmdir orca.yaml; printf 'a\\033[31m\\n' > orca.yaml; chmod 0 orca.yaml", "changed"),
        ("rm -f orca.yaml", "removed"),
    ] {
        bench.exec(&["sh", "-c", make]).ok();
        let begun = std::time::Instant::now();
        let found = kinds(bench);
        // podman follows a link out of what it sees of the container, and finds nothing or fails.
        let link = bench.engine == "podman" && make.contains("ln -s");
        let unknown = link && (found == ["orca.yaml unknown"] || found == ["orca.yaml removed"]);
        assert!(unknown || found == [format!("orca.yaml {expected}")], "{make}: {found:?}");
        assert!(begun.elapsed().as_secs() < 15, "{make}: {:?}", begun.elapsed());
        let told = bench.exec(&["true"]).ok().stderr;
        assert!(told.contains("orca.yaml ") && !told.contains('\u{1b}'), "{told}");
    }
    let id = bench.container_id();
    bench.client(&["exec", "-d", &id, "sh", "-c", stopper]).ok();
    assert_eq!(kinds(bench), ["orca.yaml removed"]);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// With a user's credential in the launch, a repository's redirecting names are absent until approved, in each file.
pub fn redirecting_names(bench: &mut Bench) {
    const NAMES: [&str; 6] = [
        "ANTHROPIC_BASE_URL",
        "HTTPS_PROXY",
        "NODE_OPTIONS",
        "GIT_SSH_COMMAND",
        "LD_PRELOAD",
        "SSL_CERT_FILE",
    ];
    write_settings(
        bench,
        &json!({"globalSettings": {"policy": {"allowAccountKeys": true}, "container": {"env": {"ANTHROPIC_API_KEY": "the user's"}}}}),
    );
    let mut yaml = String::from("worktree:\n  container:\n    env:\n      PLAIN: plain\n");
    for name in NAMES {
        yaml.push_str(&format!("      {name}: from-orca-yaml\n"));
    }
    let env: Value =
        Value::Object(NAMES.iter().map(|name| ((*name).to_owned(), json!("from-devcontainer"))).collect());
    let file = json!({"image": image(bench.engine), "containerEnv": env, "remoteEnv": {"PATH": "/evil:${containerEnv:PATH}"}});
    fs::create_dir(bench.repository().join(".devcontainer")).unwrap();
    let show = NAMES.map(|name| format!("${{{name}-absent}}")).join(" ");
    let show = format!("echo $ANTHROPIC_API_KEY; echo {show}; echo $PATH");
    let absent = format!("the user's\n{}\n/usr/bin:/bin\n", ["absent"; 6].join(" "));
    for (orca_yaml, devcontainer, given) in
        [(yaml.as_str(), "{}", "from-orca-yaml"), ("x: y\n", &file.to_string(), "from-devcontainer")]
    {
        bench.commit_file("orca.yaml", orca_yaml);
        bench.commit_file(".devcontainer/devcontainer.json", devcontainer);
        let of_file = devcontainer != "{}";
        let image = if of_file { "devcontainer".to_owned() } else { image(bench.engine) };
        let shown = bench
            .run(&["approve", "acme", "--engine", bench.engine, "--container-image", &image])
            .ok()
            .stdout;
        let mut asked: Vec<(&str, &str)> = Vec::new();
        let mut lines = shown.lines();
        while let Some(line) = lines.next() {
            if let Some(question) = line.strip_prefix("Asked: ") {
                lines.next();
                asked.push((question, lines.next().unwrap().trim().strip_prefix("--approve ").unwrap()));
            }
        }
        let digest_of = |part: &str| asked.iter().find(|(question, _)| question.contains(part)).unwrap().1;
        assert_eq!(asked.len(), if of_file { 8 } else { 6 }, "{shown}");
        let of_image: Vec<&str> =
            if of_file { vec!["--approve", digest_of("wants the image")] } else { vec![] };
        bench.create_from("acme", &image, &of_image).ok();
        assert_eq!(bench.exec(&["sh", "-c", &show]).ok().stdout, absent);
        // One answer is for one name; it is there at the next launch.
        bench
            .run(&["approve", "acme", "--container-image", &image, "--approve", digest_of("\"HTTPS_PROXY\"")])
            .ok();
        let one = bench.exec(&["sh", "-c", &show]).ok().stdout;
        assert_eq!(one, absent.replacen("absent absent", &format!("absent {given}"), 1), "{shown}");
        bench.run(&["rm", "acme", "--force"]).ok();
    }
    bench.nothing_is_left();
}

/// Nothing of who the person is on this computer, and of how it reaches the network, gets in unasked.
pub fn host_stays_outside(bench: &mut Bench) {
    let canary = Canary::new(&format!("host {} {}", bench.engine, bench.folder().display()));
    let (marker, home) = (canary.marker().to_owned(), bench.path("home"));
    let write = |path: &str, text: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        ".gitconfig",
        &format!(
            "[user]\n\tname = {marker}\n\temail = {marker}@example.invalid\n[credential]\n\thelper = !echo password={marker}\n[http]\n\tproxy = http://{marker}\n"
        ),
    );
    write(".config/git/config", &format!("[core]\n\tsshCommand = {marker}\n"));
    write(".git-credentials", &format!("https://user:{marker}@example.invalid\n"));
    write(".netrc", &format!("machine example.invalid login u password {marker}\n"));
    write(".ssh/id_ed25519", &marker);
    write(".config/gh/hosts.yml", &format!("github.com:\n    oauth_token: {marker}\n"));
    write(".claude/.credentials.json", &marker);
    write(".npmrc", &format!("//registry.invalid/:_authToken={marker}\n"));
    write(
        ".docker/config.json",
        &json!({"proxies": {"default": {"httpProxy": format!("http://{marker}")}}, "credsStore": "x"})
            .to_string(),
    );
    let containers = format!("[containers]\nenv = [\"FROM_CONF={marker}\"]\nhttp_proxy = true\n");
    write(".config/containers/containers.conf", &containers);
    let conf = bench.path("config/containers");
    fs::create_dir_all(&conf).unwrap();
    fs::write(conf.join("containers.conf"), &containers).unwrap();
    let socket = bench.path("agent.sock");
    let _agent = UnixListener::bind(&socket).unwrap();
    for name in [
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
        "FTP_PROXY",
        "ftp_proxy",
        "NO_PROXY",
        "no_proxy",
    ] {
        bench.env.insert(name.into(), format!("http://user:{marker}@127.0.0.1:9"));
    }
    for name in [
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "ANTHROPIC_API_KEY",
        "GIT_ASKPASS",
        "GIT_AUTHOR_NAME",
        "EMAIL",
        "NPM_TOKEN",
        "SSH_ASKPASS",
    ] {
        bench.env.insert(name.into(), marker.clone());
    }
    bench.env.insert("SSH_AUTH_SOCK".into(), socket.to_str().unwrap().into());
    bench.git(&["config", "user.name", &marker]);
    bench.git(&["config", "http.extraHeader", &format!("Authorization: {marker}")]);
    bench.create(&[]).ok();
    let look = "env; git config --list --show-origin; git config --system --list; cat /workspace/acme/.git/config; cat /proc/self/mountinfo; ls -aR ~ /orca/agent /root 2>/dev/null; find / -xdev -type s 2>/dev/null; cat /etc/gitconfig /etc/environment 2>/dev/null; true";
    let seen = bench.exec(&["sh", "-c", look]).ok().stdout;
    canary.assert_absent("what the workspace sees", seen.as_bytes());
    let lower = seen.to_ascii_lowercase();
    for word in [
        "_proxy=",
        "ssh_auth_sock",
        "gh_token",
        "github_token",
        "askpass",
        "agent.sock",
        "from_conf",
        "credential.helper",
    ] {
        assert!(!lower.contains(word), "{word} in {seen}");
    }
    assert!(!seen.contains(bench.folder().to_str().unwrap()), "a path of the host in {seen}");
    canary.assert_absent("inspect", bench.inspect().to_string().as_bytes());
    assert_ne!(
        bench.exec(&["git", "-c", "core.editor=true", "commit", "--allow-empty", "-m", "x"]).code,
        0,
        "git knows nobody"
    );
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}
