//! The table of devcontainer.json's properties as a page for people.

use crate::policy::devcontainer::keys::{KEYS, Schema, Treatment};
use alloc::{format, string::String};

/// `docs/devcontainer-keys.md`: every property, its type, what becomes of it and why.
pub fn devcontainer_keys_page() -> String {
    let mut page = String::from(
        "# What becomes of each property of a devcontainer.json\n\n\
         Written by `ORCA_UPDATE_SCHEMAS=1 cargo test` from `core/src/policy/devcontainer/keys.rs`. The file is the\n\
         repository's word: it may ask. *judged*: what passes its rules counts, perhaps after an approval. *dropped*: asks\n\
         for what no repository gets; the workspace starts without it, and is refused only under `strict`. *ignored*: has\n\
         no effect here, and that is told. *no effect*: is for other programs. *refused*: no workspace with it. A value\n\
         of another type is refused where it is marked ✓, else dropped. Names count in exactly these letters.\n\n\
         | property | type | strict type | what becomes of it | why | standard |\n|---|---|---|---|---|---|\n",
    );
    for key in KEYS {
        let name = match key.schema {
            Schema::Base => format!("`{}`", key.name),
            Schema::Editors => format!("`{}` (editors)", key.name),
            Schema::Legacy => format!("`{}` (older name)", key.name),
        };
        let treatment = match key.treatment {
            Treatment::Judged => "judged",
            Treatment::Silent => "no effect",
            Treatment::Ignored => "ignored",
            Treatment::Dropped => "dropped",
            Treatment::Refused => "refused",
        };
        let strict = if key.strict { "✓" } else { "" };
        page.push_str(&format!(
            "| {name} | {} | {strict} | {treatment} | {} | {} |\n",
            key.kind.words(),
            key.why,
            key.standard.unwrap_or_default()
        ));
    }
    page
}
