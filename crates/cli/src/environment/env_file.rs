//! Reader of `KEY=VALUE` files with comments, `export`, and single or double quotes, also over several lines. Nothing
//! is expanded or executed.

use std::path::Path;

use crate::error::CommandError;

/// One variable of such a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileVariable {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Line that it begins on.
    pub(crate) line: usize,
}

/// Unreadable line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    /// Variable of the line, if it can be told.
    pub(crate) name: Option<String>,
    pub(crate) what: &'static str,
}

/// Reads the whole file, or names the line that is wrong. A value is never quoted back: it may be a key.
pub(crate) fn read(path: &Path) -> Result<Vec<FileVariable>, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandError::config(format!("the env file {} cannot be read: {error}", path.display())))?;
    let (assignments, faults) = parse(&text);
    match faults.first() {
        None => Ok(assignments),
        Some(Fault { line, what, .. }) => Err(CommandError::config(format!("{}:{line}: {what}", path.display()))
            .hint("each line is NAME=value, NAME='value' or NAME=\"value\"; lines that begin with # are comments")),
    }
}

/// Readable variables, and unreadable lines.
pub(crate) fn parse(text: &str) -> (Vec<FileVariable>, Vec<Fault>) {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (mut assignments, mut faults) = (Vec::new(), Vec::new());
    let (mut rest, mut line) = (text.as_str(), 1);
    while !rest.is_empty() {
        let behind = match assignment(rest, line) {
            Ok(Some((assignment, behind))) => {
                assignments.push(assignment);
                behind
            }
            Ok(None) => rest,
            // An unclosed quote costs only its own line.
            Err(fault) => {
                faults.push(fault);
                rest
            }
        };
        let next = behind.split_once('\n').map_or("", |(_, next)| next);
        line += rest[..rest.len() - next.len()].matches('\n').count();
        rest = next;
    }
    (assignments, faults)
}

/// Reads the variable at the beginning of `text`, on `line`, and returns the rest; `None` for a comment or a blank
/// line.
fn assignment(text: &str, line: usize) -> Result<Option<(FileVariable, &str)>, Fault> {
    let first = text.lines().next().unwrap_or_default().trim();
    if first.is_empty() || first.starts_with('#') {
        return Ok(None);
    }
    let first = first.strip_prefix("export ").map_or(first, str::trim_start);
    let nameless = |what| Fault { line, name: None, what };
    let (name, _) = first.split_once('=').ok_or_else(|| nameless("there is no `=` in this line"))?;
    let name = name.trim_end();
    if !is_name(name) {
        return Err(nameless("the text before `=` is not a variable's name"));
    }
    let value = text.split_once('=').map_or("", |(_, value)| value);
    match unquote(value.trim_start_matches([' ', '\t'])) {
        Ok((value, behind)) => Ok(Some((FileVariable { name: name.to_owned(), value, line }, behind))),
        Err(what) => Err(Fault { line, name: Some(name.to_owned()), what }),
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Reads the value at the beginning of `text`, and returns the rest from the end of its line.
fn unquote(text: &str) -> Result<(String, &str), &'static str> {
    let (value, rest) = match text.chars().next() {
        Some('\'') => {
            let (value, rest) = text[1..].split_once('\'').ok_or("the single quote is not closed")?;
            (value.to_owned(), rest)
        }
        Some('"') => double_quoted(&text[1..])?,
        _ => {
            let line = text.lines().next().unwrap_or_default();
            // A `#` begins a comment only after a space: keys and URLs may hold one.
            let end = line.find(" #").or_else(|| line.find("\t#")).unwrap_or(line.len());
            return Ok((line[..end].trim_end().to_owned(), &text[line.len()..]));
        }
    };
    let comment = rest.lines().next().unwrap_or_default();
    let is_nothing = comment.trim().is_empty() || comment.trim_start().starts_with('#');
    if is_nothing { Ok((value, &rest[comment.len()..])) } else { Err("there is text after the closing quote") }
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
            let expected = FileVariable { name: "A".to_owned(), value: value.to_owned(), line: 1 };
            assert_eq!(parse(line), (vec![expected], Vec::new()), "{line}");
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (line, what) in [
            ("just words", "there is no `=` in this line"),
            ("1A=x", "the text before `=` is not a variable's name"),
            ("A B=x", "the text before `=` is not a variable's name"),
            ("A='x", "the single quote is not closed"),
            ("A=\"x\\", "the double quote is not closed"),
            ("A='x' y", "there is text after the closing quote"),
        ] {
            let (read, faults) = parse(&format!("# a comment\n\n{line}\nLAST=1\n"));
            let told: Vec<(usize, &str)> = faults.iter().map(|fault| (fault.line, fault.what)).collect();
            assert_eq!(told, [(3, what)], "{line}");
            assert_eq!(read.len(), 1, "the others count: {line}");
        }
    }

    #[test]
    fn a_quoted_value_extends_to_its_closing_quote() {
        let text = "A='one\n# two\nB=3' # comment\r\nC=\"x\r\n\r\ny\"\nD=4";
        let (read, faults) = parse(text);
        let read: Vec<_> = read.iter().map(|FileVariable { name, value, line }| (&**name, &**value, *line)).collect();
        assert_eq!(read, [("A", "one\n# two\nB=3", 1), ("C", "x\n\ny", 4), ("D", "4", 7)]);
        assert_eq!(faults, []);
    }

    #[test]
    fn an_unclosed_quote_costs_only_its_own_line() {
        let (read, faults) = parse("A='one\nB=\"two\nC=3\n");
        let names: Vec<&str> = read.iter().map(|assignment| assignment.name.as_str()).collect();
        let broken: Vec<Option<&str>> = faults.iter().map(|fault| fault.name.as_deref()).collect();
        assert_eq!((names, broken), (vec!["C"], vec![Some("A"), Some("B")]));
    }
}
