//! Compaction: keeps a conversation within its model's window. It is shortened before it gets too long, or when the
//! provider says that it is.
//!
//! Old outputs go first. If that is not enough, all but the newest turns become a summary. If even these are too long,
//! their outputs are cut. The brief and the beginning of every request stay as they are, and the log keeps what was
//! left out. Parts that are too expensive for a report are left out of that one request only.

mod outputs;
mod summary;

use std::sync::Arc;

use sortie_journal::JournalError;
use sortie_llm::{ToolChoice, estimate};
use sortie_protocol::{Compaction, Fact, Message, Reply, Summary, Usage};

use self::summary::{SUM_UP, by_the_model, digest};
use crate::budget::account::Bid;
use crate::conversation::history::History;
use crate::gate::Gate;
use crate::run::Run;
use crate::run::context_window::{MARGIN, most_input};
use crate::run::model_call::{CallEnd, ModelCall};

/// Longest summary by a model.
const SUMMARY_OUTPUT: u64 = 2048;

/// Fewer tokens are not worth a summary.
const LEAST_HEAD: u64 = 512;

/// Fewer tokens tell nothing.
const LEAST_DIGEST: u64 = 256;

/// Size of a digest's heading.
const DIGEST_HEAD: u64 = 64;

/// Notice if parts were left out for the report only.
pub(crate) const ABRIDGED: &str = "parts of the conversation were left out of the request for the report, since \
    tokens or money were short; a resume with more has all of it";

/// Limits on a conversation, in estimated tokens.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    most: u64,
    /// Target of a compaction, so that the conversation can grow for a while.
    enough: u64,
    /// Largest size of the newest turns that stay unchanged, and of the summary of older ones.
    part: u64,
    /// Largest request for a summary.
    readable: u64,
}

impl Bounds {
    /// Divides the space that the brief leaves; the brief stays as it is.
    fn within(most: u64, brief: u64, readable: u64) -> Self {
        let beside = most.saturating_sub(brief);
        Self { most, enough: brief + beside / 2, part: beside / 4, readable }
    }

    /// True if so many tokens are worth a summary, with `before` of them from the previous one. Otherwise a new summary
    /// would gain nothing, unless the previous one is too long.
    fn are_worth_a_summary(self, tokens: u64, before: u64) -> bool {
        let before = before.min(self.part);
        tokens.saturating_sub(before) >= LEAST_HEAD.max(before)
    }
}

/// A conversation with parts left out.
struct Shorter {
    history: History,
    compaction: Compaction,
    /// Cost of the summary.
    usage: Usage,
}

/// A summary, if one is worth it, and its cost.
#[derive(Default)]
struct SummedUp {
    summary: Option<Summary>,
    usage: Usage,
}

/// Shortens the conversation if the next request would not fit the window, as far as that is known.
pub(crate) async fn make_room(run: &mut Run<'_>, tool_choice: ToolChoice) -> Result<(), JournalError> {
    let terms = &run.services.model_caller.terms;
    let Some(most) = terms.window.map(|window| most_input(window, terms)) else { return Ok(()) };
    let (history, request_size) = (run.record.history(), run.request_size());
    if request_size.measure(&history) > most {
        let bounds = Bounds::within(request_size.room(most), history.brief_tokens(), most);
        drop(history);
        shorten(run, bounds, tool_choice).await?;
    }
    Ok(())
}

/// Shortens a conversation that the provider refused as too long. Returns false if nothing could be left out.
pub(crate) async fn make_more_room(run: &mut Run<'_>, tool_choice: ToolChoice) -> Result<bool, JournalError> {
    let terms = &run.services.model_caller.terms;
    let (history, request_size) = (run.record.history(), run.request_size());
    let (refused, brief) = (request_size.measure(&history), history.brief_tokens());
    let known = terms.window.map_or(refused, |window| most_input(window, terms));
    // Leaves some space, however long the brief is.
    let least = brief + (history.tokens() - brief) / 4;
    drop(history);
    let most = request_size.room(known.min(refused / 2)).max(least);
    // The previous request fitted, and had all but the newest turn. So the retry needs to be no shorter than that.
    let bounds = Bounds { enough: most, ..Bounds::within(most, brief, refused) };
    shorten(run, bounds, tool_choice).await
}

/// Shortens the request for the report at a limit, so that the task can pay for it. Returns false if nothing could be
/// left out. Nothing is recorded: a resume with higher limits has the whole conversation.
pub(crate) async fn abridge(run: &mut Run<'_>) -> Result<bool, JournalError> {
    let prices = run.services.model_caller.terms.prices;
    let report = Bid { input_tokens: 0, max_output: 0, prices, is_report: true };
    let most = run.unrecorded.account.most_input(&report);
    let (history, request_size) = (run.record.history(), run.request_size());
    let (room, brief) = (request_size.room(most), history.brief_tokens());
    if room < brief + LEAST_DIGEST || request_size.measure(&history) <= most {
        return Ok(false);
    }
    let careful = room - (room - brief) / MARGIN;
    let shorter = shorter(run, Bounds::within(careful, brief, 0), ToolChoice::None).await?;
    let fits = |history: &History| request_size.measure(history) <= most;
    let abridged = shorter
        .map(|shorter| shorter.history)
        .filter(fits)
        .or_else(|| Some(in_few_words(&history, careful - brief)).filter(fits));
    run.abridged = abridged.map(Arc::new);
    Ok(run.abridged.is_some())
}

/// Returns the brief, a digest of what followed within so many tokens, and the last message.
fn in_few_words(history: &History, room: u64) -> History {
    let asked = history.messages().len() - 1;
    let head = history.messages().get(1..asked).unwrap_or_default();
    let besides = history.messages().last().map_or(0, estimate::message_tokens) + DIGEST_HEAD;
    let summary = Summary {
        messages: head.len(),
        turns: n_turns(head),
        text: digest(head, estimate::bytes(room.saturating_sub(besides))),
    };
    let mut shortened = history.clone();
    shortened.shorten(&Compaction { stubs: Vec::new(), summary: Some(summary) });
    shortened
}

/// Returns the tokens saved by shortening old outputs alone: the first step once a conversation outgrows the window.
pub(crate) fn spared_by_stubs(history: &History, most: u64, gate: &Gate) -> u64 {
    let bounds = Bounds::within(most, history.brief_tokens(), most);
    let tail = history.tail(bounds.part);
    outputs::spared(&history.messages()[..tail], gate)
}

/// Shortens the conversation for good, unless an abridged one is in use. Returns false if nothing could be left out.
async fn shorten(run: &mut Run<'_>, bounds: Bounds, tool_choice: ToolChoice) -> Result<bool, JournalError> {
    if run.abridged.is_some() {
        return Ok(false);
    }
    let Some(Shorter { compaction, usage, .. }) = shorter(run, bounds, tool_choice).await? else { return Ok(false) };
    run.sink.append(Fact::Compacted { compaction, usage }).await?;
    Ok(true)
}

async fn shorter(run: &Run<'_>, bounds: Bounds, tool_choice: ToolChoice) -> Result<Option<Shorter>, JournalError> {
    let whole = run.record.history();
    let tail = whole.tail(bounds.part);
    let gate = &run.services.gate;
    let mut compaction = Compaction { stubs: outputs::stubs(&whole.messages()[..tail], gate), summary: None };
    let mut history = History::clone(&whole);
    history.shorten(&compaction);
    let mut usage = Usage::default();
    if history.tokens() > bounds.enough {
        let summed_up = sum_up(run, &history, tail, bounds, tool_choice).await?;
        if summed_up.summary.is_some() {
            // The summary covers all stubs.
            compaction = Compaction { stubs: Vec::new(), summary: summed_up.summary };
            history = History::clone(&whole);
            history.shorten(&compaction);
        }
        usage = summed_up.usage;
    }
    let excess = history.tokens().saturating_sub(bounds.most);
    if excess > 0 {
        let tail = history.tail(bounds.part);
        let cuts = Compaction { stubs: outputs::cuts(&history.messages()[tail..], excess, gate), summary: None };
        history.shorten(&cuts);
        compaction.stubs.extend(cuts.stubs);
    }
    Ok((!compaction.is_nothing()).then_some(Shorter { history, compaction, usage }))
}

/// Sums up everything between the brief and the tail: in the model's words if possible, else in a few of ours.
async fn sum_up(
    run: &Run<'_>,
    history: &History,
    tail: usize,
    bounds: Bounds,
    tool_choice: ToolChoice,
) -> Result<SummedUp, JournalError> {
    let head = history.messages().get(1..tail).unwrap_or_default();
    let tokens: u64 = head.iter().map(estimate::message_tokens).sum();
    // At a limit there is nothing left to pay for it.
    let is_paid = tool_choice == ToolChoice::Auto;
    if !bounds.are_worth_a_summary(tokens, if is_paid { history.summary_tokens() } else { 0 }) {
        return Ok(SummedUp::default());
    }
    let request = history.head(tail, SUM_UP);
    let room = estimate::bytes(bounds.part);
    let fits = is_paid && run.request_size().measure(&request) <= bounds.readable;
    let written = if fits { ask_for_summary(run, &request).await? } else { None };
    let by_model = written.as_ref().map(Reply::text).filter(|text| !text.trim().is_empty());
    let text = by_model.map_or_else(|| digest(head, room), |text| by_the_model(&text, room));
    let usage = written.map(|reply| Usage { turns: 0, tool_calls: 0, ..reply.usage }).unwrap_or_default();
    Ok(SummedUp { summary: Some(Summary { messages: head.len(), turns: n_turns(head), text }), usage })
}

/// Asks the model for a summary; `None` if there is nothing to pay for it, or the call fails.
async fn ask_for_summary(run: &Run<'_>, request: &History) -> Result<Option<Reply>, JournalError> {
    let model_caller = &run.services.model_caller;
    let input_tokens = run.request_size().measure(request);
    let bid = Bid { input_tokens, max_output: SUMMARY_OUTPUT, prices: model_caller.terms.prices, is_report: false };
    let lease = tokio::select! {
        biased;
        () = run.cancel.cancelled() => return Ok(None),
        () = model_caller.deadline.passes() => return Ok(None),
        lease = run.unrecorded.account.reserve_beside(bid) => lease,
    };
    let Ok(lease) = lease else { return Ok(None) };
    let turn = ModelCall {
        number: run.record.look(|record| record.totals.turns) + 1,
        is_beside: true,
        tool_choice: ToolChoice::None,
        input_tokens,
        max_output: lease.max_output().or(Some(SUMMARY_OUTPUT)),
        retries_made: 0,
        lease,
    };
    let end = model_caller.call(run.job, request, turn, run.sink, run.cancel).await?;
    Ok(if let CallEnd::Reply(reply) = end { Some(reply) } else { None })
}

fn n_turns(messages: &[Message]) -> usize {
    messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_covers_more_than_the_previous_one() {
        let bounds = Bounds::within(10_000, 2000, 0);
        assert_eq!((bounds.enough, bounds.part), (6000, 2000));
        let heads = [(511, 0), (512, 0), (100 + 511, 100), (1500 + 1499, 1500), (1500 + 1500, 1500)];
        let worth = heads.map(|(tokens, before)| bounds.are_worth_a_summary(tokens, before));
        assert_eq!(worth, [false, true, false, false, true]);
        assert!(bounds.are_worth_a_summary(4500, 4400), "one of a larger window is too long itself");
    }
}
