//! `--detach`: a run is left as soon as its main agent has nothing to do but to wait for sub-agents in the background.
//!
//! Nothing goes on without this process. All of it is in the journal, as after a crash, and `sortie resume` takes it up.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_journal::Journal;
use sortie_protocol::{Event, Fact, TaskId, TaskOutcome};
use tokio_util::sync::CancellationToken;

use crate::error;
use crate::render::{Display, neutral, words};

/// What is watched for.
#[derive(Clone, Default)]
pub(crate) struct Detachment {
    parked: CancellationToken,
    left: Arc<Mutex<Left>>,
}

/// What was there when the run was left.
#[derive(Default)]
struct Left {
    /// The last thing that the main agent wrote.
    text: String,
    waits_for: Vec<TaskId>,
}

impl Detachment {
    /// Has the display of a run watch for it. `task` is the main agent, where that is known before the first event.
    pub(crate) fn watching(&self, task: Option<TaskId>, display: Box<dyn Display>) -> Box<dyn Display> {
        Box::new(Watching { detachment: self.clone(), task, display: Some(display) })
    }

    /// Waits until the main agent has nothing to do but to wait for sub-agents in the background, and nothing is drawn any
    /// more; for ever, where nobody wants to know.
    pub(crate) async fn parked(detachment: Option<&Self>) -> &Self {
        match detachment {
            Some(detachment) => {
                detachment.parked.cancelled().await;
                detachment
            }
            None => std::future::pending().await,
        }
    }

    /// Says what there is and how it goes on, and ends the process: whatever is under way is left as it is.
    #[expect(clippy::exit, reason = "an end in order would stop the sub-agents, and record that")]
    pub(crate) fn leave(&self, journal: &dyn Journal, task: TaskId) -> ! {
        let said = self.say(journal, task);
        if let Err(error) = &said {
            error::fail(&format!("the output could not be written: {error}"));
        }
        std::process::exit(i32::from(said.is_err()))
    }

    fn say(&self, journal: &dyn Journal, task: TaskId) -> io::Result<()> {
        let left = self.lock();
        if !left.text.trim().is_empty() {
            let mut stdout = io::stdout().lock();
            writeln!(stdout, "{}", neutral::block(left.text.trim_end()))?;
            stdout.flush()?;
        }
        for child in &left.waits_for {
            error::note(&format!("nobody waits for {}", described(journal, *child)));
        }
        error::note(&format!("nothing of it runs any more; it goes on with: sortie resume {task}"));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn described(journal: &dyn Journal, task: TaskId) -> String {
    let header = journal.find(task.letters()).ok().and_then(|mut found| found.pop());
    header.map_or_else(
        || task.to_string(),
        |header| format!("{task} {} “{}”", neutral::line(&header.agent), words::title(&header.title)),
    )
}

/// A display, and beside it an eye on the main agent.
struct Watching {
    detachment: Detachment,
    /// The main agent; where it is not known yet, whose beginning is seen first.
    task: Option<TaskId>,
    /// Gone once the run is about to be left.
    display: Option<Box<dyn Display>>,
}

impl Display for Watching {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        if *self.task.get_or_insert(event.task_id) == event.task_id {
            match &event.fact {
                Fact::ModelReplied { reply, .. } => self.detachment.lock().text = reply.text(),
                Fact::TaskParked { waits_for } => self.detachment.lock().waits_for.clone_from(waits_for),
                _ => {}
            }
        }
        self.display.as_mut().map_or(Ok(()), |display| display.show(event))
    }

    fn refresh(&mut self) -> io::Result<()> {
        let refreshed = self.display.as_mut().map_or(Ok(()), |display| display.refresh());
        if !self.detachment.lock().waits_for.is_empty() {
            // What it has drawn goes with it.
            drop(self.display.take());
            self.detachment.parked.cancel();
        }
        refreshed
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.display.map_or(Ok(()), |display| display.finish(outcome))
    }
}
