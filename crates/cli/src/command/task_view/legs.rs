//! Legs of a task, read from its log: the outcome of each, and the work so far of the open one.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sortie_engine::footprint_so_far;
use sortie_journal::{Journal, JournalError, TaskHeader, TaskState};
use sortie_protocol::{Event, Fact, ModelChoice, TaskOutcome, Timestamp, Usage};

use super::activity::Activity;
use crate::text::words;

/// Legs of one task.
#[derive(Debug, Default)]
pub(in crate::command) struct Legs {
    pub(in crate::command) model: Option<ModelChoice>,
    /// Ended legs with their numbers, the oldest first.
    pub(in crate::command) ended: Vec<(u32, TaskOutcome)>,
    /// Work so far, whether the newest leg has ended or not.
    pub(in crate::command) so_far: Deeds,
    /// Activity of the newest leg.
    pub(in crate::command) stand: Activity,
    leg: u32,
}

/// Work of a task over all its legs.
#[derive(Debug, Default)]
pub(in crate::command) struct Deeds {
    /// Usage with descendants, as in an outcome.
    pub(in crate::command) usage: Usage,
    /// Changed files, descendants' included.
    pub(in crate::command) files_changed: BTreeSet<String>,
    /// Last text of its model in the newest leg.
    pub(in crate::command) text: String,
}

impl Legs {
    /// Reads a task's log; an active task has worked until `now`. For a damaged log, returns what precedes the damage,
    /// and the damage itself.
    pub(in crate::command) fn read(
        journal: &dyn Journal,
        header: &TaskHeader,
        now: Timestamp,
    ) -> (Self, Result<(), JournalError>) {
        let mut legs = Self::default();
        let read = journal.read_each(header.task_id, 1, &mut |event| legs.take(event));
        if !matches!(header.state, TaskState::Ended(_)) {
            // If the log is entirely unreadable, the damage is still reported.
            let so_far = footprint_so_far(journal, header.task_id).unwrap_or_default();
            legs.so_far.usage = Usage { duration_ms: worked_ms(header, now), ..so_far.usage };
            legs.so_far.files_changed.extend(so_far.files_changed);
        }
        (legs, read)
    }

    fn take(&mut self, event: Event) {
        if event.leg > self.leg {
            (self.leg, self.stand) = (event.leg, Activity::default());
            self.so_far.text.clear();
        }
        self.stand.see(&event.fact);
        match event.fact {
            Fact::TaskStarted { job } => self.model = Some(job.config.model),
            Fact::TaskResumed { config, .. } => self.model = Some(config.model),
            Fact::ModelReplied { reply, .. } => {
                let text = reply.text();
                if !text.trim().is_empty() {
                    self.so_far.text = text;
                }
            }
            Fact::CallFinished { output, refused: false } if !output.output.did_not_run => {
                self.so_far.files_changed.extend(output.output.files_changed);
            }
            Fact::TaskEnded { outcome } => self.ended.push((event.leg, *outcome)),
            _ => {}
        }
    }
}

impl Deeds {
    /// `2 turns · 3 calls · 812 tokens · 3.2s`.
    pub(in crate::command) fn in_words(&self) -> String {
        let turns = if self.usage.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", self.usage.turns) };
        format!("{turns} · {}", words::usage(&self.usage))
    }

    pub(in crate::command) fn object(&self) -> Value {
        json!({"usage": self.usage, "files_changed": self.files_changed, "text": self.text})
    }
}

/// Working time of a task, in whole milliseconds.
pub(in crate::command) fn worked_ms(header: &TaskHeader, now: Timestamp) -> u64 {
    u64::try_from(header.worked_by(now).as_millis()).unwrap_or(u64::MAX)
}
