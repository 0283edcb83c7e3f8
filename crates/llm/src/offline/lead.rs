//! The main agent: sends explorers out from several angles at once, then merges what they report into one answer.

use serde_json::json;

use super::conversation::Conversation;
use super::merge::{self, AngleReport};
use super::outputs;
use super::question::{Focus, Intent, Question};
use super::search::PlannedCall;
use super::{Answer, explore};

/// One way to look at a question.
#[derive(Debug, Clone, PartialEq)]
struct Angle {
    description: &'static str,
    /// What the explorer is told beside the question; in prose, since that is all that it gets.
    focus: String,
}

const REPORT: &str = "Report the best places first, as path:line with a few words each, and say what you did not find.";

/// Said at the end of every answer: what this is, and how to get more.
const CLOSING: &str = "This answer comes from the built-in rule-based model `offline`: real searches, ranked by rules; \
                       no language model was used. For one, set ANTHROPIC_API_KEY or OPENAI_API_KEY,\n\
                       or LLM_MODEL_ID, LLM_BASE_URL and LLM_API_KEY for any compatible server,\n\
                       and run the same command again.";

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
    if delegated.iter().all(|exchange| exchange.output.failed) && conversation.offers("Grep") {
        return alone(conversation, delegated[0].output.for_model.as_str());
    }
    let reports: Vec<AngleReport<'_>> = delegated
        .iter()
        .map(|exchange| AngleReport {
            description: exchange.argument("description"),
            text: outputs::report(&exchange.output.for_model),
            failed: exchange.output.failed,
        })
        .collect();
    let mut text = String::new();
    if question.intent == Intent::Work {
        text += "I cannot do this work: I am rules, not a language model, and I change nothing. What I can do is show \
                 where it would begin.\n\n";
    }
    text += &merge::merge(&question, &reports);
    Answer::text(format!("{text}\n\n{CLOSING}"))
}

fn begin(conversation: &Conversation<'_>, question: &Question) -> Answer {
    if question.terms.is_empty() && question.paths.is_empty() {
        return Answer::text(format!("{ABLE}\n\n{CLOSING}"));
    }
    if conversation.must_answer {
        return Answer::text(format!("No search was possible, so I know nothing about this yet.\n\n{CLOSING}"));
    }
    let calls = angles(question).into_iter().map(|angle| task(conversation.prompt, &angle)).collect();
    Answer::Calls { remark: "Searching from several angles.".to_owned(), calls }
}

/// Without anyone to send, it looks for itself, and says why.
fn alone(conversation: &Conversation<'_>, reason: &str) -> Answer {
    match explore::answer(conversation) {
        Answer::Text(report) => {
            let reason = reason.lines().next().unwrap_or_default();
            Answer::text(format!("{report}\n\nNo sub-agent could help ({reason}).\n\n{CLOSING}"))
        }
        calls @ Answer::Calls { .. } => calls,
    }
}

/// The angles that fit a question, the most telling first; their order is their weight in the merge.
fn angles(question: &Question) -> Vec<Angle> {
    let implementation =
        Angle { description: "Find the implementation", focus: "Focus on the code that implements it.".to_owned() };
    let uses =
        Angle { description: "Find where it is used", focus: "Focus on where it is called and used.".to_owned() };
    let supporting = Angle {
        description: "Find tests and documents",
        focus: "Focus on tests, examples and documentation of it.".to_owned(),
    };
    match question.focus {
        Focus::Uses => vec![uses, implementation],
        Focus::Supporting => vec![supporting, implementation],
        Focus::Implementation => vec![implementation, uses, supporting],
    }
}

fn task(prompt: &str, angle: &Angle) -> PlannedCall {
    let prompt = format!("{}\n\n{}\n{REPORT}", prompt.trim(), angle.focus);
    let arguments = json!({"description": angle.description, "prompt": prompt, "subagent_type": "explore"});
    PlannedCall { tool: "Task", arguments }
}
