//! Report caps: a report above its contract's cap is cut, marked, and kept in full in a file. So is one of several
//! reports that do not fit into the conversation together.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sortie_contract::{Contract, ReportCap, contract, json_bytes};
use sortie_protocol::{Job, TaskOutcome, Truncation};
use sortie_sandbox::SpillDir;

/// Least space for a report when there is no room.
pub(crate) const DIGEST_BYTES: usize = 400;

/// Bytes of reports that may still join a conversation before its next turn.
pub(crate) struct ReportRoom(Mutex<usize>);

impl Default for ReportRoom {
    fn default() -> Self {
        Self(Mutex::new(usize::MAX))
    }
}

impl ReportRoom {
    fn left(&self) -> MutexGuard<'_, usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, n_bytes: usize) {
        *self.left() = n_bytes;
    }

    /// Takes the wanted bytes, or all that are left.
    fn take(&self, wanted: usize) -> usize {
        let mut left = self.left();
        let taken = wanted.min(*left);
        *left -= taken;
        taken
    }
}

/// Cuts `outcome.text` to the job's caps, mark included, at the end of a sentence or line if one is near. The mark
/// names a file with the full text, for people; a parent that has `TaskOutput` is told to use that.
pub(crate) async fn cap(outcome: &mut TaskOutcome, job: &Job, reports: &SpillDir) {
    if allowed(&outcome.text, job, "") >= outcome.text.len() {
        return;
    }
    spill(outcome, reports).await;
    let has_pages = job.parent.is_some()
        && contract(&job.contract).is_some_and(|known| known.defaults().companions.allow_background());
    let has_pages = has_pages && outcome.full_text_path.is_some();
    let full = std::mem::take(&mut outcome.text);
    shorten(outcome, &full, has_pages, |mark| allowed(&full, job, mark));
}

/// Cuts a report further if there is not room for all of it. A contract that passes reports on word for word is left
/// alone.
pub(crate) async fn fit(outcome: &mut TaskOutcome, room: &ReportRoom, in_contract: &dyn Contract, reports: &SpillDir) {
    let wanted = outcome.text.len();
    let taken = room.take(wanted).max(DIGEST_BYTES);
    let defaults = in_contract.defaults();
    if taken >= wanted || defaults.report_cap == ReportCap::None {
        return;
    }
    cut_further(outcome, defaults.companions.allow_background(), reports, |_, mark| taken.saturating_sub(mark.len()))
        .await;
}

/// Cuts a reused report, if its job's caps leave no room for the text that the contract adds after it.
pub(crate) async fn leave_room(outcome: &mut TaskOutcome, job: &Job, in_contract: &dyn Contract, reports: &SpillDir) {
    let behind = in_contract.behind_report(outcome);
    if allowed(&outcome.text, job, &behind) >= outcome.text.len() {
        return;
    }
    let can_page = job.parent.is_some() && in_contract.defaults().companions.allow_background();
    cut_further(outcome, can_page, reports, |full, mark| allowed(full, job, &format!("{mark}{behind}"))).await;
}

/// Cuts a report that may have been cut before. `allowed` returns the bytes that a text may have in addition to a mark.
async fn cut_further(
    outcome: &mut TaskOutcome,
    can_page: bool,
    reports: &SpillDir,
    allowed: impl Fn(&str, &str) -> usize,
) {
    let was_whole = outcome.truncation.is_none();
    // A full report can be paged from its log.
    if was_whole && !can_page {
        spill(outcome, reports).await;
    }
    let has_pages = can_page && (was_whole || outcome.full_text_path.is_some());
    let mut full = std::mem::take(&mut outcome.text);
    // Remove the mark of an earlier cut.
    full.truncate(outcome.truncation.map_or(full.len(), |truncation| truncation.kept_bytes));
    shorten(outcome, &full, has_pages, |mark| allowed(&full, mark));
}

/// Writes the full text to a file.
async fn spill(outcome: &mut TaskOutcome, reports: &SpillDir) {
    let (whole, spill) = (outcome.text.clone(), reports.of(outcome.task_id));
    match tokio::task::spawn_blocking(move || spill.spill("report", &whole)).await {
        Ok(Ok(path)) => outcome.full_text_path = Some(path.display().to_string()),
        Ok(Err(error)) => outcome.notices.push(format!("the full report could not be kept: {error}")),
        Err(_panicked) => {
            outcome.notices.push("the full report could not be kept: writing it broke down".to_owned());
        }
    }
}

/// Sets the beginning of `full` as the text, followed by a mark, for which `allowed` leaves room.
fn shorten(outcome: &mut TaskOutcome, full: &str, has_pages: bool, allowed: impl Fn(&str) -> usize) {
    let mark_at = |offset: usize| match (&outcome.full_text_path, has_pages) {
        (Some(path), true) => format!(
            "\n[… the report was cut here; TaskOutput with offset {offset} has the rest; for people the whole is in {path}]"
        ),
        (None, true) => format!("\n[… the report was cut here; TaskOutput with offset {offset} has the rest]"),
        (Some(path), false) => format!("\n[… the report was cut here; the whole is in {path}]"),
        (None, false) => "\n[… the report was cut here]".to_owned(),
    };
    // No mark is longer than that at the very end.
    let longest = mark_at(full.chars().count());
    let kept = &full[..cut(full, allowed(&longest))];
    let text = format!("{kept}{}", mark_at(kept.chars().count()));
    let lines = |text: &str| text.lines().count().max(1);
    let (original_lines, original_bytes) = match outcome.truncation {
        Some(earlier) => (earlier.original_lines, earlier.original_bytes),
        None => (lines(full), full.len()),
    };
    let (kept_lines, kept_bytes) = (lines(kept), kept.len());
    outcome.truncated = true;
    outcome.truncation = Some(Truncation { original_lines, original_bytes, kept_lines, kept_bytes });
    outcome.text = text;
}

/// Returns the bytes of a text that the job's caps allow, with this mark after them.
fn allowed(text: &str, job: &Job, mark: &str) -> usize {
    let whole = text.len();
    let start_of = |nth: usize| text.char_indices().nth(nth).map_or(whole, |(at, _)| at);
    // A newline at the very end does not begin another line.
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

/// Returns the best place to cut at or before `limit`: a line or sentence end in its last fifth. Otherwise it is a word
/// end, else a character.
pub(crate) fn cut(text: &str, limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let limit = text.floor_char_boundary(limit);
    let head = &text[..limit];
    let ends = ["\n", ". ", "。", "! ", "? "];
    let best = ends.iter().filter_map(|end| head.rfind(end).map(|at| at + end.trim_end().len())).max();
    let is_near = |at: &usize| *at >= limit - limit / 5;
    let word =
        if text[limit..].starts_with(char::is_whitespace) { Some(limit) } else { head.rfind(char::is_whitespace) };
    best.filter(is_near).or(word.filter(is_near)).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_cut_falls_on_the_end_of_a_sentence_or_line_if_one_is_near() {
        for (text, limit, kept) in [
            ("One. Two. Three.", 10, "One. Two."),
            ("one\ntwo\nthree", 8, "one\ntwo"),
            ("no end in sight here", 9, "no end in"),
            ("Far. the only end is too far back", 30, "Far. the only end is too far"),
            ("Far. it_would_be_cut_within_a_word", 30, "Far. it_would_be_cut_within_a_"),
            ("äöü", 3, "ä"),
            ("All. of it", 10, "All. of it"),
        ] {
            assert_eq!(&text[..cut(text, limit)], kept);
        }
    }
}
