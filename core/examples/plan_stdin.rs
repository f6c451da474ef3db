//! Plans every line of standard input as a request, between two marks that a tracer of system calls can see.
//!
//! For `tests/purity/strace.sh`. With the argument `impure` it reads a file between the marks, with `unmarked`
//! it leaves them out: both must be caught there.
#![expect(clippy::unwrap_used, reason = "a tool of the tests fails by panicking")]

use orca_container_core::json;
use std::io::{Read as _, Write as _, stderr, stdin, stdout};

fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let mark = |text: &[u8]| {
        if fault != "unmarked" {
            stderr().write_all(text).unwrap();
        }
    };
    let mut requests = String::new();
    stdin().read_to_string(&mut requests).unwrap();

    mark(b"BEGIN\n");
    let mut answers: Vec<String> = requests.lines().map(json::plan).collect();
    if fault == "impure" {
        answers.push(std::fs::read_to_string("/proc/self/comm").unwrap());
    }
    mark(b"END\n");

    let mut out = stdout().lock();
    for answer in answers {
        writeln!(out, "{answer}").unwrap();
    }
}
