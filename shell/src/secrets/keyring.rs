//! A value from the system's keyring: the Secret Service on the session bus of a Linux desktop.
//!
//! Where there is none, it is locked, or the entry is missing, the error says which of these, with the secret, the
//! service and the account and nothing else.

use orca_container_core::{Sensitive, quoted};

use super::KeyringEntry;

#[cfg(all(feature = "keyring", target_os = "linux"))]
mod secret_service;

/// The value of an entry. The error names the secret.
pub(super) fn value(name: &str, entry: &KeyringEntry) -> Result<Sensitive, String> {
    let fault = match read(name, entry) {
        Ok(value) => return value,
        Err(sentence) => sentence,
    };
    Err(format!(
        "The secret {} comes from the keyring's entry with service {} and account {}. {fault}",
        quoted(name),
        quoted(&entry.service),
        quoted(&entry.account),
    ))
}

/// The value or what is wrong with it; a keyring that gives nothing says why in a sentence.
#[cfg(all(feature = "keyring", target_os = "linux"))]
fn read(name: &str, entry: &KeyringEntry) -> Result<Result<Sensitive, String>, &'static str> {
    let begun = std::time::Instant::now();
    let bytes = secret_service::read(entry);
    let told = if bytes.is_ok() { "it answered" } else { "it gave nothing" };
    crate::trace::call("the keyring", ["for", "the", "secret", name].iter(), told, begun.elapsed(), &[]);
    let bytes = bytes.map_err(secret_service::Fault::sentence)?;
    Ok(super::value::of(name, &bytes))
}

#[cfg(not(all(feature = "keyring", target_os = "linux")))]
fn read(_: &str, _: &KeyringEntry) -> Result<Result<Sensitive, String>, &'static str> {
    Err(
        "There is no keyring here: this build of orca-container knows none of this system. A \"command\" can read it.",
    )
}
