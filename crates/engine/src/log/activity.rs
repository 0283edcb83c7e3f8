//! Latest activity of a running task, for status queries. A glance, not a record: the log is that.

use std::sync::{Mutex, PoisonError};

use sortie_policy::neutral;
use sortie_protocol::Fact;
use tokio::time::Instant;

/// Longest description of a call.
const MAX_CHARS: usize = 60;

/// Latest activity of one task.
#[derive(Debug, Default)]
pub(crate) struct LatestActivity {
    glimpse: Mutex<ActivitySnapshot>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ActivitySnapshot {
    /// Time at which the task started to work in this process.
    pub(crate) admitted: Option<Instant>,
    pub(crate) turn: u32,
    /// A few words; empty before the task did anything.
    pub(crate) last: String,
}

impl LatestActivity {
    pub(crate) fn see(&self, fact: &Fact) {
        let mut glimpse = self.glimpse.lock().unwrap_or_else(PoisonError::into_inner);
        match fact {
            Fact::TaskAdmitted => glimpse.admitted = Some(Instant::now()),
            Fact::ModelCalled { turn, .. } => {
                glimpse.turn = *turn;
                "thinking".clone_into(&mut glimpse.last);
            }
            Fact::CallStarted { call, .. } => glimpse.last = short(&call.in_brief()),
            Fact::QuestionAsked { .. } => "waiting for an answer".clone_into(&mut glimpse.last),
            Fact::TaskParked { waits_for } => {
                glimpse.last = match waits_for.len() {
                    1 => "waiting for a sub-agent".to_owned(),
                    count => format!("waiting for {count} sub-agents"),
                };
            }
            Fact::TaskQueued { needs } => glimpse.last = format!("waiting for {needs}"),
            _ => {}
        }
    }

    pub(crate) fn glimpse(&self) -> ActivitySnapshot {
        self.glimpse.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns a text as one short line, safe for a terminal.
fn short(text: &str) -> String {
    let end = |most| text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let line = neutral::line(&text[..end(MAX_CHARS)]);
    if end(MAX_CHARS) < text.len() { line + "…" } else { line }
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{Need, ToolCall};

    use super::*;

    #[test]
    fn a_call_is_shown_with_its_subject() {
        let latest_activity = LatestActivity::default();
        for (tool, arguments, told) in [
            ("LS", r#"{"path": "."}"#.to_owned(), "LS .".to_owned()),
            ("Grep", r#"{"pattern": "a\u001b[2Jb"}"#.to_owned(), "Grep \"a␛[2Jb\"".to_owned()),
            ("Bash", format!(r#"{{"command": "{}"}}"#, "x".repeat(100)), format!("Bash \"{}…", "x".repeat(54))),
            ("TaskList", String::new(), "TaskList".to_owned()),
        ] {
            let call = ToolCall { id: "1".into(), tool: tool.to_owned(), arguments };
            latest_activity.see(&Fact::CallStarted { call, idempotent: true });
            assert_eq!(latest_activity.glimpse().last, told);
        }
    }

    #[test]
    fn a_waiting_task_shows_what_it_waits_for() {
        let latest_activity = LatestActivity::default();
        for (needs, told) in [(Need::Slot, "waiting for a slot"), (Need::Tokens, "waiting for tokens that others hold")]
        {
            latest_activity.see(&Fact::TaskQueued { needs });
            assert_eq!(latest_activity.glimpse().last, told);
        }
    }
}
