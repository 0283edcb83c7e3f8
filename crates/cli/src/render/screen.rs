//! Progress on a terminal: boxes that stay, and below them one line for each task at work, redrawn in place.
//!
//! Makes text only; [`super::text`] writes it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use sortie_protocol::{Status, TaskOutcome, Timestamp};

use super::frame::boxed;
use super::progress::{Happening, Progress, Working};
use super::{neutral, width, words};

/// Lines of a report that its box shows.
const REPORT_LINES: usize = 3;
/// What stands before the second and later lines of a remark.
const HANG: &str = "    ";

/// A terminal's extent, and whether it shows colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) colour: bool,
}

/// The lower part of a terminal, which is drawn again and again.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// Columns of each line that stands there now.
    standing: Vec<usize>,
}

impl Screen {
    /// What to write so that `happenings` stay above and the tasks at work stand below.
    pub(crate) fn draw(
        &mut self,
        happenings: &[Happening],
        progress: &Progress,
        now: Timestamp,
        extent: Extent,
    ) -> String {
        let mut text = self.erase(extent.columns);
        for happening in happenings {
            for row in permanent(happening, extent) {
                text.push_str(&row);
                text.push('\n');
            }
        }
        let live = live(progress, now, extent);
        self.standing = live.iter().map(|line| width::of(line)).collect();
        for line in live {
            let _infallible = writeln!(text, "{}", paint(&line, Style::new().dimmed(), extent.colour));
        }
        text
    }

    /// What to write so that nothing of the lower part is left.
    pub(crate) fn erase(&mut self, columns: usize) -> String {
        // A terminal that was made narrower since has wrapped the lines.
        let rows: usize = self.standing.drain(..).map(|line| line.div_ceil(columns.max(1)).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\r\x1b[J") }
    }
}

fn permanent(happening: &Happening, extent: Extent) -> Vec<String> {
    match happening {
        Happening::Launched { name, title, model } => {
            let lines = [format!("Task: {title}"), format!("Model: {model}")];
            painted_box(&name.replacen(' ', " · ", 1), &lines, AnsiColor::Cyan.on_default(), extent)
        }
        Happening::Remark { name, text } => {
            let lines = width::wrap(&format!("{name}: {text}"), extent.columns.saturating_sub(HANG.len() + 1));
            lines
                .iter()
                .enumerate()
                .map(|(index, line)| format!("{}{line}", if index == 0 { "  " } else { HANG }))
                .collect()
        }
        Happening::Ended { name, outcome } => {
            let reason = outcome.reason.map(|limit| format!(" ({limit})")).unwrap_or_default();
            let title = format!("{}{reason} · {}", outcome.status, name.replacen(' ', " · ", 1));
            painted_box(&title, &summary(outcome), colour_of(outcome.status), extent)
        }
    }
}

/// The first lines of the report, what went wrong, and what it cost.
fn summary(outcome: &TaskOutcome) -> Vec<String> {
    let mut report = outcome.text.lines().map(neutral::line).filter(|line| !line.is_empty());
    let mut lines: Vec<String> = report.by_ref().take(REPORT_LINES).collect();
    match report.count() {
        0 => {}
        1 => lines.push("… 1 more line".to_owned()),
        more => lines.push(format!("… {more} more lines")),
    }
    if let Some(error) = &outcome.error {
        lines.push(format!("{}: {}", neutral::line(&error.code), neutral::line(&error.message)));
    }
    lines.extend(outcome.notices.iter().map(|notice| format!("note: {}", neutral::line(notice))));
    lines.push(words::usage(&outcome.usage));
    lines
}

fn live(progress: &Progress, now: Timestamp, extent: Extent) -> Vec<String> {
    let tasks = progress.working();
    // One row for the cursor below; a region higher than the screen could not be erased again.
    let room = extent.rows.saturating_sub(1).max(1);
    let shown = if tasks.len() > room { room - 1 } else { tasks.len() };
    // The last column stays free: some terminals wrap as soon as it is written.
    let columns = extent.columns.saturating_sub(1);
    let mut lines: Vec<String> = tasks.iter().take(shown).map(|task| working_line(task, now, columns)).collect();
    if shown < tasks.len() {
        lines.push(format!("  … and {} more at work", tasks.len() - shown));
    }
    lines.iter().map(|line| width::cut(line, columns)).collect()
}

/// Where there is little room, the call's arguments give way: what moves is what a person looks at.
fn working_line(task: &Working, now: Timestamp, columns: usize) -> String {
    let elapsed = words::elapsed(now.0.saturating_sub(task.since.0));
    if task.queued {
        return format!("  {} waiting for a slot · {elapsed}", task.name);
    }
    let Some(call) = &task.last_call else { return format!("  {} working… · {elapsed}", task.name) };
    let (head, tail) = (format!("  {} working… ", task.name), format!(" · {} · {elapsed}", words::calls(task.calls)));
    let room = columns.saturating_sub(width::of(&head) + width::of(&tail));
    format!("{head}{}{tail}", width::cut(call, room))
}

fn painted_box(title: &str, lines: &[String], style: Style, extent: Extent) -> Vec<String> {
    let mut rows = boxed(title, lines, extent.columns.saturating_sub(1));
    if let Some(edge) = rows.first_mut() {
        *edge = paint(edge, style, extent.colour);
    }
    rows
}

fn paint(text: &str, style: Style, colour: bool) -> String {
    if colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

fn colour_of(status: Status) -> Style {
    match status {
        Status::Completed => AnsiColor::Green.on_default(),
        Status::Partial | Status::Cancelled => AnsiColor::Yellow.on_default(),
        Status::Failed | Status::Rejected => AnsiColor::Red.on_default(),
    }
}
