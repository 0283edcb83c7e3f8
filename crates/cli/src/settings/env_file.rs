//! Reads `KEY=VALUE` files: comments, `export`, single and double quotes. Nothing is expanded or executed.

use std::path::Path;

use crate::error::CommandError;

/// One variable of such a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) line: usize,
}

/// Reads the whole file or says which line is wrong. A value is never quoted back: it may be a key.
pub(super) fn read(path: &Path) -> Result<Vec<Assignment>, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandError::config(format!("the env file {} cannot be read: {error}", path.display())))?;
    parse(&text).map_err(|(line, what)| {
        CommandError::config(format!("{}:{line}: {what}", path.display()))
            .hint("each line is NAME=value, NAME='value' or NAME=\"value\"; lines that begin with # are comments")
    })
}

fn parse(text: &str) -> Result<Vec<Assignment>, (usize, &'static str)> {
    let mut assignments = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line_number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let assignment = line.strip_prefix("export ").map_or(line, str::trim_start);
        let Some((name, value)) = assignment.split_once('=') else {
            return Err((line_number, "there is no `=` in this line"));
        };
        let name = name.trim_end();
        if !is_name(name) {
            return Err((line_number, "what stands before `=` is not a variable's name"));
        }
        let value = unquote(value.trim_start()).map_err(|what| (line_number, what))?;
        assignments.push(Assignment { name: name.to_owned(), value, line: line_number });
    }
    Ok(assignments)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn unquote(value: &str) -> Result<String, &'static str> {
    let (text, rest) = match value.chars().next() {
        Some('\'') => {
            let (text, rest) = value[1..].split_once('\'').ok_or("the single quote is not closed")?;
            (text.to_owned(), rest)
        }
        Some('"') => double_quoted(&value[1..])?,
        _ => {
            // A `#` begins a comment only after a space: keys and URLs may hold one.
            let end = value.find(" #").or_else(|| value.find("\t#")).unwrap_or(value.len());
            return Ok(value[..end].trim_end().to_owned());
        }
    };
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') { Ok(text) } else { Err("there is something behind the closing quote") }
}

fn double_quoted(value: &str) -> Result<(String, &str), &'static str> {
    let mut text = String::new();
    let mut letters = value.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((text, &value[at + 1..])),
            '\\' => match letters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, escaped @ ('"' | '\\' | '$'))) => text.push(escaped),
                Some((_, other)) => text.extend(['\\', other]),
                None => break,
            },
            other => text.push(other),
        }
    }
    Err("the double quote is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_a_line_is_read() {
        let cases = [
            ("A=1", "1"),
            ("A = spaced  ", "spaced"),
            ("export A=x", "x"),
            ("A=", ""),
            ("A=sk-a#b # comment", "sk-a#b"),
            ("A='it # is $HOME' # comment", "it # is $HOME"),
            (r#"A="two\nlines \"quoted\" \d""#, "two\nlines \"quoted\" \\d"),
            ("\u{feff}A=x", "x"),
            ("A=a=b", "a=b"),
        ];
        for (line, value) in cases {
            let expected = Assignment { name: "A".to_owned(), value: value.to_owned(), line: 1 };
            assert_eq!(parse(line), Ok(vec![expected]), "{line}");
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (line, what) in [
            ("just words", "there is no `=` in this line"),
            ("1A=x", "what stands before `=` is not a variable's name"),
            ("A B=x", "what stands before `=` is not a variable's name"),
            ("A='x", "the single quote is not closed"),
            ("A=\"x\\", "the double quote is not closed"),
            ("A='x' y", "there is something behind the closing quote"),
        ] {
            assert_eq!(parse(&format!("# a comment\n\n{line}\n")), Err((3, what)), "{line}");
        }
    }
}
