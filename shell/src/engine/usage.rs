//! How much room volumes and containers take, in the engine's own words: asked once for all, since an engine walks every
//! file of a volume for it.

use std::collections::BTreeMap;
use std::time::Duration;

use orca_container_core::EngineKind;
use serde_json::Value;

use super::client::{Client, ClientError};

/// How long an engine may take to count.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of volumes.
    pub volumes: BTreeMap<String, u64>,
    /// Of containers: what they wrote outside of volumes.
    pub containers: BTreeMap<String, u64>,
}

/// Asks an engine. What it does not tell is not in the answer.
pub fn usage(client: &Client, engine: EngineKind) -> Result<Usage, ClientError> {
    let volumes = match engine {
        EngineKind::Docker => of_docker(&told(client, &["system", "df", "-v", "--format={{json .}}"])?),
        EngineKind::Podman => of_podman(&told(client, &["system", "df", "-v"])?),
    };
    let format = "--format={{.Names}}\t{{.Size}}";
    let containers = of_list(&told(client, &["ps", "-a", "-s", "--filter=label=orca.workspace", format])?);
    Ok(Usage { volumes, containers })
}

fn told(client: &Client, args: &[&str]) -> Result<String, ClientError> {
    let answer = client.ask(args, PATIENCE)?;
    if answer.code == 0 { Ok(answer.text()) } else { Err(answer.unusable(&client.program)) }
}

fn of_docker(text: &str) -> BTreeMap<String, u64> {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    let volumes = answer.get("Volumes").and_then(Value::as_array).into_iter().flatten();
    let one = |volume: &Value| {
        let text = |field: &str| volume.get(field)?.as_str();
        Some((text("Name")?.to_owned(), bytes(text("Size")?)?))
    };
    volumes.filter_map(one).collect()
}

/// podman 4.3 has no JSON for this: the lines of its table under VOLUME NAME.
fn of_podman(text: &str) -> BTreeMap<String, u64> {
    let rows = text.lines().skip_while(|line| !line.starts_with("VOLUME NAME")).skip(1);
    let one = |row: &str| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [name, _, size] = words.as_slice() else { return None };
        Some(((*name).to_owned(), bytes(size)?))
    };
    rows.map_while(one).collect()
}

/// `NAME<tab>SIZE (virtual SIZE)` a line.
fn of_list(text: &str) -> BTreeMap<String, u64> {
    let one = |line: &str| {
        let (name, size) = line.split_once('\t')?;
        Some((name.to_owned(), bytes(size.split_whitespace().next()?)?))
    };
    text.lines().filter_map(one).collect()
}

/// Both engines round to three digits and a decimal unit.
fn bytes(size: &str) -> Option<u64> {
    let unit = size.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = size.split_at(unit);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let factor: u64 = match unit {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return None,
    };
    let mut all = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    let mut worth = factor;
    for digit in part.chars() {
        worth /= 10;
        all = all.checked_add(u64::from(digit.to_digit(10)?).checked_mul(worth)?)?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[(&str, u64)]) -> BTreeMap<String, u64> {
        entries.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect()
    }

    #[test]
    fn sizes_are_read_as_engines_write_them() {
        for (size, expected) in [
            ("0B", Some(0)),
            ("12B", Some(12)),
            ("3.931kB", Some(3931)),
            ("1.2GB", Some(1_200_000_000)),
            ("16MB", Some(16_000_000)),
            ("", None),
            ("N/A", None),
            ("-1B", None),
            ("1.xkB", None),
            ("99999999999999TB", None),
        ] {
            assert_eq!(bytes(size), expected, "{size}");
        }
    }

    #[test]
    fn dockers_answer_is_json_and_podmans_a_table() {
        let docker = r#"{"Images":[],"Volumes":[{"Name":"a","Size":"1.5kB"},{"Name":"b","Size":"N/A"}]}"#;
        assert_eq!(of_docker(docker), of(&[("a", 1500)]));
        let podman = "CONTAINER ID  SIZE\n1  2B\n\nLocal Volumes space usage:\n\nVOLUME NAME  LINKS  SIZE\na  1  3.931kB\nb  0  0B\n\nmore\n";
        assert_eq!(of_podman(podman), of(&[("a", 3931), ("b", 0)]));
        assert_eq!(of_list("a\t12B (virtual 12.3MB)\nb\t0B\nbroken\n"), of(&[("a", 12), ("b", 0)]));
    }

    #[test]
    fn other_answers_tell_nothing() {
        for text in ["", "{}", "[]", "not json"] {
            assert!(of_docker(text).is_empty() && of_podman(text).is_empty() && of_list(text).is_empty());
        }
    }
}
