//! Location to report, with a description taken from its passage.

use super::passages::{LineRole, Passage, label};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Location {
    pub(crate) path: String,
    pub(crate) line: usize,
    /// The line itself, trimmed.
    pub(crate) text: String,
    /// Surrounding definitions, innermost first: `fn open, impl Store`. A definition's own line does not count as
    /// inside it.
    pub(crate) within: Option<String>,
    /// The first sentence of the definition's documentation.
    pub(crate) summary: Option<String>,
    pub(crate) score: f64,
    /// First paragraph of its definition's documentation, then the lines that were seen without a gap.
    pub(crate) code: Vec<String>,
    /// Line range of its passage, for reading around it.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// Describes a passage as a location, pointing at one of its lines.
pub(crate) fn describe(passage: &Passage<'_>, line: usize, score: f64) -> Location {
    let text = passage.lines.iter().find(|seen| seen.number == line).map_or("", |seen| seen.text.trim());
    let own = passage.definition.as_ref().filter(|(defined, _)| *defined != line).map(|(_, own)| label(own));
    let around: Vec<String> = own.into_iter().chain(passage.parents.last().cloned()).collect();
    let first = passage.lines.first().map_or(line, |seen| seen.number);
    Location {
        path: passage.path.to_owned(),
        line,
        text: text.to_owned(),
        within: (!around.is_empty()).then(|| around.join(", ")),
        summary: summary(passage),
        code: code(passage),
        score,
        first,
        last: first + passage.span,
    }
}

fn code(passage: &Passage<'_>) -> Vec<String> {
    let from = passage.lines.first().map_or(0, |line| line.number);
    let together = (from..).zip(&passage.lines).take_while(|(number, line)| *number == line.number);
    let mut in_first_paragraph = true;
    let shown = together.map(|(_, line)| line).filter(|line| {
        in_first_paragraph &= line.text.contains(char::is_alphanumeric);
        in_first_paragraph || line.role != LineRole::Doc
    });
    shown.map(|line| line.text.trim_end().to_owned()).collect()
}

/// Returns the first sentence of the documentation, if its start was seen.
fn summary(passage: &Passage<'_>) -> Option<String> {
    if !passage.documented_from_top {
        return None;
    }
    let mut text = String::new();
    for line in passage.lines.iter().filter(|line| line.role == LineRole::Doc) {
        let bare = line.text.trim();
        if bare.starts_with("#[") || bare.starts_with('@') {
            continue;
        }
        let bare = bare.trim_start_matches(['/', '*', '!', '#', '-']).trim();
        if bare.is_empty() && !text.is_empty() {
            break;
        }
        text.push_str(bare);
        text.push(' ');
        if bare.ends_with('.') {
            break;
        }
    }
    let sentence = text.split(". ").next().unwrap_or_default().trim().trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.to_owned())
}
