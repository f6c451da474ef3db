//! `recipe init` shows an entry that Orca can read, and writes it only where it stays one.

use crate::runs::Repository;
use std::fs;

fn repository(orca_yaml: Option<&str>) -> Repository {
    let repository = Repository::new();
    repository.write("readme", "hello\n");
    if let Some(text) = orca_yaml {
        repository.write("orca.yaml", text);
    }
    repository.commit();
    repository
}

const INIT: [&str; 4] = ["recipe", "init", "--container-image", "acme/base:1"];

#[test]
fn nothing_is_written_unasked_and_the_entry_is_whole() {
    let repository = repository(None);
    let shown = repository.run(&INIT);
    assert_eq!(shown.code, 0, "{shown:?}");
    for line in [
        "environmentRecipes:",
        "    checkoutMode: provisioned-root",
        "    create: orca-container recipe create --container-image acme/base:1",
        "    destroy: orca-container recipe destroy",
    ] {
        assert!(shown.stdout.contains(line), "{line}: {shown:?}");
    }
    assert!(!repository.root.join("orca.yaml").exists());
}

#[test]
fn it_is_written_behind_what_is_there_and_once() {
    let before = "scripts:\n  setup: npm ci\n";
    let repository = repository(Some(before));
    let write = [&INIT[..], &["--write"]].concat();
    assert_eq!(repository.run(&write).code, 0);
    let text = fs::read_to_string(repository.root.join("orca.yaml")).unwrap();
    assert!(text.starts_with(before) && text.matches("environmentRecipes:").count() == 1, "{text}");
    assert_eq!(repository.run(&["check", "--strict"]).code, 0, "the file is read as before");
    let again = repository.run(&write);
    assert!(again.code == 1 && again.stdout.contains("add this to the list"), "{again:?}");
    assert_eq!(fs::read_to_string(repository.root.join("orca.yaml")).unwrap(), text);
}

#[test]
fn a_file_that_would_break_or_that_leads_elsewhere_is_left() {
    let write = [&INIT[..], &["--write"]].concat();
    let braces = repository(Some("{scripts: {setup: npm ci}}\n"));
    let refused = braces.run(&write);
    assert!(refused.code == 1 && refused.stderr.contains("Nothing was written"), "{refused:?}");
    assert_eq!(fs::read_to_string(braces.root.join("orca.yaml")).unwrap(), "{scripts: {setup: npm ci}}\n");
    let linked = repository(None);
    let target = linked.home.path().join("precious");
    fs::write(&target, "a: 1\n").unwrap();
    std::os::unix::fs::symlink(&target, linked.root.join("orca.yaml")).unwrap();
    assert_eq!(linked.run(&write).code, 1);
    assert_eq!(fs::read_to_string(&target).unwrap(), "a: 1\n");
    let odd = braces.run(&["recipe", "init", "--container-image", "x; rm -rf /"]);
    assert_eq!(odd.code, 2, "{odd:?}");
}
