//! Answers to calls left open when a leg ends without running them, so that the conversation can continue one day.
//!
//! Children that were interrupted with their parent end with it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sortie_journal::{Durability, JournalError};
use sortie_protocol::{CallOutput, Fact, Job, TaskId, TaskOutcome};
use sortie_tools::{AnswerParts, task_answer};

use crate::budget::account::Account;
use crate::conversation::outcome::Unrecorded;
use crate::conversation::task_record::{Attached, OpenTurn, TaskRecord};
use crate::conversation::unanswered_calls::unanswered;
use crate::gate::output_text::OutputText;
use crate::log::writer::Batch;
use crate::ports::redaction::without_secrets;
use crate::tasks::resume::end_interrupted::end_attached;
use crate::tasks::state::EngineState;
use crate::tasks::task::Task;

/// Answers all open calls of a task that this process has, and books them.
pub(crate) async fn close(task: &Task, unrecorded: &mut Unrecorded) -> Result<(), JournalError> {
    let (engine, record) = (&task.engine, &task.record);
    let mut reports = HashMap::new();
    for (call, Attached { child, ended_leg, .. }) in record.look(TaskRecord::awaited) {
        // A child that still runs here was told to end when its call was given up.
        if let Some(running_task) = engine.present.find(child) {
            running_task.cancel.cancel();
            running_task.over.cancelled().await;
        }
        // A child that cannot be ended stays as it is; its parent ends all the same.
        match end_attached(engine, child, ended_leg, task.caller(&call)).await {
            Ok(outcome) => drop(reports.insert(child, outcome)),
            Err(failure) => unrecorded.notice(format!("{child} could not be ended: {}", failure.message)),
        }
    }
    let open = record.look(|record| record.open.clone());
    let mut batch = Batch::default();
    for fact in answers(engine, open.as_ref(), &task.job, &reports, &task.account).await {
        batch.add(&task.sink, fact);
    }
    batch.append(engine.journal.as_ref(), Durability::Ordered).await
}

/// Returns the outputs of all open calls as facts, and books those that ran. `reports` are the outcomes of children
/// that answer some of them.
pub(crate) async fn answers(
    engine: &EngineState,
    open: Option<&OpenTurn>,
    job: &Job,
    reports: &HashMap<TaskId, TaskOutcome>,
    account: &Account,
) -> Vec<Fact> {
    let Some(open) = open else { return Vec::new() };
    let contract = sortie_contract::contract(&job.contract).unwrap_or_else(|| Arc::clone(&engine.contract));
    let spill = Arc::new(engine.reports.of(job.task));
    let output_text = OutputText { contract, cwd: engine.rules.cwd.clone(), spill };
    let mut facts = Vec::new();
    for call in open.unanswered() {
        let started = open.started.get(&call.id);
        let outcome = started.and_then(|started| reports.get(&started.child?));
        let output = match outcome {
            Some(outcome) => {
                let parts = AnswerParts { cwd: &output_text.cwd, spare_id: outcome.task_id, mark: engine.ids.mark() };
                task_answer(output_text.contract.as_ref(), &call.arguments, &parts, Ok(outcome.clone()))
            }
            None => unanswered(call, started).output,
        };
        let output = without_secrets(output, &engine.permissions.redactor);
        let output = output_text.word(call, output, Duration::ZERO).await;
        let ran = started.is_some_and(|started| !started.idempotent);
        if ran {
            account.book_call(output.result(), &output.files_changed);
        }
        let output = CallOutput { call: call.id.clone(), output };
        facts.push(Fact::CallFinished { output, refused: !ran });
    }
    facts
}
