//! The file or pipe of `--request`, which may hold values.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use orca_container_core::{Sensitive, escaped};

use super::{Failure, Io};

/// Bytes of a request; all that the core's bounds let in fits many times.
const REQUEST_CAP: usize = 64 * 1024 * 1024;

/// The text of the file, of standard input where its name is `-`.
pub(super) fn read(path: &Path, io: &mut Io<'_>) -> Result<Sensitive, Failure> {
    let name = escaped(&path.to_string_lossy());
    let unreadable = |error| Failure::Failed(format!("The request \"{name}\" cannot be read: {error}."));
    let bytes = if path == Path::new("-") {
        at_most(&mut *io.stdin).map_err(unreadable)?
    } else {
        at_most(File::open(path).map_err(unreadable)?).map_err(unreadable)?
    };
    if bytes.len() > REQUEST_CAP {
        return Err(Failure::Failed(format!(
            "The request \"{name}\" must hold at most {REQUEST_CAP} bytes."
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| not_utf8(&name))?;
    Ok(Sensitive::from(text))
}

fn at_most(source: impl Read) -> std::io::Result<Vec<u8>> {
    crate::gather::read_at_most(source, REQUEST_CAP.saturating_add(1))
}

fn not_utf8(name: &str) -> Failure {
    Failure::Failed(format!("The request \"{name}\" must be UTF-8."))
}
