//! Whoever writes what comes out of a container: objects that no git writes, bundles by hand, any output at all.

use crate::bench::{Bench, Ran};
use crate::fetch::{everything, no_import_is_left, tip};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

/// The id of an object that is nowhere.
pub const OTHER: &str = "0123456789abcdef0123456789abcdef01234567";

/// A git of the attacker's, with a repository of its own that has the host's history.
pub struct Attacker<'b> {
    pub bench: &'b mut Bench,
}

impl<'b> Attacker<'b> {
    pub fn new(bench: &'b mut Bench) -> Self {
        // By this program the workspace is made, so that it is the recorded one.
        bench.wrap(bench.engine, "");
        bench.create(&["--network=none"]).ok();
        bench.git(&["switch", "-q", "main"]);
        let evil = bench.path("evil");
        bench.git(&["clone", "-q", "--bare", ".", evil.to_str().unwrap()]);
        Self { bench }
    }

    pub fn git(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=n", "-c", "user.email=e", "-C"])
            .arg(self.bench.path("evil"))
            .args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub fn object(&self, kind: &str, bytes: &[u8]) -> String {
        let id = self.git(&["hash-object", "-t", kind, "-w", "--literally", "--stdin"], bytes);
        String::from_utf8(id).unwrap().trim().to_owned()
    }

    pub fn tree(&self, entries: &[(&str, &str)]) -> String {
        let mut bytes = Vec::new();
        for (entry, id) in entries {
            bytes.extend(entry.as_bytes());
            bytes.push(0);
            bytes.extend(data_encoding::HEXLOWER.decode(id.as_bytes()).unwrap());
        }
        self.object("tree", &bytes)
    }

    pub fn commit(&self, tree: &str) -> String {
        let parent = tip(self.bench);
        self.object(
            "commit",
            format!("tree {tree}\nparent {parent}\nauthor n <e> 1 +0000\ncommitter n <e> 1 +0000\n\nevil\n")
                .as_bytes(),
        )
    }

    pub fn bundle(&self, references: &[(&str, &str)], objects: &[&str]) -> Vec<u8> {
        let mut bundle = b"# v2 git bundle\n".to_vec();
        for (id, reference) in references {
            bundle.extend(format!("{id} {reference}\n").as_bytes());
        }
        bundle.push(b'\n');
        let names: String = objects.iter().map(|id| format!("{id}\n")).collect();
        bundle.extend(self.git(&["pack-objects", "-q", "--stdout"], names.as_bytes()));
        bundle
    }

    /// Has the container write these bytes, and end so.
    pub fn writes(&mut self, bytes: &[u8], code: i32) {
        let file = self.bench.path("written");
        fs::write(&file, bytes).unwrap();
        self.says(&format!("cat {}; exit {code}", file.display()));
    }

    pub fn says(&mut self, script: &str) {
        let engine = self.bench.engine;
        self.bench.wrap(engine, &format!("case \"$*\" in *'git bundle create'*) {script};; esac"));
    }

    /// A fetch is refused with these words, and the host is byte for byte what it was.
    #[track_caller]
    pub fn refused(&self, what: &str, words: &[&str]) -> Ran {
        let before = everything(self.bench);
        let refused = self.bench.run(&["fetch", "acme"]);
        assert_eq!(refused.code, 1, "{what}: {refused:?}");
        assert!(words.iter().any(|word| refused.stderr.contains(word)), "{what}: {}", refused.stderr);
        assert!(
            refused.stderr.len() < 4096 && !refused.stderr.contains('\u{1b}'),
            "{what}: {}",
            refused.stderr
        );
        assert!(everything(self.bench) == before, "{what}: the host changed");
        no_import_is_left(self.bench);
        refused
    }

    pub fn done(self) {
        self.bench.unwrap(self.bench.engine);
        self.bench.wrap(self.bench.engine, "");
        self.bench.run(&["rm", "acme", "--force"]).ok();
    }
}
