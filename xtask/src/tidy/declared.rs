//! Files that cargo would ignore silently: modules that no file declares, and second test binaries.

use super::file::{File, has_word};
use super::finding::Finding;

/// Every Rust file below `src/` and `tests/` is declared by the module above it.
pub(super) fn modules(files: &[File]) -> Vec<Finding> {
    let forgotten = |file: &&File| {
        let Some(parents) = parents(file.path()) else { return false };
        let name = file.name().trim_end_matches(".rs");
        !files.iter().any(|other| {
            let declares = parents.iter().any(|parent| parent == other.path());
            declares && has_word(other.code(), &format!("mod {name};")) || names_path(other, file)
        })
    };
    let report = |file: &File| {
        let name = file.name().trim_end_matches(".rs");
        let mend = format!("write `mod {name};` in the module above it, or delete the file");
        Finding::error(file.path(), "no module declares this file, so it is never compiled", mend)
    };
    files.iter().filter(|file| file.is_rust() && file.owner().is_some()).filter(forgotten).map(report).collect()
}

/// The other test binaries. The first is also run on its own, and its output is held against a list. The second is run
/// against a program with a guard taken out.
const OTHERS: [&str; 2] = ["crates/cli/tests/conformance/", "crates/cli/tests/escape/"];

/// Integration tests are modules of one binary: linking is most of the time that a test binary takes.
pub(super) fn one_test_binary(files: &[File]) -> Vec<Finding> {
    let stray = |file: &&File| {
        let mut parts = file.path().split('/').skip(2); // past `crates/NAME`
        let outside = parts.next() == Some("tests") && parts.next() != Some("it");
        file.is_rust() && outside && !OTHERS.iter().any(|other| file.path().starts_with(other))
    };
    let report = |file: &File| {
        let mend = "move it to tests/it/ and declare it in tests/it/main.rs";
        Finding::error(file.path(), "a test outside tests/it is a binary of its own", mend)
    };
    files.iter().filter(stray).map(report).collect()
}

/// The files that could declare the module at `path`; `None` for one that needs no declaration.
fn parents(path: &str) -> Option<Vec<String>> {
    let (directory, _) = path.rsplit_once('/')?;
    let tops =
        [("/src", "src"), ("/tests/it", "it"), ("/tests/conformance", "conformance"), ("/tests/escape", "escape")];
    let (top, root) =
        tops.into_iter().find(|(top, _)| directory.ends_with(top) || directory.contains(&format!("{top}/")))?;
    let at_the_top = directory.ends_with(top);
    let is_root = ["main.rs", "lib.rs"].iter().any(|root| path.ends_with(&format!("/{root}")));
    if at_the_top && is_root || root == "src" && directory.ends_with("/src/bin") {
        return None;
    }
    if at_the_top {
        return Some(vec![format!("{directory}/lib.rs"), format!("{directory}/main.rs")]);
    }
    Some(vec![format!("{directory}.rs")])
}

/// True if `other` lies beside `file` and names it in a `#[path]`.
fn names_path(other: &File, file: &File) -> bool {
    let directory = |path: &str| path.rsplit_once('/').map(|(directory, _)| directory.to_owned());
    directory(other.path()) == directory(file.path())
        && other.text().contains(&format!("#[path = \"{}\"]", file.name()))
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    fn check(rule: fn(&[File]) -> Vec<Finding>, files: &[(&str, &str)]) -> String {
        let files: Vec<File> = files.iter().map(|(path, text)| File::new(path, *text)).collect();
        render(&rule(&files))
    }

    #[test]
    fn a_forgotten_test_file_is_found() {
        let files = [
            ("crates/a/tests/it/main.rs", "mod loop_;\n// mod lost;\n"),
            ("crates/a/tests/it/loop_.rs", "mod turns;\n"),
            ("crates/a/tests/it/lost.rs", ""),
            ("crates/a/tests/it/loop_/turns.rs", ""),
            ("crates/a/tests/it/loop_/limits.rs", ""),
        ];
        let what = "no module declares this file, so it is never compiled";
        assert_eq!(
            check(modules, &files),
            format!("crates/a/tests/it/lost.rs: {what}\ncrates/a/tests/it/loop_/limits.rs: {what}\n")
        );
    }

    #[test]
    fn a_forgotten_source_file_is_found() {
        let files = [
            ("crates/a/src/lib.rs", "mod a;\npub mod b;\n"),
            ("crates/a/src/a.rs", "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\nmod c;\n"),
            ("crates/a/src/a_tests.rs", ""),
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/a/c.rs", ""),
            ("crates/a/src/bin/tool.rs", ""),
            ("crates/a/src/old.rs", ""),
        ];
        assert!(check(modules, &files).starts_with("crates/a/src/old.rs: "));
        assert_eq!(check(modules, &files).lines().count(), 1);
    }

    #[test]
    fn a_second_test_binary_is_found() {
        let files = [
            ("crates/a/tests/it/main.rs", ""),
            ("crates/a/tests/more.rs", ""),
            ("crates/a/src/b/tests/c.rs", ""),
            ("crates/cli/tests/conformance/main.rs", ""),
        ];
        assert_eq!(
            check(one_test_binary, &files),
            "crates/a/tests/more.rs: a test outside tests/it is a binary of its own\n"
        );
    }
}
