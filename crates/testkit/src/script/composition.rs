//! From a scripted reply to the complete [`Reply`]: ids, stop reason and usage filled in.

use sortie_protocol::{CallId, Part, Reasoning, Reply, StopReason, ToolCall, Usage};

use super::{Fault, ScriptedPart, ScriptedReply};

const LAST_TASK: &str = "<last task>";

/// Circumstances of a reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Composition<'a> {
    pub(crate) model: &'a str,
    pub(crate) turn: u32,
    /// Size of the request, for the usage.
    pub(crate) input_bytes: usize,
    /// Prefix of call ids: `call` or `toolu`.
    pub(crate) id_prefix: &'a str,
    pub(crate) reasoning: fn(&str) -> Reasoning,
    /// Ids of all tasks mentioned in the request, with repetitions.
    pub(crate) tasks: &'a [String],
    /// First word of the prompt.
    pub(crate) me: &'a str,
}

/// Fills in the gaps of the script. Faults that only change the content are applied here, all others are not.
pub(crate) fn compose(scripted: &ScriptedReply, composition: Composition<'_>) -> Reply {
    let mut parts = Vec::with_capacity(scripted.parts.len());
    if scripted.fault != Some(Fault::Empty) {
        for part in &scripted.parts {
            let place = parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
            parts.push(compose_part(part, place, composition));
        }
    }
    let has_calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    let mut stop = scripted.stop.unwrap_or(if has_calls { StopReason::Calls } else { StopReason::End });
    if scripted.fault == Some(Fault::TruncatedArguments) {
        truncate_last_call(&mut parts);
        stop = StopReason::Length;
    }
    let usage = scripted.usage.unwrap_or_else(|| usage_of(&parts, composition.input_bytes));
    Reply { parts, stop, usage, usage_doubted: false, usage_high: false, model: composition.model.to_owned() }
}

fn compose_part(part: &ScriptedPart, place: usize, composition: Composition<'_>) -> Part {
    let turn = composition.turn.to_string();
    let named = |text: &str| text.replace("<me>", composition.me).replace("<turn>", &turn);
    let call = |id: &Option<String>, tool: &str, arguments: String| {
        let arguments = with_tasks(named(&arguments), composition.tasks);
        let made = || format!("{}_{turn}_{}", composition.id_prefix, place + 1);
        let id = id.as_deref().map_or_else(made, named);
        Part::Call(ToolCall { id: CallId(id), tool: tool.to_owned(), arguments })
    };
    match part {
        ScriptedPart::Text(text) => Part::Text { text: named(text) },
        ScriptedPart::Reasoning(text) => Part::Reasoning((composition.reasoning)(text)),
        ScriptedPart::Call(scripted) => call(&scripted.id, &scripted.tool, scripted.arguments.to_string()),
        ScriptedPart::RawCall(scripted) => call(&scripted.id, &scripted.tool, scripted.arguments.clone()),
    }
}

/// Replaces `<task 1>` by the first task that the request mentions, and so on, and `<last task>` by the one mentioned
/// last.
fn with_tasks(arguments: String, tasks: &[String]) -> String {
    let mut named: Vec<&String> = Vec::new();
    for task in tasks {
        if !named.contains(&task) {
            named.push(task);
        }
    }
    let places = named.into_iter().enumerate();
    let text = places.fold(arguments, |text, (place, task)| text.replace(&format!("<task {}>", place + 1), task));
    tasks.last().into_iter().fold(text, |text, task| text.replace(LAST_TASK, task))
}

/// Returns the task ids in a request, with repetitions; none if the reply does not refer to any.
pub(crate) fn tasks_for(scripted: &ScriptedReply, request: impl FnOnce() -> String) -> Vec<String> {
    let speaks_of_tasks = |arguments: &str| arguments.contains("<task ") || arguments.contains(LAST_TASK);
    let speaks_of_tasks = scripted.parts.iter().any(|part| match part {
        ScriptedPart::Call(call) => speaks_of_tasks(&call.arguments.to_string()),
        ScriptedPart::RawCall(call) => speaks_of_tasks(&call.arguments),
        ScriptedPart::Text(_) | ScriptedPart::Reasoning(_) => false,
    });
    if !speaks_of_tasks {
        return Vec::new();
    }
    let text = request();
    let mut tasks = Vec::new();
    for (at, prefix) in text.match_indices("agent-") {
        let letters = text[at + prefix.len()..].bytes().take_while(u8::is_ascii_lowercase).count();
        if letters == 12 {
            tasks.push(text[at..at + prefix.len() + letters].to_owned());
        }
    }
    tasks
}

fn truncate_last_call(parts: &mut [Part]) {
    if let Some(Part::Call(call)) = parts.iter_mut().rev().find(|part| matches!(part, Part::Call(_))) {
        let half = call.arguments.floor_char_boundary(call.arguments.len() / 2);
        call.arguments.truncate(half);
    }
}

fn usage_of(parts: &[Part], input_bytes: usize) -> Usage {
    let output_bytes: usize = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.len(),
            Part::Reasoning(reasoning) => reasoning.item.to_string().len(),
            Part::Call(call) => call.tool.len() + call.arguments.len(),
        })
        .sum();
    Usage { input_tokens: tokens(input_bytes), output_tokens: tokens(output_bytes), turns: 1, ..Usage::default() }
}

/// A rough count, at least one.
fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}
