//! Keeps a report small for the one who asked: above the contract's cap it is cut, marked, and spilled in full.

use std::sync::Arc;

use sortie_protocol::TaskOutcome;
use sortie_sandbox::SpillDir;

const MARK: &str = "\n[… the report was cut here]";

/// Cuts `outcome.text` to the cap, at the end of a sentence or line where one is near. The whole goes to a file.
pub(crate) async fn cap(outcome: &mut TaskOutcome, cap_bytes: usize, reports: &Arc<SpillDir>) {
    if outcome.text.len() <= cap_bytes {
        return;
    }
    let full = std::mem::take(&mut outcome.text);
    let end = cut(&full, cap_bytes.saturating_sub(MARK.len()));
    outcome.text = format!("{}{MARK}", &full[..end]);
    outcome.truncated = true;
    let (reports, name) = (Arc::clone(reports), outcome.task_id.to_string());
    match tokio::task::spawn_blocking(move || reports.spill(&name, &full)).await {
        Ok(Ok(path)) => outcome.full_text_path = Some(path.display().to_string()),
        Ok(Err(error)) => outcome.notices.push(format!("the full report could not be kept: {error}")),
        Err(_panicked) => outcome.notices.push("the full report could not be kept: writing it broke down".to_owned()),
    }
}

/// The last good place to cut at or before `limit`: a line or sentence end in its last fifth, else a character.
fn cut(text: &str, limit: usize) -> usize {
    let limit = text.floor_char_boundary(limit);
    let head = &text[..limit];
    let ends = ["\n", ". ", "。", "! ", "? "];
    let best = ends.iter().filter_map(|end| head.rfind(end).map(|at| at + end.trim_end().len())).max();
    best.filter(|&at| at >= limit - limit / 5).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_cut_falls_on_a_sentence_or_line_where_one_is_near() {
        for (text, limit, kept) in [
            ("One. Two. Three.", 10, "One. Two."),
            ("one\ntwo\nthree", 8, "one\ntwo"),
            ("no end in sight here", 9, "no end in"),
            ("Far. the only end is too far back", 30, "Far. the only end is too far b"),
            ("äöü", 3, "ä"),
        ] {
            assert_eq!(&text[..cut(text, limit)], kept);
        }
    }
}
