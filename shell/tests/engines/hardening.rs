//! The boundary, read from the host's kernel, and engines that do not cooperate.

use crate::bench::Bench;
use crate::lifecycle::only_record;
use std::fs;

/// The number in a cgroup file of the container's process, on cgroup v1 and v2.
fn cgroup(pid: u64, controller: &str, v1: &str, v2: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next(), fields.next().unwrap(), fields.next().unwrap());
        if controllers.split(',').any(|name| name == controller) {
            for root in [format!("/sys/fs/cgroup/{controllers}"), format!("/sys/fs/cgroup/{controller}")] {
                if let Ok(text) = fs::read_to_string(format!("{root}{path}/{v1}")) {
                    return text.trim().to_owned();
                }
            }
        }
    }
    let path = text.lines().find_map(|line| line.strip_prefix("0::")).unwrap();
    fs::read_to_string(format!("/sys/fs/cgroup{path}/{v2}")).unwrap().trim().to_owned()
}

pub fn kernel_and_cgroup(bench: &mut Bench) {
    bench.create(&["--container-template", "small"]).ok();
    let pid = bench.inspect()["State"]["Pid"].as_u64().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(&format!("{name}:"))).unwrap().trim().to_owned()
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
    assert_eq!((field("NoNewPrivs").as_str(), field("Seccomp").as_str()), ("1", "2"));
    assert_eq!(field("Uid"), "1000\t1000\t1000\t1000");
    assert_eq!(field("Gid"), "1000\t1000\t1000\t1000");
    // The same of a process that exec started.
    let inside = bench
        .exec(&["sh", "-c", "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status"])
        .ok()
        .stdout;
    assert_eq!(inside, "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");

    assert_eq!(cgroup(pid, "memory", "memory.limit_in_bytes", "memory.max"), (2_u64 << 30).to_string());
    assert_eq!(cgroup(pid, "pids", "pids.max", "pids.max"), "512");
    let cpu = cgroup(pid, "cpu", "cpu.cfs_quota_us", "cpu.max");
    assert!(cpu == "100000" || cpu == "100000 100000", "{cpu}");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// docker silently adopts a volume that is there already, options and all; nobody must build on it.
pub fn hostile_volume(bench: &mut Bench) {
    bench.create(&[]).ok();
    let name = only_record(bench)["plan"]["names"]["workspaceVolume"].as_str().unwrap().to_owned();
    bench.run(&["rm", "acme", "--force"]).ok();
    // The next instance has another name, so the volume is made behind the back of a workspace being started anew.
    let target = bench.path("decoy");
    fs::create_dir(&target).unwrap();
    let device = format!("device={}", target.display());
    bench.client(&["volume", "create", "-o", "type=none", "-o", "o=bind", "-o", &device, &name]).ok();
    bench.create(&[]).ok();
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0, "the hostile volume was used");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
    assert_eq!(bench.client(&["volume", "inspect", &name]).code, 0, "a volume that is not ours was removed");
    bench.client(&["volume", "rm", &name]).ok();
}

pub fn peers_are_apart(bench: &mut Bench) {
    bench.create(&[]).ok();
    // A second workspace of the same installation: another worktree of the same repository.
    let worktree = bench.path("second");
    bench.git(&["worktree", "add", "-q", "-b", "second", worktree.to_str().unwrap()]);
    let image = crate::bench::image(bench.engine);
    bench.create_from("second", &image, &[]).ok();
    let address = bench
        .exec(&["sh", "-c", "ip -4 -o addr show eth0 | awk '{print $4}' | cut -d/ -f1"])
        .ok()
        .stdout
        .trim()
        .to_owned();
    assert!(address.contains('.'), "{address:?}");
    let mut listener = bench
        .command(&["exec", "acme", "--", "nc", "-l", "-p", "9999", "-e", "echo", "reached"])
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let own = bench.exec(&["sh", "-c", &format!("echo | timeout 3 nc -w 2 {address} 9999")]);
    assert!(own.stdout.contains("reached"), "the listener does not answer its own container: {own:?}");
    let mut listener_two = bench
        .command(&["exec", "acme", "--", "nc", "-l", "-p", "9998", "-e", "echo", "reached"])
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let peer =
        bench.run(&["exec", "second", "--", "sh", "-c", &format!("echo | timeout 3 nc -w 2 {address} 9998")]);
    assert!(!peer.stdout.contains("reached"), "a peer was reached");
    for name in ["acme", "second"] {
        bench.run(&["rm", name, "--force"]).ok();
    }
    let _ = listener.kill();
    let _ = listener.wait();
    let _ = listener_two.kill();
    let _ = listener_two.wait();
    bench.nothing_is_left();
}
