//! The Secret Service (GNOME Keyring, KWallet, KeePassXC), asked over the session bus.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use dbus_secret_service::{EncryptionType, Error, Item, SecretService};
use zeroize::Zeroizing;

use crate::secrets::KeyringEntry;

/// Why the keyring gives nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    NoBus,
    NoService,
    Locked,
    NoEntry,
    Several,
    Silent,
    Broken,
}

impl Fault {
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::NoBus => {
                "There is no keyring here: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR leads to a session bus."
            }
            Self::NoService => {
                "There is no keyring here: nothing on the session bus offers the Secret Service."
            }
            Self::Locked => "The keyring is locked and was not unlocked; unlock it and start again.",
            Self::NoEntry => {
                "The keyring has no such entry, by the attributes \"service\" and \"account\" or \"username\"; \
                 secret-tool store makes one."
            }
            Self::Several => "The keyring has several such entries, and none is meant more than another.",
            Self::Silent => "The keyring does not answer in time.",
            Self::Broken => "The keyring is there and does not hand the entry over.",
        }
    }
}

/// How long a person may take to unlock the keyring in its own window.
const UNLOCKING: Duration = Duration::from_secs(60);

/// How long everything may take: each question to the service has two seconds by the library, and there are few.
const DEADLINE: Duration = Duration::from_secs(80);

/// Who keeps the account under which name: keytar and people call it account, most libraries username.
const ACCOUNT_ATTRIBUTES: [&str; 2] = ["account", "username"];

/// The bytes of an entry. A service that never answers is left behind with its thread.
pub(super) fn read(entry: &KeyringEntry) -> Result<Zeroizing<Vec<u8>>, Fault> {
    if !has_bus() {
        return Err(Fault::NoBus);
    }
    let entry = entry.clone();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(asked(&entry)));
    receiver.recv_timeout(DEADLINE).unwrap_or(Err(Fault::Silent))
}

/// Looked for first: without a bus the library would start one.
fn has_bus() -> bool {
    match env::var("DBUS_SESSION_BUS_ADDRESS") {
        Ok(address) => !address.is_empty() && !address.starts_with("autolaunch:"),
        Err(_) => {
            env::var_os("XDG_RUNTIME_DIR").is_some_and(|folder| Path::new(&folder).join("bus").exists())
        }
    }
}

fn asked(entry: &KeyringEntry) -> Result<Zeroizing<Vec<u8>>, Fault> {
    // Without a screen nobody sees the window that asks.
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    let patience = if screen { UNLOCKING.as_secs() } else { 0 };
    // Encrypted on its way: whoever logs the bus has no value.
    let service = SecretService::connect_with_max_prompt_timeout(EncryptionType::Dh, patience)
        .map_err(|_| Fault::NoService)?;
    let item = the_item(&service, entry)?;
    item.ensure_unlocked().map_err(|error| of_unlocking(&error))?;
    item.get_secret().map(Zeroizing::new).map_err(|_| Fault::Broken)
}

fn of_unlocking(error: &Error) -> Fault {
    match error {
        Error::Prompt | Error::Locked => Fault::Locked,
        _ => Fault::Broken,
    }
}

/// The one item with these attributes.
fn the_item<'s>(service: &'s SecretService, entry: &KeyringEntry) -> Result<Item<'s>, Fault> {
    // One item may have both attributes.
    let mut found = BTreeMap::new();
    for attribute in ACCOUNT_ATTRIBUTES {
        let attributes = [("service", entry.service.as_str()), (attribute, &entry.account)];
        let items = service.search_items(attributes.into()).map_err(|_| Fault::Broken)?;
        for item in items.unlocked.into_iter().chain(items.locked) {
            found.insert(item.path.to_string(), item);
        }
    }
    let mut items = found.into_values();
    match (items.next(), items.next()) {
        (Some(item), None) => Ok(item),
        (None, _) => Err(Fault::NoEntry),
        (Some(_), Some(_)) => Err(Fault::Several),
    }
}
