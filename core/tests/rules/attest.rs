//! What an engine answers against what the plan expects: real answers match, and any one difference is found.

use crate::support::{request, sealed, set};
use orca_container_core::{
    CheckResult, ContainerPlan, EngineKind, Evidence, IdMaps, Observation, Operator, Scope, VolumeRef,
    attest, differences, input::ImageFacts, input::PlanRequest, observe_confinement, observe_container,
    observe_network, observe_process, observe_volume,
};
use serde_json::{Value, json};

/// Inspect answers of containers made by `commands.create` on Engine 20.10 and Podman 4.3, and their plans.
fn measured(engine: &str) -> (ContainerPlan, PlanRequest, Value) {
    let text = match engine {
        "docker" => include_str!("inspect/docker-container.json"),
        _ => include_str!("inspect/podman-container.json"),
    };
    let inspect: Value = serde_json::from_str(text).unwrap();
    let image = inspect[0]["Image"].as_str().unwrap();
    let image = if image.starts_with("sha256:") { image.to_owned() } else { format!("sha256:{image}") };
    let mut value = request(engine);
    set(&mut value, "install.id", json!("drive"));
    set(&mut value, "workspace.id", json!("w"));
    set(&mut value, "workspace.instanceId", json!(format!("i-{engine}")));
    set(&mut value, "choices.env", json!({"A": "start value"}));
    set(&mut value, "choices.startEnv", json!(["A"]));
    set(&mut value, "engine.cpus", json!(2));
    set(&mut value, "imageFacts.id", json!(image));
    if engine == "podman" {
        set(&mut value, "choices.runtime", json!("runc"));
        set(&mut value, "engine.nprocNeeded", json!(1000));
    }
    let plan = sealed(&value);
    // The plan's own digest depends on the repository's texts; the measured container carries another one.
    let mut inspect = inspect;
    inspect[0]["Config"]["Labels"]["orca.plan"] = json!(plan.digest);
    let words = inspect[0]["Config"]["CreateCommand"].as_array_mut().into_iter().flatten();
    for word in words.filter(|word| word.as_str().is_some_and(|word| word.starts_with("--label=orca.plan=")))
    {
        *word = json!(format!("--label=orca.plan={}", plan.digest.as_deref().unwrap()));
    }
    (plan, crate::support::parse(&value), inspect)
}

fn observed(plan: &ContainerPlan, request: &PlanRequest, inspect: &Value) -> Observation {
    let image: &ImageFacts = request.image_facts.as_ref().unwrap();
    observe_container(plan, image, &inspect.to_string()).unwrap()
}

fn faults(engine: &str, change: impl Fn(&mut Value)) -> Vec<String> {
    let (plan, request, mut inspect) = measured(engine);
    change(&mut inspect[0]);
    let checks = attest(&plan, Scope::Container, &observed(&plan, &request, &inspect));
    checks.into_iter().filter(|check| check.result != CheckResult::Match).map(|check| check.field).collect()
}

#[test]
fn a_container_made_by_our_commands_matches_on_both_engines() {
    for engine in ["docker", "podman"] {
        assert_eq!(faults(engine, |_| {}), Vec::<String>::new(), "{engine}");
    }
}

#[test]
fn every_row_is_broken_by_another_value_and_by_none() {
    for engine in ["docker", "podman"] {
        let (plan, ..) = measured(engine);
        let scopes = [
            Scope::Container,
            Scope::Network,
            Scope::Process,
            Scope::Volume(VolumeRef::Workspace),
            Scope::Volume(VolumeRef::Agent),
        ];
        let mut seen = 0;
        for scope in scopes {
            // Exactly what the plan says, in every row.
            let rows = attest(&plan, scope, &Observation::default());
            assert!(rows.iter().all(|check| check.result == CheckResult::Unverifiable));
            let of = |field: &str| plan.expectations.iter().find(|row| row.field == field).unwrap();
            let fitting = |field: &str| {
                let row = of(field);
                // One of several that fit; the others fit themselves.
                row.value
                    .as_array()
                    .filter(|_| row.op == Operator::OneOf)
                    .map_or(row.value.clone(), |v| v[0].clone())
            };
            let facts = rows
                .iter()
                .fold(Observation::default(), |facts, check| facts.with(&check.field, fitting(&check.field)));
            assert_eq!(
                differences(&attest(&plan, scope, &facts)),
                Vec::<String>::new(),
                "{engine} {scope:?}"
            );
            for check in &rows {
                let broken = attest(&plan, scope, &facts.clone().with(&check.field, json!("something else")));
                let found = differences(&broken);
                assert_eq!(found.len(), 1, "{engine} {}", check.field);
                assert!(found[0].starts_with(&check.field));
            }
            seen += rows.len();
        }
        assert_eq!(seen, plan.expectations.len(), "{engine}: a row belongs to no scope");
    }
}

#[test]
fn what_fools_a_naive_verifier_is_found() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change, &str); 16] = [
        ("docker", |d| d["HostConfig"]["CapAdd"] = json!(["ALL"]), "container.boundingCapabilities"),
        ("docker", |d| d["HostConfig"]["CapDrop"] = json!(null), "container.boundingCapabilities"),
        (
            "docker",
            |d| d["HostConfig"]["SecurityOpt"] = json!(["no-new-privileges", "no-new-privileges=false"]),
            "container.securityOptions",
        ),
        (
            "docker",
            |d| d["HostConfig"]["SecurityOpt"] = json!(["no-new-privileges", "seccomp=unconfined"]),
            "container.securityOptions",
        ),
        ("docker", |d| d["HostConfig"]["Privileged"] = json!(true), "container.privileged"),
        (
            "docker",
            |d| {
                d["HostConfig"]["Mounts"][0]["VolumeOptions"]["DriverConfig"] =
                    json!({"Options": {"type": "none", "device": "/", "o": "bind"}})
            },
            "container.mounts",
        ),
        ("docker", |d| d["Config"]["User"] = json!("1000"), "container.user"),
        (
            "docker",
            |d| {
                d["Mounts"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"Type": "volume", "Name": "x", "Destination": "/etc", "RW": true}))
            },
            "container.mounts",
        ),
        (
            "docker",
            |d| d["Config"]["Env"].as_array_mut().unwrap().push(json!("SECRET=x")),
            "container.startEnvNames",
        ),
        (
            "docker",
            |d| d["Config"]["Env"] = json!(["A=start value", "PATH=/evil"]),
            "container.startEnvNames",
        ),
        (
            "docker",
            |d| d["HostConfig"]["PortBindings"] = json!({"80/tcp": [{"HostIp": "", "HostPort": "80"}]}),
            "container.ports",
        ),
        ("docker", |d| d["HostConfig"]["Devices"] = json!([{"PathOnHost": "/dev/x"}]), "container.devices"),
        ("podman", |d| d["HostConfig"]["Memory"] = json!(0), "container.memoryBytes"),
        (
            "podman",
            |d| d["HostConfig"]["CapAdd"] = json!(["CAP_SYS_ADMIN"]),
            "container.boundingCapabilities",
        ),
        ("podman", |d| d["BoundingCaps"] = json!(["CAP_CHOWN"]), "container.boundingCapabilities"),
        ("podman", |d| d["HostConfig"]["NetworkMode"] = json!("host"), "container.networks"),
    ];
    for (engine, change, field) in cases {
        assert_eq!(faults(engine, change), [field], "{engine}");
    }
}

#[test]
fn volumes_with_options_or_strange_labels_are_found() {
    for (engine, text) in [
        ("docker", include_str!("inspect/docker-volume.json")),
        ("podman", include_str!("inspect/podman-volume.json")),
    ] {
        let (plan, ..) = measured(engine);
        let check = |text: &str| {
            let facts = observe_volume(VolumeRef::Workspace, text).unwrap();
            differences(&attest(&plan, Scope::Volume(VolumeRef::Workspace), &facts))
        };
        assert_eq!(check(text), Vec::<String>::new(), "{engine}");
        let mut hostile: Value = serde_json::from_str(text).unwrap();
        hostile[0]["Options"] = json!({"type": "none", "o": "bind", "device": "/"});
        assert_eq!(check(&hostile.to_string()).len(), 1);
        hostile[0]["Labels"] = json!(null);
        assert_eq!(check(&hostile.to_string()).len(), 2);
        assert!(observe_volume(VolumeRef::Workspace, "[]").is_none());
    }
}

#[test]
fn networks_must_part_their_peers() {
    for (engine, text) in [
        ("docker", include_str!("inspect/docker-network.json")),
        ("podman", include_str!("inspect/podman-network.json")),
    ] {
        let (plan, ..) = measured(engine);
        let kind = EngineKind::parse(engine).unwrap();
        let check =
            |text: &str| differences(&attest(&plan, Scope::Network, &observe_network(kind, text).unwrap()));
        assert_eq!(check(text), Vec::<String>::new(), "{engine}");
        let open =
            text.replace("\"false\"", "\"true\"").replace("\"isolate\": \"true\"", "\"isolate\": \"false\"");
        assert_eq!(check(&open).len(), 1, "{engine}");
    }
}

#[test]
fn a_volume_that_the_image_declares_is_no_difference_but_anything_else_is() {
    let name = "a".repeat(64);
    let mount = |kind: &str, name: &str, target: &str| json!({"Type": kind, "Name": name, "Source": "/x", "Destination": target, "RW": true});
    for engine in ["docker", "podman"] {
        let (plan, mut request, inspect) = measured(engine);
        request.image_facts.as_mut().unwrap().volumes = vec!["/data".into(), "/workspace/acme".into()];
        let found = |extra: Value| {
            let mut inspect = inspect.clone();
            inspect[0]["Mounts"].as_array_mut().unwrap().push(extra);
            differences(&attest(&plan, Scope::Container, &observed(&plan, &request, &inspect))).len()
        };
        assert_eq!(found(mount("volume", &name, "/data")), 0, "{engine}");
        for other in [
            mount("volume", &name, "/undeclared"),
            mount("volume", "somebodys", "/data"),
            mount("bind", &name, "/data"),
            mount("volume", &name, "/workspace/acme"),
        ] {
            assert_eq!(found(other.clone()), 1, "{engine} {other}");
        }
    }
}

/// What podman does with some words it tells nowhere else.
#[test]
fn a_podman_that_was_asked_for_more_is_found_by_its_own_command() {
    let add = |at: &str, word: &str| {
        faults("podman", |inspect| {
            let words = inspect["Config"]["CreateCommand"].as_array_mut().unwrap();
            let at = words.iter().position(|word| word == at).unwrap();
            words.insert(at, json!(word));
        })
    };
    for word in ["--sysctl=net.ipv4.ip_forward=1", "--secret=s", "--dns=1.1.1.1", "-v", "/etc:/x:O"] {
        assert_eq!(add("--init", word), ["container.extras"], "{word}");
    }
    assert_eq!(add("create", "--cgroup-manager=cgroupfs"), Vec::<String>::new());
    // One that another program made over the socket has none.
    let without = faults("podman", |inspect| inspect["Config"]["CreateCommand"] = Value::Null);
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn the_kernels_word_is_read_from_the_status_file() {
    let (plan, ..) = measured("docker");
    let status = "Name:\tsleep\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nCapInh:\t0000000000000000\n\
                  CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n\
                  NoNewPrivs:\t1\nSeccomp:\t2\n";
    let seen = |mounts: &str| {
        let own = ["ipc", "mnt", "net", "pid", "uts"].map(|name| (name, "own", "host"));
        observe_confinement(&plan, "ab12", &own, mounts, &["/proc/kcore"])
    };
    let mounts = "1 2 0:5 / /proc/kcore rw - tmpfs t rw\n3 2 0:5 /sys /proc/sys ro - proc proc rw\n";
    let check = |status: &str| {
        differences(&attest(&plan, Scope::Process, &observe_process(status, &IdMaps::HOST).and(seen(mounts))))
    };
    assert_eq!(check(status), Vec::<String>::new());
    for (from, to) in [
        ("CapBnd:\t0000000000000000", "CapBnd:\t00000000a80425fb"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0"),
        ("Seccomp:\t2", "Seccomp:\t0"),
        ("Uid:\t1000\t1000\t1000\t1000", "Uid:\t1000\t0\t1000\t1000"),
        ("Gid:\t1000\t1000\t1000\t1000", "Gid:\t0\t0\t0\t0"),
    ] {
        assert_eq!(check(&status.replace(from, to)).len(), 1, "{to}");
    }
    let open =
        differences(&attest(&plan, Scope::Process, &observe_process(status, &IdMaps::HOST).and(seen(""))));
    assert_eq!(open.len(), 2, "{open:?}");
    let shared = observe_process(status, &IdMaps::HOST).and(observe_confinement(
        &plan,
        "ab12",
        &[("ipc", "host", "host")],
        mounts,
        &[],
    ));
    assert_eq!(differences(&attest(&plan, Scope::Process, &shared)).len(), 1);
    assert!(plan.expectations.iter().any(|row| row.evidence == Evidence::Kernel));
}

/// Measured with podman 4.3 without root: user 1001 is root inside, and inside 1000 is 100999 outside.
#[test]
fn ids_of_a_user_namespace_are_told_as_the_container_has_them() {
    let observed = |ids: &str, map: &str| {
        let status = format!("Uid:\t{ids}\nGid:\t{ids}\n");
        let observed = observe_process(&status, &IdMaps { uid: map, gid: map });
        assert_eq!(observed.get("process.uid"), observed.get("process.gid"));
        observed.get("process.uid").cloned().unwrap()
    };
    let rootless = "         0       1001          1\n         1     100000      65536\n";
    assert_eq!(observed("100999\t100999\t100999\t100999", rootless), 1000);
    assert_eq!(observed("1001\t1001\t1001\t1001", rootless), 0);
    // Outside of every range, several at once, and the machine's root under another name: nothing that is expected.
    assert_eq!(observed("1000\t1000\t1000\t1000", rootless), "1000\t1000\t1000\t1000");
    assert_eq!(observed("100999\t1001\t100999\t100999", rootless), "100999\t1001\t100999\t100999");
    assert_eq!(observed("0\t0\t0\t0", "1000 0 1\n"), 0);
    for broken in ["", "x", "1 2", "0 0 0", "18446744073709551615 5 9\n", "-1 5 9"] {
        assert_eq!(observed("7\t7\t7\t7", broken), "7\t7\t7\t7", "{broken}");
    }
}
