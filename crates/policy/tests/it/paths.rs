//! Path patterns, as people know them from `.gitignore`.

use super::support::{Verdict, deny, path, tools, verdict};

/// True if `Read(pattern)` permits reading a path. Asserts that it then also forbids it.
fn covers(pattern: &str, file: &str) -> bool {
    let rule = format!("Read({pattern})");
    let permits = verdict(tools(&[&rule]), "Read", &path(file)) == Verdict::Allow;
    let forbids = verdict(deny(&[&rule]), "Read", &path(file)) == Verdict::Deny;
    assert!(!permits || forbids, "{rule} permits {file} but does not forbid it");
    permits
}

#[test]
fn patterns_cover_the_paths_that_gitignore_would() {
    let table: &[(&str, &[&str], &[&str])] = &[
        // Anchored by a slash in the middle or at the start.
        ("src/**", &["src/a.rs", "src/a/b.rs", "src"], &["lib/src/a.rs", "srcs/a.rs", "", "src-secret/x"]),
        ("src/*.rs", &["src/a.rs", "src/a.rs/inside"], &["src/a/b.rs", "src/a.rsx"]),
        ("/a.rs", &["a.rs"], &["src/a.rs"]),
        ("/src", &["src", "src/a.rs"], &["lib/src"]),
        ("src/a.rs", &["src/a.rs"], &["a.rs", "x/src/a.rs", "src/a.rs2", "src/xa.rs"]),
        ("./src", &["src/a.rs"], &["lib/src/a.rs"]),
        ("src//a.rs", &["src/a.rs"], &[]),
        ("src/./a.rs", &["src/a.rs"], &[]),
        // A single name holds at any depth, and a directory covers what is in it.
        ("*.rs", &["a.rs", "x/y/a.rs", "x.rs/inside"], &["a.rsx", "rs"]),
        (".env", &[".env", "a/.env", "a/.env/b"], &["a.env", ".envrc"]),
        ("build/", &["build", "a/build/x"], &["rebuild/x"]),
        // Any depth.
        ("**", &["a", "a/b/c", ""], &[]),
        ("*", &["a", ".hidden/b", ""], &[]),
        ("/", &["a", "a/b", ""], &["/srv/a"]),
        (".", &["a", "a/b"], &["/srv/a"]),
        ("**/test", &["test", "a/test", "a/b/test/c"], &["tests", "a/latest"]),
        ("a/**/z", &["a/z", "a/b/z", "a/b/c/z/d"], &["a", "a/b", "b/a/z"]),
        ("**/a/**/b", &["a/b", "x/a/y/z/b", "a/x/a/b"], &["b/a"]),
        ("a/*/c", &["a/b/c"], &["a/c", "a/b/b/c"]),
        // Characters.
        ("file?.txt", &["file1.txt", "fileé.txt"], &["file.txt", "file12.txt"]),
        ("[a-c]*", &["apple", "x/bob"], &["delta"]),
        ("[!a-c]*", &["delta"], &["apple"]),
        ("[]]x", &["]x"], &["x"]),
        (r"\*.rs", &["*.rs"], &["a.rs"]),
        (r"app/\[id\]/page", &["app/[id]/page"], &["app/i/page"]),
        (r"\{a\}", &["{a}"], &["a"]),
        ("a b/c", &["a b/c"], &["a"]),
        ("*a*b*c", &["xaybzc", "abc", "aabbc"], &["acb", "abcd"]),
    ];
    for (pattern, covered, uncovered) in table {
        for file in *covered {
            assert!(covers(pattern, file), "`{pattern}` should cover `{file}`");
        }
        for file in *uncovered {
            assert!(!covers(pattern, file), "`{pattern}` should not cover `{file}`");
        }
    }
}

#[test]
fn home_and_root_patterns_apply_inside_and_outside_the_workspace() {
    // The workspace is /people/me/project.
    assert!(covers("~/notes/**", "/people/me/notes/a"));
    assert!(covers("~/project/src/**", "src/a.rs"));
    assert!(covers("~", "src/a.rs"));
    assert!(!covers("~/notes/**", "notes/a"));
    assert!(!covers("~/notes/**", "/people/you/notes/a"));
    assert!(covers("//srv/data/**", "/srv/data/a"));
    assert!(covers("//people/me/project/src", "src/a.rs"));
    assert!(covers("//people/*/project", "src/a.rs"));
    assert!(covers("//", "src/a.rs"));
    assert!(!covers("//srv/data", "srv/data/a"));
}

#[test]
fn single_names_apply_in_an_added_directory_and_workspace_patterns_do_not() {
    assert!(covers("*.rs", "/srv/data/a.rs"));
    assert!(covers("**/inner/*", "/srv/data/inner/a.rs"));
    assert!(!covers("data/**", "/srv/data/a.rs"));
    assert!(!covers("/srv/**", "/srv/data/a.rs"));
    assert!(covers("**", "/srv/data/a.rs"));
}

#[test]
fn names_above_an_added_directory_permit_nothing_and_forbid_all_in_it() {
    // The directories /srv/data and /srv/src are added.
    for pattern in ["data", "srv", "s*", "**/data", "**/srv/**", "**/data/*"] {
        assert!(!covers(pattern, "/srv/data/a.rs"), "{pattern}");
        let forbidden = verdict(deny(&[&format!("Read({pattern})")]), "Read", &path("/srv/data/a.rs"));
        assert_eq!(forbidden, Verdict::Deny, "{pattern}");
    }
    assert!(covers("data", "/srv/data/x/data/a.rs"));
    assert!(covers("data", "/srv/src/data/a.rs"));
    assert!(!covers("src", "/srv/src/a.rs"));
    assert!(covers("src", "/srv/src/src"));
}

#[test]
fn an_absolute_path_into_the_workspace_is_a_path_of_the_workspace() {
    assert!(covers("src/**", "/people/me/project/src/a.rs"));
    assert!(!covers("src/**", "/people/me/project-secret/src/a.rs"), "S01");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_covered_like_any_other() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let odd = sortie_protocol::Resource::Path(OsStr::from_bytes(b"secrets/\xff\xfe.key").into());
    assert_eq!(verdict(deny(&["Read(secrets/**)"]), "Read", &odd), Verdict::Deny);
    assert_eq!(verdict(deny(&["Read(*.key)"]), "Read", &odd), Verdict::Deny);
}
