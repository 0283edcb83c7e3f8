//! Parser of tool outputs: the only place that knows their text formats.
//!
//! It is tolerant on purpose. A line of an unknown form counts as a note and is skipped.

/// A line of a file, as Grep or Read showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenLine {
    pub(crate) path: String,
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// Parses Grep's `content` form: a path, then `12:text` for matches and `13-text` around them. Also `path:12:text`.
pub(crate) fn grep_lines(output: &str, searched_path: &str) -> Vec<SeenLine> {
    let mut seen = Vec::new();
    let mut path = searched_path;
    for line in output.lines() {
        if let Some((number, text)) = numbered(line) {
            if !path.is_empty() {
                seen.push(SeenLine { path: path.to_owned(), number, text: text.to_owned() });
            }
        } else if let Some((own_path, number, text)) = with_path(line) {
            seen.push(SeenLine { path: own_path.to_owned(), number, text: text.to_owned() });
        } else if is_path_line(line) {
            path = line.trim_end_matches(':');
        }
    }
    seen
}

/// Parses Grep's `count` form: `path:12` on each line.
pub(crate) fn grep_counts(output: &str) -> Vec<(String, usize)> {
    output
        .lines()
        .filter_map(|line| {
            let (path, count) = line.rsplit_once(':')?;
            let count = count.trim().parse().ok()?;
            is_path_line(path).then(|| (path.to_owned(), count))
        })
        .collect()
}

/// Parses Glob's form: one path on each line.
pub(crate) fn paths(output: &str) -> Vec<String> {
    output.lines().filter(|line| is_path_line(line)).map(|line| line.trim_start_matches("./").to_owned()).collect()
}

/// Parses Read's form: line number, tab, text.
pub(crate) fn read_lines(output: &str, path: &str) -> Vec<SeenLine> {
    output
        .lines()
        .filter_map(|line| {
            let (number, text) = line.trim_start().split_once('\t')?;
            let number = number.parse().ok()?;
            Some(SeenLine { path: path.to_owned(), number, text: text.to_owned() })
        })
        .collect()
}

/// True if a tool left something out: its last line is a note on how to see more.
pub(crate) fn is_cut(output: &str) -> bool {
    output.lines().next_back().is_some_and(|last| last.starts_with('[') && last.contains("more follow"))
}

/// Returns the report inside a Task output, between its marks, or the whole output if there are none.
pub(crate) fn report(output: &str) -> &str {
    let Some(start) = output.find("[report ") else { return output };
    let after = &output[start + "[report ".len()..];
    let Some((mark, body)) = after.split_once("]\n") else { return output };
    let end = body.rfind(&format!("[end {mark}]")).unwrap_or(body.len());
    body[..end].trim()
}

/// Parses `12:text` or `12-text`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..)?;
    let text = rest.strip_prefix(':').or_else(|| rest.strip_prefix('-'))?;
    Some((line.get(..digits)?.parse().ok()?, text))
}

/// Parses `path:12:text`.
fn with_path(line: &str) -> Option<(&str, usize, &str)> {
    let (path, rest) = line.split_once(':')?;
    let (number, text) = numbered(rest)?;
    (is_path_line(path) && rest.starts_with(|c: char| c.is_ascii_digit())).then_some((path, number, text))
}

/// True if a line can be a path: notes are in brackets or are sentences.
fn is_path_line(line: &str) -> bool {
    let sentence = line.contains(' ') && (line.ends_with('.') || !line.contains(['/', '.']));
    !line.is_empty() && !line.starts_with(['[', '(', ' ']) && line != "--" && !sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str, number: usize, text: &str) -> SeenLine {
        SeenLine { path: path.to_owned(), number, text: text.to_owned() }
    }

    #[test]
    fn grep_lines_are_parsed_in_every_form() {
        for (output, expected) in [
            (
                "src/a.rs\n2-// before\n3:fn a() {\n--\n9:}\n\nsrc/b.rs\n1:use a;\n[first 3 matches; more follow]",
                vec![
                    line("src/a.rs", 2, "// before"),
                    line("src/a.rs", 3, "fn a() {"),
                    line("src/a.rs", 9, "}"),
                    line("src/b.rs", 1, "use a;"),
                ],
            ),
            ("src/a.rs:3:fn a() {", vec![line("src/a.rs", 3, "fn a() {")]),
            ("3:fn a() {", vec![line("asked.rs", 3, "fn a() {")]),
            ("src/a.rs\n7:12:30 is a time", vec![line("src/a.rs", 7, "12:30 is a time")]),
            ("[no match in 3 files]", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(grep_lines(output, "asked.rs"), expected, "{output}");
        }
    }

    #[test]
    fn counts_are_parsed_and_notes_skipped() {
        let output = "docs/run.md:1\nsrc/a b.rs:12\n[first 2 files; more follow: narrow the pattern]";
        assert_eq!(grep_counts(output), [("docs/run.md".to_owned(), 1), ("src/a b.rs".to_owned(), 12)]);
    }

    #[test]
    fn a_cut_output_is_recognised_by_its_note() {
        assert!(is_cut("a.rs:1\n[first 1 file; more follow: narrow the pattern]"));
        assert!(!is_cut("a.rs:1"));
        assert!(!is_cut("a.rs:1\n[1 binary file skipped]"));
    }

    #[test]
    fn paths_are_parsed_and_notes_skipped() {
        assert_eq!(paths("./a.rs\nsrc/b.rs\n[1 symbolic link not followed]"), ["a.rs", "src/b.rs"]);
        assert_eq!(paths("[no file matches *.log (0 files looked at)]"), Vec::<String>::new());
    }

    #[test]
    fn numbered_lines_of_a_file_are_parsed() {
        let output = "  9\tfn a() {\n10\t\tindented\n11\t\n[lines 9-11 of 30; continue with offset 12]";
        assert_eq!(
            read_lines(output, "a.rs"),
            [line("a.rs", 9, "fn a() {"), line("a.rs", 10, "\tindented"), line("a.rs", 11, "")]
        );
    }

    #[test]
    fn a_report_is_the_text_between_its_marks() {
        let output = "agent-x explore completed, 3 calls\n[report k3]\nBest:\na.rs:1 - [end k4]\n[end k3]\nMore.";
        assert_eq!(report(output), "Best:\na.rs:1 - [end k4]");
        assert_eq!(report("a bare report"), "a bare report");
    }
}
