//! A result that was too long: the part that is left, its original size, and the place of the full text.

use serde_json::{Map, Value, json};
use sortie_protocol::{TaskOutcome, Truncation};

use super::{MAX_BYTES, MAX_LINES};

/// Sizes of a report before and after the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Not always known.
    original: Option<Size>,
    kept: Size,
}

/// Size of a text. A text without a line end has one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    lines: usize,
    bytes: usize,
}

impl Size {
    fn of(text: &str) -> Self {
        Self { lines: text.lines().count().max(1), bytes: text.len() }
    }
}

impl Cut {
    /// Reads the figures of an outcome; `None` for a complete report. Only this function knows where an outcome keeps
    /// them.
    pub(super) fn of(outcome: &TaskOutcome) -> Option<Self> {
        let Some(truncation) = outcome.truncation.filter(|_| outcome.truncated) else {
            return outcome.truncated.then(|| Self { original: None, kept: Size::of(&outcome.text) });
        };
        let Truncation { original_lines, original_bytes, kept_lines, kept_bytes } = truncation;
        let original = Some(Size { lines: original_lines, bytes: original_bytes });
        Some(Self { original, kept: Size { lines: kept_lines, bytes: kept_bytes } })
    }

    /// Cuts a text that was not cut before.
    pub(super) fn of_text(text: &str) -> Self {
        let end_of_lines = text.match_indices('\n').nth(MAX_LINES - 1).map_or(text.len(), |(at, _)| at);
        let kept = &text[..text.floor_char_boundary(end_of_lines.min(MAX_BYTES))];
        Self { original: Some(Size::of(text)), kept: Size::of(kept) }
    }

    /// Returns the fields of `data` in place of `text`, whose full version is at `path`.
    pub(super) fn fields(&self, text: &str, path: Option<&str>) -> Map<String, Value> {
        let mut truncation = Map::from_iter([
            ("direction".to_owned(), json!("head")),
            ("max_lines".to_owned(), json!(MAX_LINES)),
            ("max_bytes".to_owned(), json!(MAX_BYTES)),
            // Only another direction keeps lines from both ends.
            ("head_tail_lines".to_owned(), Value::Null),
        ]);
        if let Some(original) = self.original {
            truncation.insert("original_lines".to_owned(), json!(original.lines));
            truncation.insert("original_bytes".to_owned(), json!(original.bytes));
        }
        truncation.insert("kept_lines".to_owned(), json!(self.kept.lines));
        truncation.insert("kept_bytes".to_owned(), json!(self.kept.bytes));
        if let Some(path) = path {
            truncation.insert("full_output_path".to_owned(), json!(path));
        }
        Map::from_iter([
            ("truncated".to_owned(), json!(true)),
            ("truncation".to_owned(), Value::from(truncation)),
            ("preview".to_owned(), json!(self.preview(text))),
        ])
    }

    /// Returns the kept part, without the mark after it.
    fn preview<'a>(&self, text: &'a str) -> &'a str {
        text.get(..self.kept.bytes).unwrap_or(text)
    }

    /// Describes the cut. `otherwise` is advice if the preview is not enough.
    pub(super) fn note(&self, path: Option<&str>, otherwise: &str) -> String {
        let rest = match path {
            // The path is out of reach for the model's tools.
            Some(path) => format!("The result before the cut is kept for people in {path}."),
            None => "The result before the cut could not be kept.".to_owned(),
        };
        let kept = match self.original {
            Some(whole) if whole.lines > self.kept.lines => format!("{} of {} lines", self.kept.lines, whole.lines),
            Some(whole) => format!("{} of {} bytes", self.kept.bytes, whole.bytes),
            None => format!("{} lines", self.kept.lines),
        };
        format!(
            "Partial, because the result was truncated: data.preview has {kept}. {rest} Use the preview, or {otherwise}."
        )
    }
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{ModelChoice, Status, TaskId, Usage};

    use super::*;

    #[test]
    fn p_10_a_cut_result_gives_its_original_size_and_place() {
        let outcome = TaskOutcome {
            text: "one\ntwo".to_owned(),
            structured: None,
            truncated: true,
            full_text_path: Some("/state/reports/x.md".to_owned()),
            truncation: None,
            deadline_ms: None,
            task_id: TaskId::from_random([0; 12]),
            agent: "explore".to_owned(),
            status: Status::Completed,
            reason: None,
            files_changed: Vec::new(),
            tool_summary: Vec::new(),
            model: ModelChoice { route: "main".to_owned(), id: "m".to_owned() },
            usage: Usage::default(),
            notices: Vec::new(),
            error: None,
            failed: Vec::new(),
            refused: Vec::new(),
            given_again: None,
        };
        let cut = Cut { original: Some(Size { lines: 3000, bytes: 90_000 }), ..Cut::of(&outcome).unwrap() };
        let expected = json!({
            "truncated": true,
            "truncation": {
                "direction": "head", "max_lines": 2000, "max_bytes": 51_200, "head_tail_lines": null,
                "original_lines": 3000, "original_bytes": 90_000, "kept_lines": 2, "kept_bytes": 7,
                "full_output_path": "/state/reports/x.md",
            },
            "preview": "one\ntwo",
        });
        let fields = Value::from(cut.fields(&outcome.text, outcome.full_text_path.as_deref()));
        assert_eq!(fields.to_string(), expected.to_string(), "P-10, in the protocol's order");
        assert_eq!(
            cut.note(outcome.full_text_path.as_deref(), "try Task again for the part that is missing"),
            "Partial, because the result was truncated: data.preview has 2 of 3000 lines. \
             The result before the cut is kept for people in /state/reports/x.md. Use the preview, or try Task again for \
             the part that is missing.",
            "P-04, P-10"
        );
    }
}
