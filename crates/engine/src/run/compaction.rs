//! Keeps a conversation within its model's window: shortened before it outgrows it, or when the provider says that it
//! has.
//!
//! Old outputs go first; if that is not enough, all but the newest turns become a summary; if even these are too long,
//! their outputs are cut. The brief stays as it is, and so does what every request begins with. What was left out is in
//! the log. What is too dear for a report is left out of that one request, and stays in the conversation.

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

/// What a summary is given to be written with.
const SUMMARY_OUTPUT: u64 = 2048;

/// Fewer tokens than this are not worth a summary.
const LEAST_HEAD: u64 = 512;

/// Fewer tokens than this tell nothing.
const LEAST_DIGEST: u64 = 256;

/// What a digest begins with.
const DIGEST_HEAD: u64 = 64;

/// What it says where that was done for the report alone.
pub(crate) const ABRIDGED: &str = "the report was asked for with parts of the conversation left out, for want of tokens or \
                                   money; a resume with more has all of it";

/// How many tokens, as they are estimated, a conversation may have.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    most: u64,
    /// What it is shortened to, so that it can grow for a while.
    enough: u64,
    /// What its newest turns may have, so that they stay as they are; and as much, what stands for the older ones.
    part: u64,
    /// What the model can read to sum it up, in tokens of its request.
    readable: u64,
}

impl Bounds {
    /// The brief stays as it is, so only what there is room for beside it is divided.
    fn within(most: u64, brief: u64, readable: u64) -> Self {
        let beside = most.saturating_sub(brief);
        Self { most, enough: brief + beside / 2, part: beside / 4, readable }
    }

    /// Whether so many tokens are worth a summary of which so many are the summary before: to sum up little else would
    /// bring no room, unless that one is too long.
    fn are_worth_a_summary(self, tokens: u64, before: u64) -> bool {
        let before = before.min(self.part);
        tokens.saturating_sub(before) >= LEAST_HEAD.max(before)
    }
}

/// A conversation with something left out.
struct Shorter {
    history: History,
    compaction: Compaction,
    /// What the summary cost.
    usage: Usage,
}

/// A summary, if one is worth it, and what it cost.
#[derive(Default)]
struct SummedUp {
    summary: Option<Summary>,
    usage: Usage,
}

/// Shortens the conversation if the next request would not fit the window, where that is known.
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

/// Shortens the conversation of which the provider has said that it does not fit. Whether anything could be left out.
pub(crate) async fn make_more_room(run: &mut Run<'_>, tool_choice: ToolChoice) -> Result<bool, JournalError> {
    let terms = &run.services.model_caller.terms;
    let (history, request_size) = (run.record.history(), run.request_size());
    let (refused, brief) = (request_size.measure(&history), history.brief_tokens());
    let known = terms.window.map_or(refused, |window| most_input(window, terms));
    // However long the brief is, something is left beside it.
    let least = brief + (history.tokens() - brief) / 4;
    drop(history);
    let most = request_size.room(known.min(refused / 2)).max(least);
    // The request before was read, and had all but the newest turn. What is asked again has to fit, and no more.
    let bounds = Bounds { enough: most, ..Bounds::within(most, brief, refused) };
    shorten(run, bounds, tool_choice).await
}

/// Has the request for the report at a limit do with a part of the conversation, so that it can be paid for. Whether
/// anything could be left out. Nothing is recorded: whoever goes on with more has all of it.
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

/// The brief, what was said and done since within so many tokens, and what is asked now.
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

/// How many tokens fewer a conversation has once it is shortened, by its old outputs alone: that is what is done as
/// soon as it outgrows the window, before the next request.
pub(crate) fn spared_by_stubs(history: &History, most: u64, gate: &Gate) -> u64 {
    let bounds = Bounds::within(most, history.brief_tokens(), most);
    let tail = history.tail(bounds.part);
    outputs::spared(&history.messages()[..tail], gate)
}

/// Shortens the conversation for good, unless it is no longer what is sent. Whether anything could be left out.
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
            // What it stands for has all of them.
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

/// What stands for all between the brief and the tail: in the model's words, or, where these are not to be had, in few
/// of ours.
async fn sum_up(
    run: &Run<'_>,
    history: &History,
    tail: usize,
    bounds: Bounds,
    tool_choice: ToolChoice,
) -> Result<SummedUp, JournalError> {
    let head = history.messages().get(1..tail).unwrap_or_default();
    let tokens: u64 = head.iter().map(estimate::message_tokens).sum();
    // At a limit nothing is left to pay for it.
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

/// Has the model sum up a conversation; `None` where that cannot be paid, or where nothing comes of it.
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
    fn what_is_summed_up_is_more_than_the_summary_before() {
        let bounds = Bounds::within(10_000, 2000, 0);
        assert_eq!((bounds.enough, bounds.part), (6000, 2000));
        let heads = [(511, 0), (512, 0), (100 + 511, 100), (1500 + 1499, 1500), (1500 + 1500, 1500)];
        let worth = heads.map(|(tokens, before)| bounds.are_worth_a_summary(tokens, before));
        assert_eq!(worth, [false, true, false, false, true]);
        assert!(bounds.are_worth_a_summary(4500, 4400), "one of a larger window is too long itself");
    }
}
