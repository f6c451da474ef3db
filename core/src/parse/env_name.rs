//! The one rule for names of variables, the same in every layer and on every engine.

use crate::limits;

/// Whether a name is `[A-Za-z_][A-Za-z0-9_]*` and at most 256 bytes long.
///
/// Engines accept nearly anything and podman even expands `NAME*` over its own environment (measured);
/// shells, and our delivery, carry only these.
pub(crate) fn is_env_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    first && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') && name.len() <= limits::ENV_NAME_BYTES
}

/// The rule in words.
pub(crate) const ENV_NAME_RULE: &str = "A variable's name is a letter or underscore followed by letters, digits or underscores, at most 256 long";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_every_shell_can_carry() {
        for good in ["A", "_", "a_1", "ORCA", "ORCAX", "x".repeat(256).as_str()] {
            assert!(is_env_name(good), "{good}");
        }
        for bad in [
            "",
            "1A",
            "A-B",
            "A.B",
            "A B",
            "A*",
            "*",
            "A=B",
            "É",
            "A\n",
            "BASH_FUNC_x%%",
            "x".repeat(257).as_str(),
        ] {
            assert!(!is_env_name(bad), "{bad}");
        }
    }
}
