//! Requests: the typical one, ones with many variables, ones around a hostile orca.yaml.

use serde_json::{Map, Value, json};

/// About a kilobyte: a container block with everything, beside what else such files hold.
pub fn typical_orca_yaml() -> String {
    String::from(
        "# Acme's web shop. What agents and people get in a fresh worktree.\n\
         scripts:\n  setup: |\n    corepack enable\n    pnpm install --frozen-lockfile\n    pnpm run db:migrate\n  \
         archive: pnpm run clean\n  test: pnpm run test -- --reporter=dot\n\n\
         defaultTabs:\n  - title: Dev server\n    command: pnpm run dev --port 5173\n  - title: Tests\n    \
         command: pnpm run test:watch\n  - title: Storybook\n    command: pnpm run storybook --ci\n\n\
         environmentRecipes:\n  - name: default\n    image: ghcr.io/acme/agent-base:1\n\n\
         worktree:\n  sharedDirectories: [node_modules/.cache]\n  container:\n    \
         mode: volume                 # volume (container only) | mounted (shared folder)\n    \
         template: medium             # small | medium | large\n    \
         network: bridge              # bridge | none\n    env:\n      NODE_ENV: development\n      \
         DATABASE_URL: postgres://db:5432/app_dev   # differs from the host's value\n      \
         REDIS_URL: redis://cache:6379/0\n      LOG_LEVEL: info\n      FEATURE_FLAGS: new-checkout,search-v2\n    \
         forwardHostEnv: [GRADLE_OPTS, NPM_CONFIG_REGISTRY]   # names, never values\n    copyIgnoredFiles: true\n",
    )
}

fn variables(prefix: &str, count: usize) -> Map<String, Value> {
    (0..count).map(|n| (format!("{prefix}_{n}"), json!(format!("value-of-{prefix}-{n}")))).collect()
}

fn base() -> Value {
    json!({
        "schemaVersion": 1,
        "install": {"id": "2f9c1d6d0a4b4c21a9b5fd8e0c3a7710"},
        "workspace": {
            "id": "acme-web::/home/ada/worktrees/acme-web/feature-checkout", "instanceId": "7b2e4c01",
            "repositoryId": "/home/ada/src/acme-web/.git", "name": "feature-checkout", "branch": "feature/checkout",
            "base": "main", "repoPath": "/home/ada/src/acme-web",
            "worktreePath": "/home/ada/worktrees/acme-web/feature-checkout",
            "gitCommonDir": "/home/ada/src/acme-web/.git", "remoteUrl": "https://github.com/acme/web.git"
        },
        "agent": "claude",
        "choices": {"enabled": true},
        "globalSettings": {
            "experimentalContainerWorkspaces": true, "container": {"image": "ghcr.io/acme/agent-base:1"}
        },
        "host": {"platform": "linux", "envNames": ["GRADLE_OPTS", "NPM_CONFIG_REGISTRY"]},
        "engine": {
            "kind": "docker", "version": "28.2.2", "endpoint": "local", "cpus": 8, "memoryBytes": 16_000_000_000_u64,
            "limits": ["memory", "swap", "cpu", "pids"], "runtimes": ["runc", "runsc"], "cgroupVersion": 2,
            "client": {"program": "/usr/bin/docker", "env": {"PATH": "/usr/bin:/bin", "HOME": "/home/ada"}}
        },
        "imageFacts": {
            "id": format!("sha256:{}", "a".repeat(64)), "user": "node", "uid": 1000, "gid": 1000, "home": "/home/node",
            "env": ["PATH=/usr/local/bin:/usr/bin:/bin", "NODE_VERSION=22.11.0", "YARN_VERSION=1.22.22", "LANG=C.UTF-8"]
        }
    })
}

/// Thirty variables in seven layers, some of them said twice, and the typical orca.yaml.
pub fn typical() -> String {
    let mut request = base();
    request["orcaYaml"] = json!({"path": "orca.yaml", "text": typical_orca_yaml()});
    request["worktreeInclude"] = json!({"text": ".env\n*.local\n", "ignored": [".env", "web.local"]});
    request["repoSettings"] = json!({
        "commandSourcePolicy": "run-both",
        "ghAccount": {"host": "github.com", "user": "ada"},
        "agentEnv": {"PROJECT_NAME": "acme-web", "NODE_ENV": "test", "CI_PROVIDER": "none"},
        "container": {"env": {"SENTRY_ENVIRONMENT": "dev", "NPM_TOKEN": {"secret": "NPM_TOKEN"}}}
    });
    request["globalSettings"]["container"]["env"] = json!({"EDITOR": "vi", "LOG_LEVEL": "warn"});
    request["globalSettings"]["agentDefaultEnv"] =
        json!({"claude": {"MAX_THINKING_TOKENS": "16000", "DISABLE_TELEMETRY": "1", "LOG_LEVEL": "error"}});
    request["secrets"] = json!([{"name": "NPM_TOKEN"}]);
    request["choices"]["env"] = json!({"PORT": "5173", "STRIPE_KEY": "test"});
    request["choices"]["forwardHostEnv"] = json!(["GRADLE_OPTS", "NPM_CONFIG_REGISTRY"]);
    let file = "# of this workspace\nDATABASE_URL=postgres://ada@localhost:5432/app_feature\nS3_BUCKET=dev-ada\n\
                S3_REGION=eu-central-1\nMAIL_HOST=localhost\nMAIL_PORT=1025\nQUEUE_URL=amqp://localhost\nDEBUG=app:*\n";
    request["choices"]["envFile"] = json!({"name": "workspace.env", "text": file});
    request.to_string()
}

/// This many variables, spread over eight collections.
pub fn with_variables(count: usize) -> String {
    let share = |index: usize| count / 8 + usize::from(index < count % 8);
    let mut request = base();
    let lines = |prefix: &str, count: usize, indent: &str, mark: &str| -> String {
        (0..count).map(|n| format!("{indent}{prefix}_{n}{mark}value-of-{prefix}-{n}\n")).collect()
    };
    request["choices"]["env"] = Value::Object(variables("CHOICE", share(0)));
    request["choices"]["envFile"] = json!({"name": "w.env", "text": lines("FILE", share(1), "", "=")});
    request["repoSettings"] = json!({
        "commandSourcePolicy": "run-both",
        "container": {"env": variables("REPOSITORY", share(2))},
        "agentEnv": variables("PROJECT", share(3))
    });
    request["globalSettings"]["container"]["env"] = Value::Object(variables("GLOBAL", share(4)));
    request["globalSettings"]["agentDefaultEnv"] = json!({"claude": variables("AGENT", share(5))});
    request["secrets"] = (0..share(6)).map(|n| json!({"name": format!("SECRET_{n}")})).collect();
    if share(7) > 0 {
        let text = format!("worktree:\n  container:\n    env:\n{}", lines("YAML", share(7), "      ", ": "));
        request["orcaYaml"] = json!({"path": "orca.yaml", "text": text});
    }
    request.to_string()
}

/// A request around this orca.yaml.
pub fn with_orca_yaml(text: &str) -> String {
    let mut request = base();
    request["orcaYaml"] = json!({"path": "orca.yaml", "text": text});
    request.to_string()
}

/// As long as orca.yaml may be.
pub const MOST_BYTES: usize = 256 * 1024;

/// 256 variables with values so long that the file is as large as it may be.
pub fn full_of_variables() -> String {
    let head = "worktree:\n  container:\n    env:\n";
    let value = "x".repeat((MOST_BYTES - head.len()) / 256 - 16);
    (0..256).fold(String::from(head), |text, n| text + &format!("      V{n:04}: {value}\n"))
}

/// A valid file of this size, of many keys that are not ours.
pub fn keys(bytes: usize) -> String {
    (0..bytes / 16).map(|n| format!("key{n:06}: abcd\n")).collect()
}
