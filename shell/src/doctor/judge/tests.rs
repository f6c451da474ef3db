//! Each finding from the facts that it follows from, and only from those.

use orca_container_core::input::{EngineClient, EngineFacts, GlobalSettings};
use orca_container_core::{Code, Endpoint, EngineKind, LimitKind};

use super::*;
use crate::doctor::machine::Socket;
use crate::doctor::refusals;
use crate::doctor::report::{FindingCode, FindingSeverity, ReachableListener};
use crate::engine::{DISK_FLOOR, EngineDetails, Space};

/// One engine on one machine; each test changes what it is about.
struct World {
    detected: Detected,
    here: bool,
    machine: Machine,
    around: Surroundings,
    settings: GlobalSettings,
    tried: Option<Tried>,
}

impl World {
    /// docker as root on this machine, with everything that it should have.
    fn new() -> Self {
        let facts = EngineFacts {
            kind: EngineKind::Docker,
            version: "28.2.2".into(),
            endpoint: Endpoint::Local,
            rootless: false,
            userns: false,
            cpus: 8,
            memory_bytes: 16 << 30,
            limits: LimitKind::ALL.to_vec(),
            cgroup_version: Some(2),
            runtimes: vec!["runc".into()],
            nproc_needed: None,
            selinux: false,
            apparmor: true,
            debug: false,
            vulnerabilities: Vec::new(),
            client: EngineClient { program: "/usr/bin/docker".into(), ..EngineClient::default() },
        };
        let details = EngineDetails {
            data_places: vec!["/data".into()],
            kernel: "6.1".into(),
            hostname: "here".into(),
            init: Some("docker-init".into()),
            seccomp: true,
            default_runtime: "runc".into(),
        };
        let machine = Machine {
            passwd: "root:x:0:0::/:/bin/sh\nada:x:1000:1000::/:/bin/sh\n".into(),
            groups: "docker:x:112:ada\n".into(),
            listeners: Some(vec![ReachableListener { port: 22, address: "0.0.0.0".into() }]),
        };
        let around = Surroundings {
            spaces: vec![Space { place: "/data".into(), free: Some(DISK_FLOOR) }],
            init_found: Some(true),
            gateway: Some([172, 17, 0, 1].into()),
            ..Surroundings::default()
        };
        Self {
            detected: Detected { facts, details },
            here: true,
            machine,
            around,
            settings: GlobalSettings::default(),
            tried: None,
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let refusals = refusals::of_create(&self.detected.facts, &self.settings);
        let no_network = self.settings.container.network.as_deref() == Some("none");
        let wanted = Wanted { uid: 1000, no_network, refusals };
        findings(&Case {
            detected: &self.detected,
            here: self.here,
            machine: &self.machine,
            around: &self.around,
            wanted: &wanted,
            tried: self.tried.as_ref(),
        })
    }

    fn finding(&self, code: FindingCode) -> Option<Finding> {
        self.findings().into_iter().find(|finding| finding.code == code)
    }

    fn severity(&self, code: FindingCode) -> Option<FindingSeverity> {
        self.finding(code).map(|finding| finding.severity)
    }
}

use FindingSeverity::{Cost, Good, Problem};

#[test]
fn an_engine_as_it_should_be_has_no_problem() {
    let findings = World::new().findings();
    assert!(findings.iter().all(|finding| finding.severity != Problem), "{findings:?}");
    for code in [
        FindingCode::EndpointLocal,
        FindingCode::LimitsEnforced,
        FindingCode::Seccomp,
        FindingCode::AccessControl,
        FindingCode::InitProgram,
        FindingCode::DiskFree,
        FindingCode::TemplatesFit,
    ] {
        assert_eq!(World::new().severity(code), Some(Good), "{code:?}");
    }
}

#[test]
fn discarded_limits_stop_a_create_until_a_person_accepts_them() {
    let mut world = World::new();
    world.detected.facts.limits = vec![LimitKind::Memory, LimitKind::Swap];
    let found = world.finding(FindingCode::LimitsDiscarded).unwrap();
    assert_eq!((found.severity, found.refusal), (Problem, Some(Code::LimitsUnsupported)));
    assert!(found.message.contains("limits of cpu and pids"), "{}", found.message);
    assert!(found.help.unwrap().contains("acceptAdvisoryLimits"));
    world.settings.policy.accept_advisory_limits = Some(true);
    assert_eq!(world.severity(FindingCode::LimitsDiscarded), Some(Cost));
    assert_eq!(World::new().severity(FindingCode::LimitsDiscarded), None);
}

#[test]
fn a_runtime_of_the_settings_that_is_not_there_stops_a_create() {
    let mut world = World::new();
    world.settings.container.runtime = Some("runsc".into());
    let found = world.finding(FindingCode::CreateRefused).unwrap();
    assert_eq!((found.severity, found.refusal), (Problem, Some(Code::RuntimeUnavailable)));
    world.detected.facts.runtimes.push("runsc".into());
    assert_eq!(world.finding(FindingCode::CreateRefused), None);
    assert_eq!(world.severity(FindingCode::OwnKernelRuntime), Some(Good));
}

#[test]
fn a_runtime_with_its_own_kernel_is_known_by_its_name() {
    for (name, own) in [
        ("runsc", true),
        ("io.containerd.kata.v2", true),
        ("kata-runtime", true),
        ("runc", false),
        ("katana", false),
    ] {
        let mut world = World::new();
        world.around.other_runtimes = vec![name.into()];
        assert_eq!(world.finding(FindingCode::OwnKernelRuntime).is_some(), own, "{name}");
        assert_eq!(world.finding(FindingCode::SharedKernel).is_some(), !own, "{name}");
    }
}

#[test]
fn a_user_of_the_workspaces_uid_is_named_unless_users_inside_are_others() {
    let mut world = World::new();
    let found = world.finding(FindingCode::UidShared).unwrap();
    assert!(found.message.contains("\"ada\"") && found.message.contains("1000"), "{}", found.message);
    world.detected.facts.userns = true;
    assert_eq!(world.finding(FindingCode::UidShared), None);
    assert_eq!(world.severity(FindingCode::UserNamespace), Some(Good));
    let mut world = World::new();
    world.machine.passwd = "root:x:0:0::/:/bin/sh\n".into();
    assert_eq!(world.finding(FindingCode::UidShared), None);
    assert_eq!(world.severity(FindingCode::NoUserNamespace), Some(Cost));
}

#[test]
fn nothing_of_this_machine_is_said_of_an_engine_elsewhere() {
    for (endpoint, code) in [
        (Endpoint::Ssh, FindingCode::EndpointRemote),
        (Endpoint::Tls, FindingCode::EndpointRemote),
        (Endpoint::Plain, FindingCode::EndpointPlain),
        (Endpoint::Local, FindingCode::EngineElsewhere),
    ] {
        let mut world = World::new();
        world.here = false;
        world.detected.facts.endpoint = endpoint;
        world.around = Surroundings {
            spaces: vec![Space { place: "/data".into(), free: None }],
            ..Surroundings::default()
        };
        assert_eq!(world.severity(code), Some(Cost), "{endpoint}");
        assert_eq!(world.severity(FindingCode::ListenersUnknown), Some(Cost));
        assert_eq!(world.severity(FindingCode::DiskUnmeasured), Some(Cost));
        for code in [FindingCode::UidShared, FindingCode::ListenersReachable, FindingCode::DiskFree] {
            assert_eq!(world.finding(code), None, "{endpoint}");
        }
    }
}

#[test]
fn what_create_would_fail_by_is_a_problem() {
    let mut world = World::new();
    world.around.spaces.push(Space { place: "/small".into(), free: Some(DISK_FLOOR - 1) });
    assert!(world.finding(FindingCode::DiskLow).unwrap().message.contains("\"/small\""));
    assert_eq!(world.severity(FindingCode::DiskLow), Some(Problem));
    let mut world = World::new();
    world.detected.details.seccomp = false;
    assert_eq!(world.severity(FindingCode::NoSeccomp), Some(Problem));
    for (named, found) in [(None, None), (Some("docker-init"), Some(false))] {
        let mut world = World::new();
        world.detected.details.init = named.map(String::from);
        world.around.init_found = found;
        assert_eq!(world.severity(FindingCode::NoInitProgram), Some(Problem));
    }
    let mut world = World::new();
    world.around.init_found = None;
    assert_eq!(world.severity(FindingCode::InitProgram), Some(Good));
}

#[test]
fn a_small_engine_names_the_templates_that_do_not_fit() {
    let mut world = World::new();
    world.detected.facts.memory_bytes = 5 << 30;
    world.detected.facts.cpus = 1;
    let found = world.finding(FindingCode::TemplatesDoNotFit).unwrap().message;
    assert!(found.contains("less memory than \"large\" (8 GB"), "{found}");
    assert!(found.contains("\"medium\" (4 GB, 2 CPUs) and \"large\" (8 GB, 4 CPUs) gets fewer"), "{found}");
    world.detected.facts.memory_bytes = 0;
    assert_eq!(world.finding(FindingCode::TemplatesDoNotFit), None);
}

#[test]
fn a_socket_that_others_may_open_is_named_with_its_group() {
    let socket = |mode, gid| {
        let mut world = World::new();
        world.around.socket = Some(Socket { mode, gid });
        world.finding(FindingCode::SocketShared).map(|finding| finding.message)
    };
    assert!(socket(0o140_660, 112).unwrap().contains("group \"docker\" (ada)"));
    assert!(socket(0o140_660, 7).unwrap().contains("the group 7"));
    assert!(socket(0o140_666, 112).unwrap().starts_with("Every user"));
    assert_eq!(socket(0o140_660, 0), None);
    assert_eq!(socket(0o140_600, 112), None);
}

#[test]
fn listeners_are_told_with_how_they_were_found() {
    let mut world = World::new();
    let found = world.finding(FindingCode::ListenersReachable).unwrap().message;
    assert!(found.contains("gateway (172.17.0.1)") && found.contains(": 22."), "{found}");
    assert!(found.contains("not tried from inside"), "{found}");
    world.machine.listeners = Some(Vec::new());
    assert_eq!(world.severity(FindingCode::NoListeners), Some(Good));
    world.machine.listeners = None;
    assert_eq!(world.severity(FindingCode::ListenersUnknown), Some(Cost));
}

#[test]
fn without_root_and_without_the_device_only_workspaces_without_a_network_can_be_made() {
    let mut world = World::new();
    assert_eq!(world.finding(FindingCode::NoNetworkWithoutRoot), None);
    world.around.may_make_network = Some(true);
    assert_eq!(world.finding(FindingCode::NoNetworkWithoutRoot), None);
    world.around.may_make_network = Some(false);
    assert_eq!(world.severity(FindingCode::NoNetworkWithoutRoot), Some(Problem));
    world.settings.container.network = Some("none".into());
    assert_eq!(world.severity(FindingCode::NoNetworkWithoutRoot), Some(Cost));
}

#[test]
fn what_a_container_tried_is_told_as_such() {
    let mut world = World::new();
    let mut told = |tried: Tried| {
        world.tried = Some(tried);
        assert!(!world.finding(FindingCode::ListenersReachable).unwrap().message.contains("not tried"));
        world.findings().into_iter().find(|found| found.message.contains("inside a container")).unwrap()
    };
    let found = told(Tried::Ports { open: vec![22, 80], closed: vec![443] });
    assert_eq!((found.code, found.severity), (FindingCode::PortsAnswer, Cost));
    assert!(found.message.ends_with("answered: 22 and 80; these did not: 443."), "{}", found.message);
    let found = told(Tried::Ports { open: vec![], closed: vec![443] });
    assert_eq!((found.code, found.severity), (FindingCode::NoPortAnswers, Good));
    let found = told(Tried::Nothing("the image has none".into()));
    assert_eq!((found.code, found.severity), (FindingCode::PortsNotTried, Cost));
}

#[test]
fn podman_hands_values_over_where_a_descriptor_reaches() {
    let mut world = World::new();
    assert_eq!(world.finding(FindingCode::ValuesByDescriptor), None);
    world.detected.facts.kind = EngineKind::Podman;
    assert_eq!(world.severity(FindingCode::ValuesByDescriptor), Some(Good));
    world.detected.facts.endpoint = Endpoint::Ssh;
    assert_eq!(world.severity(FindingCode::NoValues), Some(Cost));
}

#[test]
fn a_docker_that_logs_values_is_named() {
    let mut world = World::new();
    assert_eq!(world.severity(FindingCode::DebugMode), None);
    world.detected.facts.debug = true;
    assert_eq!(world.severity(FindingCode::DebugMode), Some(FindingSeverity::Cost));
}

#[test]
fn a_sentence_is_whole_and_nothing_in_it_moves_a_terminal() {
    let hostile = "\u{1b}[2J\u{202e}\"".to_owned();
    let mut world = World::new();
    world.detected.details.init = Some(orca_container_core::escaped(&hostile));
    world.detected.facts.vulnerabilities = vec![hostile.clone()];
    world.around.other_runtimes = vec![format!("runsc.{hostile}")];
    world.around.spaces[0].place = hostile.clone().into();
    world.around.socket = Some(Socket { mode: 0o140_660, gid: 5 });
    world.machine.groups = format!("{hostile}:x:5:{hostile}\n");
    world.machine.passwd = format!("{hostile}:x:1000:1::/:/bin/sh\n");
    let findings = world.findings();
    assert!(findings.is_sorted_by_key(|finding| finding.severity));
    for finding in findings {
        let texts = [Some(finding.message), finding.help];
        for text in texts.into_iter().flatten() {
            assert!(text.ends_with('.') && !text.chars().any(orca_container_core::is_deceptive), "{text:?}");
        }
    }
}
