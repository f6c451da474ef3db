//! What stands between a container and the machine.

use orca_container_core::{EngineKind, escaped};

use super::{Case, listed};
use crate::doctor::login_users;
use crate::doctor::machine::has_own_kernel;
use crate::doctor::report::{Finding, FindingCode};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = vec![seccomp(case), access_control(case), kernel(case)];
    findings.extend(holes(case));
    findings.extend(users(case));
    findings.extend(socket(case));
    findings
}

fn seccomp(case: &Case<'_>) -> Finding {
    let kind = case.detected.facts.kind;
    if case.detected.details.seccomp {
        return Finding::good(FindingCode::Seccomp, format!("{kind} confines system calls (seccomp)."));
    }
    let message = format!(
        "{kind} does not confine system calls (seccomp), which every workspace is compared with before its first use."
    );
    Finding::problem(FindingCode::NoSeccomp, message)
        .help("Give the engine its default seccomp profile back.")
}

fn access_control(case: &Case<'_>) -> Finding {
    let facts = &case.detected.facts;
    let name = match (facts.apparmor, facts.selinux) {
        (true, _) => "AppArmor",
        (_, true) => "SELinux",
        (false, false) => {
            let message = "Neither AppArmor nor SELinux confines containers here, so that one fence fewer stands behind the others.";
            return Finding::cost(FindingCode::NoAccessControl, message).help(
                "Turn on what the distribution brings: AppArmor on Debian and Ubuntu, SELinux on Fedora.",
            );
        }
    };
    Finding::good(FindingCode::AccessControl, format!("{name} confines containers."))
}

fn kernel(case: &Case<'_>) -> Finding {
    let known = case.detected.facts.runtimes.iter().chain(&case.around.other_runtimes);
    let own: Vec<String> =
        known.filter(|name| has_own_kernel(name)).take(5).map(|name| escaped(name)).collect();
    if let Some(first) = own.first() {
        let message = format!("The runtime {} puts a kernel of its own before the machine's.", listed(&own));
        let help = format!("Choose it with --runtime {first} for code that nobody knows.");
        return Finding::good(FindingCode::OwnKernelRuntime, message).help(help);
    }
    let message = "Every runtime here shares the machine's kernel with the containers: a hole in the kernel is a way out.";
    let finding = Finding::cost(FindingCode::SharedKernel, message);
    finding.help("For code that nobody knows, give the engine gVisor (\"runsc\") or Kata Containers as a runtime, or put it into a virtual machine.")
}

fn holes(case: &Case<'_>) -> Option<Finding> {
    let holes = &case.detected.facts.vulnerabilities;
    if holes.is_empty() {
        return None;
    }
    let names: Vec<String> = holes.iter().map(|hole| escaped(hole)).collect();
    let message = format!(
        "By its version, the runtime lets a hostile image or process out: {}. A distribution may have mended its own build.",
        listed(&names)
    );
    Some(Finding::cost(FindingCode::KnownHole, message).help("Update the engine and runc."))
}

/// Whose processes on the machine are the workspace's own user to the kernel.
fn users(case: &Case<'_>) -> Vec<Finding> {
    let facts = &case.detected.facts;
    if facts.userns || facts.rootless {
        let message = "Users inside a container are others than outside: root inside is nobody's root.";
        return vec![Finding::good(FindingCode::UserNamespace, message)];
    }
    let kind = facts.kind;
    let how = match kind {
        EngineKind::Docker => "docker without root, or with \"userns-remap\"",
        EngineKind::Podman => "podman without root",
    };
    let message = format!("{kind} gives containers no user namespace: uids inside are the same outside.");
    let mut findings = vec![
        Finding::cost(FindingCode::NoUserNamespace, message)
            .help(format!("Run {how}, where others use this machine.")),
    ];
    let uid = case.wanted.uid;
    let same: Vec<String> =
        if case.here { login_users::with_uid(&case.machine.passwd, uid) } else { Vec::new() };
    if !same.is_empty() {
        let names: Vec<String> = same.iter().take(5).map(|name| format!("\"{}\"", escaped(name))).collect();
        let message = format!(
            "A workspace's processes have the uid {uid}, unless the image or \"user\" says another, and so has {} of this machine: that user's processes read every variable of the workspace in /proc and can end what runs there.",
            listed(&names)
        );
        let help =
            format!("Give workspaces a uid that nobody has here by \"user\" in the settings, or run {how}.");
        findings.push(Finding::cost(FindingCode::UidShared, message).help(help));
    }
    findings
}

/// Whoever opens docker's socket commands the machine.
fn socket(case: &Case<'_>) -> Option<Finding> {
    let socket = case.around.socket?;
    let facts = &case.detected.facts;
    let power = if facts.rootless { "is that user here" } else { "is root here" };
    let who = if socket.mode & 0o002 != 0 {
        "Every user of this machine".to_owned()
    } else if socket.mode & 0o020 != 0 && socket.gid != 0 {
        match login_users::group(&case.machine.groups, socket.gid) {
            Some((name, members)) => {
                let named: Vec<String> = members.iter().take(5).map(|name| escaped(name)).collect();
                let named = if named.is_empty() { "nobody is listed".to_owned() } else { listed(&named) };
                format!("Whoever is in the group \"{}\" ({named})", escaped(&name))
            }
            None => format!("Whoever is in the group {}", socket.gid),
        }
    } else {
        return None;
    };
    let message = format!("{who} may open docker's socket, and whoever commands docker {power}.");
    Some(
        Finding::cost(FindingCode::SocketShared, message)
            .help("Give the socket to those only who may be that."),
    )
}
