//! Habits of writing that tidy counts: stumbling blocks for readers, and code that satisfies a lint by its letter
//! alone.
//!
//! Each rule sees the Rust files of one crate. `left.toml` holds the number of findings that a crate may still have.

use std::collections::BTreeMap;

use super::file::File;
use super::finding::Finding;
use super::item::{functions, types};
use super::token::{Token, tokens};

const WIDTH: usize = 120;
/// Most words of a sentence: the limit of `docs/style.md`.
const SENTENCE_WORDS: usize = 25;

/// A tuple that is taken apart where a function begins: two parameters that a limit does not count.
pub(super) fn tuple_parameters(files: &[&File]) -> Vec<Finding> {
    each_parameter(files, |function, parameter| {
        let pattern = parameter.iter().find(|token| !["mut", "&"].contains(&token.text))?;
        let what = format!("a tuple is a parameter of `{}`", function.name);
        (pattern.text == "(").then_some((what, "make it a struct with named fields"))
    })
}

/// A flag in a function that other files call: `begin(task, true)` says nothing.
pub(super) fn bool_parameters(files: &[&File]) -> Vec<Finding> {
    each_parameter(files, |function, parameter| {
        let [name, colon, kind] = parameter.last_chunk()?;
        let bare = function.public && colon.text == ":" && kind.text == "bool";
        let what = format!("`{}` is a bare bool of `{}`", name.text, function.name);
        bare.then_some((what, "make it an enum of two variants, or a named field"))
    })
}

type Verdict = Option<(String, &'static str)>;

fn each_parameter(files: &[&File], rule: fn(&super::item::Function<'_, '_>, &[Token<'_>]) -> Verdict) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let tests: Vec<bool> = file.lines().map(|line| line.test).collect();
        let tokens = tokens(file.code());
        for function in functions(&tokens) {
            for parameter in function.parameters.iter().filter(|parameter| !tests[parameter[0].line - 1]) {
                let found = rule(&function, parameter);
                findings.extend(found.map(|(what, mend)| Finding::at(file, parameter[0].line, what, mend)));
            }
        }
    }
    findings
}

/// Two types of one crate with one name, though either could be meant.
pub(super) fn twin_types(files: &[&File]) -> Vec<Finding> {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files {
        let tests: Vec<bool> = file.lines().map(|line| line.test).collect();
        let tokens = tokens(file.code());
        for found in types(&tokens).into_iter().filter(|found| found.everywhere && !tests[found.line - 1]) {
            let place = format!("{}:{}", file.path(), found.line);
            if let Some(other) = known.get(found.name) {
                let what = format!("a second type `{}`; the first is at {other}", found.name);
                findings.push(Finding::at(file, found.line, what, "name each after what only it is"));
            } else {
                known.insert(found.name.to_owned(), place);
            }
        }
    }
    findings
}

/// Doc comments whose first word is neither a noun nor a verb, or leans on the item above.
pub(super) fn leaning_docs(files: &[&File]) -> Vec<Finding> {
    const STARTS: [&str; 10] = ["What", "Whether", "How", "Where", "Who", "Whoever", "Whose", "Why", "Which", "Of"];
    let doc = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(|text| text.trim_start().to_owned())
    };
    each_line(files, |before, line| {
        let text = doc(line).filter(|_| doc(before).is_none_or(|before| before.is_empty()))?;
        let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let start = if text.starts_with("The same") { "The same" } else { first };
        if start == first && !STARTS.contains(&first) {
            return None;
        }
        let what = format!("a doc comment begins with `{start}`");
        Some((what, "begin with a noun or a verb, and name who does it"))
    })
}

/// Comments that rustfmt does not wrap.
pub(super) fn wide_comments(files: &[&File]) -> Vec<Finding> {
    each_line(files, |_, line| {
        let columns = line.chars().count();
        let wide = line.trim_start().starts_with("//") && columns > WIDTH;
        wide.then(|| (format!("a comment of {columns} columns, more than {WIDTH}"), "break the line"))
    })
}

/// Sentences of comments that are too long to be read once. Lists, tables and code are not counted.
pub(super) fn long_sentences(files: &[&File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let mut words = 0;
        let mut in_code = false;
        for (index, line) in file.text().lines().enumerate() {
            let Some(text) = comment(line) else {
                (words, in_code) = (0, false);
                continue;
            };
            in_code ^= text.starts_with("```");
            if in_code || text.is_empty() || text.starts_with(['|', '#', '-', '*', '`']) && !text.starts_with("**") {
                words = 0;
                continue;
            }
            for word in text.split_whitespace() {
                words += 1;
                if words == SENTENCE_WORDS + 1 {
                    let what = format!("a sentence of more than {SENTENCE_WORDS} words");
                    findings.push(Finding::at(file, index + 1, what, "make it two"));
                }
                if word.trim_end_matches([')', '*', '`', '"']).ends_with(['.', '!', '?']) {
                    words = 0;
                }
            }
        }
    }
    findings
}

/// Text of a comment that has the line to itself.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim_start())
}

/// Applies a rule to each line and the one before it.
fn each_line(files: &[&File], rule: impl Fn(&str, &str) -> Verdict) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let mut before = "";
        for (index, line) in file.text().lines().enumerate() {
            findings.extend(rule(before, line).map(|(what, mend)| Finding::at(file, index + 1, what, mend)));
            before = line;
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/a.rs";

    fn check(rule: fn(&[&File]) -> Vec<Finding>, text: &str) -> Vec<String> {
        rule(&[&File::new(PATH, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_tuple_as_a_parameter_is_found_and_one_of_a_closure_is_not() {
        let found =
            "error: crates/a/src/a.rs:2: a tuple is a parameter of `f`\n    mend: make it a struct with named fields";
        assert_eq!(check(tuple_parameters, "fn f(\n    (a, b): (&A, &B),\n) {}\n"), [found]);
        let fine = "fn f(a: (A, B), g: fn((A, B))) { a.map(|(b, c)| b) }\n#[cfg(test)]\nfn h((a, b): (A, B)) {}\n";
        assert_eq!(check(tuple_parameters, fine), [] as [&str; 0]);
    }

    #[test]
    fn a_bare_bool_that_others_pass_is_found_and_a_private_one_is_not() {
        let found = "error: crates/a/src/a.rs:1: `wait` is a bare bool of `f`\n    mend: make it an enum of two variants, or a named field";
        assert_eq!(check(bool_parameters, "pub(super) async fn f(&self, wait: bool) {}\n"), [found]);
        let fine = "fn f(a: bool) {}\npub fn g(a: Option<bool>, b: impl Fn(u8) -> bool) -> bool {}\n";
        assert_eq!(check(bool_parameters, fine), [] as [&str; 0]);
    }

    #[test]
    fn a_name_shared_by_two_types_is_found_and_a_private_one_is_not() {
        let found = "error: crates/a/src/a.rs:2: a second type `A`; the first is at crates/a/src/a.rs:1\n    mend: name each after what only it is";
        assert_eq!(check(twin_types, "pub struct A;\nmod b { pub(crate) enum A {} }\n"), [found]);
        assert_eq!(check(twin_types, "pub struct A;\nmod b { struct A; pub(super) enum A {} }\n"), [] as [&str; 0]);
    }

    #[test]
    fn a_leaning_doc_comment_is_found_and_a_line_within_one_is_not() {
        let found = "error: crates/a/src/a.rs:1: a doc comment begins with `Of`\n    mend: begin with a noun or a verb, and name who does it";
        assert_eq!(check(leaning_docs, "/// Of these, the first.\nfn f() {}\n"), [found]);
        assert_eq!(check(leaning_docs, "//! The same again.\n//!\n//! Whoever reads this.\n").len(), 2);
        assert_eq!(check(leaning_docs, "/// How it ends.\n///\n/// Where's the end?\n").len(), 2);
        assert_eq!(
            check(leaning_docs, "/// Whichever comes.\n///\n/// Whatever it is.\n/// Often.\n"),
            [] as [&str; 0]
        );
        assert_eq!(check(leaning_docs, "/// The first\n/// Of these.\n// Of course.\nfn f() {}\n"), [] as [&str; 0]);
    }

    #[test]
    fn a_long_sentence_is_found_across_lines_and_a_list_is_not() {
        let found = "error: crates/a/src/a.rs:2: a sentence of more than 25 words\n    mend: make it two";
        let words = |count: usize| "word ".repeat(count);
        assert_eq!(check(long_sentences, &format!("/// {}\n/// {}\n", words(20), words(6))), [found]);
        let fine = [
            format!("/// {}word.\n/// {}\n", words(24), words(25)),
            format!("/// {}\n///\n/// {}\n", words(20), words(20)),
            format!("// - {}\n", words(30)),
            format!("// ```text\n// {}\n// ```\n", words(30)),
            format!("let a = \"{}\";\n", words(30)),
        ];
        for text in fine {
            assert_eq!(check(long_sentences, &text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn a_wide_comment_is_found_and_wide_code_is_left_to_the_formatter() {
        let found = "error: crates/a/src/a.rs:2: a comment of 121 columns, more than 120\n    mend: break the line";
        assert_eq!(check(wide_comments, &format!("fn f() {{\n    // {}\n", "ä".repeat(114))), [found]);
        assert_eq!(check(wide_comments, &format!("// {}\nlet a = \"{0}{0}\";", "x".repeat(117))), [] as [&str; 0]);
    }
}
