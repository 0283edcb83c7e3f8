//! Reads what the tools return: the one place that knows their text formats.
//!
//! Tolerant on purpose: a line that it does not know is a note and is left out, never guessed into a place.

/// A line of a file, as Grep or Read showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenLine {
    pub(super) path: String,
    pub(super) number: usize,
    pub(super) text: String,
}

/// Grep's `content` form: a path, then `12:text` for matches and `13-text` around them. Also `path:12:text`.
pub(super) fn grep_lines(output: &str, searched_path: &str) -> Vec<SeenLine> {
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

/// Grep's `count` form: `path:12` on each line.
pub(super) fn grep_counts(output: &str) -> Vec<(String, usize)> {
    output
        .lines()
        .filter_map(|line| {
            let (path, count) = line.rsplit_once(':')?;
            let count = count.trim().parse().ok()?;
            is_path_line(path).then(|| (path.to_owned(), count))
        })
        .collect()
}

/// Glob's form: one path on each line.
pub(super) fn paths(output: &str) -> Vec<String> {
    output.lines().filter(|line| is_path_line(line)).map(|line| line.trim_start_matches("./").to_owned()).collect()
}

/// Read's form: the line's number, a tab, the text.
pub(super) fn read_lines(output: &str, path: &str) -> Vec<SeenLine> {
    output
        .lines()
        .filter_map(|line| {
            let (number, text) = line.trim_start().split_once('\t')?;
            let number = number.parse().ok()?;
            Some(SeenLine { path: path.to_owned(), number, text: text.to_owned() })
        })
        .collect()
}

/// The report inside a Task output, between its marks; the whole output where there are none.
pub(super) fn report(output: &str) -> &str {
    let Some(start) = output.find("[report ") else { return output };
    let after = &output[start + "[report ".len()..];
    let Some((mark, body)) = after.split_once("]\n") else { return output };
    let end = body.rfind(&format!("[end {mark}]")).unwrap_or(body.len());
    body[..end].trim()
}

/// `12:text` or `12-text`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..)?;
    let text = rest.strip_prefix(':').or_else(|| rest.strip_prefix('-'))?;
    Some((line.get(..digits)?.parse().ok()?, text))
}

/// `path:12:text`.
fn with_path(line: &str) -> Option<(&str, usize, &str)> {
    let (path, rest) = line.split_once(':')?;
    let (number, text) = numbered(rest)?;
    (is_path_line(path) && rest.starts_with(|c: char| c.is_ascii_digit())).then_some((path, number, text))
}

/// Whether a line can be a path: notes stand in brackets or are sentences.
fn is_path_line(line: &str) -> bool {
    let sentence = line.contains(' ') && (line.ends_with('.') || !line.contains(['/', '.']));
    !line.is_empty() && !line.starts_with(['[', '(', ' ']) && line != "--" && !sentence
}
