//! Texts of a repository, settings and env files: what is read, and what is refused by its kind.
#![cfg(unix)]

#[cfg(test)]
mod gathered_files {
    use orca_container::gather::env_file::{ENV_FILE_CAP, EnvFileError, read_env_file};
    use orca_container::gather::settings_file::{SETTINGS_CAP, SettingsFileError, SettingsPlace};
    use orca_container::gather::text_file::{TextFileError, read_repository_text};
    use std::ffi::OsStr;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use tempfile::{TempDir, tempdir};

    const MARKER: &str = "MARKERabc123";

    fn make_pipe(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    fn checked<E: std::error::Error>(error: E) -> E {
        let (message, debug) = (error.to_string(), format!("{error:?}"));
        assert!(message.ends_with('.') && !message.contains('\n'), "{message}");
        assert!(!message.contains(MARKER) && !debug.contains(MARKER), "{message} {debug}");
        error
    }

    fn refused_text(root: &Path, name: &str) -> TextFileError {
        checked(read_repository_text(root, name, 100).unwrap_err())
    }

    #[test]
    fn a_text_is_read_and_a_missing_one_is_nothing() {
        let root = tempdir().unwrap();
        fs::create_dir(root.path().join(".devcontainer")).unwrap();
        fs::write(root.path().join(".devcontainer/devcontainer.json"), "{}\n").unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        let read = |name| read_repository_text(root.path(), name, 100).unwrap();
        assert_eq!(read(".devcontainer/devcontainer.json").as_deref(), Some("{}\n"));
        assert_eq!(read("file").as_deref(), Some(""));
        for missing in ["orca.yaml", "none/orca.yaml", "file/orca.yaml"] {
            assert_eq!(read(missing), None, "{missing}");
        }
    }

    #[test]
    fn a_text_over_the_bound_is_cut_between_characters_but_stays_over_it() {
        let root = tempdir().unwrap();
        for (text, cap) in
            [("aaaaaaaaaa", 9), ("aaaaaaaaaa", 5), ("ü漢😀ü漢😀ü漢😀ü漢😀", 7), ("a😀😀😀", 4), ("", 0)]
        {
            fs::write(root.path().join("f"), text).unwrap();
            for cap in [cap, cap + 1, cap + 2, cap + 3] {
                let read = read_repository_text(root.path(), "f", cap).unwrap().unwrap();
                assert!(text.starts_with(&read), "{text} {cap}");
                assert!(
                    if text.len() > cap { read.len() > cap } else { read == text },
                    "{text} {cap} {read}"
                );
                assert!(read.len() <= cap + 4);
            }
        }
    }

    #[test]
    fn a_text_that_is_no_text_names_its_line() {
        let root = tempdir().unwrap();
        let mut bytes = format!("a: {MARKER}\nb: ü\nc: ").into_bytes();
        bytes.extend(b"\xff MARKERabc123\n");
        fs::write(root.path().join("f"), &bytes).unwrap();
        assert!(matches!(refused_text(root.path(), "f"), TextFileError::NotUtf8 { line: 3, .. }));
        fs::write(root.path().join("f"), b"a\n\xf0\x9f").unwrap();
        assert!(matches!(refused_text(root.path(), "f"), TextFileError::NotUtf8 { line: 2, .. }));
    }

    #[test]
    fn a_text_must_be_a_regular_file() {
        let root = tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("real"), MARKER).unwrap();
        symlink("real", path("link")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        make_pipe(&path("pipe"));
        fs::create_dir(path("folder")).unwrap();
        let _listener = UnixListener::bind(path("socket")).unwrap();
        let kinds = [
            ("link", "a symbolic link"),
            ("dangling", "a symbolic link"),
            ("pipe", "a named pipe"),
            ("folder", "a directory"),
            ("socket", "a socket"),
        ];
        for (name, kind) in kinds {
            match refused_text(root.path(), name) {
                TextFileError::NotRegular { found, .. } => assert_eq!(found, kind),
                other => panic!("{name}: {other}"),
            }
        }
    }

    #[test]
    fn a_text_must_be_in_a_real_folder_of_the_repository() {
        let (root, other) = (tempdir().unwrap(), tempdir().unwrap());
        fs::write(other.path().join("devcontainer.json"), MARKER).unwrap();
        symlink(other.path(), root.path().join(".devcontainer")).unwrap();
        let error = refused_text(root.path(), ".devcontainer/devcontainer.json");
        assert!(matches!(error, TextFileError::LinkedFolder { .. }), "{error}");
        for name in ["", "/etc/hostname", "../x", "a/../../x", "./../x"] {
            assert!(matches!(refused_text(root.path(), name), TextFileError::NameInvalid { .. }), "{name}");
        }
    }

    fn private(path: &Path, text: impl AsRef<[u8]>) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    fn settings() -> (TempDir, PathBuf, SettingsPlace) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("settings.json");
        private(&path, format!("{{\"x\": \"{MARKER}\"}}"));
        let place = SettingsPlace::Named(path.clone());
        (folder, path, place)
    }

    #[test]
    fn settings_are_looked_for_where_the_user_keeps_them() {
        let locate = |named: Option<&str>, xdg: Option<&str>, home: Option<&str>| {
            SettingsPlace::locate(named.map(Path::new), xdg.map(OsStr::new), home.map(OsStr::new))
        };
        let usual = |path: &str| SettingsPlace::Usual(PathBuf::from(path));
        assert_eq!(locate(Some("s"), Some("/x"), Some("/h")), SettingsPlace::Named(PathBuf::from("s")));
        assert_eq!(locate(None, Some("/x"), Some("/h")), usual("/x/orca-container/settings.json"));
        for ignored in [None, Some(""), Some("x"), Some("./x"), Some("~/x")] {
            assert_eq!(locate(None, ignored, Some("/h")), usual("/h/.config/orca-container/settings.json"));
            assert_eq!(locate(None, None, ignored), SettingsPlace::Nowhere);
        }
        assert_eq!(SettingsPlace::Nowhere.read().unwrap(), None);
    }

    #[test]
    fn settings_are_read_and_their_debug_is_closed() {
        let (folder, path, place) = settings();
        let read = place.read().unwrap().unwrap();
        assert!(read.text.contains(MARKER) && read.path == path);
        assert!(!format!("{read:?}").contains(MARKER));
        let link = folder.path().join("link.json");
        symlink(&path, &link).unwrap();
        assert_eq!(SettingsPlace::Usual(link).read().unwrap().unwrap().text, read.text);
    }

    #[test]
    fn missing_settings_are_an_error_only_where_somebody_meant_some() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("none.json");
        assert_eq!(SettingsPlace::Usual(path.clone()).read().unwrap(), None);
        let missing = |place: SettingsPlace| {
            matches!(checked(place.read().unwrap_err()), SettingsFileError::Missing { .. })
        };
        assert!(missing(SettingsPlace::Named(path.clone())));
        symlink("nowhere", &path).unwrap();
        assert!(missing(SettingsPlace::Usual(path)));
    }

    #[test]
    fn settings_that_everybody_could_write_are_refused() {
        let (_folder, path, place) = settings();
        for mode in [0o602, 0o666, 0o606] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = checked(place.read().unwrap_err());
            assert!(matches!(error, SettingsFileError::WritableByEverybody { .. }), "{error}");
            assert!(error.to_string().contains("chmod o-w"), "the message must say what to do");
        }
        for mode in [0o644, 0o664] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(place.read().is_ok(), "an umask of 002 makes files like this");
        }
    }

    /// Only root can give files away, so elsewhere this test shows nothing.
    #[test]
    fn settings_of_somebody_else_are_refused() {
        let (folder, path, place) = settings();
        let link = folder.path().join("link.json");
        symlink(&path, &link).unwrap();
        if lchown(&link, Some(12345), None).is_err() {
            return;
        }
        let foreign = |place: &SettingsPlace| {
            matches!(checked(place.read().unwrap_err()), SettingsFileError::ForeignOwner { owner: 12345, .. })
        };
        assert!(foreign(&SettingsPlace::Named(link)), "a link of somebody else");
        assert!(place.read().is_ok());
        chown(&path, Some(12345), None).unwrap();
        assert!(foreign(&place));
    }

    #[test]
    fn settings_must_be_a_text_file_of_sane_size() {
        let (folder, path, place) = settings();
        private(&path, "x".repeat(SETTINGS_CAP));
        assert!(place.read().is_ok());
        private(&path, "x".repeat(SETTINGS_CAP + 1));
        assert!(matches!(checked(place.read().unwrap_err()), SettingsFileError::TooLarge { .. }));
        private(&path, b"{\n\xff}");
        assert!(matches!(checked(place.read().unwrap_err()), SettingsFileError::NotUtf8 { line: 2, .. }));
        fs::remove_file(&path).unwrap();
        make_pipe(&path);
        let error = checked(place.read().unwrap_err());
        assert!(matches!(error, SettingsFileError::NotRegular { found: "a named pipe", .. }));
        let error = checked(SettingsPlace::Named(folder.path().to_path_buf()).read().unwrap_err());
        assert!(matches!(error, SettingsFileError::NotRegular { found: "a directory", .. }));
    }

    #[test]
    fn an_env_file_is_bytes() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.env");
        let bytes = [b"A=", MARKER.as_bytes(), b"\r\n\xff"].concat();
        fs::write(&path, &bytes).unwrap();
        let file = read_env_file(&path).unwrap();
        assert_eq!((file.name.as_str(), file.bytes.as_slice()), (path.to_str().unwrap(), bytes.as_slice()));
        assert!(!format!("{file:?}").contains(MARKER));
        fs::File::create(&path).unwrap().set_len(ENV_FILE_CAP as u64 + 1).unwrap();
        assert!(matches!(checked(read_env_file(&path).unwrap_err()), EnvFileError::TooLarge { .. }));
    }

    #[test]
    fn an_env_file_may_be_a_pipe_but_no_device() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("pipe");
        make_pipe(&path);
        let writer = std::thread::spawn({
            let path = path.clone();
            move || fs::write(path, "A=1\n").unwrap()
        });
        assert_eq!(read_env_file(&path).unwrap().bytes, b"A=1\n");
        writer.join().unwrap();
        for (path, kind) in [(Path::new("/dev/zero"), "a device"), (folder.path(), "a directory")] {
            match checked(read_env_file(path).unwrap_err()) {
                EnvFileError::NotReadableKind { found, .. } => assert_eq!(found, kind),
                other => panic!("{other}"),
            }
        }
        let missing = checked(read_env_file(&folder.path().join("none")).unwrap_err());
        assert!(matches!(missing, EnvFileError::Unreadable { .. }));
    }
}
