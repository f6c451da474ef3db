//! `kill -9` at random moments, also in the middle of an effect. What the killed command had asked of an engine or of git
//! happens all the same; the command after it comes when that is done.

use crate::bench::{Bench, image};
use crate::kept::{work, work_is_there};
use crate::life::{End, NAME, add_worktree, age, create_again, create_args};
use crate::state::{same, state};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Kills on each engine, of which there are two.
const KILLS: usize = 25;

/// How long what a killed command had begun may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    /// One below a bound.
    fn below(&mut self, bound: u128) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u64::try_from(u128::from(z ^ (z >> 31)) % bound.max(1)).unwrap()
    }
}

/// `ORCA_TEST_SEED` gives the numbers of an earlier run again.
fn seed() -> u64 {
    let said = std::env::var("ORCA_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    said.unwrap_or_else(now)
}

/// What was not committed goes, so that nothing is work any more.
fn discard(bench: &Bench) {
    bench.run(&["exec", NAME, "--", "rm", "two"]).ok();
}

/// Runs a command and kills it at a random moment of the time that it takes, or a little later.
struct Killer<'k> {
    bench: &'k Bench,
    random: Random,
    killed: usize,
}

impl Killer<'_> {
    /// Says when.
    fn kill(&mut self, args: &[&str], takes: Duration) -> String {
        let after = Duration::from_millis(self.random.below(takes.as_millis() * 11 / 10));
        let mut command = self.bench.command(args);
        let mut child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let group = rustix::process::Pid::from_child(&child);
        std::thread::sleep(after);
        let _ = child.kill();
        child.wait().unwrap();
        let begun = Instant::now();
        while rustix::process::test_kill_process_group(group).is_ok() {
            assert!(begun.elapsed() < PATIENCE, "what {args:?} began does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        self.killed += 1;
        format!("{args:?} that was killed after {} ms", after.as_millis())
    }

    fn left(&self) -> bool {
        self.killed < KILLS
    }
}

fn timed(bench: &Bench, args: &[&str]) -> Duration {
    let begun = Instant::now();
    bench.run(args).ok();
    begun.elapsed()
}

pub fn at_random(bench: &mut Bench) {
    let seed = seed();
    eprintln!("{}: ORCA_TEST_SEED={seed}", bench.engine);
    let image = image(bench.engine);
    let create = create_args(bench.engine, &image);
    crate::life::prepare(bench);
    let bench = &*bench;
    let (recreate, fetch) = (["recreate", NAME], ["fetch", NAME]);

    add_worktree(bench);
    let create_takes = timed(bench, &create);
    let made = state(bench);
    let recreate_takes = timed(bench, &recreate);
    work(bench);
    let fetch_takes = timed(bench, &fetch);
    let fetched = state(bench);
    discard(bench);
    let end_takes = timed(bench, End::Rm.args());
    let gone = state(bench);

    let mut killer = Killer { bench, random: Random(seed), killed: 0 };
    while killer.left() {
        add_worktree(bench);
        let when = killer.kill(&create, create_takes);
        create_again(bench, &create, &when);
        same(&state(bench), &made, &when);
        work(bench);
        let when = killer.kill(&recreate, recreate_takes);
        bench.run(&recreate).ok();
        work_is_there(bench, &when);
        let when = killer.kill(&fetch, fetch_takes);
        bench.run(&fetch).ok();
        same(&state(bench), &fetched, &when);
        work_is_there(bench, &when);
        let when = killer.kill(&["rm", NAME], end_takes);
        bench.run(&["rm", NAME]).code(1);
        work_is_there(bench, &when);
        discard(bench);
        age(bench);
        let end = if killer.random.below(2) == 0 { End::Rm } else { End::Sweep };
        let when = killer.kill(end.args(), end_takes);
        end.again(bench, &when);
        same(&state(bench), &gone, &when);
    }
    eprintln!("{}: {} kills", bench.engine, killer.killed);
}
