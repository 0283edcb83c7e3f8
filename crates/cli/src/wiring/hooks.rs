//! Hooks: the user's own programs, run when a task starts, has ended or waits for a person.
//!
//! They get the event as one JSON object (`event_json`) and run with the user's rights (`program`). Only a veto of a
//! start changes anything; any other failure is a notice or a warning.

mod complaints;
mod event_json;
mod program;
mod running;
#[cfg(test)]
mod tests;
mod wait;

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sortie_engine::{Asking, Hooks, Verdict};
use sortie_protocol::{Job, TaskOutcome};
use sortie_tools::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::settings::{Hook, Seam};
use complaints::Complaints;
use program::{Answer, Breakdown};
use running::RunningHooks;

pub(crate) use program::HookGround;
pub(crate) use wait::{settle, tell_who_was_ended, while_they_run};

/// Most programs that run at once while nobody waits for them; others queue.
const MOST_AT_ONCE: usize = 8;

/// Hooks of the settings.
pub(crate) struct ProgramHooks {
    hooks: Vec<Arc<Hook>>,
    ground: Arc<HookGround>,
    turns: Arc<Semaphore>,
    beside: Mutex<Unwaited>,
    under_way: RunningHooks,
}

/// Hooks that run while nobody waits for them.
#[derive(Default)]
struct Unwaited {
    running: JoinSet<Option<String>>,
    complaints: Complaints,
}

impl ProgramHooks {
    pub(crate) fn new(hooks: Vec<Hook>, ground: HookGround) -> Self {
        Self {
            hooks: hooks.into_iter().map(Arc::new).collect(),
            ground: Arc::new(ground),
            turns: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            beside: Mutex::default(),
            under_way: RunningHooks::default(),
        }
    }

    /// Hooks at a seam for tasks of this agent, in the order of the settings.
    fn at(&self, seam: Seam, agent: &str) -> impl Iterator<Item = &Arc<Hook>> {
        let is_for = move |hook: &&Arc<Hook>| {
            hook.on == seam
                && (hook.agents.is_empty() || hook.agents.iter().any(|name| name.eq_ignore_ascii_case(agent)))
        };
        self.hooks.iter().filter(is_for)
    }

    /// Runs the hooks at a seam in the background.
    fn tell(&self, seam: Seam, job: &Job, told: impl FnOnce() -> Value) {
        let mut hooks = self.at(seam, &job.config.agent).peekable();
        if hooks.peek().is_none() {
            return;
        }
        let mut beside = self.beside();
        beside.collect();
        let Ok(runtime) = Handle::try_current() else {
            return beside.complaints.add(format!("hooks for {} were not run: no runtime is running", seam.name()));
        };
        let input = told().to_string();
        for hook in hooks {
            let (hook, ground, turns) = (Arc::clone(hook), Arc::clone(&self.ground), Arc::clone(&self.turns));
            let input = input.clone().into_bytes();
            let stay = self.under_way.enter(hook_at(&hook));
            let run = async move {
                let _stay = stay;
                let _turn = turns.acquire_owned().await;
                match program::run(&hook, &ground, input).await {
                    Answer::Fine => None,
                    Answer::Veto(why) => Some(format!("{} {why}", hook_at(&hook))),
                    Answer::Broken(breakdown) => Some(complaint(&hook, &breakdown)),
                }
            };
            beside.running.spawn_on(run, &runtime);
        }
    }

    fn beside(&self) -> MutexGuard<'_, Unwaited> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unwaited {
    /// Collects ended hooks, so that a long run does not keep them all.
    fn collect(&mut self) {
        while let Some(ended) = self.running.try_join_next() {
            self.complaints.extend(ended.ok().flatten());
        }
    }
}

impl Hooks for ProgramHooks {
    fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    fn before_start<'a>(&'a self, job: &'a Job, leg: u32) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let mut verdict = Verdict::default();
            for hook in self.at(Seam::Started, &job.config.agent) {
                let _stay = self.under_way.enter(hook_at(hook));
                match program::run(hook, &self.ground, event_json::started(job, leg).to_string().into_bytes()).await {
                    Answer::Fine => {}
                    Answer::Veto(reason) => {
                        verdict.veto = Some(reason);
                        break;
                    }
                    Answer::Broken(breakdown) => {
                        verdict.notices.push(format!("{} {}", hook_at(hook), breakdown.how));
                        // Its own words are for people alone: models also read notices.
                        if !breakdown.words.is_empty() {
                            self.beside().complaints.add(complaint(hook, &breakdown));
                        }
                    }
                }
            }
            verdict
        })
    }

    fn ended(&self, job: &Job, leg: u32, outcome: &TaskOutcome) {
        self.tell(Seam::Ended, job, || event_json::ended(job, leg, outcome));
    }

    fn asks(&self, job: &Job, asking: &Asking<'_>) {
        self.tell(Seam::Asks, job, || event_json::asks(job, asking));
    }

    fn under_way(&self) -> Vec<String> {
        self.under_way.names()
    }

    fn settled(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async move {
            // Awaited in place: a caller that stops waiting leaves them running.
            while let Some(ended) = poll_fn(|context| self.beside().running.poll_join_next(context)).await {
                self.beside().complaints.extend(ended.ok().flatten());
            }
            self.beside().complaints.take()
        })
    }
}

/// Complaint about a failed hook, with its own words.
fn complaint(hook: &Hook, Breakdown { how, words }: &Breakdown) -> String {
    let said = if words.is_empty() { String::new() } else { format!(": {words}") };
    format!("{} {how}{said}", hook_at(hook))
}

/// Name of a hook, for people.
fn hook_at(hook: &Hook) -> String {
    format!("the hook {} for {}", hook.shown, hook.on.name())
}
