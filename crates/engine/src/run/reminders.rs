//! What the engine itself tells a model between two turns.

use std::collections::BTreeSet;

use sortie_journal::JournalError;
use sortie_protocol::{Fact, QuestionMark};

use crate::run::Run;

/// Tells a model that commands in the background were lost with their process, once.
pub(crate) async fn tell_lost_shells(run: &Run<'_>) -> Result<(), JournalError> {
    let (text, lost_shells) = run.record.look(|record| (record.shells.for_model(), record.shells.untold()));
    let Some(text) = text else { return Ok(()) };
    run.sink.append(Fact::Reminded { text, lost_shells, questions: Vec::new() }).await
}

/// Tells a model that it goes round in a circle.
pub(crate) async fn remind_of_circle(run: &Run<'_>) -> Result<(), JournalError> {
    let text = run.record.look(|record| record.history.reminder());
    let Some(text) = text else { return Ok(()) };
    run.sink.append(Fact::Reminded { text, lost_shells: Vec::new(), questions: Vec::new() }).await
}

/// Reminds a task of questions, once of each, and tells whether it did. Where all that it waits for wait for its
/// answer, all would wait until that is no longer waited for. If it ends its turn all the same, the answer is left to a
/// person.
pub(crate) async fn remind_of_questions(run: &Run<'_>) -> Result<bool, JournalError> {
    let questions = if run.services.inbox.has_mail() { Vec::new() } else { open_questions(run) };
    if run.record.look(|record| questions.iter().all(|question| record.reminded_of.contains(question))) {
        return Ok(false);
    }
    let askers: BTreeSet<String> = questions.iter().map(|question| question.task.to_string()).collect();
    let text = format!(
        "You have ended your turn, and all that you wait for wait for your answer: {}. Answer with SendMessage.",
        Vec::from_iter(askers).join(", ")
    );
    run.sink.append(Fact::Reminded { text, lost_shells: Vec::new(), questions }).await?;
    Ok(true)
}

/// Questions of those that work beside it, if each of them waits for an answer; else nothing.
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
