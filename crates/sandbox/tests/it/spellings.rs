//! Paths are judged by where they lead, not by how they are written.

use std::path::{Path, PathBuf};

use sortie_sandbox::{AccessError, Expected, FileKind, Workspace, WorkspaceError, WriteError};

use crate::fixture::{Fixture, INSIDE, tree};

/// Rewrites a path without changing where it leads.
const REWRITINGS: [fn(&str) -> String; 8] = [
    str::to_owned,
    |path| path.replace('/', "//"),
    |path| path.replace('/', "/./"),
    |path| path.replace("/deep", "/deep/../deep"),
    |path| path.replace("/deep", "/missing/../deep"),
    |path| path.replace("/file.txt", "/file.txt/."),
    |path| format!("{path}/"),
    |path| path.replace("/deep/", "///deep/.//./"),
];

#[test]
fn s01_s02_two_hundred_spellings_of_an_outside_file_are_refused() {
    let fixture = Fixture::new();
    let base = fixture.base.to_str().unwrap();
    let up = "../".repeat(40);
    let starts = [
        format!("{base}/proj-secret"),
        format!("/{base}/proj-secret"),
        format!("{base}/proj/../proj-secret"),
        format!("{base}/proj/sub/../../proj-secret"),
        format!("{base}/proj/in_relative/../../proj-secret"),
        format!("{base}/other-name/../proj-secret"),
        format!("{base}/other-name/out_relative"),
        format!("{base}/missing/../proj-secret"),
        format!("/proc/self/root{base}/proj-secret"),
        format!("/proc/thread-self/root{base}/proj-secret"),
        format!("/proc/self/cwd/{up}{base}/proj-secret"),
        format!("{up}{base}/proj-secret"),
        "../proj-secret".to_owned(),
        "./../proj-secret".to_owned(),
        "sub/../../proj-secret".to_owned(),
        "sub/deep/../../../proj-secret".to_owned(),
        "missing/../../proj-secret".to_owned(),
        "../proj/../proj-secret".to_owned(),
        "in_relative/../../proj-secret".to_owned(),
        "in_around/../../proj-secret".to_owned(),
        "out_relative".to_owned(),
        "out_absolute".to_owned(),
        "out_through_in".to_owned(),
        "sub/../out_relative".to_owned(),
        "out_relative/../proj/out_relative".to_owned(),
        format!("out_root{base}/proj-secret"),
    ];
    let before = tree(&fixture.base);
    let mut n_tried = 0;
    for start in &starts {
        for rewrite in REWRITINGS {
            let path = rewrite(&format!("{start}/deep/file.txt"));
            let error = fixture.text_of(&path).unwrap_err();
            assert!(matches!(error, AccessError::Outside { .. }), "{path}: {error}");
            assert!(matches!(fixture.workspace.resolve(&path), Err(AccessError::Outside { .. })), "{path}");
            assert!(matches!(fixture.workspace.locate(&path), Err(AccessError::Outside { .. })), "{path}");
            let written = fixture.workspace.write(&path, b"written", Expected::Absent);
            assert!(matches!(written, Err(WriteError::Access(AccessError::Outside { .. }))), "{path}: {written:?}");
            n_tried += 1;
        }
    }
    assert!(n_tried >= 200, "{n_tried}");
    assert_eq!(tree(&fixture.base), before);
}

#[test]
fn every_spelling_of_an_inside_file_works() {
    let fixture = Fixture::new();
    let base = fixture.base.to_str().unwrap();
    let up = "../".repeat(40);
    let starts = [
        "sub".to_owned(),
        "./sub".to_owned(),
        "../proj/sub".to_owned(),
        "sub/../sub".to_owned(),
        "missing/../sub".to_owned(),
        "in_relative".to_owned(),
        "in_absolute".to_owned(),
        "in_around".to_owned(),
        "in_relative/../in_absolute".to_owned(),
        "out_relative/../proj/sub".to_owned(),
        format!("{base}/proj/sub"),
        format!("{base}/other-name/sub"),
        format!("{base}/other-name/in_absolute"),
        format!("{base}/proj-secret/../proj/sub"),
        format!("{base}/no-such-thing/../proj/sub"),
        format!("{up}{base}/proj/sub"),
        format!("/proc/self/root{base}/proj/sub"),
        format!("out_root{base}/proj/sub"),
    ];
    for start in &starts {
        for rewrite in REWRITINGS {
            let path = rewrite(&format!("{start}/deep/file.txt"));
            assert_eq!(fixture.text_of(&path).unwrap_or_else(|error| panic!("{path}: {error}")), INSIDE);
            let resolved = fixture.workspace.resolve(&path).unwrap();
            assert_eq!(resolved.relative, Path::new("sub/deep/file.txt"), "{path}");
            assert_eq!(resolved.kind, FileKind::File);
            assert_eq!(fixture.workspace.locate(&path).unwrap(), resolved.relative, "{path}");
        }
    }
    assert_eq!(fixture.text_of("in_file").unwrap(), INSIDE);
}

#[test]
fn s03_s04_single_links_to_the_outside_are_refused_as_leaf_and_as_parent() {
    let fixture = Fixture::new();
    for path in
        ["out_file", "out_relative", "out_root", "sub/out_below", "sub/out_below/file.txt", "/", "/etc", "..", "../.."]
    {
        assert!(matches!(fixture.text_of(path), Err(AccessError::Outside { .. })), "{path}");
    }
}

#[test]
fn a_refusal_does_not_reveal_what_exists() {
    let fixture = Fixture::new();
    for (existing, absent) in [
        ("../proj-secret", "../proj-secre2"),
        ("../proj-secret/deep/file.txt", "../proj-secret/deep/fil2.txt"),
        ("../proj-secret/deep/file.txt", "../proj-secret/de2p/fil2.txt"),
        ("out_relative/deep", "out_relative/dee2"),
        ("/etc/passwd", "/etc/passw2"),
        ("/etc/passwd/x", "/etc/passw2/x"),
    ] {
        let there = fixture.text_of(existing).unwrap_err().to_string();
        let not_there = fixture.text_of(absent).unwrap_err().to_string();
        assert_eq!(there.replace(existing, "PATH"), not_there.replace(absent, "PATH"));
    }
    // All detours behave alike, so that none reveals what exists.
    for detour in ["../proj-secret/../proj", "../no-such-thing/../proj", "../proj-secret/deep/file.txt/../../../proj"] {
        assert_eq!(fixture.text_of(&format!("{detour}/sub/deep/file.txt")).unwrap(), INSIDE, "{detour}");
    }
}

#[test]
fn an_invalid_path_is_refused_as_such() {
    let fixture = Fixture::new();
    for path in ["", "sub\0", "sub/deep/file.txt\0/../../../../etc/passwd", "\0", &"x/".repeat(3000), &"y".repeat(300)]
    {
        let error = fixture.text_of(path).unwrap_err();
        assert!(matches!(error, AccessError::InvalidPath { .. }), "{error}");
        assert!(error.to_string().len() < 400);
    }
    for path in ["circle_a", "circle_a/x", "sub/../circle_b"] {
        let error = fixture.text_of(path).unwrap_err();
        assert!(error.to_string().contains("too many symbolic links"), "{error}");
    }
}

#[test]
fn s02_nothing_is_decoded_or_trimmed() {
    let fixture = Fixture::new();
    let encoded = [
        "%2e%2e/proj-secret/deep/file.txt",
        "sub/deep/file.txt ",
        " sub/deep/file.txt",
        "sub\\deep\\file.txt",
        "~",
        "..%2f",
    ];
    for path in encoded {
        assert!(matches!(fixture.text_of(path), Err(AccessError::NotFound { .. })), "{path}");
    }
}

#[test]
fn errors_name_the_path_and_the_nearest_directory() {
    let fixture = Fixture::new();
    let nearest = |path: &str| match fixture.workspace.resolve(path) {
        Err(AccessError::NotFound { nearest, .. }) => nearest,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(nearest("sub/deep/absent.txt"), PathBuf::from("sub/deep"));
    assert_eq!(nearest("sub/a/b/c"), PathBuf::from("sub"));
    assert_eq!(nearest("in_relative/absent"), PathBuf::from("sub"));
    assert_eq!(nearest("absent"), PathBuf::from("."));
    assert!(matches!(fixture.text_of("sub"), Err(AccessError::IsDirectory { .. })));
    assert!(matches!(fixture.text_of("."), Err(AccessError::IsDirectory { .. })));
    assert!(matches!(fixture.text_of("sub/deep/file.txt/x"), Err(AccessError::NotADirectory { .. })));
    assert!(matches!(
        fixture.workspace.read_dir(Path::new("sub/deep/file.txt")),
        Err(AccessError::NotADirectory { .. })
    ));
    let error = fixture.text_of("sub/\u{1b}[2J").unwrap_err().to_string();
    assert!(!error.contains('\u{1b}') && error.contains("\\u{1b}"), "{error}");
}

#[test]
fn a_walk_opens_only_plain_names() {
    let fixture = Fixture::new();
    assert!(fixture.workspace.open_relative(Path::new("sub/deep/file.txt")).is_ok());
    assert!(fixture.workspace.open_listed(Path::new("sub/deep/file.txt")).is_ok());
    for path in [
        "in_relative/deep/file.txt",
        "in_file",
        "out_file",
        "../proj-secret/deep/file.txt",
        "/etc/passwd",
        "sub/absent",
    ] {
        assert!(fixture.workspace.open_relative(Path::new(path)).is_err(), "{path}");
        assert!(fixture.workspace.open_listed(Path::new(path)).is_err(), "{path}");
    }
    for path in ["in_relative", "out_relative", "..", "../proj-secret", "/etc"] {
        assert!(fixture.workspace.read_dir(Path::new(path)).is_err(), "{path}");
    }
    let entries = fixture.workspace.read_dir(Path::new("sub")).unwrap().map(Result::unwrap);
    let mut entries: Vec<_> = entries.map(|entry| (entry.name.into_string().unwrap(), entry.kind)).collect();
    entries.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(entries, [("deep".to_owned(), FileKind::Directory), ("out_below".to_owned(), FileKind::Symlink)]);
}

#[test]
fn the_root_is_canonical_under_any_name_and_stays_the_same_directory() {
    let fixture = Fixture::new();
    let through_link = Workspace::open(&fixture.base.join("other-name")).unwrap();
    assert_eq!(through_link.root(), fixture.base.join("proj"));
    std::fs::rename(fixture.base.join("proj"), fixture.base.join("moved")).unwrap();
    std::os::unix::fs::symlink(fixture.base.join("proj-secret"), fixture.base.join("proj")).unwrap();
    assert_eq!(fixture.text_of("sub/deep/file.txt").unwrap(), INSIDE);
    assert_eq!(fixture.text_of("in_file").unwrap(), INSIDE);
    assert!(matches!(fixture.text_of("deep/file.txt"), Err(AccessError::NotFound { .. })));
}

#[test]
fn a_root_that_is_not_a_directory_is_refused() {
    let fixture = Fixture::new();
    let open = |path: &str| Workspace::open(&fixture.base.join(path)).unwrap_err();
    assert!(matches!(open("absent"), WorkspaceError::NotFound { .. }));
    assert!(matches!(open("proj/sub/deep/file.txt"), WorkspaceError::NotADirectory { .. }));
    assert!(matches!(open("proj/circle_a"), WorkspaceError::Io { .. }));
}
