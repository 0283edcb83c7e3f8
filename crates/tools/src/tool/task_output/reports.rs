//! `TaskReports`: the reports of several tasks in one answer, within a size limit, and which of them now count as read.

use sortie_contract::{compact_report, host_report};
use sortie_protocol::{Failure, Fault, MailMark, ReportMark, TaskId, TaskOutcome, ToolOutput};

use crate::answer::Answer;
use crate::answer::phrases::grouped;
use crate::answer::tool_error::ToolError;
use crate::answer::truncate;
use crate::call::context::CallContext;
use crate::port::outcome_digest::essence;
use crate::port::relatives::{Glance, Kin, ReportPage, Stand};
use crate::port::task_line::line;

/// Maximum length of all reports in one answer, if there are several.
const MAX_CHARS: usize = 24_000;
const PAGE_CHARS: usize = 8000;

/// The reports of one answer, collected task by task.
#[derive(Default)]
pub(super) struct TaskReports {
    pieces: Vec<String>,
    notes: Vec<String>,
    tasks: Vec<TaskId>,
    read: MailMark,
    /// Length of the reports so far, in characters.
    n_chars: usize,
    n_ended: usize,
    n_unknown: usize,
    /// A text for each task that has not ended and does not work for the caller.
    lacks: Vec<String>,
    has_cut: bool,
}

impl TaskReports {
    /// Adds a failure that names a task of which nothing is known.
    pub(super) fn unknown(&mut self, failure: &Failure) {
        self.n_unknown += 1;
        self.pieces.push(failure.to_string());
    }

    /// Adds a task, with its report if that fits with the others.
    pub(super) fn whole(&mut self, glance: &Glance, context: CallContext<'_>) {
        if self.tasks.contains(&glance.task) {
            return;
        }
        self.tasks.push(glance.task);
        let Stand::Ended { outcome, unread } = &glance.stand else {
            return self.open(glance, context.kin);
        };
        self.n_ended += 1;
        let report = written(outcome, context);
        let n_chars = report.chars().count();
        // Any single report fits into an answer of its own: the engine has bounded it.
        if self.n_chars > 0 && self.n_chars + n_chars > MAX_CHARS {
            let n_chars = grouped(outcome.text.chars().count() as u64);
            self.pieces.push(format!(
                "{}\n(its report has {n_chars} characters and did not fit; ask for it alone)",
                line(glance)
            ));
            return;
        }
        self.n_chars += n_chars;
        // A host's report names the offset of its rest.
        self.has_cut |= outcome.full_text_path.is_some() && context.kin.delivers();
        self.pieces.push(report);
        self.mark_read(*unread, outcome);
    }

    /// Adds a task that has not ended. If it does not work for the caller, its report is not delivered. A caller
    /// without deliveries is not a task, and can resume tasks that belong to nobody.
    fn open(&mut self, glance: &Glance, kin: &dyn Kin) {
        self.pieces.push(line(glance));
        let task = glance.task;
        self.lacks.extend(match glance.stand {
            Stand::Waits | Stand::Works(_) | Stand::Ended { .. } => None,
            Stand::Elsewhere { is_seen: true, .. } if !kin.delivers() => None,
            Stand::Elsewhere { .. } => Some(format!(
                "{task} works for another task: its report is not delivered to you; {} has it once it has ended",
                kin.name_of("TaskOutput")
            )),
            Stand::Interrupted if !kin.delivers() && glance.parent.is_none() => {
                let write = kin.name_of("SendMessage");
                Some(format!("no process runs {task}: there is no report until {write} resumes it"))
            }
            Stand::Interrupted => {
                Some(format!("no process runs {task}: there is no report unless a person resumes it"))
            }
        });
    }

    /// Adds a task, with the part of its full report that begins at this character.
    pub(super) async fn page(&mut self, glance: &Glance, offset: u64, context: CallContext<'_>) {
        let Stand::Ended { outcome, unread } = &glance.stand else { return self.whole(glance, context) };
        let (id, from) = (glance.task.to_string(), usize::try_from(offset).unwrap_or(usize::MAX));
        let ReportPage { text, from, whole } = match context.kin.page(&id, from, PAGE_CHARS).await {
            Ok(page) => page,
            Err(failure) => return self.unknown(&failure),
        };
        self.tasks.push(glance.task);
        self.n_ended += 1;
        let is_last = from.saturating_add(text.chars().count()) >= whole;
        let shown = if is_last { text.as_str() } else { page_end(&text) };
        let next = from.saturating_add(shown.chars().count());
        let mut page = outcome.as_ref().clone();
        (page.text, page.structured) = (shown.to_owned(), None);
        (page.truncated, page.truncation) = (false, None);
        self.pieces.push(written(&page, context));
        let (first, end, all) = (grouped(from as u64), grouped(next as u64), grouped(whole as u64));
        self.notes.push(match (shown.is_empty(), is_last) {
            (true, _) => format!("nothing from character {first} on: the report has {all}"),
            (false, true) => format!("characters {first} to {end} of {all}: the end"),
            (false, false) => format!("characters {first} to {end} of {all}; next offset: {next}"),
        });
        if from == 0 && is_last {
            self.mark_read(*unread, outcome);
        }
    }

    /// Marks a report as read: it was returned whole and needs no delivery.
    fn mark_read(&mut self, unread: Option<ReportMark>, outcome: &TaskOutcome) {
        self.read.essences.extend(unread.map(|_| essence(Ok(outcome))));
        self.read.reports.extend(unread);
    }

    /// Completes the answer with notes. Without deliveries, the caller has to ask for reports.
    pub(super) fn answer(self, mut answer: Answer, kin: &dyn Kin) -> ToolOutput {
        let text = self.pieces.join("\n\n");
        if self.tasks.is_empty() {
            return answer.failed(&ToolError::new(Fault::NotFound, text));
        }
        let n_tasks = self.tasks.len() + self.n_unknown;
        let n_open = self.tasks.len() - self.n_ended - self.lacks.len();
        answer.text(&text);
        answer.put_body("tasks");
        if self.has_cut {
            answer.note("a report was cut: page through it with offset 0");
        }
        self.notes.into_iter().for_each(|note| answer.note(note));
        self.lacks.into_iter().for_each(|lack| answer.note_lack(lack));
        if n_open > 0 {
            let have = if n_open == 1 { "has" } else { "have" };
            let then = if kin.delivers() {
                "reports of your background tasks are delivered to you: do other work or end your turn, do not poll"
                    .to_owned()
            } else {
                let output = kin.name_of("TaskOutput");
                format!("call {output} again for their reports, with a longer timeout rather than often")
            };
            answer.note_lack(format!("{n_open} of {n_tasks} {have} not ended; {then}"));
        }
        ToolOutput { mail: self.read, ..answer.done(format!("{} of {n_tasks} ended", self.n_ended)) }
    }
}

/// Writes a report for the caller. A host's model is told more: no system prompt of ours explains reports to it.
fn written(outcome: &TaskOutcome, context: CallContext<'_>) -> String {
    let mark = &context.delegation.answer_parts().mark;
    if context.kin.delivers() {
        return compact_report(outcome, mark);
    }
    host_report(outcome, mark, context.kin.name_of("TaskOutput"))
}

/// Returns a page without its last word if that continues, unless it is the only one.
fn page_end(text: &str) -> &str {
    match truncate::unfinished(text) {
        "" => text,
        shown => shown,
    }
}
