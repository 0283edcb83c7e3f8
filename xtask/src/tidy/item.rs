//! Declarations in Rust code: types, inherent impls and functions, found by their first word.

use super::token::{Token, closing, is_name, text};

/// Visibility of an item: the words in the brackets after `pub`, none for plain `pub`; `None` for a private item.
pub(super) fn publicity<'a>(tokens: &[Token<'a>], item: usize) -> Option<Vec<&'a str>> {
    let mut before = item;
    while before > 0
        && (["const", "async", "unsafe", "extern"].contains(&text(tokens, before - 1))
            || text(tokens, before - 1).starts_with('"'))
    {
        before -= 1;
    }
    let last = before.checked_sub(1)?;
    if text(tokens, last) == "pub" {
        return Some(Vec::new());
    }
    let open = tokens[..last].iter().rposition(|token| token.text == "(")?;
    let restricted = text(tokens, last) == ")" && open > 0 && text(tokens, open - 1) == "pub";
    restricted.then(|| tokens[open + 1..last].iter().map(|token| token.text).collect())
}

#[derive(Debug)]
pub(super) struct Type<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    /// True if the whole crate may name it.
    pub(super) everywhere: bool,
    pub(super) alias: bool,
}

/// Structs, enums, traits and aliases.
pub(super) fn types<'a>(tokens: &[Token<'a>]) -> Vec<Type<'a>> {
    let declared = |(at, token): (usize, &Token<'a>)| {
        let name = tokens.get(at + 1).filter(|name| is_name(name.text))?;
        let everywhere = publicity(tokens, at).is_some_and(|to| to.is_empty() || to == ["crate"]);
        let alias = token.text == "type";
        ["struct", "enum", "trait", "type"].contains(&token.text).then_some(Type {
            name: name.text,
            line: name.line,
            everywhere,
            alias,
        })
    };
    tokens.iter().enumerate().filter_map(declared).collect()
}

/// `impl Name { … }`: its name, and the indices of the braces.
#[derive(Debug)]
pub(super) struct Impl<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) body: std::ops::Range<usize>,
}

/// The inherent impls; those of traits are not among them.
pub(super) fn inherent_impls<'a>(tokens: &[Token<'a>]) -> Vec<Impl<'a>> {
    let found = |(at, token): (usize, &Token<'a>)| {
        let begins_item = at == 0 || ["}", "{", ";", "]", "unsafe", "default"].contains(&text(tokens, at - 1));
        if token.text != "impl" || !begins_item {
            return None;
        }
        let mut next = at + 1;
        if text(tokens, next) == "<" {
            next = closing(tokens, next) + 1;
        }
        let mut name = None;
        loop {
            match text(tokens, next) {
                "" | "for" => return None,
                "<" => next = closing(tokens, next),
                "{" | "where" => break,
                // Bounds after the name of a trait object: `dyn Judge + Send`.
                "+" => next += 1,
                word if is_name(word) && !["dyn", "mut", "const"].contains(&word) => name = Some(word),
                _ => {}
            }
            next += 1;
        }
        let open = next + tokens[next..].iter().position(|token| token.text == "{")?;
        Some(Impl { name: name?, line: token.line, body: open..closing(tokens, open) })
    };
    tokens.iter().enumerate().filter_map(found).collect()
}

#[derive(Debug)]
pub(super) struct Function<'t, 'a> {
    pub(super) name: &'a str,
    /// True if code outside its module may call it.
    pub(super) public: bool,
    pub(super) parameters: Vec<&'t [Token<'a>]>,
}

pub(super) fn functions<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<Function<'t, 'a>> {
    let declared = |(at, token): (usize, &Token<'a>)| {
        let name = text(tokens, at + 1);
        if token.text != "fn" || !is_name(name) {
            return None;
        }
        let generic = text(tokens, at + 2) == "<";
        let open = if generic { closing(tokens, at + 2) + 1 } else { at + 2 };
        let inside = tokens.get(open + 1..closing(tokens, open))?;
        Some(Function { name, public: publicity(tokens, at).is_some(), parameters: split(inside) })
    };
    tokens.iter().enumerate().filter_map(declared).collect()
}

/// Parts between the commas that lie in no bracket.
fn split<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(&tokens[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[begin..]);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn inherent_impls_are_named_and_those_of_traits_are_not() {
        let code = "impl A {} unsafe impl<'a, F: Fn() -> B<C>> sub::D<'a, F> where F: E { fn f() -> impl G {} }\
                    impl H for I {} impl<T> J<T> for K {} impl dyn L + Send {}";
        let tokens = tokens(code);
        let names: Vec<&str> = inherent_impls(&tokens).iter().map(|found| found.name).collect();
        assert_eq!(names, ["A", "D", "L"]);
    }

    #[test]
    fn functions_have_parameters_and_a_visibility() {
        let tokens = tokens(
            "pub(in crate::a) const fn f<T: Fn(A, B) -> C>(&self, (a, b): (A, B), c: D<E, F>,) {}\
             fn g() { let h: fn(A) = i; } pub extern \"\" fn j(k: bool) {}",
        );
        let found: Vec<String> = functions(&tokens)
            .iter()
            .map(|function| format!("{} {} {}", function.name, function.public, function.parameters.len()))
            .collect();
        assert_eq!(found, ["f true 3", "g false 0", "j true 1"]);
    }

    #[test]
    fn a_type_is_known_to_its_crate_or_to_its_module() {
        let tokens = tokens("pub struct A; pub(crate) enum B {} pub(super) trait C {} type D = E;");
        let found: Vec<String> =
            types(&tokens).iter().map(|found| format!("{} {}", found.name, found.everywhere)).collect();
        assert_eq!(found, ["A true", "B true", "C false", "D false"]);
    }
}
