//! The explorer: what an agent with search tools and no one to delegate to says next.

use super::Answer;
use super::conversation::Conversation;
use super::evidence::Evidence;
use super::question::{Question, loosened};
use super::report::report;
use super::search::{next_calls, survey};

/// The next calls, or the report.
pub(super) fn answer(conversation: &Conversation<'_>) -> Answer {
    let (question, evidence) = look(conversation);
    let calls = if conversation.must_answer { Vec::new() } else { next_step(conversation, &question, &evidence) };
    if calls.is_empty() { Answer::text(report(&question, &evidence)) } else { Answer::calls(calls) }
}

/// The question as it is being searched for, with what was found. Where its own words found nothing, looser ones do.
pub(super) fn look(conversation: &Conversation<'_>) -> (Question, Evidence) {
    let question = Question::parse(conversation.prompt);
    let evidence = Evidence::gather(&question, conversation);
    if conversation.search_rounds() < 2 || !evidence.all_counts().all(std::collections::BTreeMap::is_empty) {
        return (question, evidence);
    }
    let looser = loosened(&question);
    let evidence = Evidence::gather(&looser, conversation);
    (looser, evidence)
}

fn next_step(
    conversation: &Conversation<'_>,
    question: &Question,
    evidence: &Evidence,
) -> Vec<super::search::PlannedCall> {
    let mut calls = if conversation.search_rounds() == 1 && evidence.is_empty() {
        survey(&loosened(question))
    } else {
        next_calls(question, evidence)
    };
    calls.retain(|call| conversation.offers(call.tool));
    calls
}
