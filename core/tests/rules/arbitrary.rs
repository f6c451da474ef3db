//! Arbitrary requests: what persons say, what a repository says, what was measured.

use crate::support::{request, set};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Words for an option: the right ones, and what people and attackers write instead.
fn word(right: &'static [&'static str]) -> impl Strategy<Value = String> {
    const WRONG: &[&str] =
        &["", "Volume", "host", "--privileged", "x\ny", "~", "mounted", "allowlist", "devcontainer"];
    prop_oneof![60 => select(right).prop_map(String::from), 1 => select(WRONG).prop_map(String::from)]
}

fn image() -> impl Strategy<Value = String> {
    prop_oneof![
        30 => select(&["alpine:3", "ghcr.io/acme/base:1", "evil.example/x", "acme/base"][..]).prop_map(String::from),
        60 => Just("devcontainer".into()),
        1 => select(&["-v", "Alpine", "a b", "x,y", "a\u{202e}b"][..]).prop_map(String::from),
    ]
}

pub fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[A-Z][A-Z_]{0,6}",
        2 => select(&[
            "ANTHROPIC_BASE_URL", "HTTPS_PROXY", "LD_PRELOAD", "PATH", "DOCKER_HOST", "GIT_SSH_COMMAND", "NODE_ENV", "GRADLE_OPTS",
            "ORCA_X", "ANTHROPIC_API_KEY", "CODEX_HOME", "UID", "AWS_SECRET_ACCESS_KEY", "GH_TOKEN", "HOME",
        ][..]).prop_map(String::from),
        1 => select(&["A-B", "*", "", "A B", "A\n"][..]).prop_map(String::from),
    ]
}

/// Names as people write them: mostly such that a plan comes of it.
fn persons_name() -> impl Strategy<Value = String> {
    prop_oneof![
        40 => "[A-Z][A-Z_]{0,6}".prop_filter("a shell's own", |name| !matches!(name.as_str(), "_" | "UID" | "HOME" | "PATH")),
        20 => select(&["NODE_ENV", "GRADLE_OPTS", "HTTPS_PROXY", "AWS_SECRET_ACCESS_KEY"][..]).prop_map(String::from),
        1 => name(),
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![8 => any::<String>().prop_map(|text| text.replace('\0', "")), 1 => any::<String>(), 4 => Just(String::new()), 4 => Just("x".into())]
}

fn env() -> impl Strategy<Value = Value> {
    vec((persons_name(), value()), 0..4)
        .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(n, v)| (n, json!(v))).collect()))
}

/// What one person says.
fn options() -> impl Strategy<Value = Value> {
    (
        option::of(word(&["volume"])),
        option::of(image()),
        option::of(word(&["small", "medium", "large"])),
        option::of(word(&["none", "bridge"])),
        option::of(env()),
        option::of(vec(persons_name(), 0..3)),
        option::of(any::<bool>()),
        option::of(vec(1..u16::MAX, 0..3)),
        option::weighted(0.03, vec(name(), 0..2)),
    )
        .prop_map(|(mode, image, template, network, env, host, copy, ports, start)| {
            let fields = [
                ("mode", json!(mode)),
                ("image", json!(image)),
                ("template", json!(template)),
                ("network", json!(network)),
                ("env", json!(env)),
                ("forwardHostEnv", json!(host)),
                ("copyIgnoredFiles", json!(copy)),
                ("ports", json!(ports)),
                ("startEnv", json!(start)),
            ];
            Value::Object(
                fields.into_iter().filter(|(_, v)| !v.is_null()).map(|(n, v)| (n.to_owned(), v)).collect(),
            )
        })
}

fn maximum() -> impl Strategy<Value = Option<Value>> {
    option::weighted(
        0.15,
        (
            select(&["small", "medium", "large"][..]),
            select(&["none", "bridge"][..]),
            option::of(vec(name(), 0..2)),
            option::of(vec(select(&["ghcr.io/acme/", "docker.io/library/", "acme"][..]), 0..2)),
            0..4_u32,
            option::of(vec(select(&["volume", "mounted"][..]), 0..3)),
        )
            .prop_map(|(template, network, host, images, ports, modes)| {
                let mut value = json!({"template": template, "network": network, "ports": ports});
                if let Some(modes) = modes {
                    value["modes"] = json!(modes);
                }
                if let Some(host) = host {
                    value["hostEnv"] = json!(host);
                }
                if let Some(images) = images {
                    value["images"] = json!(images);
                }
                value
            }),
    )
}

/// A container block of orca.yaml: lines that are right, wrong, hostile, in any mix.
pub fn orca_yaml() -> impl Strategy<Value = String> {
    let right = prop_oneof![
        word(&["volume"]).prop_map(|w| format!("    mode: {w:?}\n")),
        image().prop_map(|w| format!("    image: {w:?}\n")),
        word(&["small", "medium", "large"]).prop_map(|w| format!("    template: {w:?}\n")),
        word(&["none", "bridge"]).prop_map(|w| format!("    network: {w:?}\n")),
        vec((persons_name(), value()), 0..3).prop_map(|pairs| {
            let lines: String = pairs.iter().map(|(n, v)| format!("      {n:?}: {v:?}\n")).collect();
            format!("    env:\n{lines}      Z: z\n")
        }),
        vec(persons_name(), 0..4).prop_map(|names| format!("    forwardHostEnv: {names:?}\n")),
        any::<bool>().prop_map(|on| format!("    copyIgnoredFiles: {on}\n")),
    ];
    let line = prop_oneof![
        30 => right,
        1 => select(&["    privileged: true\n", "    env: ~\n", "  x: [\n", "    <<: *a\n", "\t\n", "---\n"][..])
            .prop_map(String::from),
    ];
    prop_oneof![
        16 => Just(String::new()),
        16 => vec(line, 1..3).prop_map(|lines| format!("scripts: {{setup: x}}\nworktree:\n  container:\n    # block\n{}", lines.concat())),
        1 => any::<String>(),
    ]
}

/// Values of the properties of a devcontainer.json: right, by habit, hostile.
const PROPERTIES: &[(&str, &[&str])] = &[
    ("image", &[r#""alpine:3""#, r#""ghcr.io/acme/dev:1""#, r#""-v""#, "7"]),
    (
        "build",
        &[
            r#"{"dockerfile": "Dockerfile"}"#,
            r#"{"dockerfile": "../../x"}"#,
            r#"{"dockerfile": "D", "args": {"A": "${localEnv:HOME}"}, "options": ["--network=host"]}"#,
        ],
    ),
    (
        "runArgs",
        &[
            r#"["--privileged"]"#,
            r#"["--network=host", "--pid=host"]"#,
            r#"["--shm-size=64g", "--ulimit=nofile=1048576"]"#,
            r#"["--memory=64g", "--cpus=64", "--pids-limit=-1"]"#,
            r#"["-v", "/:/h", "--mount", "type=bind,src=/,dst=/h"]"#,
            r#"["-p", "80:80"]"#,
            r#"["-e", "A=1", "-eLD_PRELOAD=x", "--env=ORCA_X=1"]"#,
            r#"["--user=0", "--hostname=x", "--label=orca.plan=x", "--label=a=b"]"#,
            r#"["--network=none"]"#,
            r#"["--", "x"]"#,
            r#"["--cap-add=ALL", "--device=/dev/kmsg", "--security-opt=seccomp=unconfined"]"#,
        ],
    ),
    (
        "mounts",
        &[
            r#"["source=cache,target=/a", "source=/,target=/h,type=bind"]"#,
            r#"["type=tmpfs,target=/t,tmpfs-size=64g"]"#,
            r#"["source=aa,target=/workspace/acme/x", "source=bb,target=/proc", "source=cc,target=/orca/agent"]"#,
            r#"[{"source": "cache", "target": "/a", "type": "volume"}, {"source": "${localEnv:HOME}", "target": "/x", "type": "bind"}]"#,
            r#"["type=volume,target=/v,volume-opt=device=/,volume-opt=o=bind,volume-opt=type=none"]"#,
        ],
    ),
    (
        "containerEnv",
        &[
            r#"{"A": "1", "NODE_ENV": "${localEnv:NODE_ENV}"}"#,
            r#"{"LD_PRELOAD": "x", "ORCA_X": "1", "PATH": "/x"}"#,
            r#"{"T": "${localEnv:GH_TOKEN:d}"}"#,
        ],
    ),
    (
        "remoteEnv",
        &[
            r#"{"A": null, "PATH": "${containerEnv:PATH}:/x"}"#,
            r#"{"AWS_SECRET_ACCESS_KEY": "${localEnv:AWS_SECRET_ACCESS_KEY}"}"#,
        ],
    ),
    ("remoteUser", &[r#""root""#, r#""vscode""#, r#""1000""#]),
    ("containerUser", &[r#""0:0""#, r#""node""#]),
    ("forwardPorts", &["[3000, 5432]", r#"["db:80", 22]"#]),
    ("appPort", &["80", r#"["0.0.0.0:80:80"]"#]),
    ("workspaceFolder", &[r#""/workspaces/acme/x""#, r#""/etc""#]),
    ("postCreateCommand", &[r#""npm ci""#, r#"["a", "b"]"#, r#"{"x": "a", "y": ["b"]}"#]),
    ("postStartCommand", &[r#""x""#]),
    ("initializeCommand", &[r#""touch /tmp/x""#]),
    ("privileged", &["true", r#""true""#]),
    ("capAdd", &[r#"["ALL"]"#]),
    ("securityOpt", &[r#"["seccomp=unconfined"]"#]),
    ("dockerComposeFile", &[r#""c.yml""#]),
    ("x", &["1"]),
];

/// A devcontainer.json of any of these properties, or any text.
pub fn devcontainer() -> impl Strategy<Value = String> {
    let property = select(PROPERTIES)
        .prop_flat_map(|(name, values)| select(values).prop_map(move |value| format!("{name:?}: {value}")));
    let image = prop_oneof![
        4 => Just("\"image\": \"alpine:3\"".to_owned()),
        1 => Just("\"build\": {\"dockerfile\": \"Dockerfile\", \"args\": {\"A\": \"1\"}}".to_owned()),
    ];
    prop_oneof![
        14 => (image, vec(property.clone(), 1..8)).prop_map(|(image, more)| {
            let name = |property: &String| property.split(':').next().map(String::from);
            let mut seen: BTreeSet<_> = ["\"image\"", "\"build\"", "\"dockerComposeFile\""].map(|n| Some(n.to_owned())).into();
            let more: Vec<String> = more.into_iter().filter(|property| seen.insert(name(property))).collect();
            format!("{{{}}}", [vec![image], more].concat().join(", "))
        }),
        1 => vec(property, 0..5).prop_map(|properties| format!("{{{}}}", properties.join(", "))),
        1 => any::<String>(),
    ]
}

/// What persons say, on either engine; no repository yet.
pub fn persons() -> impl Strategy<Value = Value> {
    (
        select(&["docker", "podman"][..]),
        (options(), options(), option::of(options())),
        (maximum(), option::of(select(&["shared-only", "local-only", "run-both", "?"][..]))),
        (env(), env(), vec(persons_name(), 0..3), vec(persons_name(), 0..3)),
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |(
                engine,
                (choices, global, repo),
                (maximum, policy),
                (agent, project, host, secrets),
                (facts, image, account),
            )| {
                let mut value = request(engine);
                set(&mut value, "choices", choices);
                set(&mut value, "choices.enabled", json!(true));
                let fallback = value["globalSettings"]["container"]["image"].clone();
                set(&mut value, "globalSettings.container", global);
                if value["globalSettings"]["container"]["image"].is_null() {
                    set(&mut value, "globalSettings.container.image", fallback);
                }
                set(&mut value, "agent", json!("claude"));
                set(&mut value, "globalSettings.agentDefaultEnv", json!({"claude": agent}));
                set(&mut value, "repoSettings.agentEnv", project);
                set(&mut value, "host.envNames", json!(host));
                let secrets: Vec<Value> = secrets.into_iter().map(|name| json!({"name": name})).collect();
                set(&mut value, "secrets", json!(secrets));
                for (path, part) in [
                    ("repoSettings.container", repo),
                    ("globalSettings.maximum", maximum),
                    ("repoSettings.commandSourcePolicy", policy.map(|p| json!(p))),
                    ("repoSettings.ghAccount", account.then(|| json!({"host": "github.com", "user": "ada"}))),
                ] {
                    if let Some(part) = part {
                        set(&mut value, path, part);
                    }
                }
                let object = value.as_object_mut().unwrap();
                if !facts {
                    object.remove("engine");
                }
                if !image {
                    object.remove("imageFacts");
                }
                value
            },
        )
}

/// What a repository adds: orca.yaml, .worktreeinclude, the image's own configuration.
pub fn repository() -> impl Strategy<Value = Value> {
    let include = select(&["", ".env\n", "../x\n*.local\n", ".git/config\n"][..]);
    let image = vec((name(), value()), 0..3);
    (orca_yaml(), include, image, devcontainer()).prop_map(|(yaml, include, image, devcontainer)| {
        let image: Vec<String> = image.into_iter().map(|(n, v)| format!("{n}={v}")).collect();
        json!({"yaml": yaml, "include": include, "image": image, "devcontainer": devcontainer})
    })
}

/// The request of these persons for this repository.
pub fn joined(persons: &Value, repository: &Value) -> Value {
    let mut value = persons.clone();
    set(&mut value, "orcaYaml", json!({"path": "orca.yaml", "text": repository["yaml"]}));
    let path = ".devcontainer/devcontainer.json";
    let dockerfile =
        json!({"path": ".devcontainer/Dockerfile", "digest": "d".repeat(64), "text": "FROM alpine:3\n"});
    set(
        &mut value,
        "devcontainer",
        json!({"path": path, "text": repository["devcontainer"], "dockerfile": dockerfile}),
    );
    set(&mut value, "worktreeInclude", json!({"text": repository["include"], "ignored": [".env"]}));
    if value.get("imageFacts").is_some() {
        set(&mut value, "imageFacts.env", repository["image"].clone());
    }
    value
}
