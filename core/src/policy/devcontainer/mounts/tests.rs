use super::*;
use crate::{
    parse::mount_text::{record, tmpfs, volume},
    source::Position,
    words::Origin,
};

const NONE: MountRules<'_> = MountRules { workspace: &[] };

fn judged(read: Result<MountText, MountFault>) -> (Option<MountAsk>, Vec<Diagnostic>) {
    let source = Source::file(Origin::Devcontainer, "devcontainer.json", Position::START);
    let mut findings = Findings::default();
    let ask = judge(read, NONE, &source, &mut findings);
    (ask, findings.iter().cloned().collect())
}

fn dropped(read: Result<MountText, MountFault>, standard: &str, words: &str) {
    let shown = format!("{read:?}");
    let (ask, findings) = judged(read);
    assert_eq!(ask, None, "{shown}");
    assert_eq!(findings.len(), 1, "{findings:?}");
    let finding = &findings[0];
    assert_eq!((finding.severity, finding.code), (Severity::Dropped, Code::MountDropped), "{shown}");
    assert_eq!(finding.standards.join(" "), standard, "{shown}: {}", finding.message);
    assert!(finding.message.contains(words), "{shown}: {}", finding.message);
}

#[test]
fn every_disguise_of_the_engines_socket_is_named() {
    for source in [
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/run/user/1000/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "//var//run/./docker.sock",
        "/var/run/../run/docker.sock",
        "/home/u/.docker/run/docker.sock",
        "/VAR/RUN/DOCKER.SOCK",
        "\\\\.\\pipe\\docker_engine",
        "//./pipe/docker_engine",
        "/run",
        "/var/run/",
        "/var",
    ] {
        dropped(
            record(&format!("type=bind,source={source},target=/s")),
            "CIS Docker 5.32",
            "engine's socket",
        );
        dropped(
            record(&format!("\"source={source}\",\"TYPE=Bind\",target=/s")),
            "CIS Docker 5.32",
            "engine's socket",
        );
        dropped(record(&format!("source={source},target=/s")), "CIS Docker 5.32", "engine's socket");
        if !source.contains("pipe") {
            dropped(volume(&format!("{source}:/s")), "CIS Docker 5.32", "engine's socket");
        }
    }
    dropped(record("type=npipe,source=x,target=/s"), "CIS Docker 5.32", "named pipe");
}

#[test]
fn every_disguise_of_a_host_path_is_left_out_and_named() {
    for source in ["/", "/etc", "/proc/1", "/dev/", "/usr/../etc/x", "/sys", "/boot", "//"] {
        dropped(
            record(&format!("type=bind,source={source},target=/h")),
            "CIS Docker 5.6",
            "host's own system",
        );
        dropped(volume(&format!("{source}:/h")), "CIS Docker 5.6", "host's own system");
    }
    for source in ["./x", "../x", ".", "~", "~/.ssh", "/home/u/.aws", "a/b", "a\\b", "/libx"] {
        dropped(volume(&format!("{source}:/h")), "CIS Docker 5.6", "path of the host");
        dropped(record(&format!("source={source},target=/h")), "CIS Docker 5.6", "path of the host");
    }
    dropped(volume("C:\\x:/m"), "CIS Docker 5.6", "\"C:\\\\x\" is a path of the host");
    dropped(volume("c:/Users:/m:ro"), "CIS Docker 5.6", "path of the host");
    for source in ["$HOME", "${localEnv:HOME}", "x y", "-v", "_x", "x", "\u{e9}t\u{e9}"] {
        dropped(
            record(&format!("source={source},target=/h")),
            if source.contains(':') { "CIS Docker 5.6" } else { "" },
            "path of the host",
        );
    }
    dropped(record("type=bind,target=/h"), "CIS Docker 5.6", "files of the host");
    for kind in ["cluster", "image", "devpts", "ramfs", "bind,readonly", "Volume ", ""] {
        let text =
            MountText { kind: Some(kind.to_lowercase()), target: Some("/h".into()), ..MountText::default() };
        dropped(Ok(text), "", "it is of type");
    }
    dropped(record("type=glob,source=/h*,target=/h"), "CIS Docker 5.6", "pattern");
}

#[test]
fn options_that_put_something_else_behind_a_volume_are_left_out_with_it() {
    for options in [
        "volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/",
        "volume-opt=type=overlay,\"volume-opt=o=lowerdir=/,upperdir=/a,workdir=/b\"",
        "volume-opt=type=nfs",
        "VOLUME-OPT=device=/dev/vda",
        "volume-driver=rclone",
        "volume-subpath=../x",
        "bind-propagation=rshared",
    ] {
        for name in ["", ",source=name"] {
            let standard = if options.starts_with("bind") { "CIS Docker 5.20" } else { "CIS Docker 5.6" };
            dropped(record(&format!("type=volume,target=/h{name},{options}")), standard, "it has the option");
        }
    }
    for (option, standard) in [
        ("U", "CIS Docker 5.6"),
        ("O", "CIS Docker 5.6"),
        ("idmap", "CIS Docker 5.6"),
        ("rshared", "CIS Docker 5.20"),
    ] {
        dropped(volume(&format!("name:/h:{option}")), standard, "it has the option");
    }
}

#[test]
fn targets_are_normal_and_apart_from_protected_folders() {
    for target in [
        "/etc",
        "/etc/ssl",
        "/usr",
        "/usr/local/bin",
        "/bin",
        "/lib64",
        "/proc",
        "/proc/self",
        "/sys/fs",
        "/dev/shm",
        "/run",
        "/var/run",
        "/var",
        "/boot",
        "/root",
        "/root/.cache",
        "/orca",
        "/orca/agent/claude",
        crate::policy::orca_env::AGENT_ROOT,
        "/workspace",
        "//etc/.",
        "/",
        "//",
        "/tmp",
        "/tmp/x",
        "/home/../etc",
        "/x/..",
        "rel",
        "./rel",
        "",
        "/a:b",
        "/a ",
        "/a /",
        "/a$b",
        "/a\\b",
        "C:\\x",
    ] {
        let text =
            MountText { source: Some("name".into()), target: Some(target.into()), ..MountText::default() };
        dropped(Ok(text), "", "target");
    }
    for (written, target) in [
        ("/data", "/data"),
        ("//home/./node/.cache/", "/home/node/.cache"),
        ("/workspaces/a", "/workspaces/a"),
        ("/commandhistory", "/commandhistory"),
        ("/var/lib/docker", "/var/lib/docker"),
        ("/liberty", "/liberty"),
        ("/a b,c", "/a b,c"),
    ] {
        let text =
            MountText { source: Some("name".into()), target: Some(written.into()), ..MountText::default() };
        let (ask, findings) = judged(Ok(text));
        assert_eq!(ask.map(|ask| ask.target).as_deref(), Some(target));
        assert!(findings.is_empty(), "{findings:?}");
    }
}

#[test]
fn a_volume_in_the_workspace_is_not_needed() {
    let rules = MountRules { workspace: &["/home/ada/trees/acme"] };
    let source = Source::origin(Origin::Devcontainer);
    for target in ["/workspace/acme/node_modules", "/workspace/x/.git/hooks", "/home/ada/trees/acme/target"] {
        let mut findings = Findings::default();
        let read = record(&format!("source=acme-modules,target={target},type=volume"));
        assert_eq!(judge(read, rules, &source, &mut findings), None);
        let finding = findings.iter().next().unwrap();
        assert_eq!((finding.severity, finding.code), (Severity::Notice, Code::MountIgnored), "{target}");
    }
    for target in ["/home/ada", "/home/ada/trees", "/home/ada/trees/acme"] {
        let mut findings = Findings::default();
        assert_eq!(judge(record(&format!("target={target}")), rules, &source, &mut findings), None);
        assert_eq!(findings.iter().next().unwrap().severity, Severity::Dropped);
    }
}

#[test]
fn volumes_and_memory_come_through() {
    let ask = |read| {
        let (ask, findings) = judged(read);
        assert!(findings.is_empty(), "{findings:?}");
        ask.unwrap()
    };
    let named = ask(record("source=proj-bashhistory,target=/commandhistory,type=volume"));
    assert_eq!(named.kind, MountAskKind::Named("proj-bashhistory".into()));
    assert!(
        ask(record("type=volume,source=x1,target=/x,readonly,volume-nocopy,consistency=cached")).read_only
    );
    assert_eq!(ask(volume("/cache")).kind, MountAskKind::Anonymous);
    assert_eq!(ask(record("type=volume,source=,target=/cache")).kind, MountAskKind::Anonymous);
    assert_eq!(ask(volume("name:/x:ro,z,cached")).kind, MountAskKind::Named("name".into()));
    assert_eq!(ask(tmpfs("/tmp")).kind, MountAskKind::Tmpfs { size_bytes: limits::TMPFS_BYTES });
    assert_eq!(
        ask(record("type=tmpfs,dst=/tmp/x,tmpfs-size=1m")).kind,
        MountAskKind::Tmpfs { size_bytes: 1 << 20 }
    );
}

#[test]
fn memory_is_capped_and_options_that_change_nothing_are_noticed() {
    for size in ["0", "2g", "99999g"] {
        let (ask, findings) = judged(tmpfs(&format!("/t:size={size}")));
        assert_eq!(ask.unwrap().kind, MountAskKind::Tmpfs { size_bytes: limits::MEMORY_FILES_BYTES });
        assert_eq!(findings[0].code, Code::DevcontainerCapped, "{size}");
    }
    let (ask, findings) = judged(tmpfs("/t:exec,mode=1777"));
    assert!(ask.is_some() && findings.len() == 2 && findings.iter().all(|f| f.code == Code::MountIgnored));
    dropped(tmpfs("/t:size=50%"), "", "size of a tmpfs");
    dropped(record("type=tmpfs,source=/x,target=/t"), "", "no source");
}

#[test]
fn names_of_volumes_are_in_the_workspaces_namespace_legal_and_different() {
    let ask = |kind, target: &str| MountAsk { kind, target: target.into(), read_only: false };
    let named = |name: &str| ask(MountAskKind::Named(name.into()), "/x").volume_name("orca-ws-k").unwrap();
    let long = "a".repeat(255);
    let all = [
        named("ab"),
        named("AB"),
        named("ab-"),
        named(&long),
        named(&"a".repeat(254)),
        named("agent"),
        named("anonymous"),
        ask(MountAskKind::Anonymous, "/x").volume_name("orca-ws-k").unwrap(),
        ask(MountAskKind::Anonymous, "/y").volume_name("orca-ws-k").unwrap(),
    ];
    let distinct: alloc::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    for name in &all {
        let behind = name.strip_prefix("orca-ws-k").unwrap();
        assert!(behind.len() <= 64 && behind.starts_with("-v-"), "{name}");
        assert!(
            behind.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')),
            "{name}"
        );
    }
    assert_eq!(ask(MountAskKind::Tmpfs { size_bytes: 1 }, "/t").volume_name("orca-ws-k"), None);
}

#[test]
fn the_last_mount_of_a_target_counts() {
    let source = Source::origin(Origin::Devcontainer);
    let ask = |name: &str, target: &str| {
        (
            MountAsk { kind: MountAskKind::Named(name.into()), target: target.into(), read_only: false },
            source.clone(),
        )
    };
    let mut findings = Findings::default();
    let kept = gathered(
        alloc::vec![ask("one", "/x"), ask("two", "/y"), ask("three", "/x")],
        |a| (&a.0, &a.1),
        &mut findings,
    );
    let names: Vec<&MountAskKind> = kept.iter().map(|a| &a.0.kind).collect();
    assert_eq!(names, [&MountAskKind::Named("two".into()), &MountAskKind::Named("three".into())]);
    assert_eq!(findings.iter().count(), 1);
    let many = (0..20).map(|n| ask("name", &format!("/t{n}"))).collect();
    let mut findings = Findings::default();
    assert_eq!(gathered(many, |a| (&a.0, &a.1), &mut findings).len(), limits::REPOSITORY_MOUNTS);
    assert_eq!(findings.iter().count(), 4);
}
