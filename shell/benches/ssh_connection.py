#!/usr/bin/env python3
"""What a terminal over ssh costs beside a bare exec and our own, interleaved in one run.

Usage: ssh_connection.py COMMAND ENGINE IMAGE [RUNS]. COMMAND is a release build of orca-container, IMAGE one with git and sshd.
Prints medians in milliseconds of: the engine's exec, `exec`, a connection with one command, and one more session in a
connection that is open already (what a further terminal of Orca costs). Everything it makes goes with it.
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
runs = int(sys.argv[4]) if len(sys.argv) > 4 else 15
root = pathlib.Path(tempfile.mkdtemp(prefix="orca-bench-"))
env = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "XDG_STATE_HOME": str(root / "state")}
repository = root / "repository"


def sh(*words, **more):
    more = {"env": env, "stdin": subprocess.DEVNULL, **more}
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more).stdout.decode()


def milliseconds(words):
    begun = time.monotonic()
    sh(*words)
    return 1000 * (time.monotonic() - begun)


resource = ""
try:
    (root / "home").mkdir()
    # An ssh of its own: the real one asks passwd for the home, and the person's known_hosts is nobody's business here.
    (root / "bin").mkdir()
    (root / "config").write_text(f"UserKnownHostsFile {root / 'home/known_hosts'}\n")
    (root / "bin/ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {root / "config"} "$@"\n')
    (root / "bin/ssh").chmod(0o755)
    env["PATH"] = f"{root / 'bin'}:{env['PATH']}"
    sh("git", "init", "-q", "-b", "main", repository)
    sh("git", "-C", repository, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "one")
    head = sh("git", "-C", repository, "rev-parse", "HEAD").strip()
    flags = ["--engine", engine, "--container-image", image, "--network", "none"]
    flags += ["--runtime", "runc"] if engine == "podman" else []
    orca = {"ORCA_RECIPE_RESULT_SCHEMA_VERSION": "2", "ORCA_REPO_BRANCH": "bench", "ORCA_REPO_REF_HEAD": head}
    result = json.loads(sh(command, "recipe", "create", *flags, cwd=repository, env={**env, **orca}))
    target, data = result["connection"]["target"], result["userData"]
    resource = data["resourceId"]
    container = json.loads(sh(command, "status", resource, "--json"))["containerId"]
    ssh = [str(root / "bin/ssh"), "-o", "BatchMode=yes", "-o", f"ProxyCommand={target['proxyCommand']}"]
    ssh += ["-i", target["identityFile"], "-o", "IdentitiesOnly=yes"]
    socket = ["-o", f"ControlPath={root / 'socket'}"]
    where = f"{target['username']}@{target['host']}"
    master = subprocess.Popen([*ssh, *socket, "-M", "-N", where], env=env, stdin=subprocess.DEVNULL)
    while not (root / "socket").exists():
        time.sleep(0.05)
    ways = {
        "the engine's exec": [engine, "exec", container, "true"],
        "orca-container exec": [command, "exec", resource, "--", "true"],
        "a connection": [*ssh, where, "true"],
        "a further session": [*ssh, *socket, where, "true"],
    }
    took = {way: [] for way in ways}
    for _ in range(runs):
        for way, words in ways.items():
            took[way].append(milliseconds(words))
    for way, all_of_them in took.items():
        print(f"{engine:7} {way:20} {statistics.median(all_of_them):7.0f} ms", flush=True)
    master.terminate()
finally:
    if resource:
        subprocess.run([command, "rm", "--force", resource], env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    shutil.rmtree(root, ignore_errors=True)
