//! Simple patterns for source code: the definition on a line, the kind of a line, and its depth.
//!
//! There is no parser: a wrong guess costs rank, never correctness. `families` holds the notation of each language.

mod families;

pub(crate) use families::Syntax;
use families::{FAMILIES, UNKNOWN};

/// Kind of a source line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Blank,
    /// Documentation that belongs to the definition below it.
    Doc,
    Comment,
    Import,
    Code,
}

/// A definition, as read from its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// The keyword: `fn`, `class`, …; empty if the language has none.
    pub(crate) keyword: &'static str,
    pub(crate) name: String,
}

/// True for words that may precede a definition's keyword.
fn is_modifier(word: &str) -> bool {
    matches!(
        word,
        "pub"
            | "async"
            | "unsafe"
            | "const"
            | "static"
            | "extern"
            | "default"
            | "export"
            | "public"
            | "private"
            | "protected"
            | "internal"
            | "final"
            | "abstract"
            | "override"
            | "virtual"
            | "inline"
            | "declare"
            | "open"
            | "sealed"
            | "data"
            | "readonly"
            | "suspend"
            | "partial"
            | "local"
            | "constexpr"
            | "typedef"
    )
}

/// Words before `(` that are not function names.
const CONTROL: &[&str] = &["if", "for", "while", "switch", "catch", "return", "else", "match", "do", "with", "elif"];

impl Syntax {
    pub(crate) fn of(path: &str) -> &'static Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or(name, |(_, extension)| extension).to_lowercase();
        FAMILIES.iter().find(|family| family.extensions.contains(&extension.as_str())).unwrap_or(&UNKNOWN)
    }

    pub(crate) fn line_kind(&self, line: &str) -> LineKind {
        let text = line.trim_start();
        let starts = |openings: &[&str]| openings.iter().any(|opening| text.starts_with(opening));
        if text.is_empty() {
            LineKind::Blank
        } else if starts(self.docs) {
            LineKind::Doc
        } else if starts(self.line_comments) && !self.keywords.contains(&"#") {
            LineKind::Comment
        } else if starts(self.imports) {
            LineKind::Import
        } else {
            LineKind::Code
        }
    }

    /// Returns the definition that a line begins, if any.
    pub(crate) fn definition(&self, line: &str) -> Option<Definition> {
        if self.line_kind(line) != LineKind::Code {
            return None;
        }
        let text = line.trim();
        // A local value is not worth reporting, unless it is a function itself.
        let local = indent(line) > 0 && ["const ", "let ", "var ", "val "].iter().any(|word| text.starts_with(word));
        if local && self.bare_functions && !is_function_value(text) {
            return None;
        }
        self.keyword_definition(text).or_else(|| if self.bare_functions { bare_function(text) } else { None })
    }

    fn keyword_definition(&self, text: &str) -> Option<Definition> {
        let mut rest = text;
        loop {
            let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == '<').unwrap_or(rest.len());
            let word = &rest[..end];
            if let Some(keyword) = self.keywords.iter().find(|keyword| **keyword == word) {
                // In `const fn` and `static inline` the first word is only a modifier.
                let after = rest[end..].trim_start();
                let next = after.split(|c: char| c.is_whitespace() || c == '<').next().unwrap_or_default();
                let doubled = self.keywords.contains(&next) || next == "unsafe" || next == "async" || next == "extern";
                if !(is_modifier(word) && doubled) {
                    return named(keyword, &rest[end..]);
                }
            } else if !is_modifier(word) {
                return None;
            }
            rest = rest[end..].trim_start();
            if let Some(scope) = rest.strip_prefix('(') {
                rest = scope.split_once(')')?.1.trim_start();
            }
            if let Some(abi) = rest.strip_prefix('"') {
                rest = abi.split_once('"')?.1.trim_start();
            }
        }
    }

    /// Returns a regular expression for the lines that show where definitions begin and end; empty if the family has
    /// none. Closing braces count only near the margin: see `ends_are_shown`.
    pub(crate) fn structure_pattern(&self) -> String {
        let definitions = self.definition_pattern();
        let ends = if self.has_braces() { r"^(?:\t| {0,4})\}" } else { r"^[^\s#]" };
        if definitions.is_empty() || self.is_prose() { definitions } else { format!("{definitions}|(?-u:{ends})") }
    }

    /// True if the structure pattern shows the end of a definition at this depth.
    pub(crate) fn ends_are_shown(&self, depth: usize) -> bool {
        self.is_prose() || depth == 0 || (self.has_braces() && depth <= 4)
    }

    fn has_braces(&self) -> bool {
        !self.line_comments.contains(&"#") || self.line_comments.contains(&"//")
    }

    fn is_prose(&self) -> bool {
        self.keywords.contains(&"#")
    }

    /// True if a definition on this line goes on below it: not a constant or an alias, which end with the line.
    pub(crate) fn goes_on(&self, line: &str) -> bool {
        let line = line.trim_end();
        !(self.has_braces() && (line.ends_with(';') || (line.ends_with('}') && line.contains('{'))))
    }

    /// Returns a regular expression for the first lines of definitions; empty if the family has none.
    pub(crate) fn definition_pattern(&self) -> String {
        let keywords: Vec<String> =
            self.keywords.iter().map(|keyword| crate::language::words::escape(keyword)).collect();
        if keywords.is_empty() {
            return String::new();
        }
        let modifiers = r#"(?:[a-zC():"]+ )*"#;
        let keyworded = format!(r"^[ \t]*{modifiers}(?:{})[ \t<]", keywords.join("|"));
        let bare = r"|^[ \t]*[\w:<>*&,\[\] ]+\([^;]*\{?[ \t]*$";
        format!("(?-u:{keyworded}{})", if self.bare_functions { bare } else { "" })
    }
}

/// Reads the name after a keyword. An `impl` is named after its type, a heading after its text.
fn named(keyword: &'static str, after: &str) -> Option<Definition> {
    let after = after.trim_start();
    let name = match keyword {
        "impl" => return Some(Definition { keyword, name: implemented(after) }),
        "#" | "##" | "###" | "####" => return Some(Definition { keyword, name: after.trim().to_owned() }),
        // A value is a definition with a name only if it is a function or a constant.
        "let" | "var" | "val" if !is_function_value(after) => return None,
        "create" | "CREATE" => after.split_whitespace().nth(1)?,
        // A Go method names its receiver first.
        "func" if after.starts_with('(') => after.split_once(')')?.1.trim_start(),
        _ => after.trim_start_matches("self."),
    };
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(name.len());
    let name = &name[..end];
    (!name.is_empty() && name != "_").then(|| Definition { keyword, name: name.to_owned() })
}

fn is_function_value(text: &str) -> bool {
    text.contains("=>") || text.contains("function")
}

/// Turns `<T: X> Trait<T> for Type<T> where …` into `Trait for Type`.
fn implemented(after: &str) -> String {
    let mut depth = 0usize;
    let mut flat = String::new();
    for character in after.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '{' => break,
            _ if depth == 0 => flat.push(character),
            _ => {}
        }
    }
    let flat = flat.split(" where ").next().unwrap_or_default();
    flat.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a function without keyword: `static int open_file(const char *path) {`, `render(props) {`, `deploy() {`.
fn bare_function(text: &str) -> Option<Definition> {
    let (head, tail) = text.split_once('(')?;
    let opens_body = tail.trim_end().ends_with('{') || (!tail.contains(';') && head.contains(' '));
    let name = head.rsplit(|c: char| c.is_whitespace() || c == '*' || c == '&' || c == ':').next()?;
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '~' || c == '$');
    let declares = !head.contains(['=', '.', '"', '\'', '(', '{', '}', '!']) && !CONTROL.contains(&name);
    let first = head.split_whitespace().next().unwrap_or_default();
    (opens_body && plain && declares && !CONTROL.contains(&first) && !tail.starts_with('"'))
        .then(|| Definition { keyword: "", name: name.to_owned() })
}

/// Counts leading blanks, a tab as four.
pub(crate) fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_recognised_in_many_languages() {
        for (path, line, keyword, name) in [
            ("a.rs", "    pub(crate) async fn parse_url(text: &str) -> Url {", "fn", "parse_url"),
            ("a.rs", "pub const fn size() -> usize {", "fn", "size"),
            ("a.rs", "pub unsafe extern \"C\" fn hook(", "fn", "hook"),
            ("a.rs", "const MAX_SIZE: usize = 3;", "const", "MAX_SIZE"),
            ("a.rs", "impl<T: Read> Iterator for Lines<T> {", "impl", "Iterator for Lines"),
            ("a.rs", "macro_rules! check {", "macro_rules!", "check"),
            ("a.py", "    async def fetch(self):", "def", "fetch"),
            ("a.py", "class Parser(Base):", "class", "Parser"),
            ("a.ts", "export default class Store {", "class", "Store"),
            ("a.ts", "export const send = async (x) => {", "const", "send"),
            ("a.ts", "  render(props) {", "", "render"),
            ("a.go", "func (s *Server) Listen(port int) error {", "func", "Listen"),
            ("a.c", "static int open_file(const char *path) {", "", "open_file"),
            ("a.c", "#define MAX_PATH 260", "#define", "MAX_PATH"),
            ("a.md", "## How to install", "##", "How to install"),
            ("a.sql", "CREATE TABLE users (", "CREATE", "users"),
        ] {
            let expected = Definition { keyword, name: name.to_owned() };
            assert_eq!(Syntax::of(path).definition(line), Some(expected), "{path}: {line}");
        }
    }

    #[test]
    fn other_lines_define_nothing() {
        for (path, line) in [
            ("a.rs", "    let fn_name = parse(text);"),
            ("a.rs", "/// fn documented"),
            ("a.rs", "use std::fmt;"),
            ("a.py", "# def old():"),
            ("a.c", "    if (ready) {"),
            ("a.c", "    return send(x);"),
            ("a.ts", "  let count = 3;"),
            ("a.txt", "class struggle"),
        ] {
            assert_eq!(Syntax::of(path).definition(line), None, "{path}: {line}");
        }
    }
}
