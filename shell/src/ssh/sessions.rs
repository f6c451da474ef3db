//! The sessions of one connection: each asks for the variables of now, and is answered by a launch like any other.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use orca_container_core::input::LaunchCommand;
use orca_container_core::{ssh_environment_command, ssh_refused_argv};

use crate::engine::{Bounds, Client, Input, Wanted, run_bounded};
use crate::redact::mask;
use crate::secrets::Handed;
use crate::settings::Settings;
use crate::store::Store;
use crate::workspace::{LaunchOptions, WorkspaceError, launch_answer};

/// How long the engine may take to hand a session its variables.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sessions that wait for an answer at once.
const WAITING: usize = 256;

/// Sessions that are answered at the same time: Orca opens its terminals together.
const AT_ONCE: usize = 4;

/// Sessions that are answered in a minute; what comes faster waits. Whoever is inside may ask as well, for what any process of
/// the workspace can read anyway, and shall not keep the host busy by it.
const A_MINUTE: u32 = 300;

/// Settings as they are when they are asked for: what a terminal gets is what is said when it is opened.
pub type SettingsNow<'s> = dyn Fn() -> Result<Settings, String> + Sync + 's;

/// Lines for the person, and none at the connection's end.
pub(super) type Said = mpsc::SyncSender<Option<String>>;

/// The sessions that wait, in their order.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    a_minute: u32,
    minute: Duration,
}

#[derive(Debug)]
struct Waiting {
    sessions: VecDeque<u32>,
    ended: bool,
    begun: Instant,
    answered: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self::of(A_MINUTE, Duration::from_secs(60))
    }
}

impl Queue {
    fn of(a_minute: u32, minute: Duration) -> Self {
        let waiting = Waiting { sessions: VecDeque::new(), ended: false, begun: Instant::now(), answered: 0 };
        Self { waiting: Mutex::new(waiting), changed: Condvar::new(), a_minute, minute }
    }

    /// A session that asks. False where there is no room for it.
    pub(super) fn push(&self, session: u32) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.sessions.contains(&session) {
            return true;
        }
        if waiting.sessions.len() >= WAITING {
            return false;
        }
        waiting.sessions.push_back(session);
        self.changed.notify_one();
        true
    }

    /// The connection is over, and nobody waits any more.
    pub(super) fn end(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.changed.notify_all();
    }

    /// The next session, once it may be answered; `None` after the end.
    fn next(&self) -> Option<u32> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while !waiting.ended {
            if waiting.begun.elapsed() >= self.minute {
                (waiting.begun, waiting.answered) = (Instant::now(), 0);
            }
            if waiting.answered < self.a_minute
                && let Some(session) = waiting.sessions.pop_front()
            {
                waiting.answered = waiting.answered.saturating_add(1);
                return Some(session);
            }
            let rest = self.minute.saturating_sub(waiting.begun.elapsed());
            let waited = self.changed.wait_timeout(waiting, rest.max(Duration::from_millis(1)));
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }
}

/// Answers the sessions of one connection.
pub(super) struct Sessions<'s> {
    pub(super) name: &'s str,
    pub(super) store: &'s Store,
    pub(super) settings: &'s SettingsNow<'s>,
    pub(super) client: Client,
    /// The container's id.
    pub(super) id: String,
    /// The connection's name.
    pub(super) connection: String,
}

impl Sessions<'_> {
    /// Answers those that wait until the end; reasons of refusals go to `said`.
    pub(super) fn answer<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        queue: &'scope Queue,
        said: &Said,
    ) {
        for _ in 0..AT_ONCE {
            let said = said.clone();
            scope.spawn(move || {
                while let Some(session) = queue.next() {
                    if let Some(why) = self.hand_over(session) {
                        // What nobody has time for is dropped; the session itself was told.
                        let _ = said.try_send(Some(why));
                    }
                }
            });
        }
    }

    /// Hands a session its variables, or tells it and us why not.
    fn hand_over(&self, session: u32) -> Option<String> {
        let why = self.launch(session).err()?;
        let why = format!("orca-container: {why}");
        let why = mask(&why).into_owned();
        // One that cannot be told waits until the connection ends, as for an engine that does not answer.
        let args = ssh_refused_argv(&self.id, &self.connection, session, &why);
        let _ = self.client.call(&args, Input::None, Wanted::Kept, PATIENCE);
        Some(why)
    }

    /// A launch as of `exec`, by what is said now.
    fn launch(&self, session: u32) -> Result<(), String> {
        let settings = (self.settings)()?;
        let record = self.store.record(self.name).map_err(|error| error.to_string())?;
        let record = record.filter(|now| now.container_id.as_ref() == Some(&self.id));
        let record = record.ok_or("The workspace has another container now; connect again.")?;
        let options = LaunchOptions {
            command: LaunchCommand::Argv(ssh_environment_command(&record.plan, &self.connection, session)),
            tty: false,
            workdir: Some("/".into()),
            secrets: Handed::Nothing,
        };
        let prepared = launch_answer(&record, self.store, &settings, options);
        let prepared = prepared.map_err(|error| told(&error))?;
        let answer = &prepared.answer;
        let mut command = Command::new(&answer.file);
        command.args(&answer.args).env_clear().envs(&answer.env).current_dir(&answer.cwd);
        let ran = run_bounded(command, &answer.file, Input::None, Wanted::Kept, Bounds::time(PATIENCE));
        let ran = ran.map_err(|error| {
            // What it began inside may go on.
            let end = &answer.terminate;
            let mut command = Command::new(&end.file);
            command.args(&end.args).env_clear().envs(&end.env).current_dir("/");
            let _ = run_bounded(command, &end.file, Input::None, Wanted::Kept, Bounds::time(PATIENCE));
            error.to_string()
        })?;
        if ran.code != 0 {
            return Err(format!("The variables could not be handed over: {}.", ran.complaint()));
        }
        // What the last launch had is told by the environment's report; a session goes on without.
        let _ = self.store.write_last_launch(&record, &prepared.launched);
        Ok(())
    }
}

/// Every reason of a refusal, by names.
fn told(error: &WorkspaceError) -> String {
    match error {
        WorkspaceError::Refused(refusal) => {
            let reasons: Vec<&str> = refusal.problems.iter().map(|one| one.message.as_str()).collect();
            reasons.join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_twice_waits_once_and_there_is_room_for_some() {
        let queue = Queue::of(10, Duration::from_secs(60));
        assert!(queue.push(7) && queue.push(8) && queue.push(7));
        assert_eq!((queue.next(), queue.next()), (Some(7), Some(8)));
        assert!(queue.push(7), "one that was answered may ask again");
        for session in 1000..1000 + 255 {
            assert!(queue.push(session));
        }
        assert!(!queue.push(1));
    }

    #[test]
    fn what_comes_too_fast_waits_and_is_answered() {
        let queue = Queue::of(2, Duration::from_millis(200));
        let begun = Instant::now();
        for session in 1..=5 {
            assert!(queue.push(session));
        }
        let answered: Vec<Option<u32>> = (0..5).map(|_| queue.next()).collect();
        assert_eq!(answered, [Some(1), Some(2), Some(3), Some(4), Some(5)]);
        assert!(begun.elapsed() >= Duration::from_millis(400));
    }

    #[test]
    fn at_the_end_nobody_waits_any_more() {
        let queue = Queue::of(0, Duration::from_secs(600));
        assert!(queue.push(1));
        thread::scope(|scope| {
            let waits = scope.spawn(|| queue.next());
            queue.end();
            assert_eq!(waits.join().unwrap(), None);
        });
    }
}
