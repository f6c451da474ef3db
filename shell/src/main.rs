//! The command `orca-container`.

use orca_container::cli::{self, Look};
use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let look = Look::of_standard_output();
    cli::main(std::env::args_os(), look, &mut stdin().lock(), &mut stdout().lock(), &mut stderr().lock())
}
