//! docker over TCP with TLS: what a person secured is spoken to with TLS or not at all.

use crate::bench::{Bench, Ran};
use crate::dockerd::Dockerd;
use orca_container_testkit::Canary;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

/// An authority, a server of 127.0.0.1 and a client that it vouches for, for a day; openssl makes them.
fn certificates(folder: &Path) {
    fs::create_dir(folder).unwrap();
    let names = "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n";
    fs::write(folder.join("names"), names).unwrap();
    let script = "\
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=authority -keyout authority.pem -out ca.pem
for who in server client; do
  openssl req -newkey rsa:2048 -nodes -subj /CN=$who -keyout $who-key.pem -out $who.csr
  openssl x509 -req -days 1 -in $who.csr -CA ca.pem -CAkey authority.pem -CAcreateserial -extfile names -out $who.pem
done
cp client.pem cert.pem; cp client-key.pem key.pem";
    let made = Command::new("sh").args(["-ec", script]).current_dir(folder).output().unwrap();
    Ran::of(&made).ok();
}

/// A daemon that answers by TLS only, and its certificates in the test's folder.
fn daemon(bench: &Bench, port: u16) -> Dockerd {
    let folder = bench.path("certificates");
    certificates(&folder);
    let file = |option: &str, name: &str| format!("--{option}={}", folder.join(name).display());
    let options = [
        format!("--host=tcp://127.0.0.1:{port}"),
        "--tlsverify".into(),
        file("tlscacert", "ca.pem"),
        file("tlscert", "server.pem"),
        file("tlskey", "server-key.pem"),
    ];
    Dockerd::start(&options, &crate::bench::image("docker"))
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Makes a context of the test's own home the current one.
fn use_context(bench: &Bench, name: &str, endpoint: &str) {
    let docker = |args: &[&str]| {
        let mut command = Command::new("docker");
        command.args(args).env("HOME", bench.path("home")).env_remove("DOCKER_HOST");
        Ran::of(&command.output().unwrap()).ok();
    };
    docker(&["context", "create", name, "--docker", endpoint]);
    docker(&["context", "use", name]);
}

/// A workspace with a value, from create to rm.
fn works(bench: &Bench, daemon: &Dockerd) {
    let value = Canary::new("over tls");
    bench.create(&["--network=none", "--container-env", &format!("TYPED={}", value.marker())]).ok();
    let said = bench.exec(&["sh", "-c", "cat readme; echo $TYPED"]).ok().stdout;
    assert_eq!(said, format!("hello again\n{}\n", value.marker()));
    assert!(!daemon.left().is_empty(), "the workspace is on another daemon");
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_eq!(daemon.left(), "");
}

#[track_caller]
fn refused_as_unverified(bench: &Bench) {
    let refused = bench.create(&["--network=none"]).code(1);
    assert!(refused.stderr.contains("not verified"), "{}", refused.stderr);
    let doctor = bench.run(&["doctor", "--engine", "docker"]).code(3);
    assert!(doctor.stdout.contains("not verified"), "{}", doctor.stdout);
}

/// By the variables and by a context: verified TLS is used, TLS that believes everybody is refused.
pub fn of_environment_and_context(bench: &mut Bench) {
    let port = free_port();
    let daemon = daemon(bench, port);
    let host = format!("tcp://127.0.0.1:{port}");
    let folder = bench.path("certificates").to_str().unwrap().to_owned();

    bench.env.insert("DOCKER_HOST".into(), host.clone());
    bench.env.insert("DOCKER_TLS".into(), "1".into());
    refused_as_unverified(bench);
    bench.env.insert("DOCKER_TLS_VERIFY".into(), "1".into());
    bench.env.insert("DOCKER_CERT_PATH".into(), folder.clone());
    works(bench, &daemon);
    // Where nobody names a folder it is that of docker's own configuration.
    bench.env.remove("DOCKER_CERT_PATH");
    bench.env.insert("DOCKER_CONFIG".into(), folder.clone());
    works(bench, &daemon);

    for name in ["DOCKER_HOST", "DOCKER_TLS", "DOCKER_TLS_VERIFY", "DOCKER_CONFIG"] {
        bench.env.remove(name);
    }
    let files = format!("ca={folder}/ca.pem,cert={folder}/cert.pem,key={folder}/key.pem");
    use_context(bench, "secured", &format!("host={host},{files}"));
    works(bench, &daemon);
    use_context(bench, "believing", &format!("host={host},{files},skip-tls-verify=true"));
    refused_as_unverified(bench);
}
