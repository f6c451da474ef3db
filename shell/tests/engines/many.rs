//! Many workspaces of one installation at once.

use crate::bench::{Bench, create_args, image};
use std::collections::BTreeSet;
use std::thread;

/// Alive at once; a network for each of them would fail at the 31st (measured), so they share one.
const ALIVE: usize = 40;

/// Made and removed at a time.
const AT_A_TIME: usize = 10;

/// Ten commands at a time, for each of the workspaces.
fn each(command: impl Fn(usize) + Sync) {
    for first in (0..ALIVE).step_by(AT_A_TIME) {
        thread::scope(|scope| {
            for number in (first..ALIVE).take(AT_A_TIME) {
                let command = &command;
                scope.spawn(move || command(number));
            }
        });
    }
}

pub fn forty(bench: &mut Bench) {
    let image = image(bench.engine);
    let ours = |bench: &Bench, kind: &str| {
        bench.left_on_engine().iter().filter(|entry| entry.starts_with(kind)).count()
    };
    bench.run(&["ls"]).ok();
    assert_eq!(bench.left_on_engine(), Vec::<String>::new());
    let shared = &*bench;
    each(|number| {
        let branch = format!("--new-branch=work/{number}");
        let mut args = create_args(shared.engine, "acme", &image);
        args.extend([branch.as_str(), "--network=bridge"]);
        shared.run(&args).ok();
    });
    assert_eq!([ours(bench, "ps"), ours(bench, "volume"), ours(bench, "network")], [ALIVE, 2 * ALIVE, 1]);
    let listed: serde_json::Value = serde_json::from_str(&bench.run(&["ls", "--json"]).ok().stdout).unwrap();
    let running = listed.as_array().unwrap().iter().filter(|one| one["verdict"] == "live").count();
    assert_eq!(running, ALIVE);
    // Each terminal lands in its own.
    let mut hosts = BTreeSet::new();
    for number in [0, 13, 27, ALIVE - 1] {
        let name = format!("acme@work/{number}");
        let script = "git branch --show-current; hostname";
        let said = bench.run(&["exec", &name, "--", "sh", "-c", script]).ok().stdout;
        assert_eq!(said.lines().next(), Some(format!("work/{number}").as_str()));
        hosts.insert(said);
    }
    assert_eq!(hosts.len(), 4);
    let shared = &*bench;
    each(|number| {
        shared.run(&["rm", &format!("acme@work/{number}")]).ok();
    });
    bench.nothing_is_left();
}
