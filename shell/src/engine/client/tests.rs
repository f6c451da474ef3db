use super::super::feed::Writer;
use super::*;

fn sh(script: &str, input: Input<'_>, deadline: Duration) -> Result<Output, ClientError> {
    let client = Client { program: "/bin/sh".into(), env: BTreeMap::from([("ONLY".into(), "this".into())]) };
    client.call(&["-c".into(), script.into()], input, Wanted::Kept, deadline)
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let output = sh("/usr/bin/env", Input::None, Duration::from_secs(5)).unwrap();
    assert!(output.text().contains("ONLY=this") && !output.text().contains("HOME="));
}

#[test]
fn large_input_and_output_flow_at_the_same_time() {
    let bytes = vec![b'x'; 1024 * 1024];
    let output = sh("cat", Input::Bytes(&bytes), Duration::from_secs(20)).unwrap();
    assert_eq!(output.stdout.len(), bytes.len());
}

#[test]
fn a_call_ends_at_its_deadline() {
    let begun = Instant::now();
    let error = sh("sleep 60", Input::None, Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, ClientError::Deadline { .. }) && begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_call_that_takes_nothing_more_is_ended_and_one_that_works_on_is_not() {
    let written = |script: &str, no_progress| {
        let write: Writer<'_> = Box::new(|pipe| pipe.write_all(&vec![b'x'; 1024 * 1024]));
        let patience = Duration::from_millis(no_progress);
        sh(script, Input::Written(write, patience), Duration::from_secs(60))
    };
    assert!(matches!(written("sleep 60", 300), Err(ClientError::NoProgress { .. })));
    let slow = "head -c 1048576 >/dev/null; sleep 1; echo done";
    assert_eq!(written(slow, 300).unwrap().text(), "done");
    assert!(matches!(written("head -c 1000 >/dev/null", 300), Err(ClientError::NotTaken { .. })));
    assert_eq!(written("exit 3", 300).unwrap().code, 3);
}

#[test]
fn codes_and_signals_are_told_as_a_shell_tells_them() {
    assert_eq!(sh("exit 7", Input::None, Duration::from_secs(5)).unwrap().code, 7);
    assert_eq!(sh("kill -9 $$", Input::None, Duration::from_secs(5)).unwrap().code, 137);
}

#[test]
fn a_program_that_is_not_there_is_told_so() {
    let client = Client { program: "/nowhere/docker".into(), env: BTreeMap::new() };
    let error = client.call(&[], Input::None, Wanted::Kept, Duration::from_secs(1)).unwrap_err();
    assert!(matches!(error, ClientError::Missing { .. }));
}

#[test]
fn debug_shows_no_output() {
    let output = sh("echo hunter2", Input::None, Duration::from_secs(5)).unwrap();
    assert!(!format!("{output:?}").contains("hunter2"));
}

#[test]
fn what_is_not_known_as_a_question_is_a_change() {
    let said = |line: &str| {
        let args: Vec<String> = line.split(' ').map(String::from).collect();
        changes(&args)
    };
    for question in [
        "version --format {{json .}}",
        "--runtime runc info --format json",
        "container inspect -- x",
        "container ls --all --filter network=create",
        "volume ls --quiet --filter name=rm",
        "network inspect -- rm",
        "image inspect -- x",
        "cp x:/etc/passwd -",
        "system connection list",
    ] {
        assert_eq!(said(question), None, "{question}");
    }
    for (change, name) in [
        ("--runtime=runc create --name=x -- image inspect", "engine create"),
        ("volume create --driver=local -- inspect", "engine volume create"),
        ("network rm -- x", "engine network rm"),
        ("exec --workdir=/ -- x /bin/sh -c ls", "engine exec"),
        ("run --rm --name=x-look -- image", "engine run"),
        ("rm -f -v -- ls", "engine rm"),
        ("image pull -- x", "engine image pull"),
        ("frobnicate", "engine frobnicate"),
    ] {
        assert_eq!(said(change).as_deref(), Some(name), "{change}");
    }
}
