//! Names that say nothing. Where one seems needed, the concept is missing.

use super::file::{CodeLine, File};
use super::finding::Finding;

const EMPTY_WORDS: [&str; 9] =
    ["Manager", "Helper", "Helpers", "Util", "Utils", "Common", "Misc", "Handler", "Processor"];

const MEND: &str = "name it after what it is or does, in the words of docs/glossary.md";

/// Types that are named by a word without meaning.
pub(super) fn types(file: &File) -> Vec<Finding> {
    let empty = |line: CodeLine<'_>| {
        let name = declared_type(line.code)?;
        let word = camel_words(name).find(|word| EMPTY_WORDS.contains(word))?;
        let what = format!("`{name}` is named by `{word}`, which says nothing");
        Some(Finding::at(file, line.number, what, MEND))
    };
    file.lines().filter_map(empty).collect()
}

/// Files that are named by such a word, and `mod.rs`.
pub(super) fn files(file: &File) -> Vec<Finding> {
    let Some(stem) = file.name().strip_suffix(".rs") else { return Vec::new() };
    if stem == "mod" {
        let mend = "name the file after the module: `foo.rs` beside the folder `foo/`";
        return vec![Finding::error(file.path(), "every tab of the editor would say `mod.rs`", mend)];
    }
    let empty = |part: &str| EMPTY_WORDS.iter().any(|word| word.eq_ignore_ascii_case(part));
    match stem.split('_').find(|part| empty(part)) {
        Some(word) => vec![Finding::error(file.path(), format!("a file named by `{word}` collects anything"), MEND)],
        None => Vec::new(),
    }
}

/// The name of the type that this line declares.
fn declared_type(code: &str) -> Option<&str> {
    let mut words = code.split_whitespace().skip_while(|word| word.starts_with("pub"));
    match words.next()? {
        "struct" | "enum" | "trait" | "type" | "union" => {}
        _ => return None,
    }
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    Some(&name[..end])
}

/// `TaskOutcome` as `Task` and `Outcome`.
fn camel_words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let next = rest.char_indices().skip(1).find(|(_, c)| c.is_uppercase()).map_or(rest.len(), |(at, _)| at);
        let (word, behind) = rest.split_at(next);
        rest = behind;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    #[test]
    fn types_named_with_empty_words_are_found() {
        let text = "pub struct TaskManager<T> {}\nenum EventHandler {\n}\npub(crate) trait Processor: Send {}\ntype CommonResult = ();\n";
        assert_eq!(
            render(&types(&File::new("crates/a/src/a.rs", text))),
            "crates/a/src/a.rs:1: `TaskManager` is named by `Manager`, which says nothing\n\
             crates/a/src/a.rs:2: `EventHandler` is named by `Handler`, which says nothing\n\
             crates/a/src/a.rs:4: `Processor` is named by `Processor`, which says nothing\n\
             crates/a/src/a.rs:5: `CommonResult` is named by `Common`, which says nothing\n"
        );
    }

    #[test]
    fn longer_words_and_uses_are_left_alone() {
        let text =
            "struct Utilisation;\nstruct Handle;\nlet a = ForeignManager::new();\nimpl A for ForeignHandler {}\n";
        assert_eq!(types(&File::new("crates/a/src/a.rs", text)), []);
    }

    #[test]
    fn files_named_with_empty_words_are_found() {
        for (path, found) in [
            ("crates/a/src/utils.rs", true),
            ("crates/a/src/test_helpers.rs", true),
            ("crates/a/src/a/mod.rs", true),
            ("crates/a/src/model.rs", false),
        ] {
            assert_eq!(!files(&File::new(path, "")).is_empty(), found, "{path}");
        }
    }
}
