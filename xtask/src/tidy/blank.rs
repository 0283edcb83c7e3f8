//! Rust text without its prose: comments and the insides of literals become spaces, so that no rule trips over them.
//!
//! This is not a parser. It knows where comments, strings, raw strings and characters begin and end, and no more.

use std::iter::Peekable;
use std::str::Chars;

/// Replaces comments and the insides of literals by spaces; lines stay where they are.
pub(super) fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'/') => skip_line(&mut rest, &mut code),
            '/' if rest.peek() == Some(&'*') => skip_block(&mut rest, &mut code),
            '"' => skip_string(&mut rest, &mut code),
            'r' if !is_name(before) && raw_hashes(&rest).is_some() => skip_raw(&mut rest, &mut code),
            '\'' => skip_char(&mut rest, &mut code),
            _ => code.push(c),
        }
        // `b` and `c` before a quote are the prefix of a literal, not the end of a name.
        before = if matches!(c, 'b' | 'c') && !is_name(before) { ' ' } else { c };
    }
    code
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn push_blank(code: &mut String, c: char) {
    code.push(if c == '\n' { '\n' } else { ' ' });
}

fn skip_line(rest: &mut Peekable<Chars<'_>>, code: &mut String) {
    while rest.peek().is_some_and(|&c| c != '\n') {
        rest.next();
        code.push(' ');
    }
}

fn skip_block(rest: &mut Peekable<Chars<'_>>, code: &mut String) {
    let (mut depth, mut previous) = (0_u32, '/');
    for c in rest.by_ref() {
        push_blank(code, c);
        match (previous, c) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                previous = c;
                continue;
            }
        }
        if depth == 0 {
            return;
        }
        previous = ' ';
    }
}

fn skip_string(rest: &mut Peekable<Chars<'_>>, code: &mut String) {
    code.push('"');
    while let Some(c) = rest.next() {
        match c {
            '"' => return code.push('"'),
            '\\' => {
                code.push(' ');
                if let Some(escaped) = rest.next() {
                    push_blank(code, escaped);
                }
            }
            _ => push_blank(code, c),
        }
    }
}

/// The number of hashes of the raw string that begins here, if one does.
fn raw_hashes(rest: &Peekable<Chars<'_>>) -> Option<usize> {
    let mut ahead = rest.clone();
    let mut hashes = 0;
    loop {
        match ahead.next() {
            Some('#') => hashes += 1,
            Some('"') => return Some(hashes),
            _ => return None,
        }
    }
}

fn skip_raw(rest: &mut Peekable<Chars<'_>>, code: &mut String) {
    let hashes = raw_hashes(rest).unwrap_or_default();
    code.push('"');
    for _ in 0..=hashes {
        rest.next();
    }
    let mut closing = None;
    for c in rest.by_ref() {
        push_blank(code, c);
        closing = match (c, closing) {
            ('"', _) => Some(0),
            ('#', Some(seen)) => Some(seen + 1),
            _ => None,
        };
        if closing == Some(hashes) {
            return code.push('"');
        }
    }
}

/// Skips a character literal; leaves a lifetime alone.
fn skip_char(rest: &mut Peekable<Chars<'_>>, code: &mut String) {
    let mut ahead = rest.clone();
    let literal = match ahead.next() {
        Some('\\') => true,
        Some(_) => ahead.next() == Some('\''),
        None => false,
    };
    code.push('\'');
    if !literal {
        return;
    }
    let mut escaped = false;
    for c in rest.by_ref() {
        if c == '\'' && !escaped {
            return code.push('\'');
        }
        push_blank(code, c);
        escaped = c == '\\' && !escaped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let text = "let a = \"todo!() \\\" x\"; // unsafe\n/* one /* two\n */ three */ let b = 'x';\nlet c = r#\"env::var\" \"#;\n";
        let lines: Vec<String> = blank(text).lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines, ["leta=\"\";", "", "letb='';", "letc=\"\";"]);
    }

    #[test]
    fn lifetimes_and_names_that_end_in_r_are_code() {
        let code = blank("fn a<'a>(b: &'a str, bar: &str) -> u8 { b'\\'' }\nlet var\"x\";\n");
        assert!(code.contains("fn a<'a>(b: &'a str, bar: &str) -> u8 { b'  ' }"), "{code}");
    }
}
