#!/bin/sh
# A thousand pairs of launches at once on both engines; CI launches two hundred. Takes a quarter of an hour.
cd "$(dirname "$0")/../.." || exit 1
ORCA_TEST_PAIRS=1000 ORCA_TEST_ENGINES=docker,podman \
  exec cargo test --package orca-container --test engines -- environment::two_launches_at_once
