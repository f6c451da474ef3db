//! Precedence against a reference model that fits on one page and shares no code with the core.

use crate::support::{launch_request, launched, orca_yaml, request, set};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every place a variable can be set in, weakest first: this list **is** the model.
const PLACES: [&str; 9] =
    ["image", "agent", "project", "host", "secret", "orca.yaml", "repo settings", "env file", "choices"];

/// A request in which each name is set in the given places, to a value that names the place.
fn request_of(names: &[(String, Vec<usize>)]) -> (Value, Value) {
    let mut request = request("docker");
    let mut launch = launch_request();
    set(&mut request, "agent", json!("claude"));
    set(&mut request, "repoSettings.commandSourcePolicy", json!("run-both"));
    let mut image = vec!["PATH=/bin".to_owned()];
    let (mut yaml, mut file) = (String::from("    env:\n      UNRELATED: x\n"), String::new());
    let (mut host, mut secrets) = (Vec::new(), Vec::new());
    for (name, places) in names {
        for place in places {
            let value = PLACES[*place];
            match value {
                "image" => image.push(format!("{name}={value}")),
                "agent" => {
                    set(&mut request, &format!("globalSettings.agentDefaultEnv.claude.{name}"), json!(value))
                }
                "project" => set(&mut request, &format!("repoSettings.agentEnv.{name}"), json!(value)),
                "host" => {
                    host.push(name.clone());
                    set(&mut launch, &format!("values.host.{name}"), json!(value));
                }
                "secret" => {
                    secrets.push(json!({"name": name}));
                    set(&mut launch, &format!("values.secrets.{name}"), json!(value));
                }
                "orca.yaml" => yaml.push_str(&format!("      {name}: {value}\n")),
                "repo settings" => {
                    set(&mut request, &format!("repoSettings.container.env.{name}"), json!(value))
                }
                "env file" => file.push_str(&format!("{name}={value}\n")),
                _ => set(&mut request, &format!("choices.env.{name}"), json!(value)),
            }
        }
    }
    set(&mut request, "imageFacts.env", json!(image));
    set(&mut request, "orcaYaml", orca_yaml(&yaml));
    set(&mut request, "choices.forwardHostEnv", json!(host));
    set(&mut request, "host.envNames", json!(host));
    set(&mut request, "secrets", json!(secrets));
    set(&mut request, "choices.envFile", json!({"name": "w.env", "text": file}));
    (request, launch)
}

proptest! {
    #![proptest_config(crate::support::cases(80))]

    #[test]
    fn the_strongest_place_wins_and_every_other_is_remembered(
        places in prop::collection::vec(prop::collection::btree_set(0..PLACES.len(), 1..=PLACES.len()), 1..6)
    ) {
        let names: Vec<(String, Vec<usize>)> =
            places.into_iter().enumerate().map(|(n, places)| (format!("NAME_{n}"), places.into_iter().collect())).collect();
        let (request, launch) = request_of(&names);
        let planned = crate::support::planned(&request);
        let answer = launched(&request, &launch).unwrap();
        for (name, places) in &names {
            let strongest = PLACES[*places.last().unwrap()];
            let sent = answer.env.get(&format!("ORCA_ENV_{name}")).map(String::as_str);
            prop_assert_eq!(sent, Some(strongest).filter(|place| *place != "image"));
            let entry = planned.environment.iter().find(|entry| entry.name == *name).unwrap();
            prop_assert_eq!(entry.shadows.len(), places.len() - 1);
        }
    }

    #[test]
    fn adding_a_weaker_word_never_changes_a_stronger_one((weak, strong) in (0..PLACES.len() - 1).prop_flat_map(|weak| (Just(weak), weak + 1..PLACES.len()))) {
        let alone = request_of(&[("NAME".into(), vec![strong])]);
        let both = request_of(&[("NAME".into(), vec![weak, strong])]);
        let sent = |(request, launch): (Value, Value)| launched(&request, &launch).unwrap().env["ORCA_ENV_NAME"].clone();
        prop_assert_eq!(sent(alone), sent(both));
    }
}
