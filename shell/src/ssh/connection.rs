//! One connection: the client's bytes to an sshd in the container and back, and the variables of now for each session in it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use orca_container_core::input::LaunchCommand;
use orca_container_core::{Goal, SSH_ASKS, ssh_environment_command, ssh_refused_argv, ssh_serve_argv};

use super::{Keys, SshError, keys};
use crate::engine::{Bounds, Client, Input, Wanted, run_bounded};
use crate::redact::mask;
use crate::secrets::Handed;
use crate::settings::Settings;
use crate::store::{Store, WorkspaceRecord, random_id};
use crate::trace;
use crate::workspace::{
    AFTER_START, Asked, LaunchOptions, Runner, Ui, WorkspaceError, launch_answer, run_stages,
};

/// How long the engine may take to hand a session its variables.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a line that the container says; what is longer is no line of ours.
const LINE: u64 = 4096;

/// Sessions that wait for an answer at once.
const WAITING: usize = 256;

/// Sessions that are answered at the same time.
const AT_ONCE: usize = 4;

/// Sessions that are answered in a minute; Orca opens some dozens at its start.
const A_MINUTE: u32 = 300;

/// Lines of the container that are passed on; sshd's own errors are a few.
const SAID: usize = 100;

/// Settings as they are when they are asked for: what a terminal gets is what is said when it is opened.
pub type SettingsNow<'s> = dyn Fn() -> Result<Settings, String> + Sync + 's;

/// Connects standard input and output to the workspace, started where it is stopped. Gives the client's exit code.
pub fn connect(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &SettingsNow<'_>,
    ui: &mut dyn Ui,
) -> Result<u8, SshError> {
    let running = running(record, store, ui)?;
    let id = running.record.container_id.clone().unwrap_or_default();
    let connection = random_id().map_err(WorkspaceError::from)?;
    let client =
        Client { program: running.record.engine.program.clone(), env: running.record.engine.env.clone() };
    let mut child = serve(&client, &ssh_serve_argv(&id, &connection, &running.keys.authorized))?;
    let stderr = child.stderr.take();
    if let Some(input) = child.stdin.take() {
        let keys = running.keys;
        thread::spawn(move || pump(input, &keys));
    }
    let sessions = Sessions { name: record.file_name(), store, settings, client, id, connection };
    thread::scope(|scope| {
        let (sender, heard) = mpsc::sync_channel(WAITING);
        if running.started {
            // Nobody waits for what the repository wants after a start; who connects can mend it where it fails.
            let lines = Lines(sender.clone());
            scope.spawn(move || after_start(running.record, store, settings, lines));
        }
        let asked = sessions.answer(scope, &sender);
        // Read whatever happens: an engine's client that nobody reads stops the terminals as well.
        thread::spawn(move || {
            if let Some(stderr) = stderr {
                listen(stderr, &sender);
            }
            let _ = sender.send(Heard::End);
        });
        pass_on(heard, asked, ui);
    });
    let status = child.wait()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// A workspace that can be connected to.
struct Running {
    record: WorkspaceRecord,
    keys: Keys,
    /// Whether it was started for this connection.
    started: bool,
}

/// The workspace, looked at and started where it is stopped; its keys.
fn running(record: &WorkspaceRecord, store: &Store, ui: &mut dyn Ui) -> Result<Running, SshError> {
    let shown = orca_container_core::quoted(&record.workspace.name);
    // Several connections at once wait for each other here, and only here.
    let _lock = store.lock_patiently(record.file_name(), PATIENCE).map_err(WorkspaceError::from)?;
    let record = store.record(record.file_name())?.ok_or(WorkspaceError::NotFound(shown.clone()))?;
    if record.progress.is_unfinished() {
        return Err(WorkspaceError::Unfinished(shown).into());
    }
    if record.texts_due {
        return Err(WorkspaceError::TextsDue(shown).into());
    }
    let keys = keys(store, &record)?;
    let mut runner = Runner::new(store, record, true);
    runner.observe();
    let started = !runner.is_running();
    if started {
        runner.reach(Goal::Start, ui)?;
    }
    Ok(Running { record: runner.record, keys, started })
}

fn after_start(mut record: WorkspaceRecord, store: &Store, settings: &SettingsNow<'_>, mut lines: Lines) {
    let ran = settings().and_then(|settings| {
        run_stages(&AFTER_START, &mut record, store, &settings, &mut lines).map_err(|error| error.to_string())
    });
    if let Err(why) = ran {
        lines.progress(&format!("warning: {why}"));
    }
}

/// Progress of something that goes on beside the connection.
struct Lines(mpsc::SyncSender<Heard>);

impl Ui for Lines {
    fn progress(&mut self, line: &str) {
        // What nobody has time for is dropped.
        let _ = self.0.try_send(Heard::Said(line.into()));
    }

    fn ask(&mut self, _: &Asked<'_>) -> Option<bool> {
        None
    }
}

fn serve(client: &Client, args: &[String]) -> io::Result<Child> {
    trace::becomes(&client.program, args.iter());
    let mut command = Command::new(&client.program);
    command.args(args).env_clear().envs(&client.env).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::inherit()).stderr(Stdio::piped()).spawn()
}

/// The host key, an empty line, and then whatever the client says.
fn pump(mut input: ChildStdin, keys: &Keys) {
    let host = keys.host.reveal().trim_end();
    if input.write_all(format!("{host}\n\n").as_bytes()).is_err() {
        return;
    }
    let mut buffer = vec![0; 64 * 1024];
    // Not through our own buffer, which the command line's part holds.
    let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else { return };
    let mut stdin = File::from(stdin);
    // At the client's end the pipe is closed, and sshd goes.
    while let Ok(read @ 1..) = stdin.read(&mut buffer) {
        let Some(bytes) = buffer.get(..read) else { return };
        if input.write_all(bytes).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Answers the sessions of one connection.
struct Sessions<'s> {
    name: &'s str,
    store: &'s Store,
    settings: &'s SettingsNow<'s>,
    client: Client,
    id: String,
    connection: String,
}

/// Until the connection ends and nobody has anything to say any more: sessions to those who answer them, everything else to
/// the person.
///
/// Whoever is inside may ask as well, for what any process of the workspace can read anyway; what is asked faster than a person
/// opens terminals is dropped.
fn pass_on(heard: mpsc::Receiver<Heard>, asked: mpsc::Sender<u32>, ui: &mut dyn Ui) {
    let mut asked = Some(asked);
    let (mut passed_on, mut minute, mut answered) = (0_usize, Instant::now(), 0_u32);
    for heard in heard {
        if minute.elapsed() > Duration::from_secs(60) {
            (minute, answered) = (Instant::now(), 0);
        }
        match (heard, &asked) {
            (Heard::Asked(session), Some(asked)) if answered < A_MINUTE => {
                answered = answered.saturating_add(1);
                let _ = asked.send(session);
            }
            (Heard::Said(line), _) if passed_on < SAID => {
                passed_on = passed_on.saturating_add(1);
                ui.progress(&orca_container_core::escaped(&mask(&line)));
            }
            (Heard::End, _) => asked = None,
            _ => {}
        }
    }
}

impl Sessions<'_> {
    /// Answers the sessions that come, some at once: Orca opens its terminals together.
    fn answer<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        said: &mpsc::SyncSender<Heard>,
    ) -> mpsc::Sender<u32> {
        let (asked, next) = mpsc::channel::<u32>();
        let next = Arc::new(Mutex::new(next));
        for _ in 0..AT_ONCE {
            let (next, mut lines) = (Arc::clone(&next), Lines(said.clone()));
            scope.spawn(move || {
                // One waits for the next session with the lock; the others for the lock.
                while let Some(session) = next.lock().ok().and_then(|next| next.recv().ok()) {
                    if let Some(why) = self.hand_over(session) {
                        lines.progress(&why);
                    }
                }
            });
        }
        asked
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

/// What comes from the container beside the connection.
enum Heard {
    /// A session wants its variables.
    Asked(u32),
    /// Anything else.
    Said(String),
    /// Nothing more comes from it.
    End,
}

/// Reads to the end; what nobody has time for is dropped.
fn listen(said: impl Read, heard: &mpsc::SyncSender<Heard>) {
    let mut said = BufReader::new(said);
    loop {
        let mut line = Vec::new();
        match (&mut said).take(LINE).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            _ => return,
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        let asked = line.strip_prefix(SSH_ASKS).and_then(|pid| pid.parse().ok());
        let _ = heard.try_send(asked.map_or_else(|| Heard::Said(line.into()), Heard::Asked));
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
