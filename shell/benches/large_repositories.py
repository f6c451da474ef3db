#!/usr/bin/env python3
"""Large repositories through a workspace, beside the bare engine and git doing the same, in one run.

Usage: large_repositories.py COMMAND ENGINE IMAGE [RUNS]. COMMAND is a release build of orca-container, IMAGE one with git.
A repository of 64 incompressible blobs of 16 MB, and one of 10,000 commits: each is brought in (create), gets as much again
inside and is brought home (fetch), and is looked at and removed (rm). Beside it: volume, container, bundle and unbundle by
hand. Prints medians in seconds, their ratio, and the most memory that our own process ever had (VmHWM of it alone; git is
another process on both sides). Everything it makes is its own, and goes with it.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

command, engine, image = sys.argv[1:4]
runs = int(sys.argv[4]) if len(sys.argv) > 4 else 3
root = pathlib.Path(tempfile.mkdtemp(prefix="orca-bench-"))
env = {
    "PATH": os.environ["PATH"],
    "HOME": str(root / "home"),
    "XDG_STATE_HOME": str(root / "state"),
    "GIT_CONFIG_NOSYSTEM": "1",
}
IDENTITY = ["-c", "user.name=n", "-c", "user.email=n@example.invalid"]


def sh(*words, **more):
    return subprocess.run(words, check=True, env=env, stdout=subprocess.PIPE, **more).stdout.decode().strip()


def ours(*words):
    """Seconds of our command, and its own peak memory in MB."""
    begun = time.monotonic()
    child = subprocess.Popen([command, *words], env=env, stdout=subprocess.DEVNULL, stderr=open(root / "said", "wb"))
    peak = 0
    while child.poll() is None:
        try:
            for line in pathlib.Path(f"/proc/{child.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peak = max(peak, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(0.01)
    if child.returncode:
        raise SystemExit(f"{words}: {(root / 'said').read_text()}")
    return time.monotonic() - begun, peak / 1024


def blobs(folder):
    sh("git", "init", "-q", "-b", "main", folder)
    # What cannot be compressed need not be tried: both sides move the same bytes, and zlib's minutes would hide the rest.
    sh("git", "-C", folder, "config", "core.compression", "0")
    sh("git", "-C", folder, "config", "core.bigFileThreshold", "1m")
    for number in range(64):
        (folder / f"blob-{number}").write_bytes(os.urandom(16 * 1000 * 1000))
    sh("git", "-C", folder, "add", "-A")
    sh("git", "-C", folder, *IDENTITY, "commit", "-q", "-m", "blobs")
    sh("git", "-C", folder, "repack", "-a", "-d", "-q")


def commits(folder):
    sh("git", "init", "-q", "-b", "main", folder)
    stream = []
    for number in range(10_000):
        text = f"{number}\n"
        stream.append(f"commit refs/heads/main\ncommitter n <n@example.invalid> {1_600_000_000 + number} +0000\ndata 1\nx\n")
        stream.append(f"M 100644 inline f{number % 100}\ndata {len(text)}\n{text}\n")
    subprocess.run(["git", "-C", folder, "fast-import", "--quiet"], input="".join(stream).encode(), check=True, env=env)
    sh("git", "-C", folder, "reset", "-q", "--hard")


MORE = {
    "blobs": "for n in $(seq 64); do head -c 16000000 /dev/urandom >new-$n; done; git add -A; git commit -q -m more",
    "commits": "for n in $(seq 200); do git commit -q --allow-empty -m $n; done",
}
AS_ONE = "git config user.name n; git config user.email n@example.invalid; git config gc.auto 0; git config core.compression 0; git config core.bigFileThreshold 1m; "
RUNTIME = ["--runtime=runc", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"] if engine == "podman" else []
HARDENED = ["--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none", "--user=1000:1000", "--init", *RUNTIME]


def bare_create(repository, name):
    sh(engine, "volume", "create", name)
    if engine == "docker":
        sh(engine, "run", "--rm", "--user=0:0", "-v", f"{name}:/workspace", "--entrypoint=/bin/chown", image, "1000:1000", "/workspace")
    sh(engine, "create", "--name", name, *HARDENED, "-v", f"{name}:/workspace", "--entrypoint=/bin/sh", image, "-c", "sleep 100000")
    sh(engine, "start", name)
    script = "set -e; git init -q -b main /workspace/w; cd /workspace/w; git bundle unbundle /dev/stdin | while read id ref; do git update-ref $ref $id; done; git reset -q --hard"
    bundle = subprocess.Popen(["git", "-C", repository, "bundle", "create", "--quiet", "-", "refs/heads/main"], stdout=subprocess.PIPE, env=env)
    sh(engine, "exec", "-i", name, "sh", "-c", script, stdin=bundle.stdout)
    bundle.wait()


def bare_fetch(repository, name, known):
    script = f"cd /workspace/w; exec git bundle create --quiet - main ^{known}"
    with open(root / "out.bundle", "wb") as out:
        subprocess.run([engine, "exec", name, "sh", "-c", script], stdout=out, check=True, env=env)
    sh("git", "-C", repository, "-c", "transfer.fsckObjects=true", "fetch", "-q", root / "out.bundle", "main:refs/bare/main")
    os.remove(root / "out.bundle")


def bare_remove(name):
    sh(engine, "exec", name, "git", "-C", "/workspace/w", "status", "--porcelain")
    sh(engine, "rm", "-f", "-v", *(["-t", "0"] if engine == "podman" else []), name)
    sh(engine, "volume", "rm", name)


bare = f"orca-bench-{os.getpid()}"


def left():
    """What a run that failed left."""
    for words in [[command, "rm", "--force", "repository@main"], [engine, "rm", "-f", "-v", bare], [engine, "volume", "rm", bare]]:
        subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def one_run(kind, pristine, seconds, memory):
    repository = root / "repository"
    shutil.copytree(pristine, repository, symlinks=True)
    sh("git", "-C", repository, "switch", "-q", "-c", "elsewhere")
    known = sh("git", "-C", repository, "rev-parse", "main")
    flags = ["--engine", engine, "--container-image", image, "--network=none", "--branch=main"]
    flags += ["--runtime", "runc"] if engine == "podman" else []

    def note(step, took, beside):
        seconds.setdefault(step, ([], []))[0].append(took[0])
        seconds[step][1].append(beside)
        memory.append(took[1])

    def timed(act, *args):
        begun = time.monotonic()
        act(*args)
        return time.monotonic() - begun

    note("create", ours("create", str(repository), *flags), timed(bare_create, repository, bare))
    name = json.loads(sh(command, "ls", "--json"))[0]
    sh(engine, "exec", name["containerId"], "sh", "-c", "cd /workspace/repository; " + AS_ONE + MORE[kind])
    sh(engine, "exec", bare, "sh", "-c", "cd /workspace/w; " + AS_ONE + MORE[kind])
    note("fetch", ours("fetch", name["name"]), timed(bare_fetch, repository, bare, known))
    note("rm", ours("rm", name["name"]), timed(bare_remove, bare))
    shutil.rmtree(repository)


try:
    (root / "home").mkdir()
    for kind, make in [("blobs", blobs), ("commits", commits)]:
        pristine = root / kind
        make(pristine)
        seconds, memory = {}, []
        for _ in range(runs):
            one_run(kind, pristine, seconds, memory)
        shutil.rmtree(pristine)
        for step, (mine, beside) in seconds.items():
            a, b = statistics.median(mine), statistics.median(beside)
            print(f"{engine:7} {kind:8} {step:7} ours {a:7.2f} s  bare {b:7.2f} s  ratio {a / b:5.2f}", flush=True)
        if max(memory) > 32:
            raise SystemExit(f"our own process had {max(memory):.1f} MB, more than 32")
        print(f"{engine:7} {kind:8} peak of our own process {max(memory):.1f} MB", flush=True)
finally:
    left()
    shutil.rmtree(root, ignore_errors=True)
