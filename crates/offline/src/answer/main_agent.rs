//! Main agent: sends out explorers from several angles at once, then merges their reports into one answer.

use serde_json::json;

use super::angles::{Angle, angles};
use super::merge_reports::{self, AngleReport};
use super::{Answer, PlannedCall, explorer, overview};
use crate::question::Question;
use crate::question::intent::Intent;
use crate::request::conversation::Conversation;
use crate::request::tool_outputs;

/// Weight of a report that matches no angle.
const LATER: f64 = 0.2;

const REPORT: &str = "Report the best places first, as path:line with a few words each, and say what you did not find.";

/// Closing remark of every answer: what this is, and how to get more.
const CLOSING: &str = "This answer comes from the built-in rule-based model `offline`; no language model was used.\n\
                       To use one, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or for any compatible server\n\
                       LLM_MODEL_ID, LLM_BASE_URL and LLM_API_KEY, and run the same command again.";

const DECLINED: &str = "I cannot do this work: I am rules, not a language model, and I change nothing. What I can do is show \
                        where it would begin.";

const ABLE: &str = "I am `offline`, a set of rules and no language model: I cannot hold a conversation, write or change \
                    code, or reason about it. I can find my way in this workspace: ask where something is handled, \
                    defined or used, how something works, or which files deal with it, and I search for it and \
                    answer with file:line references.";

pub(super) fn answer(conversation: &Conversation<'_>) -> Answer {
    let question = Question::parse(conversation.prompt);
    let delegated: Vec<_> = conversation.exchanges().filter(|exchange| exchange.tool == "Task").collect();
    if delegated.is_empty() {
        return begin(conversation, &question);
    }
    if delegated.iter().all(|exchange| exchange.failed) && conversation.offers("Grep") {
        let answer = alone(conversation, &delegated[0].text);
        return if question.intent == Intent::Work { answer.declined(DECLINED) } else { answer };
    }
    let weights = angles(&question).into_iter().map(|angle| angle.weight).chain(std::iter::repeat(LATER));
    let reports: Vec<AngleReport<'_>> = delegated
        .iter()
        .zip(weights)
        .map(|(exchange, weight)| AngleReport {
            description: exchange.argument("description"),
            text: tool_outputs::report(&exchange.text),
            failed: exchange.failed,
            weight,
        })
        .collect();
    let answer = match question.intent {
        Intent::Overview => overview::merge(&reports),
        Intent::Work => merge_reports::merge(&question, &reports).declined(DECLINED),
        _ => merge_reports::merge(&question, &reports),
    };
    answer.map_text(close)
}

fn begin(conversation: &Conversation<'_>, question: &Question) -> Answer {
    let about_nothing = question.terms.is_empty() && question.paths.is_empty();
    if about_nothing && question.intent != Intent::Overview {
        let able = Answer::text(close(ABLE));
        return if question.intent == Intent::Work { able.declined(DECLINED) } else { able };
    }
    if conversation.must_answer {
        return Answer::Unanswered(close("No search was possible, so I know nothing about this yet."));
    }
    let calls = angles(question).into_iter().map(|angle| task(conversation.prompt, &angle)).collect();
    Answer::Calls { remark: "Searching from several angles.".to_owned(), calls }
}

/// Without sub-agents, the main agent searches itself, and says why.
fn alone(conversation: &Conversation<'_>, reason: &str) -> Answer {
    let reason = reason.lines().next().unwrap_or_default();
    explorer::answer(conversation).map_text(|report| close(&format!("{report}\n\nNo sub-agent could help ({reason}).")))
}

fn close(text: &str) -> String {
    format!("{text}\n\n{CLOSING}")
}

fn task(prompt: &str, angle: &Angle) -> PlannedCall {
    let question = angle.question.as_deref().unwrap_or(prompt.trim());
    let brief: Vec<&str> = [question, angle.focus, REPORT].into_iter().filter(|part| !part.is_empty()).collect();
    let arguments = json!({"description": angle.description, "prompt": brief.join("\n\n"), "subagent_type": "explore"});
    PlannedCall { tool: "Task", arguments }
}
