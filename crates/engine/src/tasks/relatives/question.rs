//! A task's question to its parent or to the person at the terminal, and the wait for the answer.

use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

use futures_util::FutureExt as _;
use sortie_protocol::{Addressee, CallId, Fact, Failure, FailureCode, Job, Sender};
use sortie_tools::Answered;

use super::Relatives;
use super::answer_wait::AnswerWait;
use crate::messages::questions::ASK;
use crate::messages::running_task::SILENT;
use crate::ports::approval::Inquiry;
use crate::ports::failure::journal_failure;
use crate::ports::hooks::Asking;

/// Answer to a question for the person that timed out before anyone saw it.
const OVERTAKEN: &str = "your question was never shown to anyone: others were asked before it, and there is little \
    time left; use your best judgement, and say in your report what you assumed";

/// Answer to a question with too little time left.
const TOO_LATE: &str = "your question was never shown to anyone: there is too little time left for an answer; use \
    your best judgement, and say in your report what you assumed";

/// A question to the person at the terminal.
pub(super) struct PersonQuestion<'a> {
    pub(super) call: &'a CallId,
    pub(super) question: &'a str,
    /// Timeout, from the moment when the question is shown.
    pub(super) patience: Duration,
}

/// Records the question, together with its delivery.
pub(super) async fn put_question(
    relatives: &Relatives,
    call: &CallId,
    whom: Addressee,
    question: &str,
) -> Result<(), Failure> {
    let (call, text) = (call.clone(), question.to_owned());
    if whom == Addressee::Person {
        if !relatives.scope.engine.permissions.approver.is_present() {
            let message = "there is nobody to ask; use your best judgement, and say what you assumed";
            return Err(Failure::new(FailureCode::Nobody, message));
        }
        let _asking = relatives.scope.inbox.asking().await;
        let fact = Fact::QuestionAsked { call, to: whom, text };
        return relatives.scope.sink.append_synced(fact).await.map_err(journal_failure);
    }
    let own = relatives.scope.engine.present.find(relatives.scope.job.task);
    let own = own.ok_or_else(|| Failure::new(FailureCode::OwnTask, "this task is no longer running"))?;
    own.ask_above(call, text).await
}

/// Waits as long as the parent may answer; fails once it no longer can.
pub(super) async fn wait_for_parent(relatives: &Relatives, patience: Duration) -> Result<Option<Answered>, Failure> {
    let wait = AnswerWait::begin(relatives.scope.deadline.time_to_ask(), patience);
    let silence = async {
        loop {
            let changed = relatives.scope.inbox.change();
            let Some(above) = relatives.inbox_above().await else { return std::future::pending().await };
            tokio::select! {
                () = above.silence() => return,
                // The task may have a new parent now.
                () = changed => {}
            }
        }
    };
    tokio::select! {
        () = wait.runs_out() => wait.no_answer(),
        () = silence => Err(Failure::new(FailureCode::Nobody, SILENT)),
    }
}

/// Asks the person at the terminal. The timeout begins when the question is shown; after it, the next question has its
/// turn.
pub(super) async fn ask_person(
    relatives: &Relatives,
    PersonQuestion { call, question, patience }: PersonQuestion<'_>,
    answered: &OnceLock<()>,
) -> Result<Option<Answered>, Failure> {
    let mut turn = pin!(relatives.scope.engine.approval_queue.turn());
    let at_once = turn.as_mut().now_or_never();
    // The task's next question queues behind this one.
    relatives.scope.inbox.has_asked(call);
    let time = relatives.scope.deadline.time_to_ask();
    if !time.is_enough() {
        return Err(Failure::new(FailureCode::NoAnswer, TOO_LATE));
    }
    let turn = if let Some(turn) = at_once {
        turn
    } else {
        tokio::select! {
            biased;
            () = time.passes(None) => return Err(Failure::new(FailureCode::NoAnswer, OVERTAKEN)),
            turn = turn => turn,
        }
    };
    if !time.is_enough() {
        return Err(Failure::new(FailureCode::NoAnswer, OVERTAKEN));
    }
    let wait = AnswerWait::begin(time, patience);
    let ground = "the agent asks";
    let arguments = serde_json::json!({"question": question}).to_string();
    let asking = Asking { tool: ASK, arguments: &arguments, rules: &[], ground };
    relatives.scope.engine.hooks.asks(&relatives.scope.job, &asking);
    let Job { task, title, config, .. } = relatives.scope.job.as_ref();
    let inquiry = Inquiry { task: *task, title, chain: &config.chain, question, within: wait.within(), answered };
    let answer = tokio::select! {
        biased;
        answer = relatives.scope.engine.permissions.approver.inquire(&inquiry) => answer,
        () = wait.runs_out() => None,
    };
    drop(turn);
    if let Some(text) = answer {
        return Ok(Some(Answered { text, from: Sender::Person, message: None }));
    }
    // Nobody answers here, but somebody may elsewhere.
    wait.runs_out().await;
    wait.no_answer()
}
