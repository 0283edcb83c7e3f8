//! A file of the repository, and answers for the rules: its owner and its test lines. For Rust it has the code without
//! comments and literals, so that no rule trips over prose.

use std::path::Path;

use super::blank::blank;

#[derive(Debug)]
pub(super) struct File {
    path: String,
    text: String,
    /// Rust text with comments and literals blanked, line for line. Empty for other files.
    code: String,
    /// True for each Rust line of an item that exists only for tests.
    test_lines: Vec<bool>,
}

/// One line of Rust code.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodeLine<'a> {
    /// Counts from 1.
    pub(super) number: usize,
    /// The line without comments and literals.
    pub(super) code: &'a str,
    /// Part of a test.
    pub(super) test: bool,
}

impl File {
    /// `path` is relative to the repository's root, with forward slashes.
    pub(super) fn new(path: &str, text: impl Into<String>) -> Self {
        let text = text.into();
        let code = if is_rust(path) { blank(&text) } else { String::new() };
        let whole = path.contains("/tests/")
            || path.contains("/benches/")
            || path.ends_with("_tests.rs")
            || path.ends_with("/tests.rs");
        let test_lines = if whole { vec![true; code.lines().count()] } else { test_items(&code) };
        Self { path: path.to_owned(), text, code, test_lines }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Rust without comments and literals; empty for other files.
    pub(super) fn code(&self) -> &str {
        &self.code
    }

    /// True for code of ours, false for a sample that a test reads.
    pub(super) fn is_rust(&self) -> bool {
        is_rust(&self.path)
    }

    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The folder of the crate that the file belongs to.
    pub(super) fn owner(&self) -> Option<&str> {
        let mut parts = self.path.split('/');
        match parts.next() {
            Some("crates") => parts.next(),
            Some("xtask") => Some("xtask"),
            _ => None,
        }
    }

    /// True for the manifest of a member, false for the workspace's.
    pub(super) fn is_member_manifest(&self) -> bool {
        self.owner().is_some() && self.name() == "Cargo.toml"
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = CodeLine<'_>> {
        self.code.lines().zip(&self.test_lines).enumerate().map(|(index, (code, &test))| CodeLine {
            number: index + 1,
            code,
            test,
        })
    }
}

fn is_rust(path: &str) -> bool {
    let sample = ["/golden/", "/fixtures/"].iter().any(|folder| path.contains(folder));
    Path::new(path).extension().is_some_and(|extension| extension == "rs") && !sample
}

/// True if `word` stands in `code` on its own, not as a part of a longer name.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let open_left = word.starts_with(part_of_name) && before.is_some_and(part_of_name);
        let open_right = word.ends_with(part_of_name) && after.is_some_and(part_of_name);
        !open_left && !open_right
    })
}

/// Marks each line that belongs to an item under `#[cfg(test)]`.
fn test_items(code: &str) -> Vec<bool> {
    const MARK: &str = "#[cfg(test)]";
    let mut lines = vec![false; code.lines().count()];
    for (begin, _) in code.match_indices(MARK) {
        let end = begin + MARK.len() + item_length(&code[begin + MARK.len()..]);
        let line_of = |at: usize| code[..at].matches('\n').count();
        for line in lines.iter_mut().take(line_of(end) + 1).skip(line_of(begin)) {
            *line = true;
        }
    }
    lines
}

/// The length of the item that begins here: up to its semicolon, or to the brace that closes its body.
fn item_length(code: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in code.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && c == '}' {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_test_module_are_tests_and_those_after_it_are_not() {
        let text =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}\n";
        let file = File::new("crates/a/src/a.rs", text);
        let tests: Vec<usize> = file.lines().filter(|line| line.test).map(|line| line.number).collect();
        assert_eq!(tests, [2, 3, 4, 5, 7, 8]);
    }

    #[test]
    fn files_below_tests_are_tests_as_a_whole() {
        let file = File::new("crates/a/tests/it/main.rs", "fn a() {}\n");
        assert!(file.lines().all(|line| line.test));
    }

    #[test]
    fn words_are_whole_words() {
        assert!(has_word("if x { unsafe { y } }", "unsafe"));
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(has_word("rustix::fs::open()", "fs::"));
        assert!(!has_word("dirfs::open()", "fs::"));
    }
}
