//! Why flags are left out, in words that go behind "is left out: ".

pub(super) const CLIENT: &str = "it is about the client's own terminal and output, which Orca sees to";
pub(super) const LIFECYCLE: &str = "Orca makes, names, keeps and removes the container";
pub(super) const IMAGE_IS_CHOSEN: &str =
    "which image is used, and when it is pulled, is decided before the container is made";
pub(super) const FIRST_PROCESS: &str =
    "the container's first process is Orca's own; commands start in it later";
pub(super) const HEALTH: &str = "the engine makes no health checks; Orca looks at the container itself";
pub(super) const WORKDIR: &str = "every command starts in the folder of the workspace";
pub(super) const LIMITS: &str = "memory, CPUs and processes are limited by the container's template";
pub(super) const EXPOSE: &str = "it publishes nothing; a port is asked for with \"forwardPorts\"";
pub(super) const NAMES: &str = "it changes nothing that is needed in a container of Orca's";
pub(super) const WRITABLE: &str = "whether the root file system can be written is decided by Orca's plan";
pub(super) const PROXY: &str = "the host's proxy settings never enter the container";

pub(super) const PRIVILEGED: &str =
    "a privileged container has every capability and device of the host and no seccomp";
pub(super) const DEVICE: &str = "devices of the host stay with the host";
pub(super) const DEVICE_RATE: &str =
    "it names a device of the host; memory, CPUs and processes are limited by the template";
pub(super) const GPUS: &str =
    "it hands over device nodes and a driver's hook of the host; no setting allows that yet";
pub(super) const HOST_READ: &str = "the engine would read a file of the host and hand its content over";
pub(super) const HOST_WRITE: &str = "the engine would write a file on the host";
pub(super) const HOST_RUN: &str =
    "the engine would run a program or hook that the repository names on the host";
pub(super) const HOST_ENV: &str =
    "variables of the host are asked for in orca.yaml under \"forwardHostEnv\" and granted by a person";
pub(super) const ENV_REMOVED: &str = "variables that every workspace needs would be gone";
pub(super) const OTHERS: &str = "it joins another container, with its files, processes or variables";
pub(super) const VOLUMES_FROM: &str =
    "it takes over the mounts of another container, those of the host's files among them";
pub(super) const SOCKET: &str =
    "it hands over the engine's socket and the logins for registries, and with them the host";
pub(super) const CGROUP: &str = "it leaves the control group in which limits are counted";
pub(super) const RUNTIME: &str = "which runtime parts the container from the host is a person's choice";
pub(super) const ANNOTATION: &str = "runtimes and their hooks change the isolation by annotations";
pub(super) const SYSCTL: &str = "kernel settings stay as the engine sets them";
pub(super) const OOM: &str = "the kernel would end processes of the host instead of the container's";
pub(super) const REALTIME: &str = "real-time scheduling can starve the host";
pub(super) const GROUPS: &str = "further groups may own the engine's socket, devices or files of the host";
pub(super) const VOLUME_DRIVER: &str = "a driver can put any folder of the host or a server behind a volume";
pub(super) const STORAGE: &str = "how the engine stores containers is the engine's matter";
pub(super) const LOGGING: &str = "a log driver sends output to addresses and files of the host";
pub(super) const ADDRESSES: &str =
    "addresses and names on the network are given by the engine, so that none is spoofed";
pub(super) const RESOLVER: &str = "it decides where every name leads, and with it where credentials go";
pub(super) const PUBLISH_ALL: &str = "it publishes every port of the image on all addresses of the host";
pub(super) const USERNS: &str = "the mapping of users is decided by Orca's plan";
pub(super) const SYSTEMD: &str = "it loosens mounts and control groups for an init system";
pub(super) const PASSWD: &str = "it writes lines into the container's tables of users and groups";
pub(super) const PERSONALITY: &str =
    "it changes how the kernel runs programs, address randomisation among it";
pub(super) const SECRETS: &str =
    "secrets of the engine belong to whoever stored them; secrets of a workspace are named by a person";
pub(super) const ROOTFS: &str = "it makes a folder of the host the container's root";
pub(super) const DESCRIPTORS: &str = "it hands over open files of the client";
pub(super) const OTHER_CONTAINERS: &str = "it starts, removes or replaces other containers or images";
pub(super) const REGISTRY: &str = "how registries and images are verified is a person's matter";
pub(super) const ENGINE: &str = "it configures the engine itself";
pub(super) const IMAGE_VOLUMES: &str = "volumes of the image are decided by Orca's plan";
pub(super) const ISOLATION: &str = "it chooses how Windows parts containers";
pub(super) const HELP: &str = "no container would be made";
pub(super) const SWAP: &str = "there is no swap beyond the container's memory";
pub(super) const SECCOMP_POLICY: &str = "the image would choose the seccomp profile";
