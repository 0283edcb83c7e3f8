//! `--detach`: leaves a run once its main agent only waits for background sub-agents.
//!
//! Nothing continues without this process. The journal has everything, as after a crash, for `sortie resume` to use.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use sortie_engine::Hooks;
use sortie_journal::{Journal, JournalError, TaskState};
use sortie_protocol::{Event, Fact, Reply, Status, TaskId, TaskOutcome};
use tokio::sync::watch;

use super::approval_prompt;
use crate::error;
use crate::error::long_wait::LONG_WAIT;
use crate::render::{Display, ProgressArea};
use crate::text::{neutral, words};

/// Condition for leaving a run, and what is known then.
pub(crate) struct Detachment {
    seen: watch::Receiver<Seen>,
    is_leaving: Arc<AtomicBool>,
    /// Reports that it is too late to leave; closed once nothing is drawn any more.
    drawing: Mutex<Receiver<TooLate>>,
    /// Area of questions.
    area: ProgressArea,
}

/// The main agent has work again.
struct TooLate;

/// State of the main agent, as its display has seen it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    /// Its last text.
    text: String,
    /// Tasks that it waits for while it does nothing else.
    waits_for: Vec<TaskId>,
}

impl Detachment {
    /// Makes a run's display watch its main agent: `task`, if known before the first event.
    pub(crate) fn watching(
        task: Option<TaskId>,
        area: ProgressArea,
        display: Box<dyn Display>,
    ) -> (Self, Box<dyn Display>) {
        let (sender, seen) = watch::channel(Seen::default());
        let (drawn, drawing) = channel();
        let is_leaving = Arc::new(AtomicBool::new(false));
        let watching = Watching {
            task,
            now: Seen::default(),
            seen: sender,
            is_leaving: Arc::clone(&is_leaving),
            area: area.clone(),
            shown: Some((display, drawn)),
        };
        (Self { seen, is_leaving, drawing: Mutex::new(drawing), area }, Box::new(watching))
    }

    /// Waits until the main agent only waits, and then leaves the run; waits forever if the run is not to be left.
    /// Running hooks get their time: nobody would run them again.
    pub(crate) async fn leave_when_parked(
        detachment: Option<&Self>,
        journal: &dyn Journal,
        hooks: &dyn Hooks,
        task: TaskId,
    ) -> ! {
        if let Some(detachment) = detachment {
            let mut seen = detachment.seen.clone();
            while seen.wait_for(|seen| !seen.waits_for.is_empty()).await.is_ok() {
                settle(hooks).await;
                if detachment.can_leave() {
                    // A hook may have begun at the last moment.
                    settle(hooks).await;
                    detachment.leave(journal, task);
                }
            }
        }
        // The run is not to be left, or its display has gone, and with it the run.
        std::future::pending().await
    }

    /// Stops all drawing, unless the main agent has just got work.
    fn can_leave(&self) -> bool {
        self.is_leaving.store(true, Ordering::Release);
        // A hanging display must not delay us.
        let drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LONG_WAIT);
        !matches!(drawing, Ok(TooLate))
    }

    /// Prints the state and how to continue, and ends the process. Running work is abandoned as it is: an orderly end
    /// would stop the sub-agents, and record that.
    fn leave(&self, journal: &dyn Journal, task: TaskId) -> ! {
        let code = approval_prompt::give_up(&self.area, || self.say(journal, task)).unwrap_or_else(|error| {
            error::fail(&format!("the output could not be written: {error}"));
            1
        });
        std::process::exit(code)
    }

    fn say(&self, journal: &dyn Journal, task: TaskId) -> io::Result<i32> {
        // It may have ended at the last moment.
        if let Ok(TaskState::Ended(status)) = journal.standing(task).map(|standing| standing.state) {
            print(&journal.ending(task).ok().flatten().map(|outcome| outcome.text).unwrap_or_default())?;
            return Ok(i32::from(status != Status::Completed));
        }
        let Seen { text, waits_for } = self.seen.borrow().clone();
        print(&text)?;
        for child in waits_for {
            error::note(&format!("{} is stopped, and resumes with the run", described(journal, child)));
        }
        error::note(&format!("the run is stopped; continue it with: sortie resume {task}"));
        Ok(0)
    }
}

/// Waits for hooks, each of which ends in its own time.
async fn settle(hooks: &dyn Hooks) {
    hooks.settled().await.iter().for_each(|complaint| error::warn(complaint));
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if !text.trim().is_empty() {
        writeln!(stdout, "{}", neutral::block(text.trim_end()))?;
    }
    stdout.flush()
}

fn described(journal: &dyn Journal, task: TaskId) -> String {
    let header = journal.find(task.letters()).ok().and_then(|mut found| found.pop());
    header.map_or_else(
        || task.to_string(),
        |header| format!("{task} {} “{}”", neutral::line(&header.agent), words::title(&header.title)),
    )
}

/// Text of a reply. One without text, as before a wait, replaces nothing.
fn written(reply: &Reply) -> Option<String> {
    Some(reply.text()).filter(|text| !text.trim().is_empty())
}

/// Display that also watches the main agent.
struct Watching {
    /// Main agent; if unknown, the task whose start is seen first.
    task: Option<TaskId>,
    now: Seen,
    seen: watch::Sender<Seen>,
    is_leaving: Arc<AtomicBool>,
    /// Area that holds back questions which would be cancelled at once.
    area: ProgressArea,
    /// Gone once the run is left, with all that it has drawn.
    shown: Option<(Box<dyn Display>, Sender<TooLate>)>,
}

impl Display for Watching {
    fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        // If it says nothing new before it waits again, this text stands.
        let said = journal.read(task)?.into_iter().rev().find_map(|event| match event.fact {
            Fact::ModelReplied { reply, .. } => written(&reply),
            _ => None,
        });
        self.now.text = said.unwrap_or_default();
        self.shown.as_mut().map_or(Ok(()), |(display, _)| display.recall(journal, task))
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        if *self.task.get_or_insert(event.task_id) == event.task_id {
            match &event.fact {
                Fact::ModelReplied { reply, .. } => {
                    if let Some(text) = written(reply) {
                        self.now.text = text;
                    }
                }
                Fact::TaskParked { waits_for } => {
                    self.now.waits_for.clone_from(waits_for);
                    // The run is left now and waits for nobody.
                    return Ok(());
                }
                // It has work again.
                Fact::MailRead { .. } | Fact::ModelCalled { .. } | Fact::TaskEnded { .. } => self.now.waits_for.clear(),
                _ => {}
            }
        }
        self.shown.as_mut().map_or(Ok(()), |(display, _)| display.show(event))
    }

    fn refresh(&mut self) -> io::Result<()> {
        if self.now.waits_for.is_empty() {
            self.area.admit_questions();
        } else {
            self.area.keep_questions_back();
        }
        if self.is_leaving.swap(false, Ordering::AcqRel) {
            match &self.shown {
                // Without a receiver, nobody waits for it.
                Some((_, drawn)) if self.now.waits_for.is_empty() => drawn.send(TooLate).unwrap_or_default(),
                _ => self.shown = None,
            }
        }
        let refreshed = self.shown.as_mut().map_or(Ok(()), |(display, _)| display.refresh());
        self.seen.send_if_modified(|seen| {
            let is_new = *seen != self.now;
            seen.clone_from(&self.now);
            is_new
        });
        refreshed
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.shown.map_or(Ok(()), |(display, _)| display.finish(outcome))
    }
}
