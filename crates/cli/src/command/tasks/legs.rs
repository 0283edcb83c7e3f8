//! A task's log as a person asks for it: what each leg came to, and what the one that is open has done so far.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sortie_journal::{Journal, JournalError, TaskHeader, TaskState};
use sortie_protocol::{Event, Fact, ModelChoice, TaskOutcome, Timestamp, Usage};

use super::stand::Stand;
use crate::render::words;

/// The legs of one task.
#[derive(Debug, Default)]
pub(in crate::command) struct Legs {
    pub(super) model: Option<ModelChoice>,
    /// Those that have ended, the oldest first, each with its number.
    pub(in crate::command) ended: Vec<(u32, TaskOutcome)>,
    /// What the newest one has done, whether it has ended or not.
    pub(in crate::command) newest: Deeds,
    /// What the newest one does.
    pub(in crate::command) stand: Stand,
    leg: u32,
    last_heard: Option<Timestamp>,
}

/// What a leg has done, without its sub-agents.
#[derive(Debug, Default)]
pub(in crate::command) struct Deeds {
    /// With the time that it has worked, as far as events tell.
    pub(in crate::command) usage: Usage,
    pub(super) files_changed: BTreeSet<String>,
    /// What its model said last.
    pub(super) text: String,
}

impl Legs {
    /// Reads a task's log; one that is at work has worked until `now`. Where the log is damaged, what stands before the
    /// damage is told, and the damage with it.
    pub(in crate::command) fn read(
        journal: &dyn Journal,
        header: &TaskHeader,
        now: Timestamp,
    ) -> (Self, Result<(), JournalError>) {
        let mut legs = Self::default();
        let read = journal.read_each(header.task_id, 1, &mut |event| legs.take(event));
        if header.state == TaskState::Running {
            legs.newest.usage.duration_ms += legs.since_last_heard(now);
        }
        (legs, read)
    }

    fn take(&mut self, event: Event) {
        if event.leg > self.leg {
            (self.leg, self.newest, self.stand) = (event.leg, Deeds::default(), Stand::default());
        }
        self.stand.see(&event.fact);
        // Between the end of one process and the next one's taking over nobody worked.
        if !matches!(event.fact, Fact::TaskResumed { .. }) {
            self.newest.usage.duration_ms += self.since_last_heard(event.time);
        }
        self.last_heard = Some(event.time);
        match event.fact {
            Fact::TaskStarted { job } => self.model = Some(job.config.model),
            Fact::TaskResumed { config, .. } => self.model = Some(config.model),
            Fact::ModelReplied { reply, .. } => {
                self.newest.usage += Usage { turns: 1, tool_calls: 0, ..reply.usage };
                let text = reply.text();
                if !text.trim().is_empty() {
                    self.newest.text = text;
                }
            }
            Fact::ModelRetried { usage, .. } | Fact::Assisted { usage, .. } => {
                self.newest.usage += Usage { turns: 0, tool_calls: 0, ..usage };
            }
            Fact::CallFinished { output, refused: false } if !output.output.did_not_run => {
                self.newest.usage += Usage { tool_calls: 1, ..Usage::default() };
                self.newest.files_changed.extend(output.output.files_changed);
            }
            Fact::TaskEnded { outcome } => self.ended.push((event.leg, *outcome)),
            _ => {}
        }
    }

    fn since_last_heard(&self, now: Timestamp) -> u64 {
        self.last_heard.map_or(0, |last| now.0.saturating_sub(last.0))
    }
}

impl Deeds {
    /// `2 turns · 3 calls · 812 tokens · 3.2s`.
    pub(super) fn in_words(&self) -> String {
        let turns = if self.usage.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", self.usage.turns) };
        format!("{turns} · {}", words::usage(&self.usage))
    }

    pub(super) fn object(&self) -> Value {
        json!({"usage": self.usage, "files_changed": self.files_changed, "text": self.text})
    }
}

/// For how long its newest leg has worked: the time in which nobody ran it is not counted.
pub(super) fn worked_ms(journal: &dyn Journal, header: &TaskHeader, now: Timestamp) -> u64 {
    let known = match header.state {
        TaskState::Ended(_) => journal.ending(header.task_id).ok().flatten().map(|ended| ended.usage.duration_ms),
        TaskState::Running | TaskState::Interrupted => {
            let (legs, read) = Legs::read(journal, header, now);
            read.is_ok().then_some(legs.newest.usage.duration_ms)
        }
    };
    // Of a damaged log nothing better is known.
    known.unwrap_or_else(|| header.updated.0.saturating_sub(header.started.0))
}
