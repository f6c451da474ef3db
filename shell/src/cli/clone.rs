//! `clone URL`: a workspace whose project lives in its volume only.

use std::io::{BufRead, IsTerminal, Read};
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use data_encoding::BASE64;
use orca_container_core::{Sensitive, quoted};

use super::container_flags::ContainerFlags;
use super::person::Person;
use super::renew::tell_all;
use super::workspace::{described, failure, settings_of, store};
use super::{Ended, Failure, Io};
use crate::gather::RemoteUrl;
use crate::gather::remote::{Credential, Remote};
use crate::redact;
use crate::secrets::{Handed, fetch};
use crate::settings::Settings;
use crate::workspace::{self, CloneOptions, Told, Ui, clone};

/// Bytes of a token; real ones have some hundred.
const TOKEN_BYTES: u64 = 64 * 1024;

/// Make a workspace of a URL: https, ssh or user@host:path. The project lives in its volume and nowhere on this computer
///
/// git in the container fetches it, without submodules. What it is handed for that is used for this one connection and kept
/// nowhere.
#[derive(Debug, Args)]
pub(super) struct CloneArgs {
    /// URL of the repository, without a password or a token
    #[arg(value_parser = OsStringValueParser::new().map(|typed| RemoteUrl::new(typed.to_string_lossy().into_owned())))]
    url: RemoteUrl,
    /// What the workspace is called; a second one of the same URL needs a name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Branch; without it that of the remote
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Read a token for https from the first line of standard input
    #[arg(long, conflicts_with_all = ["token_secret", "identity"])]
    token_stdin: bool,
    /// Take a secret of the settings, by its name, as the token for https
    #[arg(long, value_name = "NAME", conflicts_with = "identity")]
    token_secret: Option<String>,
    /// Name of the token's user, where the remote wants a certain one
    #[arg(long, value_name = "NAME", default_value = "x-access-token")]
    token_user: String,
    /// File with a private key for ssh, without a passphrase
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: ContainerFlags,
}

pub(super) fn run(args: CloneArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let approve = args.flags.digests()?;
    let mut words = args.flags.words()?;
    // Approved by digest once it is asked, so that it can be kept with its subject.
    words.approvals.clear();
    if words.choices.enabled == Some(false) {
        return Err(Failure::Usage("A clone is made in a container only.".into()));
    }
    if let Some(name) = args.name.as_deref().filter(|name| !is_name(name)) {
        let message = format!(
            "A workspace is called by a name without slashes that is no id of one; {} is none.",
            quoted(name)
        );
        return Err(Failure::Usage(message));
    }
    let settings = settings_of(args.settings.as_deref())?;
    let credential = match (args.token_stdin, args.token_secret, args.identity) {
        (true, ..) => token(args.token_user, from_standard_input(io)?),
        (_, Some(name), _) => token(args.token_user, secret(&settings, &name)?),
        (.., Some(file)) => Credential::Key(file),
        _ => Credential::None,
    };
    let store = store()?;
    let remote = Remote { url: args.url, name: args.name, branch: args.branch };
    let options = CloneOptions { remote, credential, settings: &settings, words, approve };
    let mut tell = |said: &Told<'_>, ui: &mut dyn Ui| tell_all(said, ui);
    let cloned = clone(options, &store, &mut Person::new(io), &mut tell);
    let cloned = cloned.map_err(|error| failure(error, io))?;
    let name = quoted(&cloned.record.workspace.name);
    let (settled, stands) = (!cloned.record.texts_due, cloned.record.container_id.is_some());
    if args.json {
        let mut value = described(&cloned.record);
        if let Some(object) = value.as_object_mut() {
            object.insert("adopted".into(), settled.into());
        }
        writeln!(io.stdout, "{value}")?;
    } else if settled && stands {
        writeln!(io.stdout, "{name} runs in {}.", cloned.record.plan.names.container)?;
        writeln!(io.stdout, "Work in it with: orca-container shell {name}")?;
    }
    let Some(cause) = cloned.failed else { return Ok(Ended::Done) };
    let failed = failure(cause, io);
    if !settled {
        let due = workspace::WorkspaceError::TextsDue(name);
        writeln!(io.stderr, "It is cloned. {due}")?;
    }
    Err(failed)
}

/// What no path, and no id of a workspace, is taken for.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\']) && !name.starts_with("orca-ws-")
}

fn token(user: String, token: Sensitive) -> Credential {
    redact::know(token.reveal());
    // As it is sent, and a server may send it back.
    for text in [token.reveal(), &format!("{user}:{}", token.reveal())] {
        redact::know(&BASE64.encode(text.as_bytes()));
    }
    Credential::Token { user, token }
}

/// The first line, as a program prints a token.
fn from_standard_input(io: &mut Io<'_>) -> Result<Sensitive, Failure> {
    if std::io::stdin().is_terminal() {
        let message = "A token is read from standard input, and this one is a terminal, where it would be seen: pipe it in.";
        return Err(Failure::Usage(message.into()));
    }
    let unreadable = |why: String| Failure::Failed(format!("The token on standard input {why}."));
    let mut bytes = Vec::new();
    let mut most = (&mut *io.stdin).take(TOKEN_BYTES);
    most.read_until(b'\n', &mut bytes).map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    let text =
        String::from_utf8(bytes).map(Sensitive::from).map_err(|_| unreadable("is not UTF-8".into()))?;
    let line = text.reveal().lines().next().unwrap_or_default();
    if line.is_empty() {
        return Err(unreadable("is empty".into()));
    }
    Ok(Sensitive::new(line))
}

fn secret(settings: &Settings, name: &str) -> Result<Sensitive, Failure> {
    let declared = &settings.document.secrets;
    let values = fetch(declared, &[name.to_owned()], Handed::Nothing);
    let values = values.map_err(|error| Failure::of(&error))?;
    values.get(name).cloned().ok_or_else(|| Failure::Failed(format!("No secret is called {}.", quoted(name))))
}
