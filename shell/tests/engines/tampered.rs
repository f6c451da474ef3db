//! Engines, images and neighbours that do not keep to the plan: each difference is refused by name before anything
//! starts, and what is not ours is left as it is.

use crate::bench::{Bench, build_image, create_args};
use serde_json::Value;
use std::fs;

/// A change of the words that make the container: flags that are dropped, words that are added before the image,
/// and the row of `expectations` that tells.
type Change = (&'static str, &'static str, &'static str);

const CHANGES: &[Change] = &[
    ("--cap-drop=*", "", "container.boundingCapabilities"),
    ("", "--cap-add=NET_RAW", "container.boundingCapabilities"),
    ("--security-opt=*", "", "container.securityOptions"),
    ("", "--security-opt=seccomp=unconfined", "container.securityOptions"),
    ("--init", "", "container.init"),
    ("--restart=*", "--restart=always", "container.restartPolicy"),
    ("--log-driver=*", "", "container.logDriver"),
    ("--user=*", "", "container.user"),
    ("--user=*", "--user=1000:0", "container.user"),
    ("--memory*", "", "container.memoryBytes"),
    ("--memory-swap=*", "", "container.memorySwapBytes"),
    ("--cpus=*", "", "container.nanoCpus"),
    ("--pids-limit=*", "", "container.pidsLimit"),
    ("--ulimit=nofile=*", "--ulimit=nofile=1024:2048", "container.ulimits"),
    ("--ulimit=core=*", "", "container.ulimits"),
    ("--hostname=*", "", "container.hostname"),
    ("--workdir=*", "", "container.workdir"),
    ("--entrypoint=*", "--entrypoint=/bin/cat", "container.entrypoint"),
    ("--label=orca.plan=*", "--label=orca.plan=v1:other", "container.labels.orca.plan"),
    ("--label=orca.schema=*", "", "container.labels.orca.schema"),
    ("--label=orca.workspace=*", "", "container.labels.orca.workspace"),
    ("", "--env=EXTRA=1", "container.startEnvNames"),
    ("", "--group-add=27", "container.groups"),
    ("--init", "--pid=host", "container.pidMode"),
    ("--hostname=*", "--uts=host", "container.utsMode"),
    ("--ipc=*", "--ipc=host", "container.ipcMode"),
    ("", "--tmpfs=/extra", "container.mounts"),
    ("", "--volume=/extra", "container.mounts"),
    ("--network=*", "--network=host", "container.networks"),
    ("", "--publish=127.0.0.1::80", "container.ports"),
    ("", "--security-opt=systempaths=unconfined", "container.extras"),
    ("", "--cgroup-parent=/elsewhere", "container.extras"),
    ("", "--sysctl=net.ipv4.ping_group_range=0", "container.extras"),
    ("", "--oom-score-adj=-500", "container.extras"),
    ("", "--add-host=git.invalid:192.0.2.1", "container.extras"),
    ("", "--oom-kill-disable", "container.oomKillDisabled"),
    ("", "--rm", "container.autoRemove"),
    ("--no-healthcheck", "--health-cmd=true", "container.healthcheck"),
    ("", "'--device-cgroup-rule=c 1:3 r'", "container.deviceCgroupRules"),
];

/// The same with flags that say something to one engine only, where there is no network.
const CHANGES_OF_DOCKER: &[Change] = &[
    ("", "--dns=192.0.2.1", "container.extras"),
    ("", "--dns-search=invalid", "container.extras"),
    ("", "--dns-option=ndots:1", "container.extras"),
];
const CHANGES_OF_PODMAN: &[Change] =
    &[("", "--volume=/etc:/extra:O", "container.extras"), ("", "--tz=UTC", "container.extras")];

/// The workspace's `create`, told from the throwaway's by its label, with other words.
fn rewrite(dropped: &str, added: &str) -> String {
    let dropped = if dropped.is_empty() { "-no-such-flag" } else { dropped };
    format!(
        "case \"$*\" in create*--label=orca.plan=*) image=
           for word in \"$@\"; do shift
             if [ -z \"$image\" ]; then case $word in {dropped}) continue ;; --) image=1; set -- \"$@\" {added} ;; esac; fi
             set -- \"$@\" \"$word\"
           done ;; esac"
    )
}

pub fn every_row(bench: &mut Bench) {
    let own = if bench.engine == "podman" { CHANGES_OF_PODMAN } else { CHANGES_OF_DOCKER };
    for (dropped, added, row) in CHANGES.iter().chain(own) {
        bench.wrap(bench.engine, &rewrite(dropped, added));
        let refused = bench.create(&["--network", "none"]);
        assert_eq!(refused.code, 1, "-{dropped} +{added}: {refused:?}");
        // What podman's fields do not tell, its own account of how it was called does (docs/decisions/0014).
        let by_words = bench.engine == "podman" && refused.stderr.contains("CreateCommand");
        assert!(by_words || refused.stderr.contains(row), "-{dropped} +{added}: {row} in {}", refused.stderr);
        assert!(!refused.stderr.contains("Starting it"), "-{dropped} +{added}: {}", refused.stderr);
        bench.nothing_is_left();
    }
}

/// Rows that no change here breaks, each with the reason; in the core every row is broken by itself.
const BROKEN_ELSEWHERE: &[(&str, &str)] = &[
    ("container.name", "a container of another name is never found"),
    ("container.labels.orca.install", "without it the container is not ours, and nothing is done with it"),
    ("container.labels.orca.instance", "without it the container is not ours, and nothing is done with it"),
    ("container.privileged", "no test makes a privileged container"),
    ("container.devices", "no test hands a device over"),
    ("container.usernsMode", "the engines of the tests have no user namespaces"),
    ("container.publishAllPorts", "without a network nothing is published"),
    ("container.runtime", "the engines of the tests have one runtime"),
    ("container.imageId", "another_image_or_command_is_found"),
    ("container.command", "another_image_or_command_is_found"),
    ("network.", "a_volume_or_network_made_otherwise_is_found; a driver needs a plugin"),
    (
        "volumes.",
        "a_volume_or_network_made_otherwise_is_found; both volumes are made and compared by the same code",
    ),
    ("process.", "what_inspect_does_not_tell_the_kernel_does, an_inspect_that_lies_is_caught_by_the_kernel"),
];

/// A row that is new in the plan is broken here, or says where it is.
pub fn rows_are_complete(bench: &mut Bench) {
    bench.create(&[]).ok();
    let record = crate::lifecycle::only_record(bench);
    for row in record["plan"]["expectations"].as_array().unwrap() {
        let field = row["field"].as_str().unwrap();
        let here = CHANGES.iter().any(|(_, _, row)| *row == field);
        let elsewhere = BROKEN_ELSEWHERE
            .iter()
            .any(|(name, _)| field == *name || (name.ends_with('.') && field.starts_with(name)));
        assert!(here != elsewhere, "{field}: broken here {here}, elsewhere {elsewhere}");
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Another image, another command: neither is a flag.
pub fn other_image_or_command(bench: &mut Bench) {
    let other = build_image(bench.engine, "full", "LABEL other=1");
    let swap = |word: &str| {
        format!(
            "case \"$*\" in create*--label=orca.plan=*) for word in \"$@\"; do shift; case $word in {word} esac; set -- \"$@\" \"$word\"; done;; esac"
        )
    };
    for (word, row) in [
        (format!("sha256:*) word={other};;"), "container.imageId"),
        ("*'exec sleep'*) word='exec sleep 1';;".to_owned(), "container.command"),
    ] {
        bench.wrap(bench.engine, &swap(&word));
        let refused = bench.create(&["--network", "none"]).code(1);
        assert!(refused.stderr.contains(row), "{row} in {}", refused.stderr);
        bench.nothing_is_left();
    }
}

/// Volumes and networks that are made otherwise than they were asked for.
pub fn other_volume_or_network(bench: &mut Bench) {
    let at = |what: &str, change: &str| format!("case \"$1 $2\" in '{what} create') {change};; esac");
    let drop = |pattern: &str| {
        format!(
            "for word in \"$@\"; do shift; case $word in {pattern}) continue;; esac; set -- \"$@\" \"$word\"; done"
        )
    };
    let options = "shift 2; set -- volume create -o type=tmpfs -o device=tmpfs \"$@\"";
    for (what, change, said) in [
        ("volume", options.to_owned(), "volumes.workspace.options"),
        ("volume", drop("--label=orca.schema=*"), "volumes.workspace.labels"),
        ("network", drop("--opt=*"), "network.peersIsolated"),
    ] {
        bench.wrap(bench.engine, &at(what, &change));
        let refused = bench.create(&[]).code(1);
        assert!(refused.stderr.contains(said), "{said} in {}", refused.stderr);
        assert!(!refused.stderr.contains("Starting it"), "{}", refused.stderr);
        bench.nothing_is_left();
    }
}

/// Somebody is quicker with the name of our volume, and it leads to a folder of the host.
pub fn volume_of_the_same_name(bench: &mut Bench) {
    let decoy = bench.path("decoy");
    fs::create_dir(&decoy).unwrap();
    fs::write(decoy.join("kept"), "host").unwrap();
    let script = format!(
        "case \"$1 $2\" in 'volume create') for name in \"$@\"; do :; done; echo \"$name\" >>{0}; \"$orca_real\" volume create -o type=none -o o=bind -o device={1} \"$name\" >/dev/null 2>&1;; esac",
        bench.path("names").display(),
        decoy.display()
    );
    bench.wrap(bench.engine, &script);
    let refused = bench.create(&[]).code(1);
    let names = fs::read_to_string(bench.path("names")).unwrap();
    let told = refused.stderr.contains("volumes.workspace") || refused.stderr.contains("already exists");
    assert!(told, "{}", refused.stderr);
    assert!(!refused.stderr.contains("Starting it"), "{}", refused.stderr);
    bench.wrap(bench.engine, "");
    for name in names.lines() {
        assert_eq!(bench.client(&["volume", "inspect", name]).code, 0, "what is not ours was removed");
        bench.client(&["volume", "rm", name]).ok();
    }
    assert_eq!(fs::read_dir(&decoy).unwrap().count(), 1, "nothing was written through it");
    bench.run(&["rm", "acme", "--force"]);
    bench.nothing_is_left();
}

/// Somebody is quicker with the name of our container.
pub fn container_of_the_same_name(bench: &mut Bench) {
    let image = crate::bench::image(bench.engine);
    let script = format!(
        "case \"$*\" in create*--label=orca.plan=*) for word in \"$@\"; do case $word in --name=*) \"$orca_real\" create \"$word\" --network=none --ulimit=nofile=1024:1024 --ulimit=nproc=1000:1000 --label=mine=1 {image} true >{};; esac; done;; esac",
        bench.path("foreign").display()
    );
    bench.wrap(bench.engine, &script);
    let refused = bench.create(&[]).code(1);
    assert!(refused.stderr.contains("in use"), "{}", refused.stderr);
    let foreign = fs::read_to_string(bench.path("foreign")).unwrap().trim().to_owned();
    assert_eq!(bench.client(&["inspect", &foreign]).code, 0, "what is not ours was removed");
    bench.wrap(bench.engine, "");
    bench.client(&["rm", "-f", &foreign]).ok();
    bench.run(&["rm", "acme", "--force"]);
    bench.nothing_is_left();
}

/// The tag is moved to a hostile image after ours was inspected: the container is made from what was judged.
pub fn retagged_image(bench: &mut Bench) {
    let tag = build_image(bench.engine, "full", "LABEL moving=1");
    let hostile = build_image(bench.engine, "full", "ENV HOSTILE=1");
    let judged = bench.client(&["image", "inspect", "--format={{.Id}}", &tag]).ok().stdout.trim().to_owned();
    let script = format!("case \"$1 $2\" in 'volume create') \"$orca_real\" tag {hostile} {tag};; esac");
    bench.wrap(bench.engine, &script);
    bench.create_from("acme", &tag, &[]).ok();
    let made = bench.inspect()["Image"].as_str().unwrap().to_owned();
    let bare = |id: &str| id.trim_start_matches("sha256:").to_owned();
    assert_eq!(bare(&made), bare(&judged));
    assert_eq!(bench.exec(&["sh", "-c", "echo ${HOSTILE-absent}"]).ok().stdout, "absent\n");
    bench.wrap(bench.engine, "");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// What an image brings for itself: volumes over system folders, a health check, instructions for builds, labels
/// that pose as ours.
pub fn image_with_baggage(bench: &mut Bench) {
    bench.create(&[]).ok();
    let record = crate::lifecycle::only_record(bench);
    let label = |name: &str| record["plan"]["labels"][name].as_str().unwrap().to_owned();
    let mut changes = format!(
        "LABEL orca.install={}\nLABEL orca.instance={}\nLABEL orca.workspace=other\nVOLUME /etc/baggage\nVOLUME /workspace\n",
        label("orca.install"),
        label("orca.instance")
    );
    if bench.engine == "docker" {
        changes.push_str("HEALTHCHECK CMD touch /workspace/health\nONBUILD RUN touch /onbuild\n");
    }
    let image = build_image(bench.engine, "full", &changes);

    // A stranger from that image carries all our labels; no record names it.
    let stranger = bench
        .client(&[
            "create",
            "--network=none",
            "--ulimit=nofile=1024:1024",
            "--ulimit=nproc=1000:1000",
            &image,
            "true",
        ])
        .ok();
    let stranger = stranger.stdout.trim().to_owned();
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_eq!(bench.client(&["inspect", &stranger]).code, 0, "the stranger was removed");
    bench.client(&["rm", "-f", "-v", &stranger]).ok();

    let made = bench.create_from("acme", &image, &["--network", "none"]);
    let made = made.ok();
    assert!(made.stderr.contains("The image declares volumes of its own"), "{}", made.stderr);
    let state = bench.inspect();
    assert_eq!(state["State"]["Health"]["Status"].as_str().unwrap_or_default(), "", "a health check runs");
    assert_eq!(state["Config"]["Labels"]["orca.workspace"], Value::from(label("orca.workspace")));
    assert_eq!(bench.exec(&["sh", "-c", "ls /workspace; ls /onbuild 2>/dev/null"]).stdout, "acme\n");
    let own: Vec<String> = state["Mounts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|mount| Some(mount["Name"].as_str()?.to_owned()))
        .filter(|name| name.len() == 64)
        .collect();
    assert_eq!(own.len(), 1, "{own:?}");
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_ne!(bench.client(&["volume", "inspect", &own[0]]).code, 0, "the image's own volume is left");
    bench.nothing_is_left();
    // Inside our own volume none is taken.
    let inside = build_image(bench.engine, "full", "VOLUME /workspace/acme\n");
    let refused = bench.create_from("acme", &inside, &["--network", "none"]).code(1);
    assert!(refused.stderr.contains("container.mounts"), "{}", refused.stderr);
    bench.nothing_is_left();
    bench.client(&["image", "rm", "-f", &image]).ok();
}

/// A secret of podman's own, gone with the test.
struct Secret(String);

impl Secret {
    fn make(bench: &Bench) -> Self {
        let name = format!("orca-test-{}", std::process::id());
        let file = bench.path("secret");
        fs::write(&file, "anything").unwrap();
        bench.client(&["secret", "create", &name, file.to_str().unwrap()]).ok();
        Self(name)
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let _ = std::process::Command::new("podman").args(["secret", "rm", &self.0]).output();
    }
}

/// What the engine's inspect does not tell, or tells wrongly, the kernel does before the repository is there.
pub fn kernel_rows(bench: &mut Bench) {
    let row = |row: &str| format!("process.{row}");
    let mut changes = vec![
        ("--ipc=*", "--ipc=host".to_owned(), row("namespaces")),
        ("", "--tmpfs=/extra".into(), row("unplannedMounts")),
    ];
    let secret = (bench.engine == "podman").then(|| Secret::make(bench));
    if let Some(secret) = &secret {
        changes.push(("", "--security-opt=unmask=ALL".into(), row("uncoveredPaths")));
        changes.push(("", "--volume=/etc:/extra:O".into(), row("unplannedMounts")));
        changes.push(("", format!("--secret={}", secret.0), row("unplannedMounts")));
    }
    for (dropped, added, row) in changes {
        // docker switches SELinux's label off with it, and says so; podman says how it was called.
        let lie = r#"s/"IpcMode": "host"/"IpcMode": "private"/; s/,[[:space:]]*"label=disable"//; s/"Tmpfs"/"Other"/; s/"create"/"made"/"#;
        let script = format!(
            "{}\ncase \"$1 $2\" in 'container inspect') said=$(\"$orca_real\" \"$@\") || exit; printf '%s' \"$said\" | sed -z '{lie}'; exit;; esac",
            rewrite(dropped, &added)
        );
        bench.wrap(bench.engine, &script);
        let refused = bench.create(&["--network", "none"]).code(1);
        assert!(refused.stderr.contains(&row), "+{added}: {row} in {}", refused.stderr);
        assert!(!refused.stderr.contains("Cloning"), "+{added}: {}", refused.stderr);
        bench.wrap(bench.engine, "");
        bench.nothing_is_left();
    }
}

/// An inspect that lies is caught by the kernel.
pub fn lying_inspect(bench: &mut Bench) {
    let (dropped, lie, row) = if bench.engine == "docker" {
        ("--cap-drop=*", r#"s/"CapDrop": null/"CapDrop": ["ALL"]/"#, "process.capBnd")
    } else {
        (
            "--security-opt=*",
            r#"s/"SecurityOpt": \[\]/"SecurityOpt": ["no-new-privileges"]/; s/"create"/"made"/"#,
            "process.noNewPrivs",
        )
    };
    let script = format!(
        "{}\ncase \"$1 $2\" in 'container inspect') said=$(\"$orca_real\" \"$@\") || exit; printf '%s' \"$said\" | sed '{lie}'; exit;; esac",
        rewrite(dropped, "")
    );
    bench.wrap(bench.engine, &script);
    let refused = bench.create(&["--network", "none"]).code(1);
    assert!(refused.stderr.contains(row), "{row} in {}", refused.stderr);
    assert!(
        !refused.stderr.contains("Cloning"),
        "nothing of the repository was there yet: {}",
        refused.stderr
    );
    bench.wrap(bench.engine, "");
    bench.nothing_is_left();
    let image = crate::bench::image(bench.engine);
    bench.run(&create_args(bench.engine, "acme", &image)).ok();
    bench.run(&["rm", "acme", "--force"]).ok();
}
