//! One process in a running workspace: names on the command line, values in the client's environment under
//! our prefix, nothing of a variable under its own name (design 6).

mod values;

use super::{
    render::program,
    route::{Load, Route},
    scripts::{
        DESCRIPTOR_SHIM, ENV_PREFIX, ENVIRONMENT_SHIM, IN_FOLDER, LIFECYCLE, PERSONS_SHELL, TERMINATE,
    },
};
use crate::{
    answer::{LaunchAnswer, Refusal, Terminate},
    diagnostic::{Code, Diagnostic, Findings, Severity},
    input::{LaunchCommand, LaunchRequest, PlanRequest},
    limits,
    parse::env_name::is_env_name,
    plan::{ContainerPlan, WORKSPACE_ROOT, is_sealed, source_digests},
    resolve::{Given, LaunchJudgement, judge_launch},
    source::Source,
    text::{is_deceptive, quoted},
    words::{Delivery, Origin},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use values::{LIFECYCLE_NAME, Values, allowed_script, check_values};
use zeroize::Zeroizing;

/// The process that starts a launch, with the layers of now over the frozen texts of the repository.
///
/// `frozen` is the plan that was kept at create, `request` the request of now with the frozen texts.
/// Container options of the request do not count here.
pub fn launch(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    launch: &LaunchRequest,
) -> Result<LaunchAnswer, Refusal> {
    let mut judgement = judge_launch(request, frozen);
    let mut findings = core::mem::take(&mut judgement.findings);
    check_plan(frozen, request, &mut findings);
    check_launch(launch, &mut findings);
    let route = Route::of(frozen, request);
    let mut values = values::values(&judgement, launch, route, &mut findings);
    if let LaunchCommand::Lifecycle(stage) = launch.command {
        match allowed_script(frozen, request, stage) {
            Some(script) => {
                values.insert(LIFECYCLE_NAME.into(), Zeroizing::new(script));
            }
            None => {
                let message = format!("A person allowed no {} of this workspace.", quoted(stage.as_str()));
                findings.refuse(Code::CommandInvalid, at("launch.command"), message);
            }
        }
    }
    check_values(&values, request.host.platform == "win32", &mut findings);
    route.check(request, launch, &load(&values, &judgement), &mut findings);
    if findings.refused() {
        return Err(Refusal::of(findings.into_sorted()));
    }
    Ok(answer(frozen, request, launch, route, &values, &judgement, findings.into_sorted()))
}

fn load(values: &Values, judgement: &LaunchJudgement<'_>) -> Load {
    let given = |name: &str| {
        let claim = judgement.environment.active().find(|(active, _)| *active == name);
        claim.map(|(_, claim)| &claim.given)
    };
    let constant = |name: &String| matches!(given(name), Some(Given::Constant(_)));
    Load {
        any: !values.is_empty(),
        said: !values.keys().all(constant),
        kept_nowhere: values.keys().any(|name| given(name).is_some_and(Given::is_kept_nowhere)),
    }
}

fn at(path: &str) -> Source {
    Source::setting(Origin::Request, path)
}

/// A launch belongs to a sealed plan of this workspace and to the texts it was made from.
pub(crate) fn check_plan(frozen: &ContainerPlan, request: &PlanRequest, findings: &mut Findings) {
    if !is_sealed(frozen) {
        let message = "A launch needs a finished plan whose digest is that of its content; this one is a preview or was changed.";
        findings.refuse(Code::PlanMismatch, at("plan.digest"), message);
    }
    let label = |name: &str| frozen.labels.get(name).map(String::as_str);
    if label("orca.instance") != Some(&request.workspace.instance_id)
        || label("orca.install") != Some(&request.install.id)
    {
        findings.refuse(
            Code::PlanMismatch,
            at("workspace.instanceId"),
            "The plan is of another workspace or installation.",
        );
    }
    if source_digests(request) != frozen.sources {
        let message =
            "The repository's texts in the request are the ones the plan was made from; these differ.";
        findings.refuse(Code::PlanMismatch, at("plan.sources"), message);
        findings.help("Launch with the frozen texts of the record; a changed file is adopted by a recreate.");
    }
    if request.image_facts.as_ref().map(|image| &image.id) != frozen.image.id.as_ref() {
        let message = "A launch needs the facts of the image that the container was made from.";
        findings.refuse(Code::PlanMismatch, at("imageFacts.id"), message);
    }
    if request.engine.as_ref().is_some_and(|engine| engine.kind != frozen.engine.kind) {
        findings.refuse(Code::PlanMismatch, at("engine.kind"), "The plan is for another engine.");
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn check_launch(launch: &LaunchRequest, findings: &mut Findings) {
    if !is_hex(&launch.container_id, 64) {
        findings.refuse(
            Code::RequestInvalid,
            at("launch.containerId"),
            "A container is addressed by its full id, 64 hex digits.",
        );
    }
    if !is_hex(&launch.launch_id, 32) {
        findings.refuse(
            Code::RequestInvalid,
            at("launch.launchId"),
            "A launch id is 32 lower-case hex digits.",
        );
    }
    if let Some(workdir) = &launch.workdir
        && (!workdir.starts_with('/')
            || workdir.chars().any(is_deceptive)
            || workdir.len() > limits::PATH_BYTES)
    {
        let message =
            "A working folder is an absolute path in the container without control or invisible characters.";
        findings.refuse(Code::WorkdirInvalid, at("launch.workdir"), message);
    }
    if let LaunchCommand::Argv(argv) = &launch.command {
        let program = argv.first().is_some_and(|program| !program.is_empty());
        if !program
            || argv.iter().any(|word| word.contains('\0'))
            || argv.iter().any(|w| w.len() > limits::ENV_STRING_BYTES)
        {
            let message = "A command is a program and its arguments, none of them with a NUL character or above 128 KiB.";
            findings.refuse(Code::CommandInvalid, at("launch.command"), message);
        }
    }
}

fn answer(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    launch: &LaunchRequest,
    route: Route,
    values: &Values,
    judgement: &LaunchJudgement<'_>,
    notices: Vec<Diagnostic>,
) -> LaunchAnswer {
    let client = request.engine.as_ref().map(|engine| &engine.client);
    let client_env = client.map(|client| client.env.clone()).unwrap_or_default();
    let program = String::from(program(frozen.engine.kind, client));
    let helper = launch.helper.clone().filter(|_| route == Route::Descriptor && !values.is_empty());

    let mut exec: Vec<String> = Vec::from(["exec".into(), "-i".into()]);
    if launch.tty {
        exec.push("-t".into());
    }
    exec.push("--detach-keys=".into());
    exec.push(format!("--workdir={}", workdir(frozen, launch)));
    if helper.is_some() {
        exec.extend(["--preserve-fds".into(), "1".into()]);
    } else {
        exec.extend(values.keys().flat_map(|name| ["-e".into(), format!("{ENV_PREFIX}{name}")]));
    }
    exec.extend(["--".into(), launch.container_id.clone(), "/bin/sh".into(), "-c".into()]);
    exec.push(if helper.is_some() { DESCRIPTOR_SHIM } else { ENVIRONMENT_SHIM }.into());
    exec.extend(["sh".into(), launch.launch_id.clone()]);
    exec.extend(values.keys().cloned());
    exec.push("--".into());
    let unset =
        judgement.environment.removed_at_launch.iter().filter(|n| is_env_name(n) && !values.contains_key(*n));
    // What the container has from its start by a person's word is no repository's to take away.
    exec.extend(unset.filter(|name| !frozen.start_env.contains(name)).cloned());
    exec.push("--".into());
    exec.extend(in_folder(frozen, launch));
    match &launch.command {
        LaunchCommand::Argv(argv) => exec.extend(argv.iter().cloned()),
        LaunchCommand::Shell => exec.extend(["/bin/sh".into(), "-c".into(), PERSONS_SHELL.into()]),
        LaunchCommand::Lifecycle(_) => exec.extend(["/bin/sh".into(), "-c".into(), LIFECYCLE.into()]),
    }

    let mut env = client_env.clone();
    env.extend(values.iter().map(|(name, value)| (format!("{ENV_PREFIX}{name}"), value.as_str().into())));
    let (file, args) = match helper {
        Some(helper) => {
            let mut args: Vec<String> = Vec::from(["__deliver".into(), "--".into(), program.clone()]);
            args.extend(exec);
            (helper, args)
        }
        None => (program.clone(), exec),
    };
    LaunchAnswer {
        ok: true,
        file,
        args,
        env,
        cwd: "/".into(),
        terminate: terminate(program, client_env, launch),
        names: values.keys().cloned().collect(),
        notices: notices.into_iter().filter(|n| n.severity != Severity::Refused).collect(),
    }
}

/// What goes to the folder of devcontainer.json first. A branch may lack it, and an engine fails where a folder is not
/// there: then the clone is where things start.
fn in_folder(frozen: &ContainerPlan, launch: &LaunchRequest) -> Vec<String> {
    let clone = frozen.clone.as_ref().map(|clone| clone.target.as_str());
    let folder = frozen.devcontainer.as_ref().map(|file| file.workspace_folder.as_str());
    match folder.filter(|folder| launch.workdir.is_none() && Some(*folder) != clone) {
        Some(folder) => ["/bin/sh", "-c", IN_FOLDER, "sh", folder].map(String::from).into(),
        None => Vec::new(),
    }
}

fn workdir(frozen: &ContainerPlan, launch: &LaunchRequest) -> String {
    let clone = frozen.clone.as_ref().map(|clone| clone.target.clone());
    launch.workdir.clone().or(clone).unwrap_or_else(|| WORKSPACE_ROOT.into())
}

fn terminate(file: String, env: BTreeMap<String, String>, launch: &LaunchRequest) -> Terminate {
    let args = [
        "exec",
        "--workdir=/",
        "--",
        &launch.container_id,
        "/usr/bin/env",
        "-i",
        "/bin/sh",
        "-c",
        TERMINATE,
        "sh",
        &launch.launch_id,
    ];
    Terminate { file, args: args.map(String::from).into(), env }
}

/// Names of the host variables whose values a launch over a frozen plan hands over, by themselves or as a part.
pub fn launch_host_names(frozen: &ContainerPlan, request: &PlanRequest) -> Vec<String> {
    let judgement = judge_launch(request, frozen);
    let mut names: Vec<String> = Vec::new();
    for (name, claim) in
        judgement.environment.active().filter(|(_, claim)| claim.delivery == Delivery::Launch)
    {
        match &claim.given {
            Given::Host => names.push(name.into()),
            given => names.extend(given.host_names()),
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Names of the declared secrets that a launch hands over, in the order in which they are declared: those whose claim
/// won, and none for a command of the repository. Only these need to be fetched, each once.
pub fn launch_secret_names(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    command: &LaunchCommand,
) -> Vec<String> {
    if matches!(command, LaunchCommand::Lifecycle(_)) {
        return Vec::new();
    }
    let judgement = judge_launch(request, frozen);
    let active = judgement.environment.active().filter(|(_, claim)| claim.delivery == Delivery::Launch);
    let wanted: BTreeSet<&str> = active
        .filter_map(|(_, claim)| match &claim.given {
            Given::Secret(secret) => Some(secret.as_str()),
            _ => None,
        })
        .collect();
    let mut names: Vec<String> = Vec::new();
    for declared in &request.secrets {
        if wanted.contains(declared.name.as_str()) && !names.contains(&declared.name) {
            names.push(declared.name.clone());
        }
    }
    names
}
