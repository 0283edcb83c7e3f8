//! Reminders from the engine to a model between two turns.

use std::collections::BTreeSet;

use sortie_journal::JournalError;
use sortie_protocol::{Fact, QuestionMark};

use crate::run::Run;

/// Tells a model, once, that its background commands were lost with their process.
pub(crate) async fn tell_lost_shells(run: &Run<'_>) -> Result<(), JournalError> {
    let (text, lost_shells) = run.record.look(|record| (record.shells.for_model(), record.shells.untold()));
    let Some(text) = text else { return Ok(()) };
    run.sink.append(Fact::Reminded { text, lost_shells, questions: Vec::new() }).await
}

/// Tells a model that it is in a loop.
pub(crate) async fn remind_of_loop(run: &Run<'_>) -> Result<(), JournalError> {
    let text = run.record.look(|record| record.history.reminder());
    let Some(text) = text else { return Ok(()) };
    run.sink.append(Fact::Reminded { text, lost_shells: Vec::new(), questions: Vec::new() }).await
}

/// Reminds a task of open questions, once of each, and returns true if it did. If every child is itself blocked on a
/// question to this task, nothing moves until those questions time out. If the task still ends its turn, a person has
/// to answer.
pub(crate) async fn remind_of_questions(run: &Run<'_>) -> Result<bool, JournalError> {
    let questions = if run.services.inbox.has_mail() { Vec::new() } else { open_questions(run) };
    if run.record.look(|record| questions.iter().all(|question| record.reminded_of.contains(question))) {
        return Ok(false);
    }
    let askers: BTreeSet<String> = questions.iter().map(|question| question.task.to_string()).collect();
    let text = format!(
        "You have ended your turn, but all your sub-agents wait for your answer: {}. Answer with SendMessage.",
        Vec::from_iter(askers).join(", ")
    );
    run.sink.append(Fact::Reminded { text, lost_shells: Vec::new(), questions }).await?;
    Ok(true)
}

/// Returns the children's questions, if every child at work waits for an answer; otherwise nothing.
fn open_questions(run: &Run<'_>) -> Vec<QuestionMark> {
    let mut questions = Vec::new();
    for task in run.services.inbox.at_work() {
        let asker = run.services.mail_writer.present.find(task);
        let calls = asker.map(|asker| asker.inbox.unanswered_by(run.job.task)).unwrap_or_default();
        if calls.is_empty() {
            return Vec::new();
        }
        questions.extend(calls.into_iter().map(|call| QuestionMark { task, call }));
    }
    questions
}
