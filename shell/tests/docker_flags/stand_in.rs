//! A stand-in for an engine: keeps what a container would be made of, and refuses everything.

use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    sync::{Arc, Mutex},
};

/// The stand-in, on a socket of its own; its thread ends with the test's process.
pub struct StandIn {
    folder: tempfile::TempDir,
    body: Arc<Mutex<Option<Value>>>,
}

impl StandIn {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let body = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&body);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away is none of the test's business.
                let _gone = answer(stream, &kept);
            }
        });
        Self { folder, body }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn address(&self) -> String {
        format!("unix://{}/s", self.folder().display())
    }

    pub fn forget(&self) {
        *self.body.lock().unwrap() = None;
    }

    /// What the last container would have been made of.
    pub fn body(&self) -> Option<Value> {
        self.body.lock().unwrap().clone()
    }
}

fn answer(mut stream: UnixStream, kept: &Mutex<Option<Value>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text)?;
    if first.contains("/containers/create") {
        *kept.lock().unwrap() = serde_json::from_slice(&text).ok();
    }
    let (status, text) =
        if first.contains("/_ping") { ("200 OK", "OK") } else { ("400 Bad Request", "{\"message\":\"no\"}") };
    let text = if first.starts_with("HEAD") { "" } else { text };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nApi-Version: 1.48\r\nOstype: linux\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}
