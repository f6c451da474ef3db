//! The golden corpus: one folder a case, the same for every door (core, command, addon).
//!
//! `tests/golden/<area>/<case>/` holds `request.json` (a JSON merge patch, RFC 7396, over
//! `tests/golden/base.json`), perhaps files that go into the request as they are (`orca.yaml`,
//! `devcontainer.json` with `devcontainer.txt` for what is found in it, `workspace.env`, `worktreeinclude`), and `expected.txt`, the answer in short, or `answer.json`, the whole
//! answer. `ORCA_UPDATE_GOLDEN=1` rewrites what is expected: read the difference before it is committed.

use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// A case of the corpus.
#[derive(Clone, Debug)]
pub struct Case {
    /// Area and name: `yaml/duplicate-key`.
    pub name: String,
    /// The whole request as JSON text.
    pub request: String,
    folder: PathBuf,
}

/// All cases, by name.
///
/// # Panics
/// When the corpus cannot be read.
pub fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let base: Value = parse(&root.join("base.json"));
    let mut cases = Vec::new();
    for area in folders(&root) {
        for folder in folders(&area) {
            let name = format!("{}/{}", file_name(&area), file_name(&folder));
            cases.push(Case { name, request: request(&base, &folder), folder });
        }
    }
    assert!(!cases.is_empty(), "the corpus is empty");
    cases
}

impl Case {
    /// Compares an answer with what is expected of this case.
    ///
    /// # Panics
    /// When they differ.
    pub fn check(&self, answer: &str) {
        let whole = self.folder.join("answer.json");
        if whole.exists() {
            let value: Value = serde_json::from_str(answer).expect("an answer is JSON");
            let pretty = serde_json::to_string_pretty(&value).expect("JSON prints");
            self.compare(&whole, &format!("{pretty}\n"));
        }
        // Only the area of plans repeats the whole command; elsewhere it would hide what the case is about.
        // The command that the case is about.
        let shown = match self.name.split('/').next() {
            Some("plan") => Some("create_container"),
            Some("clone") => Some("clone"),
            _ => None,
        };
        self.compare(&self.folder.join("expected.txt"), &summary(answer, shown));
    }

    /// Whether it is about a devcontainer.json.
    pub fn has_devcontainer(&self) -> bool {
        self.folder.join("devcontainer.json").exists()
    }

    /// Compares the findings about its devcontainer.json with `devcontainer.txt`.
    ///
    /// # Panics
    /// When they differ.
    pub fn check_devcontainer(&self, answer: &str) {
        let mut out = String::new();
        findings(&mut out, &serde_json::from_str(answer).expect("findings are JSON"));
        self.compare(&self.folder.join("devcontainer.txt"), &out);
    }

    /// The workspace of a case with `now.json`, a patch over its request, and `state.json`, what is known of the
    /// workspace: the envelope of a report, for the frozen plan that `plan` gives of its request.
    ///
    /// # Panics
    /// When the case gives no plan.
    pub fn workspace(&self, plan: impl Fn(&str) -> String) -> Option<String> {
        let state = self.folder.join("state.json");
        if !state.exists() {
            return None;
        }
        let answer: Value = serde_json::from_str(&plan(&self.request)).expect("an answer is JSON");
        assert!(answer["plan"]["digest"].is_string(), "{}: no plan: {}", self.name, answer["message"]);
        let mut now: Value = serde_json::from_str(&self.request).expect("a request is JSON");
        merge(&mut now, &parse(&self.folder.join("now.json")));
        let mut envelope = parse(&state);
        envelope["plan"] = answer["plan"].clone();
        envelope["request"] = now;
        Some(envelope.to_string())
    }

    /// What is asked of a case with `after.json`, a patch over its request, and perhaps `after.orca.yaml`: what the later
    /// request makes of the plan that `plan` gives, patched by `frozen.json` where that is there.
    ///
    /// # Panics
    /// When the case gives no plan.
    pub fn changes(&self, plan: impl Fn(&str) -> String) -> Option<String> {
        let patch = self.folder.join("after.json");
        if !patch.exists() {
            return None;
        }
        let answer: Value = serde_json::from_str(&plan(&self.request)).expect("an answer is JSON");
        assert!(answer["plan"]["digest"].is_string(), "{}: no plan: {}", self.name, answer["message"]);
        let before: Value = serde_json::from_str(&self.request).expect("a request is JSON");
        let mut after = before.clone();
        merge(&mut after, &parse(&patch));
        if let Ok(text) = fs::read_to_string(self.folder.join("after.orca.yaml")) {
            after["orcaYaml"] = json!({"path": "orca.yaml", "text": text});
        }
        let mut frozen = answer["plan"].clone();
        let patch = self.folder.join("frozen.json");
        if patch.exists() {
            merge(&mut frozen, &parse(&patch));
        }
        Some(json!({"plan": frozen, "before": before, "after": after}).to_string())
    }

    /// What is asked of a case with `world.json`, what is recorded and observed of its workspace: its standing, by the plan
    /// that `plan` gives and, where `now.json` is a patch over the request, with what waits.
    ///
    /// # Panics
    /// When the case gives no plan.
    pub fn standing(&self, plan: impl Fn(&str) -> String) -> Option<String> {
        let world = self.folder.join("world.json");
        if !world.exists() {
            return None;
        }
        let answer: Value = serde_json::from_str(&plan(&self.request)).expect("an answer is JSON");
        assert!(answer["plan"]["digest"].is_string(), "{}: no plan: {}", self.name, answer["message"]);
        let mut envelope = parse(&world);
        envelope["plan"] = answer["plan"].clone();
        let patch = self.folder.join("now.json");
        if patch.exists() {
            let mut now: Value = serde_json::from_str(&self.request).expect("a request is JSON");
            merge(&mut now, &parse(&patch));
            envelope["request"] = now;
        }
        Some(envelope.to_string())
    }

    /// Compares a text with a file of the case.
    ///
    /// # Panics
    /// When they differ.
    pub fn check_file(&self, name: &str, got: &str) {
        self.compare(&self.folder.join(name), got);
    }

    fn compare(&self, path: &Path, got: &str) {
        if std::env::var_os("ORCA_UPDATE_GOLDEN").is_some() {
            fs::write(path, got).expect("the corpus can be written");
            return;
        }
        let expected = fs::read_to_string(path).unwrap_or_default();
        assert!(expected == got, "{}: expected\n{expected}\n--- got\n{got}", self.name);
    }
}

fn request(base: &Value, folder: &Path) -> String {
    let mut request = base.clone();
    merge(&mut request, &parse(&folder.join("request.json")));
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    if let Some(text) = text("orca.yaml") {
        request["orcaYaml"] = json!({"path": "orca.yaml", "text": text});
    }
    if let Some(text) = text("devcontainer.json") {
        request["devcontainer"] = json!({"path": ".devcontainer/devcontainer.json", "text": text});
    }
    if let Some(text) = text("workspace.env") {
        request["choices"]["envFile"] = json!({"name": "workspace.env", "text": text});
    }
    if let Some(text) = text("worktreeinclude") {
        request["worktreeInclude"]["text"] = json!(text);
    }
    request.to_string()
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, member) in members {
        if member.is_null() {
            target.as_object_mut().map(|object| object.remove(name));
        } else {
            merge(&mut target[name], member);
        }
    }
}

fn parse(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut folders: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|e| e.path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// An answer in short: what was found, the environment, and where asked for one command of `create`.
///
/// # Panics
/// When the text is no answer.
pub fn summary(answer: &str, shown: Option<&str>) -> String {
    let answer: Value = serde_json::from_str(answer).expect("an answer is JSON");
    let mut out = String::new();
    if answer["ok"] == json!(true) {
        let sealed = answer["plan"]["digest"].is_string();
        let _ = writeln!(out, "{}", if sealed { "plan" } else { "preview" });
        for need in array(&answer["needs"]) {
            let more = need["reference"].as_str().or(need["digest"].as_str()).unwrap_or("");
            let _ = writeln!(out, "needs {} {more}", word(&need["kind"]));
        }
        findings(&mut out, &answer["notices"]);
        shadowed_options(&mut out, &answer["options"]);
        environment(&mut out, &answer["environment"]);
        copies(&mut out, &answer["copy"]);
        if let Some(action) = shown {
            create(&mut out, &answer["commands"]["create"], action);
        }
    } else {
        let _ = writeln!(out, "refused {}", word(&answer["code"]));
        findings(&mut out, &answer["problems"]);
    }
    out
}

fn findings(out: &mut String, findings: &Value) {
    for finding in array(findings) {
        let severity = word(&finding["severity"]);
        let _ = writeln!(out, "{severity} {} {}", word(&finding["code"]), place(&finding["source"]));
        let _ = writeln!(out, "    {}", word(&finding["message"]));
        if let Some(help) = finding["help"].as_str() {
            let _ = writeln!(out, "    help: {help}");
        }
        for standard in array(&finding["standards"]) {
            let _ = writeln!(out, "    standard: {}", word(standard));
        }
    }
}

fn shadowed_options(out: &mut String, options: &Value) {
    for (name, option) in options.as_object().into_iter().flatten() {
        for shadow in array(&option["shadows"]) {
            let (won, lost) = (word(&option["value"]), word(&shadow["value"]));
            let places = [place(&option["source"]), place(&shadow["source"])].join(" over ");
            let _ = writeln!(out, "option {name} {won} over {lost} {places}");
        }
    }
}

fn environment(out: &mut String, entries: &Value) {
    for entry in array(entries) {
        let secret = if entry["secret"] == json!(true) { " secret" } else { "" };
        let fate = [&entry["state"], &entry["layer"], &entry["delivery"]].map(word).join(" ");
        let _ = writeln!(out, "env {} {fate}{secret} {}", word(&entry["name"]), place(&entry["source"]));
        for shadow in array(&entry["shadows"]) {
            let fate = [&shadow["state"], &shadow["layer"]].map(word).join(" ");
            let _ = writeln!(out, "    over {fate} {}", place(&shadow["source"]));
        }
    }
}

fn copies(out: &mut String, copy: &Value) {
    for file in array(&copy["files"]) {
        let _ = writeln!(out, "copy {file}");
    }
    for left in array(&copy["leftOut"]) {
        let _ = writeln!(out, "left {} {}", left["path"], word(&left["code"]));
    }
}

fn create(out: &mut String, commands: &Value, action: &str) {
    for command in array(commands).iter().filter(|c| c["action"] == json!(action)) {
        for arg in array(&command["argv"]) {
            let shown = arg.as_str().map_or_else(|| arg.to_string(), |text| text.escape_debug().to_string());
            let _ = writeln!(out, "argv {shown}");
        }
        for arg in array(&command["stdin"]["argv"]) {
            let _ = writeln!(out, "stdin of {}", word(arg));
        }
    }
}

fn place(source: &Value) -> String {
    let at = match (source["file"].as_str(), &source["line"], &source["column"]) {
        (Some(file), Value::Number(line), Value::Number(column)) => format!(" {file}:{line}:{column}"),
        (Some(file), ..) => format!(" {file}"),
        _ => String::new(),
    };
    let path = source["path"].as_str().map(|path| format!(" {path}")).unwrap_or_default();
    format!("[{}{at}{path}]", word(&source["origin"]))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
