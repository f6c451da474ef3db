//! The command `orca-container`.

use orca_container::cli::{self, Look};
use orca_container::redact;
use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    redact::mask_panics();
    let look = Look::of_standard_output();
    // Standard error is not locked: an engine's progress is shown on it while we wait.
    cli::main(std::env::args_os(), look, &mut stdin().lock(), &mut stdout().lock(), &mut stderr())
}
