//! Rust code as words and marks, each with its line: as much of a parser as the rules need.

/// A name, a literal, or a mark such as `{` or `::`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// Counts from 1.
    pub(super) line: usize,
}

/// Marks of two characters that mean something of their own.
const PAIRS: [&str; 4] = ["::", "->", "=>", "=="];

/// Splits code from which comments and the insides of literals are blanked.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (code, 1);
    while let Some(first) = rest.chars().next() {
        let (text, behind) = rest.split_at(length(first, rest));
        if !first.is_whitespace() {
            found.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = behind;
    }
    found
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the token, or of the white space, that begins here.
fn length(first: char, rest: &str) -> usize {
    let name_end = |from: usize| rest[from..].find(|c| !is_name_part(c)).map_or(rest.len(), |end| from + end);
    let quote_end = || rest[1..].find(first).map_or(rest.len(), |end| end + 2);
    match first {
        '\'' if rest[1..].starts_with(is_name_part) => name_end(1),
        '"' | '\'' => quote_end(),
        _ if is_name_part(first) => name_end(0),
        _ if PAIRS.iter().any(|pair| rest.starts_with(pair)) => 2,
        _ => first.len_utf8(),
    }
}

/// The text of the token at `at`; nothing past the end.
pub(super) fn text<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The index of the bracket that closes the one at `open`; the end of the code if none does.
pub(super) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let opening = text(tokens, open);
    let close = match opening {
        "(" => ")",
        "[" => "]",
        "<" => ">",
        _ => "}",
    };
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.text == opening {
            depth += 1;
        } else if token.text == close {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::super::blank::blank;
    use super::*;

    #[test]
    fn code_falls_into_names_marks_and_literals_with_their_lines() {
        let code = blank("fn a<'b>(c: &'b d::E) -> u8 {\n    f(\"x\n y\", 'z', '\\'')\n}\n");
        let found: Vec<String> = tokens(&code).iter().map(|token| format!("{}{}", token.line, token.text)).collect();
        assert_eq!(
            found.join(" "),
            "1fn 1a 1< 1'b 1> 1( 1c 1: 1& 1'b 1d 1:: 1E 1) 1-> 1u8 1{ 2f 2( 2\" \n  \" 3, 3' ' 3, 3'  ' 3) 4}"
        );
    }

    #[test]
    fn a_bracket_is_closed_by_its_own_kind() {
        let tokens = tokens("<F: Fn(A) -> B<C>> { ( [ } ) ]");
        assert_eq!(closing(&tokens, 0), tokens.iter().position(|token| token.text == "{").unwrap() - 1);
    }
}
