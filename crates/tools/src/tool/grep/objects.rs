//! Matches as objects: file, line and text of each, and the lines around it.

use serde::Serialize;
use serde_json::{Value, json};

use super::search::{FileMatches, Line, LineKind};
use crate::answer::MAX_ITEM_BYTES;

#[derive(Default)]
pub(super) struct Objects {
    matches: Vec<Match>,
    file: String,
    /// Context before the next match.
    before: Vec<String>,
    /// True if following context belongs to the last match.
    is_open: bool,
    /// Approximate size as JSON.
    n_bytes: usize,
}

#[derive(Serialize)]
struct Match {
    file: String,
    line: u64,
    text: String,
    /// Number of matches in the file, if only the first one is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

impl Objects {
    /// The lines added next belong to this file.
    pub(super) fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
        self.close();
    }

    /// Adds the first match of a file, for an answer that names files. `count` is its number of matches, if known.
    pub(super) fn add_file(&mut self, file: &str, matches: &FileMatches, count: Option<usize>) {
        self.begin(file);
        matches.lines.iter().for_each(|line| self.add(line));
        if let Some(last) = self.matches.last_mut() {
            last.count = count;
        }
    }

    /// True if the next match may make the object too large.
    pub(super) fn is_full(&self) -> bool {
        self.n_bytes > MAX_ITEM_BYTES
    }

    pub(super) fn add(&mut self, line: &Line) {
        if let Line::Text { text, .. } = line {
            // Keys and punctuation take about forty bytes. The text is counted with its escapes.
            self.n_bytes += 40 + self.file.len() + json!(text).to_string().len();
        }
        match (line, self.matches.last_mut().filter(|_| self.is_open)) {
            (Line::Gap, _) => self.close(),
            (Line::Text { kind: LineKind::Match, number, text }, _) => {
                let (file, before) = (self.file.clone(), std::mem::take(&mut self.before));
                let text = text.clone();
                self.matches.push(Match { file, line: *number, text, count: None, before, after: Vec::new() });
                self.is_open = true;
            }
            (Line::Text { kind: LineKind::Continued, text, .. }, Some(last)) => last.text += &format!("\n{text}"),
            (Line::Text { kind: LineKind::Context, text, .. }, Some(last)) => last.after.push(text.clone()),
            (Line::Text { text, .. }, None) => self.before.push(text.clone()),
        }
    }

    fn close(&mut self) {
        self.is_open = false;
        self.before.clear();
    }

    pub(super) fn into_value(self) -> Value {
        json!(self.matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, kind: LineKind, text: &str) -> Line {
        Line::Text { number, kind, text: text.to_owned() }
    }

    #[test]
    fn context_belongs_to_the_adjacent_match() {
        let mut objects = Objects::default();
        objects.begin("a");
        for line in [
            line(1, LineKind::Context, "above"),
            line(2, LineKind::Match, "one"),
            line(3, LineKind::Continued, "more"),
            line(4, LineKind::Context, "between"),
            line(5, LineKind::Match, "two"),
            Line::Gap,
            line(8, LineKind::Context, "of a match that is not shown"),
        ] {
            objects.add(&line);
        }
        objects.begin("b");
        objects.add(&line(1, LineKind::Match, "three"));
        let expected = json!([
            {"file": "a", "line": 2, "text": "one\nmore", "before": ["above"], "after": ["between"]},
            {"file": "a", "line": 5, "text": "two"},
            {"file": "b", "line": 1, "text": "three"},
        ]);
        assert_eq!(objects.into_value(), expected);
    }
}
