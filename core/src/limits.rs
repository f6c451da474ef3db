//! Every bound on input, in one place, each with its reason.
//!
//! A bound is inclusive: a value of exactly this size is accepted, one more is refused.

/// Bytes of an orca.yaml: Orca reads no larger file (`facts`: orca-yaml-file-limit, 256 KiB).
pub const ORCA_YAML_BYTES: usize = 256 * 1024;

/// UTF-16 code units of an orca.yaml: Orca checks the JavaScript length as well.
pub const ORCA_YAML_UTF16_UNITS: usize = 262_144;

/// Nesting of collections in an orca.yaml: far above any real file, far below a stack overflow.
pub const YAML_DEPTH: usize = 64;

/// Nodes that the aliases of an orca.yaml may stand for: Orca's parser gives up at 100 uses.
pub const YAML_ALIASES: usize = 100;

/// Structural faults of an orca.yaml that are told; nobody reads more, and 200 kB of one key are 40,000.
pub const YAML_FAULTS: usize = 64;

/// Bytes of a devcontainer.json: the largest public one is a few kilobytes.
pub const DEVCONTAINER_BYTES: usize = 1024 * 1024;

/// Nesting of a devcontainer.json: as in Orca's own guard for JSON.
pub const JSON_DEPTH: usize = 64;

/// Values of a devcontainer.json; the largest public one has some hundreds.
pub const JSON_VALUES: usize = 50_000;

/// Bytes of a .worktreeinclude: Orca's own bound.
pub const WORKTREE_INCLUDE_BYTES: usize = 256 * 1024;

/// Accepted entries of a .worktreeinclude: Orca's own bound.
pub const WORKTREE_INCLUDE_ENTRIES: usize = 1000;

/// Ignored paths that a request lists: as many as Orca copies at most.
pub const IGNORED_PATHS: usize = 50_000;

/// UTF-16 code units of one .worktreeinclude entry: Orca's own bound.
pub const WORKTREE_INCLUDE_ENTRY_UNITS: usize = 4096;

/// Entries of a collection that a person or a repository writes: Orca's own bound for orca.yaml.
pub const COLLECTION_ENTRIES: usize = 256;

/// Bytes of a variable's name; engines and shells set no bound, people need far less.
pub const ENV_NAME_BYTES: usize = 256;

/// Bytes of one environment string of a process (Linux `MAX_ARG_STRLEN`, 32 pages).
pub const ENV_STRING_BYTES: usize = 131_072;

/// Bytes that an environment string holds beside name and value: our prefix `ORCA_ENV_`, `=` and NUL.
pub const ENV_STRING_OVERHEAD: usize = 9 + 2;

/// Bytes of all values of one launch: Linux gives arguments and environment 2 MiB together at best.
pub const ENV_TOTAL_BYTES: usize = 1024 * 1024;

/// Bytes of one line of env-file text on an engine's standard input (docker's scanner stops at 64 KiB).
pub const START_ENV_LINE_BYTES: usize = 64 * 1024;

/// Bytes of an image reference; registries refuse names over 255, a digest and a tag come on top.
pub const IMAGE_REFERENCE_BYTES: usize = 512;

/// Bytes of a repository name inside an image reference (distribution's own bound).
pub const IMAGE_NAME_BYTES: usize = 255;

/// Bytes of Orca's workspace id; it goes into a label whole.
pub const WORKSPACE_ID_BYTES: usize = 512;

/// Bytes of any other name or id that a program hands us.
pub const ID_BYTES: usize = 512;

/// Bytes of a host path (Linux `PATH_MAX`).
pub const PATH_BYTES: usize = 4096;

/// The least that a repository may lower its own memory to: git needs more than the engines' least of 6 MiB.
pub const LEAST_MEMORY_BYTES: u64 = 64 * 1024 * 1024;

/// The least that it may lower its CPUs to, in billionths: below it a clone outlasts its deadline.
pub const LEAST_NANO_CPUS: u64 = 100_000_000;

/// The least that it may lower its processes to: our own and a few of the agent's.
pub const LEAST_PIDS: u32 = 32;

/// The least that it may lower its open files to.
pub const LEAST_NOFILE: u32 = 256;

/// Bytes of a lifecycle command with all its words: far above any real one.
pub const COMMAND_BYTES: usize = 64 * 1024;

/// Bytes of all commands of a property as one text for a shell: it travels as a variable's value (Linux 128 KiB).
pub const LIFECYCLE_SCRIPT_BYTES: usize = 120 * 1024;

/// Bytes of a build's argument: it stands on a command line and in the image's history.
pub const BUILD_ARGUMENT_BYTES: usize = 16 * 1024;

/// Bytes of a Dockerfile.
pub const DOCKERFILE_BYTES: usize = 1024 * 1024;

/// Seconds that a build may take: it pulls images and compiles.
pub const BUILD_DEADLINE_S: u32 = 60 * 60;

/// Seconds that the commands of one property may run: an installation of packages over a slow line takes many minutes.
pub const LIFECYCLE_DEADLINE_S: u32 = 60 * 60;

/// Processes in a container: enough for builds, too few for a fork bomb to hurt the host.
pub const PIDS: u32 = 512;

/// Open files of a process. Raising it above the engine's own hard limit fails the start where the
/// engine lacks CAP_SYS_RESOURCE, so it stays below the smallest hard limit measured (20,000).
pub const NOFILE: u32 = 16_384;

/// Seconds an engine may take for one quick command.
pub const ENGINE_DEADLINE_S: u32 = 60;

/// Seconds a pull or a clone may take.
pub const TRANSFER_DEADLINE_S: u32 = 3600;

/// Bytes of a tmpfs, or of /dev/shm, that a repository asks for: half the memory of the smallest template. Its
/// pages count as the container's memory, so the host is safe in any case; browsers want 1 GiB at most.
pub const MEMORY_FILES_BYTES: u64 = 1024 * 1024 * 1024;

/// Bytes of a tmpfs for which no size was asked: what engines give /dev/shm. Theirs would be half the host's memory.
pub const TMPFS_BYTES: u64 = 64 * 1024 * 1024;

/// Mounts that a repository gets; public files have four at most.
pub const REPOSITORY_MOUNTS: usize = 16;

/// Ports that one range stands for; more are a mistake, and every one is asked of a person.
pub const PORT_RANGE: u16 = 16;

/// Bytes of a bundle that comes out of a workspace: it lies on this machine's disk for a moment, and its pack once more
/// for good. What an agent wrote since the last one is some megabytes; a whole history of two gigabytes is a large one.
pub const BUNDLE_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Bytes of such a bundle's head: one reference and a few commits that it presupposes.
pub const BUNDLE_HEAD_BYTES: usize = 64 * 1024;

/// Seconds that a bundle may take to come out, and each step of git to judge it: whoever writes it may be slow on purpose.
pub const BUNDLE_DEADLINE_S: u32 = 1800;

/// Bytes of the list of paths in which two commits differ: 300,000 paths. A tree of a few kilobytes can name more of them
/// than a machine has atoms to hold; what cannot be listed is not taken.
pub const CHANGED_PATHS_BYTES: u64 = 32 * 1024 * 1024;
