//! A plan request with an arbitrary orca.yaml, or an arbitrary request.
//!
//! The first byte chooses: `p` podman, `v` a preview without any facts, `r` the rest is the whole request, anything
//! else docker. The rest is the text of orca.yaml. Whatever it says: the answer is JSON with `ok`, the same each
//! time, holds no value that a person typed, and a plan is hardened and within the ceiling.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orca_container_core::json;
use serde_json::Value;

#[path = "../shared/mod.rs"]
mod shared;
use shared::{judge, marker, preview, request};

fuzz_target!(|data: &[u8]| {
    let Some((mode, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    // Of the input's hash, so that the fuzzer cannot learn to write it into the input.
    let marker = marker(rest);
    let request = match mode {
        b'r' => text.into_owned(),
        b'p' => request("podman", &text, &marker).to_string(),
        b'v' => preview(&text, &marker).to_string(),
        _ => request("docker", &text, &marker).to_string(),
    };
    let answer = json::plan(&request);
    assert_eq!(answer, json::plan(&request), "the same request gives the same bytes");
    assert!(!answer.contains(&marker), "a value is in the answer");
    let read: Value = serde_json::from_str(&answer).expect("the answer is JSON");
    match read["ok"].as_bool().expect("the answer has ok") {
        true => judge(&request, &read),
        false => assert!(read["code"].is_string() && read["problems"].is_array()),
    }
});
