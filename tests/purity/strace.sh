#!/usr/bin/env bash
# Shows that planning touches nothing: the golden corpus is planned under strace, and between the request read
# and the answer written there is no system call but for memory and locks. Then shows that it would have been
# noticed: a file read in between and missing marks must both fail. Takes no arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() { printf 'purity: %s\n' "$*" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Prints where cargo put an example.
built() {
  cargo build --workspace --example plan_stdin --example golden_requests --message-format=json 2>"$folder/build" |
    sed -n "s|.*\"executable\":\"\([^\"]*/examples/$1\)\".*|\1|p" || { cat "$folder/build" >&2; return 1; }
}

# Reads a trace. Fails unless both marks are there, and nothing but memory and locks between them. A mapping
# must be of no file; to map one it must be opened, which is caught as well.
judge() {
  awk '
    { call = $0; sub(/^[0-9]+ +/, "", call) }
    call ~ /^write\(2, "BEGIN\\n"/ { if (begun++) bad = bad "a second beginning\n"; next }
    call ~ /^write\(2, "END\\n"/ { if (!begun || ended++) bad = bad "an end without a beginning\n"; next }
    begun && !ended {
      calls++
      if (call ~ /^(brk|munmap|mremap|madvise|mprotect|futex)\(/) next
      if (call ~ /^<\.\.\. (brk|mmap|munmap|mremap|madvise|mprotect|futex) resumed>/) next
      if (call ~ /^mmap\(.*MAP_ANONYMOUS.*, -1, 0/) next
      bad = bad call "\n"
    }
    END {
      if (begun != 1 || ended != 1) bad = bad "the marks are missing\n"
      if (bad != "") { printf "%s", bad; exit 1 }
      printf "%d system calls between the marks, all for memory or locks\n", calls
    }
  ' "$1"
}

# Plans the corpus under strace, with a fault or none.
trace() {
  strace -f -s 64 -o "$folder/trace" "$plan" "$@" <"$folder/requests" >"$folder/answers" 2>"$folder/marks" ||
    fail "the traced program failed: $(cat "$folder/marks")"
}

plan=$(built plan_stdin)
requests=$(built golden_requests)
[ -x "$plan" ] && [ -x "$requests" ] || fail "the examples were not built: $(cat "$folder/build")"
"$requests" >"$folder/requests"

trace
judge "$folder/trace" || fail "planning made these system calls."
[ "$(wc -l <"$folder/answers")" -eq "$(wc -l <"$folder/requests")" ] || fail "not every request was answered."
grep -q '^{"ok":true,' "$folder/answers" || fail "no request was planned."
printf '%d requests answered\n' "$(wc -l <"$folder/answers")"

trace impure
reported=$(judge "$folder/trace") && fail "a file read between the marks was not noticed."
grep -q '/proc/self/comm' <<<"$reported" || fail "the file read was not named: $reported"
trace unmarked
judge "$folder/trace" >"$folder/reported" && fail "missing marks were not noticed."
echo "a file read and missing marks are noticed"
