//! Playback of a script: picks the rule for a request, and counts how often each has served.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Asked, Rule, Script, ScriptedReply};

/// Picks replies. Shared by all calls of one model or server.
#[derive(Debug)]
pub struct Playback {
    rules: Vec<(Rule, AtomicU32)>,
}

/// No rule of the script matches a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no rule of the script matches a request to model `{model}` at turn {turn} (prompt {prompt:?}, last {last:?}); \
     add one, or end the script with a rule without conditions"
)]
pub struct NoRule {
    pub model: String,
    pub turn: u32,
    pub prompt: String,
    pub last: String,
}

impl Playback {
    pub fn new(script: Script) -> Self {
        Self { rules: script.rules.into_iter().map(|rule| (rule, AtomicU32::new(0))).collect() }
    }

    /// Returns the reply of the first matching rule that may still serve, and counts it.
    pub fn choose(&self, asked: &Asked<'_>) -> Result<&ScriptedReply, NoRule> {
        self.rules
            .iter()
            .find(|(rule, served)| rule.when.matches(asked) && take_turn(rule.times, served))
            .map(|(rule, _)| &rule.reply)
            .ok_or_else(|| NoRule {
                model: asked.model.to_owned(),
                turn: asked.turn,
                prompt: excerpt(&asked.prompt),
                last: excerpt(&asked.last),
            })
    }
}

fn take_turn(times: Option<u32>, served: &AtomicU32) -> bool {
    let Some(times) = times else { return true };
    served.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < times).then_some(count + 1)).is_ok()
}

/// Enough of a message to recognise it in an error.
fn excerpt(texts: &[&str]) -> String {
    const CHARS: usize = 80;
    let text = texts.join(" | ");
    match text.char_indices().nth(CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
