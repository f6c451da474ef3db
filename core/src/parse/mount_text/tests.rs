use super::*;
use crate::parse::jsonc;

fn text(kind: Option<&str>, source: Option<&str>, target: Option<&str>) -> MountText {
    let owned = |part: Option<&str>| part.map(ToOwned::to_owned);
    MountText { kind: owned(kind), source: owned(source), target: owned(target), ..MountText::default() }
}

#[test]
fn a_record_is_read_as_docker_reads_it() {
    let bind = text(Some("bind"), Some("/"), Some("/h"));
    for same in [
        "type=bind,source=/,target=/h",
        "TYPE=BIND,SRC=/,DST=/h",
        "\"type=bind\",\"src=/\",\"dst=/h\"",
        "destination=/h,type=volume,source=x,src=/,type=Bind",
    ] {
        assert_eq!(record(same).as_ref(), Ok(&bind), "{same}");
    }
    assert_eq!(record("source=x,target=/y"), Ok(text(None, Some("x"), Some("/y"))));
    assert_eq!(record("\"src=/a,\"\"b\",dst=/c=d"), Ok(text(None, Some("/a,\"b"), Some("/c=d"))));
    for (read_only, words) in [
        (true, ["readonly", "ro", "ro=1", "ReadOnly=true", "ro=false,readonly"]),
        (false, ["ro=0", "readonly=f", "readonly=False", "ro,ro=false", "rw=true"]),
    ] {
        for word in words {
            assert_eq!(record(&format!("type=volume,{word}")).unwrap().read_only, read_only, "{word}");
        }
    }
    let opts = record("type=volume,dst=/h,volume-opt=type=none,VOLUME-OPT=o=bind,volume-nocopy").unwrap();
    assert_eq!(opts.others, ["volume-opt", "volume-opt", "volume-nocopy"]);
    assert_eq!(record("type=tmpfs,dst=/t,tmpfs-size=1g").unwrap().size.as_deref(), Some("1g"));
}

#[test]
fn what_docker_cannot_read_is_no_mount() {
    for bad in [
        "",
        "/foo",
        "type=volume,",
        "type=volume, target=/y",
        "type=volume,target =/y",
        "type=volume,target= /y",
        "type=volume,ro=yes",
        "type=volume,\"src=x",
        "type=volume,\"src=x\"y",
        "type=volume,sr\"c=x",
        "type=volume,target=/y\nsource=/",
        "type=volume,target=/y\u{202e}",
        "type=volume,target",
    ] {
        assert!(record(bad).is_err(), "{bad:?}");
    }
    assert!(record(&format!("target=/{}", "x".repeat(5000))).is_err());
}

#[test]
fn parts_between_colons_are_source_target_and_options() {
    assert_eq!(volume("/b"), Ok(text(Some("volume"), None, Some("/b"))));
    assert_eq!(volume("./x:/b"), Ok(text(Some("volume"), Some("./x"), Some("/b"))));
    assert_eq!(volume("C:\\x:/m"), Ok(text(Some("volume"), Some("C:\\x"), Some("/m"))));
    let cached = volume("name:/b:ro,cached,z").unwrap();
    assert!(cached.read_only && cached.others == ["cached", "z"]);
    assert!(!volume("name:/b:ro,rw").unwrap().read_only);
    for bad in ["", ":", ":/b", "a:", "ab:/b:ro:z", "a:/b\0", "a\n:/b"] {
        assert!(volume(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_tmpfs_has_a_path_and_options() {
    let mount = tmpfs("/t:size=64m,exec,mode=1777,ro").unwrap();
    assert_eq!((mount.kind.as_deref(), mount.target.as_deref()), (Some("tmpfs"), Some("/t")));
    assert_eq!((mount.size.as_deref(), mount.read_only), (Some("64m"), true));
    assert_eq!(mount.others, ["exec", "mode"]);
}

#[test]
fn an_object_has_strings_and_its_other_keys_are_noted() {
    let read = |text: &str| object(&jsonc::read(text).unwrap());
    let expected = text(Some("bind,readonly"), Some("/a,x"), Some("/b"));
    assert_eq!(read(r#"{"type": "bind,readonly", "source": "/a,x", "target": "/b"}"#), Ok(expected));
    let more = read(r#"{"target": "/b", "readonly": true, "external": 1, "Type": "bind"}"#).unwrap();
    assert!(more.read_only && more.kind.is_none());
    assert_eq!(more.others, ["external", "Type"]);
    let wrong = read(r#"{"type": "volume", "source": 1, "target": "/b"}"#).unwrap_err();
    assert!(wrong.wrong_type && wrong.why.contains("a number"), "{wrong:?}");
}
