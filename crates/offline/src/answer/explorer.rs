//! Explorer: the next turn of an agent that can search and cannot delegate.

use std::collections::BTreeMap;

use super::next_calls::{list_workspace, next_calls, survey};
use super::report::{plan, report};
use super::{Answer, PlannedCall, file_outline, overview, project_facts};
use crate::language::stem::stem;
use crate::language::words::words;
use crate::question::Question;
use crate::question::intent::Intent;
use crate::ranking::evidence::Evidence;
use crate::request::conversation::Conversation;

/// Returns the next calls, or the report.
pub(super) fn answer(conversation: &Conversation<'_>) -> Answer {
    let question = Question::parse(conversation.prompt);
    if question.is_about_files() {
        return file_outline::answer(conversation, &question);
    }
    match question.intent {
        Intent::Overview => return overview::answer(conversation),
        Intent::Todos | Intent::Dependencies | Intent::RunTests => {
            return project_facts::answer(conversation, question.intent);
        }
        _ => {}
    }
    let (question, evidence) = look(conversation, question);
    let calls = if conversation.must_answer { Vec::new() } else { next_step(conversation, &question, &evidence) };
    if !calls.is_empty() {
        return Answer::calls(calls);
    }
    let plans = words(&conversation.role_sentence()).any(|word| stem(word) == "plan");
    if plans { plan(&question, &evidence) } else { report(&question, &evidence) }
}

/// Returns the question being searched for, with its evidence. If its own words found nothing, looser ones are used.
fn look(conversation: &Conversation<'_>, question: Question) -> (Question, Evidence) {
    let evidence = Evidence::gather(&question, conversation);
    if conversation.search_rounds() < 2 || !evidence.all_counts().all(BTreeMap::is_empty) {
        return (question, evidence);
    }
    let looser = question.loosened();
    let evidence = Evidence::gather(&looser, conversation);
    (looser, evidence)
}

fn next_step(conversation: &Conversation<'_>, question: &Question, evidence: &Evidence) -> Vec<PlannedCall> {
    let mut calls = if conversation.search_rounds() == 1 && evidence.is_empty() {
        survey(&question.loosened()).into_iter().chain([list_workspace()]).collect()
    } else {
        next_calls(question, evidence)
    };
    calls.retain(|call| conversation.offers(&call.tool));
    calls
}
