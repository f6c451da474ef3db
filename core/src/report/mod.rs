//! What people read: the effective environment, the options and their origins, one variable's story.

mod anew;
mod changes;
mod devcontainer_keys;
mod environment;
mod options;
mod standing;
mod table;
mod values;
mod when;
mod why;
mod workspace;

pub use anew::{ContainerChanges, Waiting};
pub(crate) use anew::{is_comparable, recreate_changes, waiting, waiting_for_recreate};
pub(crate) use changes::environment_changes;
pub use changes::{PlanChange, plan_changes};
pub use devcontainer_keys::devcontainer_keys_page;
pub use environment::{EffectiveEnvironment, EnvEntry, Shadow};
pub(crate) use environment::{effective, effective_at_launch, entries};
pub use options::OptionEntry;
pub(crate) use options::option_entries;
pub use standing::{Badge, Standing, Waits, WorkspaceStanding, standing};
pub use table::{environment_table, place};
pub use values::values_in;
pub(crate) use when::changes;
pub use when::{Changes, WaitingChange};
pub use why::{why, why_in_workspace};
pub(crate) use workspace::in_workspace;
pub use workspace::{Drift, LaunchedVariable, VariableChange, WorkspaceEnvironment};
