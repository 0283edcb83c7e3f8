//! The text of a template, split into text and placeholders.

/// The placeholder for free text, which every template has implicitly.
pub(crate) const INPUT: &str = "input";

/// The parts of a text, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// `{{name}}`, with or without spaces inside the braces.
    Place {
        name: String,
        /// Lines below the first.
        line: usize,
    },
}

impl Body {
    /// Braces around anything but a name are text. So are braces after a backslash, which is then left out.
    pub(crate) fn parse(text: &str) -> Self {
        let mut body = Self { pieces: Vec::new() };
        let (mut rest, mut line) = (text, 0);
        while let Some(at) = rest.find("{{") {
            let (before, opened) = rest.split_at(at);
            line += line_ends(before);
            match (place(opened), before.strip_suffix('\\')) {
                (Some((_, length)), Some(before)) => {
                    body.push_text(before);
                    body.push_text(&opened[..length]);
                    rest = &opened[length..];
                }
                (Some((name, length)), None) => {
                    body.push_text(before);
                    body.pieces.push(Piece::Place { name: name.to_owned(), line });
                    rest = &opened[length..];
                }
                (None, _) => {
                    // One brace at a time: the second one may open a placeholder, as in `{{{path}}`.
                    body.push_text(before);
                    body.push_text("{");
                    rest = &opened[1..];
                }
            }
        }
        body.push_text(rest);
        body
    }

    /// True if there is a placeholder with this name.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.places().any(|(name, _)| name == wanted)
    }

    /// The names in the placeholders, each with its line, counted from 0.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, usize)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Place { name, line } => Some((name.as_str(), *line)),
        })
    }

    fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

/// The name in the placeholder that begins here, and the length of the placeholder.
fn place(text: &str) -> Option<(&str, usize)> {
    const SPACE: [char; 2] = [' ', '\t'];
    let inner = text.strip_prefix("{{")?.trim_start_matches(SPACE);
    let end = inner.find(|character| !is_in_name(character)).unwrap_or(inner.len());
    let (name, behind) = inner.split_at(end);
    let rest = behind.trim_start_matches(SPACE).strip_prefix("}}")?;
    is_name_like(name).then_some((name, text.len() - rest.len()))
}

fn line_ends(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// True if a word is valid as an argument's name: small letters, digits, `-` and `_`, a letter first.
pub(crate) fn is_name(word: &str) -> bool {
    is_name_like(word) && !word.contains(|character: char| character.is_ascii_uppercase())
}

/// True if a word is valid as a name in any letter case: the author must have meant a name.
pub(super) fn is_name_like(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic()) && word.chars().all(is_in_name)
}

fn is_in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with placeholders in angle brackets.
    fn seen(text: &str) -> String {
        let pieces = Body::parse(text).pieces;
        let seen = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place { name, .. } => format!("<{name}>"),
        });
        seen.collect()
    }

    #[test]
    fn placeholders_are_names_in_double_braces_and_nothing_else_is() {
        for (text, expected) in [
            ("test {{path}} now", "test <path> now"),
            ("{{path}}{{ path }}{{\tpath}}", "<path><path><path>"),
            ("{{Path}} {{a-b_1}}", "<Path> <a-b_1>"),
            ("{path} {{}} {{ }} {{1}} {{a b}} {{a.b}}", "{path} {{}} {{ }} {{1}} {{a b}} {{a.b}}"),
            ("${{ github.token }} {{path}}", "${{ github.token }} <path>"),
            (r"\{{path}} and {{path}}", "{{path}} and <path>"),
            (r"\{{ no.name }} \\{{path}}", r"\{{ no.name }} \{{path}}"),
            ("{{{path}}}", "{<path>}"),
            ("{{path", "{{path"),
            ("{{a\n}}", "{{a\n}}"),
            ("", ""),
        ] {
            assert_eq!(seen(text), expected, "{text}");
        }
    }

    #[test]
    fn placeholders_know_their_lines() {
        let body = Body::parse("one {{a}}\n\n\\{{b}}\n{{c}} {{a}}");
        assert_eq!(body.places().collect::<Vec<_>>(), [("a", 0), ("c", 3), ("a", 3)]);
    }
}
