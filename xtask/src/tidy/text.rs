//! The repository speaks of itself alone: no paths of one machine, no hosts of one network. And a change log.

use super::file::File;
use super::finding::Finding;

// Written in two halves, so that this file does not find itself.
const MACHINE_ROOTS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("C:\\Us", "ers\\"),
];

/// A home for examples and tests.
const ANYBODY: &str = concat!("/ho", "me/user/");

const REGISTRY_MARKS: [&str; 8] = [
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("arti", "factory"),
    concat!("index", "-url"),
    concat!("find", "-links"),
    concat!("replace", "-with"),
];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn no_machine_paths(file: &File) -> Vec<Finding> {
    let names_machine = |line: &str| {
        MACHINE_ROOTS.iter().any(|root| {
            line.match_indices(root).any(|(at, _)| {
                let begins_path = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-*}>".contains(c));
                begins_path && !line[at..].starts_with(ANYBODY)
            })
        })
    };
    each_line(
        file,
        names_machine,
        "a path of one machine",
        "make it relative to the repository, or take it from the caller",
    )
}

pub(super) fn no_registry_hosts(file: &File) -> Vec<Finding> {
    each_line(
        file,
        |line| REGISTRY_MARKS.iter().any(|mark| line.contains(mark)),
        "a package registry is named",
        "leave it to the machine: cargo and pip know their registries",
    )
}

/// The contracts have names; their numbers mean nothing to a reader.
pub(super) fn no_document_numbers(file: &File) -> Vec<Finding> {
    // In two halves, so that this file does not find itself.
    let marks = [concat!("document", " 00"), concat!("documents", " 00")];
    let numbered = |line: &str| {
        let line = line.to_lowercase();
        marks.iter().any(|mark| line.contains(mark))
    };
    each_line(
        file,
        numbered,
        "a contract is called by a number",
        "call it `envelope`, `result`, `delegate`, `typed` or `child`",
    )
}

pub(super) fn lock_names_one_registry(file: &File) -> Vec<Finding> {
    if file.name() != "Cargo.lock" {
        return Vec::new();
    }
    let foreign = |line: &str| line.strip_prefix("source = \"").is_some_and(|source| !source.starts_with(REGISTRY));
    each_line(file, foreign, "a dependency from elsewhere", "use a release from the ordinary registry")
}

pub(super) fn changelog(files: &[File]) -> Vec<Finding> {
    let heads = ["## Unreleased", "## [Unreleased]"];
    let log = files.iter().find(|file| file.path() == "CHANGELOG.md");
    if log.is_some_and(|log| log.text().lines().any(|line| heads.contains(&line.trim_end()))) {
        return Vec::new();
    }
    let mend = "add `## Unreleased` and say there what changes for users";
    vec![Finding::error("CHANGELOG.md", "no section for what is not released yet", mend)]
}

fn each_line(file: &File, bad: impl Fn(&str) -> bool, what: &str, mend: &str) -> Vec<Finding> {
    let numbered = file.text().lines().enumerate();
    numbered.filter(|(_, line)| bad(line)).map(|(index, _)| Finding::at(file, index + 1, what, mend)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    #[test]
    fn paths_of_a_machine_are_found_in_any_text() {
        for root in MACHINE_ROOTS {
            let file = File::new("docs/a.md", format!("fine\nsee {root}ada/notes\n"));
            assert_eq!(render(&no_machine_paths(&file)), "docs/a.md:2: a path of one machine\n", "{root}");
        }
    }

    #[test]
    fn folders_that_only_sound_alike_are_fine() {
        let text = format!("crates{0}a and <dir>{0}a and {ANYBODY}notes and $HOME/.cache", MACHINE_ROOTS[3]);
        assert_eq!(no_machine_paths(&File::new("docs/a.md", text)), []);
    }

    #[test]
    fn registries_are_found() {
        for mark in REGISTRY_MARKS {
            let file = File::new(".cargo/config.toml", format!("x = \"{mark}\"\n"));
            assert_eq!(render(&no_registry_hosts(&file)), ".cargo/config.toml:1: a package registry is named\n");
        }
    }

    #[test]
    fn a_contract_without_its_name_is_found() {
        let text = concat!("the contract `typed`\nsee Document", " 003\n");
        let found = render(&no_document_numbers(&File::new("docs/a.md", text)));
        assert_eq!(found, "docs/a.md:2: a contract is called by a number\n");
    }

    #[test]
    fn a_lock_file_with_a_foreign_source_is_found() {
        let text = format!("source = \"{REGISTRY}\"\nsource = \"git+https://example.org/a\"\n");
        let found = lock_names_one_registry(&File::new("Cargo.lock", text));
        assert_eq!(render(&found), "Cargo.lock:2: a dependency from elsewhere\n");
    }

    #[test]
    fn a_change_log_has_room_for_the_next_release() {
        assert_eq!(changelog(&[File::new("CHANGELOG.md", "# Changes\n\n## Unreleased\n")]), []);
        let expected = "CHANGELOG.md: no section for what is not released yet\n";
        assert_eq!(render(&changelog(&[File::new("CHANGELOG.md", "## 0.1.0\n")])), expected);
        assert_eq!(render(&changelog(&[])), expected);
    }
}
