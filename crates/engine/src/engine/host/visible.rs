//! The tasks that a host sees, and its actions on them: the port behind the companion tools.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use sortie_journal::{Journal, JournalError, TaskHeader, TaskQuery, TaskState};
use sortie_protocol::{CallId, Command, Failure, FailureCode, ReportMark, Sender, TaskId, TaskRequest};
use sortie_tools::{BoxFuture, Choice, Glance, Kin, Listing, Receipt, ReportPage, Stand};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::message::{Arrival, leave};
use super::read_reports::ReadReports;
use super::{Host, blocking};
use crate::log::progress_file::ProgressFile;
use crate::log::recorded_work::RecordedWork;
use crate::messages::running_task::{ArrivedBy, RunningTask, StoppedBy};
use crate::ports::failure::journal_failure;
use crate::tasks::relatives::{
    END_WITHIN, RelatedTask, StatusReader, at_work, end_all, listing, not_ended, recorded_stand, report_page, stand_of,
};

/// Polling interval for the end of another process's task.
const PERIOD: Duration = Duration::from_millis(100);

/// Depth of tasks that a host delegates. Children of a main agent have the same depth, but a parent as well.
const DELEGATED_DEPTH: u32 = 1;

impl Kin for Host {
    fn name_of<'a>(&self, tool: &'a str) -> &'a str {
        self.engine.state.contract.host_name(tool)
    }

    fn delivers(&self) -> bool {
        false
    }

    fn look<'a>(&'a self, task: &'a str, patience: Duration) -> BoxFuture<'a, Result<Glance, Failure>> {
        Box::pin(async move {
            let deadline = Instant::now() + patience;
            let task = self.seen(task).await?.task;
            loop {
                if let Some(running_task) = self.engine.state.present.find(task) {
                    tokio::time::timeout_at(deadline, running_task.over.cancelled()).await.ok();
                }
                let is_elsewhere = self.engine.state.present.find(task).is_none()
                    && matches!(recorded_stand(&self.engine.state, task).await?, Stand::Elsewhere { .. });
                if !is_elsewhere || Instant::now() >= deadline {
                    return self.glance(self.recorded(task).await?).await;
                }
                tokio::time::sleep_until(deadline.min(Instant::now() + PERIOD)).await;
            }
        })
    }

    fn list<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async move { listing(self, self.all().await?, choice).await })
    }

    fn page<'a>(&'a self, task: &'a str, from: usize, most: usize) -> BoxFuture<'a, Result<ReportPage, Failure>> {
        Box::pin(async move { report_page(&self.engine.state, self.seen(task).await?.task, from, most).await })
    }

    /// Stops a task wherever it runs: a host need not be connected to the process that has it.
    fn stop<'a>(&'a self, task: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>> {
        Box::pin(async move {
            let task = self.seen(task).await?.task;
            let mut open = self.tree(task).await?;
            let present = &self.engine.state.present;
            open.retain(|member| !matches!(member.state, TaskState::Ended(_)) || present.find(member.task).is_some());
            end_all(&self.engine.state, task, &open, StoppedBy::Outside).await?;
            self.stop_anywhere(task).await?;
            let stopped = Kin::look(self, &task.to_string(), END_WITHIN).await?;
            if !matches!(stopped.stand, Stand::Ended { .. }) {
                return Err(not_ended(task));
            }
            let mut glances = Vec::new();
            for member in open {
                glances.push(self.glance(self.recorded(member.task).await?).await?);
            }
            glances.retain(|glance| matches!(glance.stand, Stand::Ended { .. }));
            Ok(glances)
        })
    }

    fn send<'a>(&'a self, call: &'a CallId, to: &'a str, text: String) -> BoxFuture<'a, Result<Receipt, Failure>> {
        Box::pin(async move {
            let RelatedTask { task, parent, .. } = self.seen(to).await?;
            if let Some(running_task) = self.engine.state.present.find(task) {
                let by = ArrivedBy::Call(call.clone());
                if running_task.write(Sender::Host, text.clone(), by).await.map_err(journal_failure)? {
                    return Ok(Receipt::Delivered { task });
                }
                running_task.refuse_when_stopping()?;
                // It has read its last message, and will end soon.
                running_task.over.cancelled().await;
            }
            let stand = recorded_stand(&self.engine.state, task).await?;
            if parent.is_some() && !matches!(stand, Stand::Elsewhere { .. }) {
                return Err(only_the_parent(task));
            }
            match stand {
                Stand::Interrupted => self.resume(task, Some(text)).await.map(drop)?,
                Stand::Ended { .. } => self.follow_up(task, text).await?,
                Stand::Elsewhere { .. } | Stand::Waits | Stand::Works(_) => {
                    match leave(&self.engine.state.journal, task, text.clone()).await? {
                        Arrival::Arrived => return Ok(Receipt::Delivered { task }),
                        Arrival::Missed if parent.is_some() => return Err(only_the_parent(task)),
                        Arrival::Missed => self.follow_up(task, text).await?,
                    }
                }
            }
            Ok(Receipt::Resumed { task })
        })
    }
}

impl StatusReader for Host {
    async fn glance(&self, RelatedTask { task, parent, agent, title, .. }: RelatedTask) -> Result<Glance, Failure> {
        let inner = &self.engine.state;
        let stand = match at_work(inner, task).await {
            Some(running_task) => stand_of(&running_task),
            None => match recorded_stand(inner, task).await? {
                Stand::Elsewhere { is_seen: true, .. } => self.recorded_work(task).await?,
                Stand::Ended { outcome, .. } => Stand::Ended { outcome, unread: self.unread(task).await? },
                stand => stand,
            },
        };
        Ok(Glance { task, parent, agent, title, stand })
    }
}

impl Host {
    /// Returns a task that it can see, by its id or the beginning of it.
    pub(super) async fn seen(&self, asked: &str) -> Result<RelatedTask, Failure> {
        let (journal, workspace, asked) = (self.journal(), self.workspace(), asked.trim().to_owned());
        let present = Arc::clone(&self.engine.state.present);
        let list = self.name_of("TaskList").to_owned();
        let read = move || {
            let letters = asked.strip_prefix("agent-").unwrap_or(&asked);
            // An empty beginning would match every task.
            if letters.is_empty() {
                return Err(unknown(&asked, &list));
            }
            let mut found = Vec::new();
            for header in journal.find(letters).map_err(journal_failure)? {
                if header.workspace == workspace && is_of_a_delegated_tree(journal.as_ref(), &header)? {
                    found.push(RelatedTask::from(header));
                }
            }
            // The log may not show a task that has just begun.
            let whole: Option<TaskId> = asked.parse().ok();
            let running_task = whole.filter(|_| found.is_empty()).and_then(|task| present.find(task));
            found.extend(
                running_task.filter(|one| one.job.root == one.job.task).map(|one| RelatedTask::from(one.as_ref())),
            );
            match found.len() {
                1 => Ok(found.remove(0)),
                0 => Err(unknown(&asked, &list)),
                _ => Err(Failure::new(
                    FailureCode::AmbiguousTask,
                    format!(
                        "several task ids begin with `{asked}`; \
                        give more letters of the id"
                    ),
                )),
            }
        };
        blocking(read).await
    }

    /// Stops an open task and its descendants: here, in another process, or interrupted.
    pub(super) async fn stop_anywhere(&self, task: TaskId) -> Result<(), Failure> {
        if self.engine.stop(task) {
            return Ok(());
        }
        match recorded_stand(&self.engine.state, task).await? {
            Stand::Interrupted => self.engine.abandon(task).await.map(drop),
            Stand::Elsewhere { .. } => {
                let stop = Command::Stop { task };
                self.engine.state.journal.send(stop).await.map(drop).map_err(journal_failure)
            }
            Stand::Ended { .. } | Stand::Waits | Stand::Works(_) => Ok(()),
        }
    }

    /// Returns all tasks that it can see, in the order of their starts.
    async fn all(&self) -> Result<Vec<RelatedTask>, Failure> {
        let (journal, workspace) = (self.journal(), self.workspace());
        let read = move || {
            let query = TaskQuery { workspace: Some(workspace), ..TaskQuery::default() };
            let mut headers = journal.list(&query).map_err(journal_failure)?;
            headers.reverse();
            let roots = headers.iter().filter(|one| is_delegated_root(one)).map(|one| one.task_id);
            let roots: HashSet<TaskId> = roots.collect();
            headers.retain(|header| roots.contains(&header.root_id));
            Ok(headers.into_iter().map(RelatedTask::from).collect())
        };
        blocking(read).await
    }

    async fn tree(&self, top: TaskId) -> Result<Vec<RelatedTask>, Failure> {
        let (journal, present) = (self.journal(), Arc::clone(&self.engine.state.present));
        let read = move || {
            let recorded = match journal.tree(top) {
                Err(JournalError::NoSuchTask { .. }) => Vec::new(),
                recorded => recorded.map_err(journal_failure)?,
            };
            let mut members: Vec<RelatedTask> = recorded.into_iter().map(RelatedTask::from).collect();
            let root = present.find(top).map_or(top, |running_task| running_task.job.root);
            // Parents registered before their children.
            for RunningTask { job, .. } in present.of_tree(root).iter().map(AsRef::as_ref) {
                let is_of_it = job.task == top || members.iter().any(|member| job.parent == Some(member.task));
                if is_of_it && !members.iter().any(|member| member.task == job.task) {
                    members.extend(present.find(job.task).map(|one| RelatedTask::from(one.as_ref())));
                }
            }
            Ok(members)
        };
        blocking(read).await
    }

    /// Returns the status of a task that another process runs, from its log.
    async fn recorded_work(&self, task: TaskId) -> Result<Stand, Failure> {
        let (journal, now) = (self.journal(), self.engine.state.clock.now());
        let read = move || {
            let mut recorded = RecordedWork::new(task);
            recorded.read_on(journal.as_ref()).map_err(journal_failure)?;
            Ok(recorded.work(now).map_or(Stand::Waits, Stand::Works))
        };
        blocking(read).await
    }

    /// Returns the mark of an ended background task's report, if no host has read it.
    async fn unread(&self, task: TaskId) -> Result<Option<ReportMark>, Failure> {
        let (journal, reports, read) = (self.journal(), Arc::clone(&self.engine.state.reports), Arc::clone(&self.read));
        let look = move || {
            let standing = journal.standing(task).map_err(journal_failure)?;
            // Only background tasks have such a file.
            if ProgressFile::reopen(&reports, task).ok().flatten().is_none() {
                return Ok(None);
            }
            let report = ReportMark { child: task, leg: standing.leg };
            let has_read = ReadReports::has(&read, journal.as_ref(), report).map_err(journal_failure)?;
            Ok((!has_read).then_some(report))
        };
        blocking(look).await
    }

    async fn recorded(&self, task: TaskId) -> Result<RelatedTask, Failure> {
        self.seen(&task.to_string()).await
    }

    /// Resumes an ended task with this prompt, in the background.
    async fn follow_up(&self, task: TaskId, prompt: String) -> Result<(), Failure> {
        let resume = Some(task.to_string());
        let request = TaskRequest { prompt, resume, background: true, ..TaskRequest::default() };
        self.launch(request, &CancellationToken::new(), |_| ()).await.map(drop)
    }

    fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.engine.state.journal)
    }

    fn workspace(&self) -> String {
        self.engine.state.workspace.root().display().to_string()
    }
}

/// Returns true if no person's main agent is at the root of the task's tree.
fn is_of_a_delegated_tree(journal: &dyn Journal, header: &TaskHeader) -> Result<bool, Failure> {
    if header.parent_id.is_none() {
        return Ok(is_delegated_root(header));
    }
    let root = journal.find(header.root_id.letters()).map_err(journal_failure)?.pop();
    Ok(root.is_some_and(|root| is_delegated_root(&root)))
}

fn is_delegated_root(header: &TaskHeader) -> bool {
    header.parent_id.is_none() && header.depth >= DELEGATED_DEPTH
}

fn only_the_parent(task: TaskId) -> Failure {
    let message = format!("{task} is not running; only its parent can resume it");
    Failure::new(FailureCode::HasEnded, message)
}

/// A host has tools for work of its own, whose ids end up here by mistake.
fn unknown(asked: &str, list: &str) -> Failure {
    let whose = if asked.parse::<TaskId>().is_ok() {
        "of yours".to_owned()
    } else {
        "here: ids of this server are `agent-` and twelve letters, and all others belong to your other tools".to_owned()
    };
    Failure::new(FailureCode::NoSuchTask, format!("there is no task `{asked}` {whose}; {list} has them"))
}
