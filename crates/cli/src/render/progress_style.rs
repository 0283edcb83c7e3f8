//! Styles of progress for people: their trait, and the lines that several of them share.

pub(super) mod blocks;
pub(super) mod boxes;
pub(super) mod launches;
pub(super) mod one_line;
pub(super) mod plain;

use anstyle::{AnsiColor, Style};
use sortie_protocol::{Status, TaskOutcome, Timestamp};

use super::progress::{Happening, Working, background};
use crate::text::{Colour, neutral, width, words};

/// Indent of the second and later lines of a remark.
const HANG: &str = "    ";

/// Extent and abilities of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) colour: Colour,
    /// True if the last lines can be erased; otherwise nothing is drawn twice.
    pub(crate) redraws: bool,
}

/// Style of progress. It produces neutralised text only.
pub(crate) trait ProgressStyle: Send {
    /// Lasting lines about an event.
    fn lasting(&self, happening: &Happening, extent: Extent) -> Vec<String>;

    /// Lines at the bottom while a task works. If space is short, only the first is drawn.
    fn working(&self, task: &Working, now: Timestamp, columns: usize) -> Vec<String> {
        vec![working_line(&format!("{} working…", task.subject.name), task, now, columns)]
    }
}

/// Activity and its duration. If space is short, the call's arguments give way: people watch what moves.
pub(super) fn working_line(head: &str, task: &Working, now: Timestamp, columns: usize) -> String {
    let elapsed = words::elapsed(now.0.saturating_sub(task.since.0));
    if task.queued {
        return format!("  {} waiting for a slot · {elapsed}", task.subject.name);
    }
    if let Some(since) = task.idle_since {
        return background::idle_line(&task.subject.name, now.0.saturating_sub(since.0));
    }
    let Some(call) = &task.last_call else { return format!("  {head} · {elapsed}") };
    let calls = words::calls_with_failed(task.calls, task.failed_calls);
    let (head, tail) = (format!("  {head} "), format!(" · {calls} · {elapsed}"));
    let room = columns.saturating_sub(width::of(&head) + width::of(&tail));
    format!("{head}{}{tail}", width::cut(call, room))
}

/// Remark below its subject.
pub(super) fn remark(name: &str, text: &str, extent: Extent) -> Vec<String> {
    hanging(&format!("  {name}: {text}"), extent)
}

/// Lines, shortened to fit.
pub(super) fn said(lines: &[String], extent: Extent) -> Vec<String> {
    lines.iter().flat_map(|line| hanging(line, extent)).collect()
}

/// Text with hanging indent, if lines must fit.
pub(super) fn hanging(text: &str, extent: Extent) -> Vec<String> {
    if !extent.redraws {
        return vec![text.to_owned()];
    }
    let start = text.len() - text.trim_start().len();
    let (indent, text) = text.split_at(start);
    let lines = width::wrap(text, extent.columns.saturating_sub(HANG.len() + 1));
    lines.iter().enumerate().map(|(index, line)| format!("{}{line}", if index == 0 { indent } else { HANG })).collect()
}

/// First lines of a report, and a count of the rest.
pub(super) fn beginning(report: &str, most: usize) -> Vec<String> {
    let mut report = report.lines().map(neutral::line).filter(|line| !line.is_empty());
    let mut lines: Vec<String> = report.by_ref().take(most).collect();
    match report.count() {
        0 => {}
        1 => lines.push("… 1 more line".to_owned()),
        more => lines.push(format!("… {more} more lines")),
    }
    lines
}

/// Error, notices and cost.
pub(super) fn closing(outcome: &TaskOutcome) -> Vec<String> {
    error(outcome).into_iter().chain(notes(outcome)).collect()
}

pub(super) fn error(outcome: &TaskOutcome) -> Option<String> {
    let error = outcome.error.as_ref()?;
    Some(format!("{}: {}", neutral::line(error.code.as_str()), neutral::line(&error.message)))
}

/// Notices and cost.
pub(super) fn notes(outcome: &TaskOutcome) -> impl Iterator<Item = String> {
    let notices = outcome.notices.iter().map(|notice| format!("note: {}", neutral::line(notice)));
    notices.chain([words::usage_of(outcome)])
}

/// `completed`, `partial (turns)`.
pub(super) fn status(outcome: &TaskOutcome) -> String {
    let reason = outcome.reason.map(|limit| format!(" ({limit})")).unwrap_or_default();
    format!("{}{reason}", outcome.status)
}

pub(super) fn colour_of(status: Status) -> Style {
    match status {
        Status::Completed => AnsiColor::Green.on_default(),
        Status::Partial | Status::Cancelled | Status::Interrupted => AnsiColor::Yellow.on_default(),
        Status::Failed | Status::Rejected => AnsiColor::Red.on_default(),
    }
}
