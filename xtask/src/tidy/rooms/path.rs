//! Paths to items of the same crate: imports with their groups, and paths that stand in the code.

use super::super::token::{Token, is_name, text};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path<'a> {
    /// Path from the root of the crate; `*` for everything there.
    pub(super) words: Vec<&'a str>,
    /// Its name in the importing module.
    pub(super) name: &'a str,
    pub(super) line: usize,
}

/// Every path that begins with `crate`, `super` or `self`, in a file that is `module`.
pub(super) fn paths<'a>(tokens: &[Token<'a>], module: &[&'a str]) -> Vec<Path<'a>> {
    let mut module = module.to_vec();
    let mut braces = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let before = |steps: usize| at.checked_sub(steps).map_or("", |before| text(tokens, before));
        match text(tokens, at) {
            "{" => {
                let inline = before(2) == "mod";
                if inline {
                    module.push(before(1));
                }
                braces.push(inline);
            }
            "}" => module.truncate(module.len() - usize::from(braces.pop() == Some(true))),
            "crate" | "super" | "self" if text(tokens, at + 1) == "::" && !(before(1) == "in" && before(2) == "(") => {
                let mut leaves = Vec::new();
                at = tree(tokens, at, &[], &mut leaves);
                found.extend(leaves.into_iter().map(|path| absolute(path, &module)));
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Imports of a crate's root.
pub(super) fn imports<'a>(tokens: &[Token<'a>]) -> Vec<Path<'a>> {
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.text == "use") {
        tree(tokens, at + 1, &[], &mut found);
    }
    found.into_iter().map(|path| absolute(path, &[])).collect()
}

/// Reads the path that begins at `at`, with all that is grouped below it; returns where it ends.
fn tree<'a>(tokens: &[Token<'a>], mut at: usize, above: &[&'a str], leaves: &mut Vec<Path<'a>>) -> usize {
    let mut words = above.to_vec();
    loop {
        match text(tokens, at) {
            "{" => {
                at += 1;
                while !["}", ""].contains(&text(tokens, at)) {
                    at = tree(tokens, at, &words, leaves);
                    at += usize::from(text(tokens, at) == ",");
                }
                return at + 1;
            }
            word if word == "*" || is_name(word) => {
                let line = tokens[at].line;
                // `a::{self, b}` names `a`.
                if word != "self" || words.is_empty() {
                    words.push(word);
                }
                at += 1;
                let goes_on = matches!(text(tokens, at + 1), "{" | "*") || is_name(text(tokens, at + 1));
                if text(tokens, at) == "::" && goes_on {
                    at += 1;
                    continue;
                }
                let mut name = words.last().copied().unwrap_or_default();
                if text(tokens, at) == "as" {
                    name = text(tokens, at + 1);
                    at += 2;
                }
                leaves.push(Path { words, name, line });
                return at;
            }
            _ => return at + 1,
        }
    }
}

fn absolute<'a>(path: Path<'a>, module: &[&'a str]) -> Path<'a> {
    let mut base = match path.words.first() {
        Some(&("self" | "super")) => module.to_vec(),
        _ => Vec::new(),
    };
    for word in path.words {
        match word {
            "crate" | "self" => {}
            "super" => {
                base.pop();
            }
            word => base.push(word),
        }
    }
    Path { words: base, ..path }
}

#[cfg(test)]
mod tests {
    use super::super::super::token::tokens;
    use super::*;

    fn of(code: &str, module: &[&str]) -> Vec<String> {
        let tokens = tokens(code);
        paths(&tokens, module).iter().map(|path| format!("{} {}", path.line, path.words.join("::"))).collect()
    }

    #[test]
    fn groups_aliases_and_inline_paths_are_followed() {
        let code =
            "use crate::a::B;\nuse crate::{c::{self, D as X, e::*}, F};\nlet x = crate::g::<T>(h, crate::i::J { k });";
        assert_eq!(of(code, &["room"]), ["1 a::B", "2 c", "2 c::D", "2 c::e::*", "2 F", "3 g", "3 i::J"]);
    }

    #[test]
    fn super_leads_out_of_files_and_of_modules_inside_them() {
        let code = "use super::a;\nmod tests {\n use super::*;\n fn f() { super::super::b::c() }\n}\nself::d();\nuse super::super::e::F;";
        assert_eq!(
            of(code, &["room", "file"]),
            ["1 room::a", "3 room::file::*", "4 room::b::c", "6 room::file::d", "7 e::F"]
        );
    }

    #[test]
    fn the_visibility_of_an_item_is_not_an_import() {
        assert_eq!(of("pub(in crate::a) fn f(self) {} pub(super) struct B;", &["room"]), [] as [&str; 0]);
    }
}
