//! Lists of tokens, the same in every run.

/// A generator of numbers.
pub struct Random(u64);

/// Lists that were measured to matter.
pub const FIXED: &[&[&str]] = &[
    &["-itv/:/h", "img"],
    &["-v=", "img"],
    &["-v="],
    &["-i=", "img"],
    &["-i=maybe", "img"],
    &["-it=false", "img"],
    &["-privileged", "img"],
    &["-net", "host", "img"],
    &["--net", "none", "--dns-opt", "x", "--net-alias", "y", "--kernel-memory", "6m", "img"],
    &["--annotation", "a=b", "img", "--privileged"],
    &["--health-start-interval=1s", "img"],
    &["--cpu-count=1", "--io-maxiops=1", "--io-maxbandwidth=1", "img"],
    &["--label", "-v", "/:/h"],
    &["--privileged", "true"],
    &["--privileged=T", "img"],
    &["--Privileged", "img"],
    &["--privileged ", "img"],
    &["--priv", "img"],
    &["--", "img", "--privileged"],
    &["--"],
    &["-", "x"],
    &["", "x"],
    &["---x"],
    &["--=x"],
    &["-=x"],
    &["-test.v", "img"],
    &["-itest.v", "img"],
    &["\u{2013}privileged"],
    &["-\u{e9}"],
    &["-e", "--privileged", "img"],
    &["--systemd=always", "img"],
    &["--rootfs", "img"],
];

const LONG: &[(&str, &[&str])] = &[
    ("env", &["A=1", "B=x=y", "C", "A="]),
    ("label", &["a=1", "b=2", "a=3", "c"]),
    ("cap-add", &["CAP_CHOWN", "CAP_SYS_PTRACE"]),
    ("cap-drop", &["ALL"]),
    ("hostname", &["dev", "x"]),
    ("user", &["0", "1000:1000", "vscode"]),
    ("workdir", &["/x", "/y"]),
    ("memory", &["64m", "1g", "zz", "0"]),
    ("cpus", &["1.5", "x"]),
    ("pids-limit", &["5", "-1", "x"]),
    ("shm-size", &["1g", "x"]),
    ("ulimit", &["nofile=1:2", "core=0", "x"]),
    ("network", &["host", "none", "bridge"]),
    ("net", &["none"]),
    ("dns-opt", &["x"]),
    ("security-opt", &["no-new-privileges", "label=disable"]),
    ("tmpfs", &["/t", "/t:size=1m"]),
    ("mount", &["type=bind,src=/,dst=/h", "TYPE=volume,source=ab,target=/x", "x"]),
    ("volume", &["/:/h", "name:/d", "./x:/y"]),
    ("publish", &["8080:80", "80", "x"]),
    ("device", &["/dev/null", "/dev/null:/dev/x"]),
    ("pid", &["host"]),
    ("ipc", &["host", "private"]),
    ("userns", &["host", "keep-id"]),
    ("restart", &["no", "always"]),
    ("entrypoint", &["sh"]),
    ("stop-timeout", &["5", "x"]),
    ("detach-keys", &["ctrl-a"]),
    ("annotation", &["a=b"]),
    ("runtime", &["runc"]),
    ("name", &["n1"]),
    ("systemd", &["always"]),
    ("secret", &["x"]),
    ("gpus", &["all"]),
    ("sysctl", &["net.core.somaxconn=1"]),
    ("unknown-flag", &["x"]),
];

const SWITCHES: &[&str] = &[
    "init",
    "privileged",
    "tty",
    "interactive",
    "rm",
    "read-only",
    "publish-all",
    "no-healthcheck",
    "detach",
    "quiet",
    "sig-proxy",
    "oom-kill-disable",
    "use-api-socket",
    "disable-content-trust",
    "rootfs",
    "env-host",
    "nonsense",
];

const BOOLS: &[&str] = &["true", "false", "1", "0", "t", "F", "TRUE", "True", "False", "yes", "", "tRUE"];

const LETTERS: &[char] =
    &['a', 'c', 'd', 'e', 'h', 'i', 'i', 'l', 'm', 'p', 'P', 'q', 't', 't', 'u', 'v', 'w', 'Z', '-', '='];

const ODD: &[&str] = &[
    "--",
    "-",
    "",
    "img",
    "ubuntu:22.04",
    "--x",
    "---",
    "--=",
    "-Z",
    "true",
    "/:/h",
    "Bad Image",
    "--init",
    "-it",
];

impl Random {
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.checked_rem(u64::try_from(most).unwrap()).unwrap()).unwrap()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all.iter().copied().nth(self.below(all.len())).unwrap()
    }

    /// Some flags, mostly whole, and mostly an image.
    pub fn list(&mut self) -> Vec<String> {
        let mut tokens = Vec::new();
        for _ in 0..self.below(5) {
            self.push_flag(&mut tokens);
        }
        if self.below(4) != 0 {
            tokens.push("img:1".into());
        }
        for _ in 0..self.below(3) {
            self.push_flag(&mut tokens);
        }
        tokens
    }

    fn push_flag(&mut self, tokens: &mut Vec<String>) {
        let (long, values) = self.of(LONG);
        let value = self.of(values);
        match self.below(16) {
            0..=3 => tokens.push(format!("--{long}={value}")),
            4..=6 => tokens.extend([format!("--{long}"), value.to_owned()]),
            7 | 8 => tokens.push(format!("--{}", self.of(SWITCHES))),
            9 => {
                let word = format!("--{}={}", self.of(SWITCHES), self.of(BOOLS));
                tokens.push(word);
            }
            10 => tokens.push(self.of(ODD).to_owned()),
            11 => tokens.push(format!("--{long}")),
            12 => tokens.extend(["-e".to_owned(), "A=b".to_owned()]),
            13 => tokens.push(format!(
                "-{}u{}",
                self.of(&["i", "t", "P", "iP", ""]),
                self.of(&["0", "=0", "5", "="])
            )),
            _ => {
                let letters: String = (0..=self.below(3)).map(|_| self.of(LETTERS)).collect();
                let value = self.of(&["", "=", "=x", "x=1", "/a:/b", "5"]);
                tokens.push(format!("-{letters}{value}"));
            }
        }
    }
}
