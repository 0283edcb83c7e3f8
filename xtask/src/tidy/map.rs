//! `lib.rs` is a map of its crate: documentation, modules, re-exports, and nothing else.

use super::file::File;
use super::finding::Finding;

pub(super) fn lib_is_a_map(file: &File) -> Vec<Finding> {
    if file.owner().is_none() || !file.path().ends_with("/src/lib.rs") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if !file.text().starts_with("//!") {
        findings.push(Finding::at(
            file,
            1,
            "the crate does not say what it is",
            "begin with `//!` and two to six lines: what it owns, what it deliberately does not do",
        ));
    }
    if let Some(line) = first_foreign_line(file.code()) {
        findings.push(Finding::at(
            file,
            line,
            "lib.rs holds more than docs, modules and re-exports",
            "move the item into a module and re-export it",
        ));
    }
    findings
}

/// The line of the first item that is neither a module declaration nor a re-export.
fn first_foreign_line(code: &str) -> Option<usize> {
    let mut rest = code.trim_start();
    while !rest.is_empty() {
        let Some(length) = attribute_length(rest).or_else(|| declaration_length(rest)) else {
            let before = code.len() - rest.len();
            return Some(code[..before].matches('\n').count() + 1);
        };
        rest = rest[length..].trim_start();
    }
    None
}

/// The length of the attribute that begins here, if one does.
fn attribute_length(code: &str) -> Option<usize> {
    if !code.starts_with("#[") && !code.starts_with("#![") {
        return None;
    }
    let mut depth = 0_u32;
    for (at, c) in code.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return Some(at + 1),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The length of the `mod name;` or `pub use ...;` that begins here, if one does.
fn declaration_length(code: &str) -> Option<usize> {
    let (declaration, _) = code.split_once(';')?;
    let public = declaration.strip_prefix("pub(crate) ").or_else(|| declaration.strip_prefix("pub "));
    let reexports = public.is_some_and(|item| item.starts_with("use "));
    let module = public
        .unwrap_or(declaration)
        .strip_prefix("mod ")
        .is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    (reexports || module).then_some(declaration.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    fn check(text: &str) -> String {
        render(&lib_is_a_map(&File::new("crates/a/src/lib.rs", text)))
    }

    #[test]
    fn docs_modules_and_re_exports_are_a_map() {
        let map = "//! What it is.\n#![expect(x, reason = \"y\")]\n\nmod a;\n/// Docs.\npub mod b;\n#[cfg(test)]\nmod c;\n\npub use a::{A,\n    B};\n";
        assert_eq!(check(map), "");
    }

    #[test]
    fn anything_else_is_not() {
        for foreign in
            ["pub fn a() {}", "struct A;", "mod a {\n}", "use a::A;", "type A = B;", "macro_rules! a { () => {} }"]
        {
            assert_eq!(
                check(&format!("//! What it is.\nmod a;\n{foreign}\n")),
                "crates/a/src/lib.rs:3: lib.rs holds more than docs, modules and re-exports\n",
                "{foreign}"
            );
        }
    }

    #[test]
    fn a_crate_says_what_it_is() {
        assert_eq!(check("mod a;\n"), "crates/a/src/lib.rs:1: the crate does not say what it is\n");
    }
}
