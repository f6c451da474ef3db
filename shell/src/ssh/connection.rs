//! One connection: the client's bytes to an sshd in the container and back.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use orca_container_core::{Goal, SSH_ASKS, ssh_serve_argv};

use super::sessions::{Queue, Said, Sessions, SettingsNow};
use super::{Keys, SshError, keeps_to_itself, keys, login, make_known};
use crate::engine::Client;
use crate::redact::mask;
use crate::store::{Store, WorkspaceRecord, random_id};
use crate::trace;
use crate::workspace::{Runner, Ui, WorkspaceError};

/// How long another command on the workspace is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the container has for its end of a connection whose client has gone.
const GRACE: Duration = Duration::from_secs(15);

/// Bytes of a line that the container says; what is longer is no line of ours.
const LINE: u64 = 4096;

/// Lines that wait to be passed on.
const WAITING: usize = 256;

/// Lines that are passed on; sshd's own errors are a few.
const SAID: usize = 100;

/// Connects standard input and output to the workspace, started where it is stopped. Gives the client's exit code.
///
/// `after_start` runs what the repository wants after a start, and is another process: nobody waits for that, who connects can
/// mend it where it fails, and ssh ends us by a signal when the client goes.
pub fn connect(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &SettingsNow<'_>,
    after_start: &mut Command,
    ui: &mut dyn Ui,
) -> Result<u8, SshError> {
    let running = running(record, store, ui)?;
    let id = running.record.container_id.clone().unwrap_or_default();
    let connection = random_id().map_err(WorkspaceError::from)?;
    let client =
        Client { program: running.record.engine.program.clone(), env: running.record.engine.env.clone() };
    let mut child = serve(&client, &ssh_serve_argv(&id, &connection, &running.keys.authorized))?;
    let stderr = child.stderr.take();
    let input = child.stdin.take();
    let child = Arc::new(Mutex::new(child));
    if let Some(input) = input {
        let (keys, child) = (running.keys, Arc::clone(&child));
        thread::spawn(move || {
            pump(input, &keys);
            // The client has gone. What is stopped inside would hold the engine's client, and us, for ever.
            thread::sleep(GRACE);
            let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        });
    }
    let sessions = Sessions { name: record.file_name(), store, settings, client, id, connection };
    let queue = Queue::default();
    let told = thread::scope(|scope| {
        let (said, heard) = mpsc::sync_channel(WAITING);
        if running.started {
            run_beside(after_start, &said);
        }
        sessions.answer(scope, &queue, &said);
        let queue = &queue;
        // Read whatever happens: an engine's client that nobody reads stops the terminals as well.
        scope.spawn(move || {
            if let Some(stderr) = stderr {
                listen(stderr, queue, &said);
            }
            queue.end();
            // What goes on beside a connection is not waited for.
            let _ = said.send(None);
        });
        let mut told: usize = 0;
        for line in heard.iter().map_while(|line| line) {
            told = told.saturating_add(1);
            if told <= SAID {
                ui.progress(&line);
            }
        }
        told
    });
    let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait()?;
    // podman can lose what a short process said.
    if !status.success()
        && told == 0
        && let Err(error) = login(&running.record)
    {
        ui.progress(&error.to_string());
    }
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
    keeps_to_itself(record.file_name())?;
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
    if keys.are_new {
        // Or the client that waits for us does not know the host.
        if let Err(error) = make_known(store, record.file_name(), &keys) {
            ui.progress(&format!("warning: {error}"));
        }
    }
    let mut runner = Runner::new(store, record, true);
    runner.observe();
    let started = !runner.is_running();
    if started {
        runner.reach(Goal::Start, ui)?;
    }
    Ok(Running { record: runner.record, keys, started })
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

/// Begins a process of ours and passes on what it says, for as long as the connection lasts.
fn run_beside(command: &mut Command, said: &Said) {
    let said = said.clone();
    match command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn() {
        Ok(mut child) => {
            let stderr = child.stderr.take();
            thread::spawn(move || {
                let lines = stderr.into_iter().flat_map(|stderr| BufReader::new(stderr).lines());
                for line in lines.map_while(Result::ok) {
                    let _ = said.try_send(Some(line));
                }
                let _ = child.wait();
            });
        }
        Err(error) => {
            let why = format!("warning: What runs after a start could not be begun: {error}.");
            let _ = said.try_send(Some(why));
        }
    }
}

/// Reads what the container says beside the connection to its end: sessions wait for their answer, everything else is passed on.
/// What nobody has time for is dropped.
fn listen(said: impl Read, queue: &Queue, passed_on: &Said) {
    let mut said = BufReader::new(said);
    loop {
        let mut line = Vec::new();
        match (&mut said).take(LINE).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            _ => return,
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        let asks = line.strip_prefix(SSH_ASKS).and_then(|pid| pid.parse().ok());
        let line = match asks {
            Some(session) if queue.push(session) => continue,
            Some(_) => "orca-container: Too many sessions wait at once; one is not answered.".into(),
            None => orca_container_core::escaped_whole(&mask(line)),
        };
        let _ = passed_on.try_send(Some(line));
    }
}
