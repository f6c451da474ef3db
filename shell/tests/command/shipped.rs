//! What is not in the program that is shipped.

use std::fs;

#[test]
fn no_variable_makes_it_die_in_the_middle() {
    let program = fs::read(env!("CARGO_BIN_EXE_orca-container")).unwrap();
    let said = |text: &str| program.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(said("ORCA_CONTAINER") || said("orca-container"), "its texts are found at all");
    assert!(!said("ORCA_FAULT"));
}
