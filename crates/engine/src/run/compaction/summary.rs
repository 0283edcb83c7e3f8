//! Summaries of the turns that are left out: the model's own words, or a few of ours.

use sortie_protocol::{Message, Part, ToolCall};

use crate::messages::report_cap::cut;

/// Request for a summary, as the last message.
pub(super) const SUM_UP: &str = "Your context is nearly full. Sum up this conversation for yourself, in at most 600 \
    words and without tool calls: what you were asked, what you found (paths, names, figures), what you changed, \
    what is left to do. You continue with this summary and your newest turns; nothing else is kept.";

/// Longest lines of a digest: for a message to the task, and for an action of its own.
const SAID_BYTES: usize = 4000;
const DONE_BYTES: usize = 200;

/// Returns the summary as the model reads it, within so many bytes.
pub(super) fn by_the_model(text: &str, most: usize) -> String {
    let kept = text[..cut(text, most)].trim();
    let mark = if kept.len() < text.trim().len() { " [… cut]" } else { "" };
    format!("Earlier turns of this conversation were left out to make room. Your summary of them:\n{kept}{mark}")
}

/// Returns a digest of the omitted messages: what was said to the task, and its actions. If it is too long, the oldest
/// actions go first.
pub(super) fn digest(messages: &[Message], most: usize) -> String {
    let mut lines: Vec<(bool, String)> = messages.iter().flat_map(lines_of).collect();
    let mut n_bytes: usize = lines.iter().map(|(_, line)| line.len() + 1).sum();
    let mut n_dropped = 0;
    lines.retain(|(is_said, line)| {
        let stays = *is_said || n_bytes <= most;
        if !stays {
            n_bytes -= line.len() + 1;
            n_dropped += 1;
        }
        stays
    });
    let text: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let text = text.join("\n");
    let kept = &text[..cut(&text, most)];
    let dropped = if n_dropped > 0 { format!(" ({n_dropped} of your actions omitted)") } else { String::new() };
    let mark = if kept.len() < text.len() { " [… cut]" } else { "" };
    format!("Earlier turns of this conversation were left out to make room. In short{dropped}:\n{kept}{mark}")
}

/// Returns the lines of a message; true marks those said to the task.
fn lines_of(message: &Message) -> Vec<(bool, String)> {
    match message {
        Message::User { text } => vec![(true, format!("You were told: {}", short(text, SAID_BYTES)))],
        Message::Assistant { parts } => parts.iter().filter_map(|part| Some((false, line_of(part)?))).collect(),
        Message::Outputs { outputs } => {
            let line = |text: &str| (false, format!("  result: {}", short(text, DONE_BYTES)));
            outputs.iter().map(|output| line(&output.output.for_people)).collect()
        }
    }
}

fn line_of(part: &Part) -> Option<String> {
    match part {
        Part::Text { text } if !text.trim().is_empty() => Some(format!("You wrote: {}", short(text, DONE_BYTES))),
        Part::Call(call) => Some(format!("You called {}", short(&ToolCall::in_brief(call), DONE_BYTES))),
        Part::Text { .. } | Part::Reasoning(_) => None,
    }
}

/// Returns the beginning of a text.
fn short(text: &str, most: usize) -> String {
    let text = text.trim();
    let kept = &text[..cut(text, most)];
    if kept.len() < text.len() { format!("{kept}…") } else { kept.to_owned() }
}
