//! N2: the result of a child's leg reaches one task, once: in the output of the call that waits for it, or as mail.
//!
//! By agreement with the script: no two legs have the same report.

use sortie_protocol::{CallId, Limit, ReportMark, Status, TaskOutcome};

use super::index::{Index, Place, Reading};
use super::{Evidence, Findings, Stage, TaskLog};

pub(super) fn check(evidence: &Evidence, index: &Index<'_>, stage: Stage, findings: &mut Findings) {
    for ((_, call), n_started) in &index.started {
        findings.expect(*n_started == 1, || format!("N2 {call} was answered by {n_started} children"));
    }
    for log in &evidence.tasks {
        let Some(task) = log.task().filter(|_| log.job().is_some_and(|job| job.parent.is_some())) else { continue };
        for (leg, outcome) in log.endings() {
            delivered((ReportMark { child: task, leg }, outcome), index, stage, findings);
        }
    }
    for mark in index.marks() {
        let has_ended = index.log(mark.child).is_some_and(|log| log.endings().any(|(leg, _)| leg == mark.leg));
        findings.expect(has_ended, || format!("N2 {} is told of, and has not ended", name(mark)));
    }
}

fn delivered((mark, outcome): (ReportMark, &TaskOutcome), index: &Index<'_>, stage: Stage, findings: &mut Findings) {
    let told = index.told(mark);
    let n_told = told.len();
    // A process that ends an orphaned task while its parent is being resumed cannot write into the parent's log. The
    // parent finds the ending in the child's own log.
    let may_be_untold = outcome.status == Status::Cancelled;
    findings.expect(n_told == 1 || n_told == 0 && may_be_untold, || {
        format!("N2 {} has ended and was delivered {n_told} times", name(mark))
    });
    match told.first() {
        Some((at, call)) if at.log.task().is_some_and(|task| index.awaits(task, call)) => {
            in_its_output((mark, outcome), (at.log, call), index, stage, findings);
        }
        told => in_the_mail((mark, outcome), told.map(|(at, _)| *at), index, stage, findings),
    }
}

fn in_its_output<'a>(
    (mark, outcome): (ReportMark, &TaskOutcome),
    (log, call): (&TaskLog, &'a CallId),
    index: &Index<'a>,
    stage: Stage,
    findings: &mut Findings,
) {
    let output = log.task().and_then(|task| index.output(task, call)).map(|output| &output.for_model);
    match output {
        Some(output) => findings.expect(has_once(output, outcome), || {
            format!("N2 the output of {call} does not hold the report of {} once: {output:?}", name(mark))
        }),
        None => findings.expect(stage == Stage::Killed, || format!("N2 {call} has no output")),
    }
}

fn in_the_mail(
    (mark, outcome): (ReportMark, &TaskOutcome),
    told: Option<Place<'_>>,
    index: &Index<'_>,
    stage: Stage,
    findings: &mut Findings,
) {
    let came = || told.into_iter().chain(index.adopted(mark).iter().copied());
    let read = index.read(mark);
    findings.expect(read.len() <= 1, || format!("N2 {} was read {} times", name(mark), read.len()));
    for Reading { place, text } in read {
        findings.count.reports_by_mail += 1;
        let has_come = came().any(|at| at.log.task() == place.log.task() && at.seq < place.seq);
        findings.expect(has_come || told.is_none(), || format!("N2 {} was read before it had come", name(mark)));
        findings.expect(has_once(text, outcome), || format!("N2 {} was read as {text:?}", name(mark)));
    }
    // A failed task leaves its mail to its parent.
    let holder = came().min_by_key(|at| at.log.job().map_or(0, |job| job.config.depth));
    let is_excused = holder.is_none_or(|at| !at.log.has_read_its_mail());
    findings.expect(!read.is_empty() || stage == Stage::Killed || is_excused, || {
        format!("N2 {} was never read", name(mark))
    });
}

fn has_once(text: &str, outcome: &TaskOutcome) -> bool {
    outcome.text.is_empty() || text.matches(&outcome.text).count() == 1
}

fn name(ReportMark { child, leg }: ReportMark) -> String {
    format!("leg {leg} of {child}")
}

impl TaskLog {
    /// True if it ended by its own last reply, before which a task reads all its mail.
    pub(super) fn has_read_its_mail(&self) -> bool {
        self.endings().last().is_some_and(|(_, outcome)| match outcome.status {
            Status::Completed => true,
            Status::Partial => !matches!(outcome.reason, Some(Limit::Deadline | Limit::Stalled)),
            Status::Failed | Status::Cancelled | Status::Interrupted | Status::Rejected => false,
        })
    }
}
