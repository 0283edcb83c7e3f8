//! The result cache, as whoever starts a delegated task asks it: before that starts, and after it has ended.

use std::sync::{Arc, PoisonError};

use sortie_contract::given_again;
use sortie_protocol::{CallId, Fact, TaskOutcome};

use crate::messages::report_cap::leave_room;
use crate::ports::approval::Approvals;
use crate::tasks::delegate::Delegate;
use crate::tasks::result_cache::{Inquiry, Looked, Ticket};
use crate::tasks::state::EngineState;
use crate::tasks::task::Task;

/// What is known of a task before it starts.
pub(crate) enum Known {
    /// Somebody has done the same on the same files.
    Done(Box<TaskOutcome>),
    /// It must be done; whether it is worth keeping is seen afterwards.
    New(Option<Box<Ticket>>),
}

impl EngineState {
    /// Looks for an outcome that can be given again, where results are kept at all.
    pub(crate) async fn known(&self, task: &mut Task) -> Known {
        let Some(cache) = self.cache.clone() else { return Known::New(None) };
        let (journal, workspace) = (Arc::clone(&self.journal), Arc::clone(&self.workspace));
        let (job, roster, has_approvals) =
            (Arc::clone(&task.job), Arc::clone(&task.roster), !task.approvals.is_empty());
        let endpoints = self.models.endpoints();
        let look = move || {
            let inquiry = Inquiry { job: &job, agents: &roster.agents, endpoints: &endpoints, has_approvals };
            cache.look_up(journal.as_ref(), &workspace, &inquiry)
        };
        match tokio::task::spawn_blocking(look).await {
            Ok(Looked::Hit(mut outcome)) => {
                leave_room(&mut outcome, &task.job, (self.contract.as_ref(), &self.reports)).await;
                Known::Done(outcome)
            }
            Ok(Looked::Miss(ticket)) => Known::New(Some(ticket)),
            Ok(Looked::Unable(notice)) => {
                if let Some(text) = notice {
                    task.notice(text);
                }
                Known::New(None)
            }
            Err(_panicked) => Known::New(None),
        }
    }

    /// Keeps the outcome of a task that has ended, if it may be given again.
    pub(crate) async fn keep(&self, ticket: Option<Box<Ticket>>, approvals: &Approvals) {
        let (Some(cache), Some(ticket)) = (self.cache.clone(), ticket) else { return };
        let (journal, workspace) = (Arc::clone(&self.journal), Arc::clone(&self.workspace));
        let has_approvals = !approvals.is_empty();
        let keep = move || cache.remember(journal.as_ref(), &workspace, &ticket, has_approvals);
        // That nothing could be kept is known from the look before.
        tokio::task::spawn_blocking(keep).await.ok();
    }
}

impl Delegate {
    /// The same for a child, of which whoever watches this task is told: nobody sees it start.
    pub(crate) async fn known(&self, call: &CallId, child: &mut Task) -> Known {
        let known = self.engine.known(child).await;
        if let Known::Done(outcome) = &known {
            // On disk: that is where it is found when this task wants to read on.
            let given = Fact::OutcomeGiven { call: call.clone(), from: outcome.task_id };
            self.sink.append_synced(given).await.ok();
            self.notice(&format!("“{}” was {}", child.job.title, whence(outcome))).await;
        }
        known
    }

    /// Tells something in the task's log, and in its outcome. A log that is lost ends the task by itself.
    async fn notice(&self, text: &str) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        self.sink.append(Fact::Noticed { text: text.to_owned() }).await.ok();
    }
}

/// The words in which an outcome that is given again says so.
fn whence(outcome: &TaskOutcome) -> &str {
    given_again(outcome).unwrap_or("answered before")
}
