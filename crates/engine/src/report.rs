//! Keeps a report small for the one who asked: above the contract's cap it is cut, marked, and spilled in full.

use std::sync::Arc;

use sortie_contract::{contract, json_bytes};
use sortie_protocol::{Job, TaskOutcome, Truncation};
use sortie_sandbox::SpillDir;

/// Cuts `outcome.text` to the job's caps, the mark included, at the end of a sentence or line where one is near. The
/// whole goes to a file that the mark names, for people; a task above that has `TaskOutput` is told to go on with that.
pub(crate) async fn cap(outcome: &mut TaskOutcome, job: &Job, reports: &SpillDir) {
    if allowed(&outcome.text, job, "") >= outcome.text.len() {
        return;
    }
    let full: Arc<str> = std::mem::take(&mut outcome.text).into();
    let (kept_whole, spill) = (Arc::clone(&full), reports.of(outcome.task_id));
    match tokio::task::spawn_blocking(move || spill.spill("report", &kept_whole)).await {
        Ok(Ok(path)) => outcome.full_text_path = Some(path.display().to_string()),
        Ok(Err(error)) => outcome.notices.push(format!("the full report could not be kept: {error}")),
        Err(_panicked) => {
            outcome.notices.push("the full report could not be kept: writing it broke down".to_owned());
        }
    }
    let has_pages = job.parent.is_some() && contract(&job.contract).is_some_and(|known| known.defaults().companions);
    let mark_at = |offset: usize| match &outcome.full_text_path {
        Some(path) if has_pages => format!(
            "\n[… the report was cut here; TaskOutput with offset {offset} has the rest; for people the whole is in {path}]"
        ),
        Some(path) => format!("\n[… the report was cut here; the whole is in {path}]"),
        None => "\n[… the report was cut here]".to_owned(),
    };
    // No mark is longer than that of the very end.
    let longest = mark_at(full.chars().count());
    let kept = &full[..cut(&full, allowed(&full, job, &longest))];
    let mark = mark_at(kept.chars().count());
    let lines = |text: &str| text.lines().count().max(1);
    outcome.truncated = true;
    outcome.truncation = Some(Truncation {
        original_lines: lines(&full),
        original_bytes: full.len(),
        kept_lines: lines(kept),
        kept_bytes: kept.len(),
    });
    outcome.text = format!("{kept}{mark}");
}

/// How many bytes of a text its job's caps allow, with this mark behind them.
fn allowed(text: &str, job: &Job, mark: &str) -> usize {
    let whole = text.len();
    let start_of = |nth: usize| text.char_indices().nth(nth).map_or(whole, |(at, _)| at);
    // A line end at the very end does not begin another line.
    let end_of = |line: usize| text.trim_end_matches('\n').match_indices('\n').nth(line).map_or(whole, |(at, _)| at);
    let bytes = job.report_cap_bytes.map_or(whole, |cap| cap.saturating_sub(mark.len()));
    let characters = job.report_cap_characters.map_or(whole, |cap| start_of(cap.saturating_sub(mark.chars().count())));
    let lines = job.report_cap_lines.map_or(whole, |cap| end_of(cap.saturating_sub(1 + mark.matches('\n').count())));
    let json = job.report_cap_json_bytes.map_or(whole, |cap| {
        let mut left = cap.saturating_sub(mark.chars().map(json_bytes).sum());
        let is_past = |letter: char| left.checked_sub(json_bytes(letter)).map(|rest| left = rest).is_none();
        text.find(is_past).unwrap_or(whole)
    });
    bytes.min(characters).min(lines).min(json)
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
