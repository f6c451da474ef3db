//! What a hostile workspace can write in place of its branch: nothing of it changes the host.

use crate::attacker::{Attacker, OTHER};
use crate::bench::{Bench, Ran};
use crate::fetch::{commit_inside, everything, fetched, kept, no_import_is_left, tip, untouchable};
use serde_json::json;
use std::fs;
use std::process::Command;

/// Objects that no git writes.
pub fn bad_objects(bench: &mut Bench) {
    let mut evil = Attacker::new(bench);
    let blob = evil.object("blob", b"x\n");
    let option = evil.object("blob", b"[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n");
    let name = evil.object("blob", b"[submodule \"../../x\"]\n\tpath = x\n\turl = https://example.invalid\n");
    let link = evil.object("blob", b"/etc/passwd");
    let inner = evil.tree(&[("100755 post-checkout", &blob)]);
    let trees: Vec<(&str, String)> = vec![
        ("a file .git", evil.tree(&[("100644 .git", &blob)])),
        ("a folder .git", evil.tree(&[("40000 .git", &inner)])),
        ("other letters", evil.tree(&[("40000 .GIT", &inner)])),
        ("a short name of it", evil.tree(&[("40000 git~1", &inner)])),
        ("with what is not seen", evil.tree(&[("40000 .g\u{200c}it", &inner)])),
        ("above", evil.tree(&[("40000 ..", &inner)])),
        ("itself", evil.tree(&[("40000 .", &inner)])),
        ("no name", evil.tree(&[("100644 ", &blob)])),
        ("a path for a name", evil.tree(&[("100644 a/b", &blob)])),
        ("an absolute one", evil.tree(&[("100644 /etc/x", &blob)])),
        ("no mode", evil.tree(&[("777 x", &blob)])),
        ("a mode of before", evil.tree(&[("100664 x", &blob)])),
        ("a padded mode", evil.tree(&[("0100644 x", &blob)])),
        ("twice", evil.tree(&[("100644 x", &blob), ("100755 x", &blob)])),
        ("out of order", evil.tree(&[("100644 y", &blob), ("100644 x", &blob)])),
        ("cut short", evil.object("tree", b"100644 x\0short")),
        ("without a NUL", evil.object("tree", b"100644 x")),
        ("an option for a URL", evil.tree(&[("100644 .gitmodules", &option)])),
        ("a module's name that leaves", evil.tree(&[("100644 .gitmodules", &name)])),
        ("modules behind a link", evil.tree(&[("120000 .gitmodules", &link)])),
    ];
    for (what, tree) in &trees {
        let commit = evil.commit(tree);
        let bundle = evil.bundle(
            &[(&commit, "refs/heads/feature/x")],
            &[&commit, tree, &inner, &blob, &option, &name, &link],
        );
        evil.writes(&bundle, 0);
        evil.refused(what, &["git refuses what the workspace wrote"]);
    }
    // In a history of which the tip is clean.
    let (bad, clean) = (evil.commit(&trees[0].1), evil.tree(&[("100644 x", &blob)]));
    let over = evil.object(
        "commit",
        format!("tree {clean}\nparent {bad}\nauthor n <e> 1 +0000\ncommitter n <e> 1 +0000\n\nover\n")
            .as_bytes(),
    );
    let bundle = evil.bundle(&[(&over, "refs/heads/feature/x")], &[&over, &bad, &trees[0].1, &clean, &blob]);
    evil.writes(&bundle, 0);
    evil.refused("below the tip", &["hasDotgit"]);
    // Objects that are not there, or not what they are said to be.
    let lacking = evil.tree(&[("100644 x", OTHER)]);
    let commit = evil.commit(&lacking);
    let bundle = evil.bundle(&[(&commit, "refs/heads/feature/x")], &[&commit, &lacking]);
    evil.writes(&bundle, 0);
    evil.refused("a missing blob", &["git refuses what the workspace wrote"]);
    let orphan =
        format!("tree {clean}\nparent {OTHER}\nauthor n <e> 1 +0000\ncommitter n <e> 1 +0000\n\norphan\n");
    let orphan = evil.object("commit", orphan.as_bytes());
    let bundle = evil.bundle(&[(&orphan, "refs/heads/feature/x")], &[&orphan, &clean, &blob]);
    evil.writes(&bundle, 0);
    evil.refused("a missing parent", &["git refuses what the workspace wrote"]);
    let headless = evil.object("commit", b"tree 0\nno author\n");
    let author = evil.object("commit", format!("tree {clean}\nauthor <<>\ncommitter\n\nx").as_bytes());
    for odd in [&headless, &author] {
        let bundle = evil.bundle(&[(odd, "refs/heads/feature/x")], &[odd, &clean, &blob]);
        evil.writes(&bundle, 0);
        evil.refused("an odd commit", &["git refuses what the workspace wrote"]);
    }
    let whole = evil.tree(&[("100644 x", &blob)]);
    let commit = evil.commit(&whole);
    let bundle = evil.bundle(&[(&commit, "refs/heads/feature/x")], &[&commit, &whole, &blob]);
    let mut flipped = bundle.clone();
    *flipped.iter_mut().rev().nth(30).unwrap() ^= 0x55;
    for broken in [&flipped[..], &bundle[..bundle.len().saturating_sub(10)], &bundle[..200]] {
        evil.writes(broken, 0);
        evil.refused("a broken pack", &["git refuses what the workspace wrote"]);
    }
    let trailing = [&bundle[..], b"and more"].concat();
    evil.writes(&trailing, 0);
    let _ = evil.bench.run(&["fetch", "acme"]);
    assert_eq!(evil.bench.git(&["status", "--porcelain"]), "");
    evil.done();
}

/// Bundles that bring something else than the branch, and output that is no bundle.
pub fn other_bundles(bench: &mut Bench) {
    let mut evil = Attacker::new(bench);
    let blob = evil.object("blob", b"x\n");
    let tree = evil.tree(&[("100644 x", &blob)]);
    let commit = evil.commit(&tree);
    let tag = evil.object(
        "tag",
        format!("object {commit}\ntype commit\ntag t\ntagger n <e> 1 +0000\n\nt\n").as_bytes(),
    );
    let all = [commit.as_str(), &tree, &blob, &tag];
    for (what, id) in [("a tag", &tag), ("a tree", &tree), ("a blob", &blob), ("nothing", &OTHER.to_owned())]
    {
        let bundle = evil.bundle(&[(id, "refs/heads/feature/x")], &all);
        evil.writes(&bundle, 0);
        evil.refused(what, &["must be at a commit that is there"]);
    }
    for reference in [
        "refs/heads/main",
        "refs/heads/feature/xy",
        "HEAD",
        "--upload-pack=touch",
        "refs/heads/../../x",
        "feature/x",
    ] {
        let bundle = evil.bundle(&[(&commit, reference)], &all);
        evil.writes(&bundle, 0);
        evil.refused(reference, &["does not bring the branch"]);
    }
    let twice = evil.bundle(&[(&commit, "refs/heads/feature/x"), (&tag, "refs/heads/feature/x")], &all);
    evil.writes(&twice, 0);
    evil.refused("twice", &["does not bring the branch"]);
    let many: Vec<String> = (0..5_000).map(|n| format!("refs/heads/b{n}")).collect();
    let mut many: Vec<(&str, &str)> = many.iter().map(|name| (commit.as_str(), name.as_str())).collect();
    many.push((&commit, "refs/heads/feature/x"));
    let bundle = evil.bundle(&many, &all);
    evil.writes(&bundle, 0);
    evil.refused("thousands", &["its head does not end"]);
    for (what, bytes, code) in [
        ("nothing", &b""[..], 0),
        ("garbage", b"\x1b[2Jgarbage\n\0\xff", 0),
        ("a head alone", b"# v2 git bundle\n", 0),
        ("a filter", b"# v3 git bundle\n@filter=blob:none\n\nPACK", 0),
        ("a claim", OTHER.as_bytes(), 11),
        ("an odd claim", b"--all\n", 11),
    ] {
        evil.writes(bytes, code);
        evil.refused(what, &["cannot be used, and was dropped"]);
    }
    // What the host has beside the branch is no answer to "nothing new".
    let private = evil.bench.git(&["commit-tree", "-p", "feature/x", "-m", "private", "feature/x^{tree}"]);
    evil.writes(private.as_bytes(), 11);
    evil.refused("a commit of the host's", &["must be at a commit that is there"]);
    evil.says("printf 'fatal: %s \\033[31m\\r\\n' $(seq 20000) >&2; exit 7");
    evil.refused("complaints", &["ended with 7"]);
    evil.says("exit 10");
    evil.refused("no branch", &["has no branch"]);

    // Others beside it are passed over.
    let before = untouchable(evil.bench);
    let bundle = evil.bundle(
        &[
            (&commit, "refs/heads/main"),
            (&commit, "HEAD"),
            (&tag, "refs/tags/t"),
            (&commit, "refs/heads/feature/x"),
        ],
        &all,
    );
    evil.writes(&bundle, 0);
    assert_eq!(fetched(evil.bench)["moved"], json!(true));
    assert_eq!(tip(evil.bench), commit);
    assert_eq!(untouchable(evil.bench), before);
    evil.done();
}

/// What is too much: output without an end, trees with more paths than can be listed, files that are large only unpacked.
pub fn too_much(bench: &mut Bench) {
    let mut evil = Attacker::new(bench);
    let blob = evil.object("blob", b"x\n");
    let names: Vec<String> = (0..32).map(|n| format!("{n:02}")).collect();
    let mut tree = evil.tree(
        &names
            .iter()
            .map(|name| (format!("100644 {name}"), blob.clone()))
            .collect::<Vec<_>>()
            .iter()
            .map(|(e, i)| (e.as_str(), i.as_str()))
            .collect::<Vec<_>>(),
    );
    let mut trees = vec![tree.clone()];
    for _ in 0..8 {
        let entries: Vec<String> = names.iter().map(|name| format!("40000 {name}")).collect();
        tree = evil.tree(&entries.iter().map(|entry| (entry.as_str(), tree.as_str())).collect::<Vec<_>>());
        trees.push(tree.clone());
    }
    let commit = evil.commit(&tree);
    let mut objects: Vec<&str> = trees.iter().map(String::as_str).collect();
    objects.extend([commit.as_str(), &blob]);
    let bundle = evil.bundle(&[(&commit, "refs/heads/feature/x")], &objects);
    assert!(bundle.len() < 4096);
    evil.writes(&bundle, 0);
    evil.refused("a bomb of trees", &["more paths than can be listed"]);

    // Within 256 MiB of data for us and for each git.
    let limited = |bench: &Bench| {
        let mut command = Command::new("sh");
        let words = bench.command(&["fetch", "acme"]);
        command
            .args(["-c", "ulimit -d 262144; exec \"$@\"", "sh"])
            .arg(words.get_program())
            .args(words.get_args());
        Ran::of(&command.env_clear().envs(&bench.env).current_dir(bench.folder()).output().unwrap())
    };
    let head = evil.bundle(&[(&commit, "refs/heads/feature/x")], &objects);
    fs::write(evil.bench.path("head"), head).unwrap();
    evil.says(&format!("cat {}; exec cat /dev/zero", evil.bench.path("head").display()));
    let before = everything(evil.bench);
    let endless = limited(evil.bench).code(1);
    assert!(endless.stderr.contains("larger than 2.0 GiB"), "{}", endless.stderr);
    assert!(everything(evil.bench) == before);
    no_import_is_left(evil.bench);

    let zeros = evil.object("blob", &vec![0; 400 << 20]);
    let tree = evil.tree(&[("100644 zeros", &zeros)]);
    let commit = evil.commit(&tree);
    let bundle = evil.bundle(&[(&commit, "refs/heads/feature/x")], &[&commit, &tree, &zeros]);
    assert!(bundle.len() < 1 << 20);
    evil.writes(&bundle, 0);
    limited(evil.bench).ok();
    assert_eq!(tip(evil.bench), commit);
    evil.done();
}

/// Hooks, configuration, filters, modules and names inside: nothing of them runs or chooses anything on the host.
pub fn inside(bench: &mut Bench) {
    let marker = bench.path("marker");
    let touch = format!("touch {}", marker.display());
    // The person's own repository has hooks and drivers as well; a fetch is no reason to run them.
    for hook in ["reference-transaction", "post-update", "pre-auto-gc", "post-checkout", "post-merge"] {
        let path = bench.repository().join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{touch}\n")).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", touch.as_str()),
        ("core.alternateRefsCommand", &touch),
        ("core.sshCommand", &touch),
        ("core.pager", &touch),
        ("filter.x.smudge", &touch),
        ("filter.x.clean", &touch),
        ("filter.x.process", &touch),
        ("diff.x.command", &touch),
        ("diff.x.textconv", &touch),
        ("diff.external", &touch),
        ("merge.x.driver", &touch),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        ("fetch.recurseSubmodules", "true"),
        ("submodule.recurse", "true"),
        ("fetch.bundleURI", "https://example.invalid/x"),
        ("fetch.prune", "true"),
        ("fetch.writeCommitGraph", "true"),
        ("maintenance.auto", "true"),
        ("gc.auto", "1"),
        ("fetch.fsckObjects", "false"),
        ("transfer.fsckObjects", "false"),
        ("fsck.skipList", "/nowhere"),
        ("uploadpack.packObjectsHook", &touch),
    ] {
        bench.git(&["-c", "core.hooksPath=/dev/null", "config", key, value]);
    }
    let plain = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
    bench.git(
        &[&plain[..], &["config", &format!("url.ext::sh -c {touch}.insteadOf").replace(' ', "% "), "/"]]
            .concat(),
    );
    bench.create(&["--network=none"]).ok();
    bench.git(&[&plain[..], &["switch", "-q", "main"]].concat());
    let _ = fs::remove_file(&marker);
    let before = untouchable(bench);
    let payload = "printf '#!/bin/sh\\ntouch /tmp/inside\\n' >/tmp/x; chmod +x /tmp/x; for h in pre-push post-checkout reference-transaction; do cp /tmp/x .git/hooks/$h 2>/dev/null || { mkdir -p .git/hooks; cp /tmp/x .git/hooks/$h; }; done; \
        git config core.fsmonitor /tmp/x; git config core.pager /tmp/x; git config uploadpack.packObjectsHook /tmp/x; git config bundle.version 9; git config alias.bundle '!/tmp/x'; \
        printf '* filter=x diff=x merge=x\\n' >.gitattributes; printf '[submodule \"m\"]\\n\\tpath = m\\n\\turl = ext::sh -c touch%% /tmp/y\\n' >.gitmodules; \
        git update-index --add --cacheinfo 160000,0123456789abcdef0123456789abcdef01234567,m; \
        echo x >'-rf'; echo y >\"$(printf 'a\\033[2Jb\\nc.sh')\"; ln -s ../../../etc/passwd out; git add .gitattributes .gitmodules ./-rf ./a* out; git commit -qm evil; git tag evil; git branch other";
    let new = commit_inside(bench, payload);
    let told = fetched(bench);
    assert_eq!((&told["to"], &told["moved"]), (&json!(new), &json!(true)));
    let kinds: Vec<String> = told["changedHostFiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| format!("{} {}", file["kind"].as_str().unwrap(), file["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        ["git .gitattributes", "git .gitmodules", "script a\u{1b}[2Jb\nc.sh", "git m", "link out"]
    );
    assert!(!marker.exists(), "something ran on the host");
    assert_eq!(untouchable(bench), before);
    let references = bench.git(&[&plain[..], &["for-each-ref", "--format=%(refname)"]].concat());
    assert_eq!(
        references.lines().collect::<Vec<_>>(),
        ["refs/heads/feature/x", "refs/heads/main", &kept(bench)]
    );

    // Another branch inside, or the branch under another name.
    commit_inside(bench, "git switch -qc evil; git commit -q --allow-empty -m other");
    assert_eq!(fetched(bench)["commits"], json!(0));
    bench.exec(&["git", "branch", "-m", "feature/x", "renamed"]).ok();
    let renamed = bench.run(&["fetch", "acme"]).code(1);
    assert!(renamed.stderr.contains("has no branch \"feature/x\""), "{}", renamed.stderr);
    // A history that ends before its beginning.
    let script = "git switch -qc feature/x renamed; git commit -q --allow-empty -m new; git rev-parse HEAD >.git/shallow";
    commit_inside(bench, script);
    let shallow = bench.run(&["fetch", "acme", "--json"]);
    assert!(shallow.code == 0 || shallow.stderr.contains("git refuses"), "{shallow:?}");
    assert!(!marker.exists(), "something ran on the host");
    assert_eq!(untouchable(bench), before);
    no_import_is_left(bench);
    bench.run(&["rm", "acme", "--force"]).ok();
}
