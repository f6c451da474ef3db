//! The command line of `create`: read back with the engines' own flag table, it says exactly the plan.

use crate::{
    arbitrary::{joined, persons, repository},
    support::{answer, planned, request, set, with, words},
};
use orca_container_core::{ActionKind, Command, ContainerPlan, EngineKind, MountPlan, MountRole, PlanAnswer};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// Arity of every flag of both engines, as measured: engine, long, short, takes a value.
fn flag_table(engine: EngineKind) -> BTreeMap<String, bool> {
    let table = include_str!("../../../tests/golden/run-flags.tsv");
    let mut flags = BTreeMap::new();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        if columns[0] == engine.as_str() {
            for flag in columns[1..3].iter().filter(|flag| !flag.is_empty()) {
                flags.insert((*flag).to_owned(), columns[3] == "1");
            }
        }
    }
    assert!(flags.len() > 90, "the table is there");
    flags
}

/// Flags with their values, the image, the command: pflag's grammar without interspersed arguments.
type Parsed = (Vec<(String, Option<String>)>, String, Vec<String>);

fn parsed(words: &[String], flags: &BTreeMap<String, bool>) -> Parsed {
    let mut found = Vec::new();
    let mut at = 0;
    while words[at] != "--" {
        let word = &words[at];
        let (flag, inline) = match word.split_once('=') {
            Some((flag, value)) if word.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
            _ => (word.clone(), None),
        };
        let takes = *flags.get(&flag).unwrap_or_else(|| panic!("{flag} is no flag of this engine"));
        let value = if takes && inline.is_none() {
            at += 1;
            Some(words[at].clone())
        } else {
            inline
        };
        found.push((flag, value));
        at += 1;
    }
    (found, words[at + 1].clone(), words[at + 2..].to_vec())
}

fn create_of(commands: &[Command]) -> Vec<String> {
    words(commands.iter().find(|command| command.action == ActionKind::CreateContainer).unwrap())
}

/// A mount by its type, as docker and podman document it.
fn mount_word(engine: EngineKind, mount: &MountPlan) -> String {
    let read_only = match (mount.read_only, engine) {
        (false, _) => "",
        (true, EngineKind::Docker) => ",readonly",
        (true, EngineKind::Podman) => ",ro=true",
    };
    let target = if mount.target.contains([',', '"']) {
        format!("\"dst={}\"", mount.target.replace('"', "\"\""))
    } else {
        format!("dst={}", mount.target)
    };
    match (&mount.source, mount.size_bytes) {
        (None, size) => {
            let size = size.map(|bytes| format!(",tmpfs-size={bytes}")).unwrap_or_default();
            format!("type=tmpfs,{target}{read_only}{size},tmpfs-mode=1777")
        }
        (Some(source), _) => {
            let ours = mount.role != MountRole::Devcontainer && engine == EngineKind::Docker;
            let empty = if ours { ",volume-nocopy" } else { "" };
            format!("type=volume,src={source},{target}{read_only}{empty}")
        }
    }
}

fn says_exactly(plan: &ContainerPlan, argv: &[String]) -> Result<(), TestCaseError> {
    let create = argv.iter().position(|word| word == "create").unwrap();
    // podman's runtime is a flag of the program, before the command.
    for word in &argv[1..create] {
        prop_assert_eq!(word, &format!("--runtime={}", plan.runtime.as_deref().unwrap_or("")));
    }
    let (flags, image, command) = parsed(&argv[create + 1..], &flag_table(plan.engine.kind));
    let all = |name: &str| -> Vec<String> {
        flags.iter().filter(|(flag, _)| flag == name).filter_map(|(_, v)| v.clone()).collect()
    };
    let one = |name: &str| -> Option<String> {
        let values = all(name);
        assert!(values.len() <= 1, "{name} stands once");
        values.first().cloned()
    };
    let has = |name: &str| flags.iter().any(|(flag, value)| flag == name && value.is_none());

    prop_assert_eq!(all("--cap-drop"), ["ALL"]);
    prop_assert_eq!(all("--security-opt"), ["no-new-privileges"]);
    prop_assert!(has("--init") && has("--no-healthcheck"));
    for (flag, value) in [
        ("--ipc", "private"),
        ("--restart", "no"),
        ("--pull", "never"),
        ("--log-driver", "none"),
        ("--workdir", "/"),
    ] {
        prop_assert_eq!(one(flag), Some(value.to_owned()), "{}", flag);
    }
    prop_assert_eq!(one("--user"), Some(format!("{}:{}", plan.user.uid, plan.user.gid)));
    prop_assert!(plan.user.uid != 0 && plan.user.gid != 0);
    prop_assert_eq!(one("--memory"), Some(plan.limits.memory_bytes.to_string()));
    prop_assert_eq!(one("--memory-swap"), one("--memory"));
    prop_assert_eq!(one("--pids-limit"), Some(plan.limits.pids.to_string()));
    prop_assert_eq!(one("--name"), Some(plan.names.container.clone()));
    prop_assert_eq!(one("--hostname"), Some(plan.names.hostname.clone()));
    prop_assert_eq!(one("--network"), Some(plan.network.name.clone().unwrap_or_else(|| "none".into())));
    prop_assert_eq!(one("--entrypoint"), Some("/bin/sh".into()));
    let labels: Vec<String> = plan.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    prop_assert_eq!(all("--label"), labels);
    let ports: Vec<String> = plan.ports.iter().map(|port| format!("127.0.0.1::{}", port.container)).collect();
    prop_assert_eq!(all("--publish"), ports);
    let mounts: Vec<String> = plan.mounts.iter().map(|mount| mount_word(plan.engine.kind, mount)).collect();
    prop_assert_eq!(all("--mount"), mounts);
    prop_assert_eq!(one("--shm-size"), plan.limits.shm_bytes.map(|bytes| bytes.to_string()));
    let soft = plan.limits.nofile_soft.unwrap_or(plan.limits.nofile);
    let nofile = format!("nofile={soft}:{}", plan.limits.nofile);
    prop_assert!(all("--ulimit").contains(&nofile) && all("--ulimit").contains(&"core=0:0".to_owned()));
    prop_assert_eq!(one("--env-file").is_some(), !plan.start_env.is_empty());
    let removed = match plan.engine.kind {
        EngineKind::Docker => all("-e"),
        EngineKind::Podman => all("--unsetenv"),
    };
    prop_assert_eq!(&removed, &plan.removed_env);
    for forbidden in [
        "--privileged",
        "--cap-add",
        "--device",
        "--volume",
        "-v",
        "--pid",
        "--uts",
        "--userns",
        "--env",
        "--publish-all",
        "--volumes-from",
    ] {
        prop_assert!(!flags.iter().any(|(flag, _)| flag == forbidden), "{}", forbidden);
    }
    prop_assert_eq!(image, plan.image.id.clone().unwrap_or_else(|| "{imageId}".into()));
    prop_assert_eq!(command.first().map(String::as_str), Some("-c"));
    prop_assert_eq!(command.len(), 2);
    Ok(())
}

proptest! {
    #![proptest_config(crate::support::cases(160))]

    #[test]
    fn create_read_back_says_exactly_the_plan_with_all_its_hardening(persons in persons(), repository in repository()) {
        let PlanAnswer::Planned(planned) = answer(&joined(&persons, &repository)) else { return Ok(()) };
        says_exactly(&planned.plan, &create_of(&planned.commands.create))?;
    }
}

#[test]
fn a_full_plan_read_back_says_exactly_itself_on_both_engines() {
    for engine in ["docker", "podman"] {
        let mut request =
            with(engine, &[("choices.ports", json!([8080, 22])), ("choices.runtime", json!("runsc"))]);
        set(&mut request, "choices.env", json!({"A": "1"}));
        set(&mut request, "choices.startEnv", json!(["A"]));
        set(&mut request, "choices.user", json!("4321:8765"));
        set(&mut request, "imageFacts.env", json!(["PATH=/bin", "ORCA_X=1", "CODEX_HOME=/x"]));
        set(&mut request, "workspace.id", json!("--label=x,y\"z' $(id)"));
        let planned = planned(&request);
        says_exactly(&planned.plan, &create_of(&planned.commands.create)).unwrap();
    }
}

#[test]
fn no_command_of_ours_goes_through_a_host_shell_or_ends_its_flags_late() {
    for engine in ["docker", "podman"] {
        let planned = planned(&request(engine));
        for command in planned.commands.create.iter().chain(&planned.commands.remove) {
            let words = words(command);
            if let Some(program) = words.first() {
                assert_eq!(program, &format!("/usr/bin/{engine}"));
                assert!(words.iter().any(|word| word == "--"), "{words:?}");
            }
        }
    }
}

#[test]
fn every_resource_carries_the_labels_that_a_sweep_looks_for() {
    for engine in ["docker", "podman"] {
        let planned = planned(&request(engine));
        for command in &planned.commands.create {
            let words = words(command);
            let makes = matches!(
                command.action,
                ActionKind::CreateContainer
                    | ActionKind::CreateVolume
                    | ActionKind::InitVolumes
                    | ActionKind::CreateNetwork
            );
            if makes {
                assert!(words.iter().any(|word| word == "--label=orca.install=install-1"), "{words:?}");
            }
        }
    }
}

#[test]
fn names_are_injective() {
    let name = |install: &str, instance: &str| {
        planned(&with("docker", &[("install.id", json!(install)), ("workspace.instanceId", json!(instance))]))
            .plan
            .names
            .container
    };
    let names = [
        name("a", "b"),
        name("a", "B"),
        name("ab", "x"),
        name("a/b", "c"),
        name("a-b", "c"),
        name("a", "b c"),
    ];
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    assert!(names.iter().all(|name| name.len() == 34
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')));
}
