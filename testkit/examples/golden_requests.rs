//! Prints the requests of the golden corpus, one a line.
#![expect(clippy::unwrap_used, reason = "a tool of the tests fails by panicking")]

use orca_container_testkit::golden::cases;
use std::io::{Write as _, stdout};

fn main() {
    let mut out = stdout().lock();
    for case in cases() {
        // JSON without blanks holds no newline.
        assert!(!case.request.contains('\n'), "{}", case.name);
        writeln!(out, "{}", case.request).unwrap();
    }
}
