//! How `runArgs` are read, held against docker's own client: random lists of tokens give the same flags, the same
//! fault, the same image and command. Needs the client alone: it talks to a stand-in that answers every request with an
//! error, so nothing is made. Switched like the engines' tests, by docker in `ORCA_TEST_ENGINES`.
//!
//! podman is never given random flags: some of its own run files of the host.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;
mod stand_in;

use libtest_mimic::{Arguments, Trial};
use orca_container_core::{
    EngineKind,
    probe::{Reading, reading},
};
use random::Random;
use serde_json::Value;
use stand_in::StandIn;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::{Command, Stdio},
};

/// Lists that are tried; `ORCA_TEST_FACTOR` multiplies them.
const LISTS: usize = 400;

/// Flags of `docker run` that `docker create` does not have.
const OF_RUN_ONLY: [&str; 3] = ["detach", "detach-keys", "sig-proxy"];

fn main() {
    let arguments = Arguments::from_args();
    let wanted = std::env::var("ORCA_TEST_ENGINES").unwrap_or_default();
    let on = wanted.split(',').any(|name| name.trim() == "docker");
    let run = || {
        differ_nowhere();
        Ok(())
    };
    let name = "docker::tokens_are_read_as_dockers_own_client_reads_them";
    libtest_mimic::run(&arguments, vec![Trial::test(name, run).with_ignored_flag(!on)]).exit();
}

fn differ_nowhere() {
    let factor = std::env::var("ORCA_TEST_FACTOR").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let stand_in = StandIn::new();
    let mut random = Random::new();
    let mut seen = [0_usize; 3];
    let mut different: Vec<String> = Vec::new();
    let fixed = random::FIXED.iter().map(|list| list.iter().map(|token| (*token).to_owned()).collect());
    let lists: Vec<Vec<String>> =
        fixed.chain((0..LISTS.saturating_mul(factor)).map(|_| random.list())).collect();
    for (index, tokens) in lists.iter().enumerate() {
        let command = if index % 2 == 0 { "run" } else { "create" };
        let said = ask(&stand_in, command, tokens);
        let ours = reading(EngineKind::Docker, tokens);
        match compare(command, tokens, &ours, &said) {
            Ok(kind) => {
                let count = seen.get_mut(kind).unwrap();
                *count = count.saturating_add(1);
            }
            Err(why) => {
                different.push(format!("docker {command} {tokens:?}: {why}\n{ours:?}\n{}", said.words))
            }
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    let [faults, values, created] = seen;
    let told =
        format!("{} lists: {faults} faults of form, {values} of values, {created} containers", lists.len());
    // Each kind of end must be met, or the comparison shows nothing.
    assert!(faults > 50 && values > 20 && created > 50, "{told}");
    if std::env::var_os("ORCA_TEST_TELL").is_some() {
        std::fs::write(std::env::temp_dir().join("docker_flags.txt"), told).unwrap();
    }
}

/// What docker made of tokens.
struct Said {
    words: String,
    body: Option<Value>,
}

fn ask(stand_in: &StandIn, command: &str, tokens: &[String]) -> Said {
    stand_in.forget();
    let output = Command::new("docker")
        .arg(command)
        .args(tokens)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", stand_in.folder())
        .env("DOCKER_HOST", stand_in.address())
        .current_dir(stand_in.folder())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Said { words: String::from_utf8_lossy(&output.stderr).into_owned(), body: stand_in.body() }
}

/// Where docker stops by our reading: an unknown flag, or our own stop.
fn stop<'r>(command: &str, ours: &'r Reading) -> Option<(usize, &'r str)> {
    let known = |(long, _, known): &(&'static str, String, bool)| {
        *known && !(command == "create" && OF_RUN_ONLY.contains(long))
    };
    if ours.flags.iter().all(known) { ours.stop } else { Some((0, "unknown")) }
}

/// Which kind of end it was (form, value, container), or why the readings differ.
fn compare(command: &str, tokens: &[String], ours: &Reading, said: &Said) -> Result<usize, String> {
    let stop = stop(command, ours);
    let kind = stop.map(|(_, kind)| kind);
    let words = said.words.as_str();
    // We stop where this docker may go on.
    if kind == Some("ambiguous") {
        return Ok(1);
    }
    let faults = [
        ("unknown flag: ", "unknown"),
        ("unknown shorthand flag: ", "unknown"),
        ("flag needs an argument: ", "dangling"),
        ("bad flag syntax: ", "malformed"),
    ];
    // A letter that `create` does not have, with a word that no switch takes: both readings stop there.
    if command == "create" && kind == Some("bad_switch") && words.starts_with("unknown shorthand flag: 'd'") {
        return Ok(0);
    }
    for (begin, expected) in faults {
        if words.starts_with(begin) {
            // podman's flag, with a word or without a value that no engine takes: both readings stop there.
            let named = words.lines().next().and_then(|line| line.strip_prefix("unknown flag: "));
            let there = stop.and_then(|(index, _)| tokens.get(index)).map(|token| token.split('=').next());
            return if kind == Some(expected) || (named.is_some() && there == Some(named)) {
                Ok(0)
            } else {
                Err(format!("{expected} was expected"))
            };
        }
    }
    if let Some(rest) = words.strip_prefix("invalid argument ") {
        let switch = rest.contains("strconv.ParseBool");
        return match (switch, kind) {
            (true, Some("bad_switch")) => Ok(0),
            (true, _) => Err("a bad switch was expected".into()),
            (false, _) => names_a_flag(ours, rest).map(|()| 1),
        };
    }
    // docker counts what is left behind the flags.
    let rest = match stop {
        None => &[],
        Some((index, "positional")) => tokens.get(index..).unwrap_or_default(),
        Some((index, "end_of_flags")) => tokens.get(index.saturating_add(1)..).unwrap_or_default(),
        Some(other) => return Err(format!("docker read every flag, and we stopped: {other:?}")),
    };
    if words.contains("requires at least 1 argument") {
        return if rest.is_empty() { Ok(0) } else { Err("we see an image".into()) };
    }
    if rest.is_empty() {
        return Err("docker sees an image".into());
    }
    match &said.body {
        Some(body) => same_container(ours, rest, body).map(|()| 2),
        // A value that is judged after the flags were read.
        None => Ok(1),
    }
}

/// docker refuses a value: we read that flag with that value too.
fn names_a_flag(ours: &Reading, rest: &str) -> Result<(), String> {
    let found = ours.flags.iter().any(|(long, value, _)| {
        let named = rest.contains(&format!("--{long}\" flag: "));
        named && rest.starts_with(&format!("{value:?} for "))
    });
    if found { Ok(()) } else { Err("we did not read that flag with that value".into()) }
}

/// What docker would make is what we read.
fn same_container(ours: &Reading, rest: &[String], body: &Value) -> Result<(), String> {
    let all = |name: &str| -> Vec<&str> {
        let of = ours.flags.iter().filter(|(long, ..)| *long == name);
        of.map(|(_, value, _)| value.as_str()).collect()
    };
    // docker keeps one of equal ones.
    let set = |values: Vec<String>| -> BTreeSet<String> { values.into_iter().collect() };
    let ours_of = |name: &str| set(all(name).into_iter().map(Into::into).collect());
    let on = |name: &str| all(name).last() == Some(&"true");
    let list = |value: &Value| -> Vec<String> {
        let items = value.as_array().cloned().unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(Into::into)).collect()
    };
    let (image, command) = rest.split_first().ok_or("no image")?;
    let host = &body["HostConfig"];
    let labels: BTreeMap<&str, &str> =
        all("label").iter().map(|label| label.split_once('=').unwrap_or((label, ""))).collect();
    let same = [
        ("image", body["Image"] == *image.as_str()),
        ("command", list(&body["Cmd"]) == command),
        ("env", last_of_each(&list(&body["Env"])) == last_of_each(&all("env"))),
        ("labels", body["Labels"] == serde_json::json!(labels)),
        ("tty", body["Tty"] == on("tty")),
        ("interactive", body["OpenStdin"] == on("interactive")),
        ("privileged", host["Privileged"] == on("privileged")),
        ("cap-add", set(list(&host["CapAdd"])) == ours_of("cap-add")),
        ("hostname", all("hostname").last().is_none_or(|name| body["Hostname"] == **name)),
        ("user", body["User"] == all("user").last().copied().unwrap_or_default()),
        ("workdir", all("workdir").last().is_none_or(|folder| body["WorkingDir"] == **folder)),
        ("security-opt", ours_of("security-opt").len() == set(list(&host["SecurityOpt"])).len()),
        ("publish-all", host["PublishAllPorts"] == on("publish-all")),
    ];
    match same.iter().find(|(_, same)| !same) {
        None => Ok(()),
        Some((what, _)) => Err(format!("{what} differs")),
    }
}

/// Of variables of one name docker keeps the last.
fn last_of_each<T: AsRef<str>>(variables: &[T]) -> BTreeMap<&str, Option<&str>> {
    variables
        .iter()
        .map(|text| {
            text.as_ref().split_once('=').map_or((text.as_ref(), None), |(name, value)| (name, Some(value)))
        })
        .collect()
}
