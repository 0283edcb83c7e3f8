//! Main agent: sends out explorers from several angles at once, then merges their reports into one answer.

use super::angles::{Angle, angles};
use super::merge_reports::{self, AngleReport};
use super::report::CUT_SHORT;
use super::{Answer, PlannedCall, explorer};
use crate::question::Question;
use crate::question::intent::Intent;
use crate::question::unsearchable::Unsearchable;
use crate::request::conversation::{Conversation, Exchange};
use crate::request::delegation::Delegation;
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
                    code, or reason about it. I can find my way in this workspace: ask where something is handled or \
                    used, what a name is, how something works, which files deal with it, or what a file contains. I \
                    also list TODOs, dependencies and the commands for tests. I search, and answer with file:line \
                    references.";

const COMMAND: &str = "This looks like a command: run it in your shell. I only search; ask where something is handled, \
                       defined or used.";

const GIT: &str = "This is about the history in git, and I search only files as they are now. `git log`, `git show --stat` \
                   and `git diff` show what changed.";

const FOREIGN: &str = "I understand English only. Ask in English, or name a file or an identifier, which is the same in every \
                       language.";

/// Explains that no search can serve the prompt.
pub(super) fn decline(why: Unsearchable) -> Answer {
    Answer::Unanswered(close(match why {
        Unsearchable::Command => COMMAND,
        Unsearchable::Git => GIT,
        Unsearchable::Foreign => FOREIGN,
    }))
}

/// True for a brief that this agent wrote for a sub-agent.
pub(super) fn is_brief(prompt: &str) -> bool {
    prompt.ends_with(REPORT)
}

pub(super) fn answer(conversation: &Conversation<'_>, delegation: &Delegation<'_>) -> Answer {
    let question = Question::parse(conversation.prompt);
    let delegated: Vec<_> = conversation.exchanges().filter(|exchange| conversation.delegates(exchange)).collect();
    if delegated.is_empty() {
        return begin(conversation, &question, delegation);
    }
    if delegated.iter().all(|exchange| exchange.failed) && conversation.offers("Grep") {
        let answer = alone(conversation, &delegated[0].text);
        return if question.intent == Intent::Work { answer.declined(DECLINED) } else { answer };
    }
    let is_cut = |exchange: &&Exchange<'_>| exchange.text.contains(CUT_SHORT);
    if delegated.iter().all(is_cut) && conversation.offers("Grep") {
        return alone(conversation, "their limits cut every search short");
    }
    let angles = angles(&question);
    let weights = angles.iter().map(|angle| angle.weight).chain(std::iter::repeat(LATER));
    let titles = angles.iter().map(|angle| angle.description.as_str()).chain(std::iter::repeat("one more"));
    let reports: Vec<AngleReport<'_>> = delegated
        .iter()
        .zip(titles.zip(weights))
        .map(|(exchange, (description, weight))| AngleReport {
            description,
            text: tool_outputs::report(&exchange.text),
            failed: exchange.failed,
            weight,
        })
        .collect();
    let merged = if question.is_about_facts() {
        merge_reports::pass_on(&reports)
    } else {
        merge_reports::merge(&question, &reports)
    };
    let answer = if question.intent == Intent::Work { merged.declined(DECLINED) } else { merged };
    answer.map_text(close)
}

fn begin(conversation: &Conversation<'_>, question: &Question, delegation: &Delegation<'_>) -> Answer {
    if question.terms.is_empty() && !question.is_about_facts() {
        let able = Answer::text(close(ABLE));
        return if question.intent == Intent::Work { able.declined(DECLINED) } else { able };
    }
    if conversation.must_answer {
        return Answer::Unanswered(close("No search was possible, so I know nothing about this yet."));
    }
    let calls = angles(question).into_iter().map(|angle| task(conversation.prompt, &angle, delegation)).collect();
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

fn task(prompt: &str, angle: &Angle, delegation: &Delegation<'_>) -> PlannedCall {
    let question = angle.question.as_deref().unwrap_or(prompt.trim());
    let brief: Vec<&str> = [question, angle.focus, REPORT].into_iter().filter(|part| !part.is_empty()).collect();
    let arguments = delegation.arguments(&angle.description, &brief.join("\n\n"));
    PlannedCall::of(delegation.tool, arguments)
}
