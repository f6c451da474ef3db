use crate::{
    diagnostic::{Code, Diagnostic, Severity},
    probe::{Judged, run_args},
    words::EngineKind,
};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use proptest::prelude::*;

fn judged(tokens: &[&str]) -> Judged {
    run_args(EngineKind::Docker, &tokens.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// The one finding of tokens that ask for nothing.
fn refused(tokens: &[&str]) -> Diagnostic {
    let judged = judged(tokens);
    assert_eq!(judged.asks, [""; 0], "{tokens:?}");
    assert_eq!(judged.findings.len(), 1, "{tokens:?}: {:?}", judged.findings);
    judged.findings[0].clone()
}

#[test]
fn every_dangerous_flag_is_left_out_with_its_reason_and_standard() {
    for (tokens, standard) in [
        (&["--privileged"][..], "CIS Docker 5.5"),
        (&["--privileged=1"], "CIS Docker 5.5"),
        (&["-v/:/h"], "CIS Docker 5.6"),
        (&["-v=/:/h"], "CIS Docker 5.6"),
        (&["-v", "/var/run/docker.sock:/var/run/docker.sock"], "CIS Docker 5.32"),
        (&["--mount=type=bind,src=/,dst=/h"], "CIS Docker 5.6"),
        (&["--mount", "TYPE=BIND,SRC=/,DST=/h"], "CIS Docker 5.6"),
        (&["--mount", "\"type=bind\",\"src=/\",\"dst=/h\""], "CIS Docker 5.6"),
        (
            &["--mount", "type=volume,dst=/h,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/"],
            "CIS Docker 5.6",
        ),
        (&["--cap-add", "ALL"], "CIS Docker 5.4"),
        (&["--cap-add=cap_sys_admin"], "CIS Docker 5.4"),
        (&["--cap-add=SYS_PTRACE"], "CIS Docker 5.4"),
        (&["--security-opt", "no-new-privileges:false"], "CIS Docker 5.26"),
        (&["--security-opt", "no-new-privileges=false"], "CIS Docker 5.26"),
        (&["--security-opt", "seccomp=unconfined"], "CIS Docker 5.22"),
        (&["--security-opt", "seccomp:unconfined"], "CIS Docker 5.22"),
        (&["--security-opt=seccomp=/etc/shadow"], "CIS Docker 5.22"),
        (&["--security-opt=apparmor=unconfined"], "CIS Docker 5.2"),
        (&["--security-opt=label=disable"], "CIS Docker 5.3"),
        (&["--security-opt=systempaths=unconfined"], "CIS Docker 5.6"),
        (&["--security-opt=writable-cgroups"], "CIS Docker 5.25"),
        (&["--pid=host"], "CIS Docker 5.16"),
        (&["--pid", "container:x"], "CIS Docker 5.16"),
        (&["--ipc=host"], "CIS Docker 5.17"),
        (&["--uts=host"], "CIS Docker 5.21"),
        (&["--userns=host"], "CIS Docker 5.31"),
        (&["--cgroupns=host"], ""),
        (&["--network", "container:x"], "CIS Docker 5.10"),
        (&["--net=host"], "CIS Docker 5.10"),
        (&["--network=host"], "CIS Docker 5.10"),
        (&["--network=other"], ""),
        (&["--network=name=none,alias=x"], ""),
        (&["-e", "AWS_SECRET_ACCESS_KEY"], ""),
        (&["-e", "AWS_*"], ""),
        (&["-e", "*"], ""),
        (&["-e", "=x"], ""),
        (&["-e", "A B=x"], ""),
        (&["-e", "--privileged"], ""),
        (&["--env-file", "/home/u/.aws/credentials"], ""),
        (&["--label-file=/etc/passwd"], ""),
        (&["--cidfile=/etc/cron.d/x"], ""),
        (&["--volumes-from", "other"], "CIS Docker 5.6"),
        (&["--use-api-socket"], "CIS Docker 5.32"),
        (&["-l", "orca.workspace=other"], ""),
        (&["--label=ORCA.install=x"], ""),
        (&["--label=orca"], ""),
        (&["--label=com.docker.compose.project=x"], ""),
        (&["--label", "-v"], ""),
        (&["--runtime", "runc"], ""),
        (&["--runtime", "./x"], ""),
        (&["--device=/dev/kmsg"], "CIS Docker 5.18"),
        (&["--device-cgroup-rule=a *:* rwm"], "CIS Docker 5.18"),
        (&["--gpus", "all"], "CIS Docker 5.18"),
        (&["--group-add", "0"], ""),
        (&["--sysctl=net.core.somaxconn=1"], ""),
        (&["--cgroup-parent=/"], "CIS Docker 5.25"),
        (&["--link=db"], ""),
        (&["--add-host=github.com:6.6.6.6"], ""),
        (&["--dns=6.6.6.6"], ""),
        (&["-P"], "CIS Docker 5.14"),
        (&["--memory=0"], ""),
        (&["--memory=-1"], ""),
        (&["--pids-limit=-1"], ""),
        (&["--cpus=0"], ""),
        (&["--shm-size=-1"], ""),
        (&["-u0"], "CIS Docker 5.24"),
        (&["--user=root"], "CIS Docker 5.24"),
        (&["--user=+0"], "CIS Docker 5.24"),
        (&["--user=00:1"], "CIS Docker 5.24"),
        (&["--user=1000:0"], "CIS Docker 5.24"),
        (&["--user=-x"], ""),
        (&["--user="], ""),
        (&["--user=01"], ""),
        (&["--ulimit=memlock=-1"], ""),
        (&["--ulimit=nofile=9:1"], ""),
        (&["--hostname=-x"], ""),
        (&["--hostname=a b"], ""),
        (&["--platform=windows/amd64"], ""),
        (&["-p", "0"], ""),
        (&["-p", "53:53/udp"], ""),
        (&["-p", "1-65535"], ""),
    ] {
        let finding = refused(tokens);
        assert_eq!(finding.severity, Severity::Dropped, "{tokens:?}");
        assert_eq!(finding.standards.join(" "), standard, "{tokens:?}: {}", finding.message);
        assert!(finding.message.ends_with('.') && !finding.message.ends_with(".."), "{}", finding.message);
        assert_eq!(finding.source.path.as_deref(), Some("runArgs[0]"), "{tokens:?}");
    }
    assert_eq!(judged(&["--init", "-itv", "/:/h"]).findings[2].source.path.as_deref(), Some("runArgs[1]"));
}

#[test]
fn one_token_that_is_no_whole_flag_leaves_everything_out() {
    for (tokens, index) in [
        (&["evil/image"][..], 0),
        (&["--shm-size=1g", "evil/image", "sh"], 1),
        (&["--", "evil"], 0),
        (&["--shm-size=1g", "--label"], 1),
        (&["--label", "-v", "/:/h"], 2),
        (&["--privileged", "true"], 1),
        (&["--init", "--frob"], 1),
        (&["\u{2013}privileged"], 0),
        (&["-e", "A", "hunter2"], 2),
    ] {
        let finding = refused(tokens);
        assert_eq!(
            (finding.severity, finding.code),
            (Severity::Dropped, Code::RunArgsUnreadable),
            "{tokens:?}"
        );
        assert_eq!(finding.source.path, Some(format!("runArgs[{index}]")), "{tokens:?}");
        assert!(finding.message.contains(&format!("index {index} ")), "{}", finding.message);
        assert!(!finding.message.contains("hunter2"), "{}", finding.message);
    }
}

#[test]
fn habits_of_public_files_stay_usable() {
    let quiet: &[&str] = &[];
    for (tokens, asks) in [
        (&["--init"][..], quiet),
        (&["--cap-drop=ALL"], quiet),
        (&["--security-opt=no-new-privileges"], quiet),
        (&["--security-opt", "no-new-privileges:true"], quiet),
        (&["--privileged=false"], quiet),
        (&["--ipc=private", "--pid="], quiet),
        (&["--shm-size=1g"], &["--shm-size=1073741824"]),
        (&["--ulimit", "nofile=1024:2048"], &["--ulimit=nofile=1024:2048"]),
        (&["--ulimit", "core=0"], &["--ulimit=core=0:0"]),
        (&["-h", "dev"], &["--hostname=dev"]),
        (&["-e", "A=b=c"], &["--env=A=b=c"]),
        (&["-eA=", "--env=A=1"], &["--env=A=", "--env=A=1"]),
        (&["--network=none"], &["--network=none"]),
        (&["--net", "bridge"], &["--network=bridge"]),
        (&["-u", "vscode"], &["--user=vscode"]),
        (&["--user=1000:1000"], &["--user=1000:1000"]),
        (
            &["-m2g", "--cpus=1.5", "--pids-limit=99"],
            &["--memory=2147483648", "--cpus=1.500000000", "--pids-limit=99"],
        ),
        (&["-p8000"], &["--publish=8000"]),
        (&["-p", "3000-3002"], &["--publish=3000", "--publish=3001", "--publish=3002"]),
        (&["--platform=linux/amd64"], &["--platform=linux/amd64"]),
        (&["--label=a.b=c"], &["--label=a.b=c"]),
        (&["-v", "name:/data"], &["--mount=type=volume,source=name,\"target=/data\",readonly=false"]),
        (
            &["--tmpfs", "/tmp:size=1m"],
            &["--mount=type=tmpfs,tmpfs-size=1048576,\"target=/tmp\",readonly=false"],
        ),
    ] {
        let judged = judged(tokens);
        assert_eq!(judged.asks, asks, "{tokens:?}");
        assert!(judged.findings.is_empty(), "{tokens:?}: {:?}", judged.findings);
    }
}

#[test]
fn what_is_not_needed_is_noticed_and_never_a_refusal_under_strict() {
    for tokens in [
        &["--name", "x"][..],
        &["--rm"],
        &["-d"],
        &["-i"],
        &["--restart=always"],
        &["--pull=always"],
        &["--entrypoint=/bin/sh"],
        &["--health-cmd=true"],
        &["--userns=keep-id"],
        &["--init=false"],
        &["--memory-swap=-1"],
        &["-w", "/x"],
        &["--read-only"],
        // podman's alone.
        &["--systemd=always"],
        &["--hooks-dir", "h"],
        &["--conmon", "x"],
        &["--rootfs"],
        &["--secret=x"],
    ] {
        let finding = refused(tokens);
        assert_eq!((finding.severity, finding.code), (Severity::Notice, Code::RunArgIgnored), "{tokens:?}");
    }
    for (tokens, ask) in [
        (&["--shm-size=16gb"][..], "--shm-size=1073741824"),
        (&["--ulimit=nofile=65536:65536"], "--ulimit=nofile=16384:16384"),
        (&["--ulimit=core=-1"], "--ulimit=core=0:0"),
        (&["-p", "0.0.0.0:8080:80"], "--publish=80"),
        (&["-p", "[::]:8080:80/TCP"], "--publish=80"),
    ] {
        let judged = judged(tokens);
        assert_eq!(judged.asks, [ask], "{tokens:?}");
        assert_eq!(judged.findings.len(), 1);
        assert_eq!(judged.findings[0].severity, Severity::Notice, "{tokens:?}");
    }
}

#[test]
fn podmans_own_flags_are_left_out_of_a_podman_plan() {
    for (tokens, standard) in [
        (&["--rootfs"][..], "CIS Docker 5.6"),
        (&["--hooks-dir", "h"], ""),
        (&["--conmon", "x"], ""),
        (&["--runtime", "./x"], ""),
        (&["--env-host"], ""),
        (&["--uidmap=0:0:1"], "CIS Docker 5.31"),
        (&["--seccomp-policy=image"], "CIS Docker 5.22"),
        (&["--default-mounts-file=x"], ""),
        (&["--volumepath=/"], ""),
    ] {
        let judged =
            run_args(EngineKind::Podman, &tokens.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!((judged.asks.len(), judged.findings.len()), (0, 1), "{tokens:?}");
        assert_eq!(judged.findings[0].severity, Severity::Dropped, "{tokens:?}");
        assert_eq!(judged.findings[0].standards.join(" "), standard, "{tokens:?}");
    }
}

#[test]
fn of_flags_that_count_once_the_last_one_counts() {
    assert_eq!(judged(&["-m1g", "--memory=2g"]).asks, ["--memory=2147483648"]);
    assert_eq!(judged(&["--network=none", "--net=host"]).asks, [""; 0]);
    assert_eq!(judged(&["--user=1000", "-u0"]).asks, [""; 0]);
    let limits = judged(&["--ulimit=nofile=512", "--ulimit=core=0", "--ulimit=nofile=1024"]);
    assert_eq!(limits.asks, ["--ulimit=core=0:0", "--ulimit=nofile=1024:1024"]);
    assert_eq!(judged(&["--label=a=1", "--label=b=2", "--label=a=3"]).asks, ["--label=b=2", "--label=a=3"]);
}

#[test]
fn debuggers_are_told_that_they_need_no_capability() {
    let finding = refused(&["--cap-add=sys_ptrace"]);
    assert!(finding.message.contains("without it where the kernel allows"), "{}", finding.message);
}

/// What hostile and ordinary files are made of.
fn token() -> impl Strategy<Value = String> {
    let flags = prop::sample::select(super::super::engine_flags::names().collect::<Vec<_>>());
    prop_oneof![
        flags.clone().prop_map(|name| format!("--{name}")),
        (flags, value()).prop_map(|(name, value)| format!("--{name}={value}")),
        ("-[acdehilmpqtuvwPZ]{1,4}=?", value()).prop_map(|(letters, value)| format!("{letters}{value}")),
        value(),
        "\\PC{0,12}",
    ]
}

fn value() -> impl Strategy<Value = String> {
    let known = prop::sample::select(alloc::vec![
        "",
        "host",
        "none",
        "bridge",
        "container:x",
        "1g",
        "512",
        "1.5",
        "-1",
        "0",
        "true",
        "x",
        "orca.x=y",
        "a.b=c",
        "TOKEN=MARKERVALUE",
        "TOKEN",
        "_A=MARKERVALUE",
        "nofile=99999",
        "nproc=1:2",
        "8080:80",
        "1-9",
        "root",
        "1000:5",
        "/:/h",
        "name:/data",
        "./x:/y",
        "/data",
        "~:/x",
        "C:\\x:/m",
        "/t:size=1g,exec",
        "/run/docker.sock:/s",
        "type=bind,src=/,dst=/h",
        "type=volume,source=name,target=/a,ro",
        "type=tmpfs,dst=/tmp/x",
        "src=/,dst=/x",
        "type=volume,dst=/h,volume-opt=device=/",
        "\"source=na,me\",target=/x",
        "source=nm,\"target=/a,\"\"b\"",
        "linux/arm64",
        "seccomp=unconfined",
        "SYS_PTRACE",
        "dev-host",
        "--",
        "-v",
        "ubuntu",
    ]);
    prop_oneof![4 => known.prop_map(String::from), 1 => "[a-z=:,/\". -]{0,16}"]
}

proptest! {
    #[test]
    fn what_survives_holds_no_host_path_no_value_in_findings_and_reads_back_as_itself(
        tokens in prop::collection::vec(token(), 0..8), podman: bool,
    ) {
        let engine = if podman { EngineKind::Podman } else { EngineKind::Docker };
        let first = run_args(engine, &tokens);
        for finding in &first.findings {
            prop_assert!(!format!("{finding:?}").contains("MARKERVALUE"), "{:?}", finding);
        }
        for ask in &first.asks {
            // A label may be called and say anything; what is mounted is in --mount alone.
            let mounts = ask.starts_with("--mount=");
            prop_assert!(!(ask.starts_with("--volume") || mounts && ask.contains("type=bind")), "{}", ask);
            if let Some(mount) = ask.strip_prefix("--mount=type=volume,source=") {
                let source = mount.split(',').next().unwrap_or_default();
                prop_assert!(!source.contains(['/', '\\', '~', ':', '.']) || !source.starts_with(['.', '/', '~']), "{}", ask);
            }
        }
        let again = run_args(engine, &first.asks);
        prop_assert_eq!(&again.asks, &first.asks);
        prop_assert_eq!(again.findings, Vec::new());
    }
}
