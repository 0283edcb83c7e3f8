//! Keeps a conversation within its model's window: shortened before it outgrows it, or when the provider says that it has.
//!
//! Old outputs go first; if that is not enough, all but the newest turns become a summary; if even these are too long, their
//! outputs are cut. The brief stays as it is, and so does what every request begins with. What was left out is in the log.
//! What is too dear for a report is left out of that one request, and stays in the conversation.

mod outputs;
mod summary;

use crate::conversation::history::SHORTENED;
use sortie_journal::JournalError;
use sortie_llm::{Terms, ToolChoice, estimate};
use sortie_protocol::{Compaction, Fact, Message, Summary, Usage};

use self::summary::{SUM_UP, by_the_model, digest};
use crate::budget::account::Bid;
use crate::conversation::history::History;
use crate::run::Run;
use crate::run::model_call::Turn;

/// What is taken for the window of a model of which nobody knows it, where nothing is lost by that.
const USUAL_WINDOW: u64 = 128_000;

/// What a reply is given room for where no cap is sent, at most.
const USUAL_REPLY: u64 = 16_384;

/// A share of the window that stays free, because sizes are estimates.
const MARGIN: u64 = 20;

/// Reports that come together have this share of what is left of the window.
const SHARE_OF_REPORTS: u64 = 4;

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

    /// Whether so many tokens are worth a summary of which so many are the summary before: to sum up little else would bring
    /// no room, unless that one is too long.
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

/// How much a request may make its model read, so that there is room for the reply.
fn most_input(window: u64, terms: &Terms) -> u64 {
    let reply = terms.output_cap.map_or(USUAL_REPLY.min(window / 4), |cap| cap.min(window / 2));
    window - reply - window / MARGIN
}

impl Run<'_> {
    /// Shortens the conversation if the next request would not fit the window, where that is known.
    pub(crate) async fn make_room(&mut self, tool_choice: ToolChoice) -> Result<(), JournalError> {
        let terms = &self.services.speaker.terms;
        let Some(most) = terms.window.map(|window| most_input(window, terms)) else { return Ok(()) };
        if self.gauge.measure(&self.history) > most {
            let bounds = Bounds::within(self.gauge.room(most), self.history.brief_tokens(), most);
            self.shorten(bounds, tool_choice).await?;
        }
        Ok(())
    }

    /// Shortens the conversation of which the provider has said that it does not fit. Whether anything could be left out.
    pub(crate) async fn make_more_room(&mut self, tool_choice: ToolChoice) -> Result<bool, JournalError> {
        let terms = &self.services.speaker.terms;
        let (refused, brief) = (self.gauge.measure(&self.history), self.history.brief_tokens());
        let known = terms.window.map_or(refused, |window| most_input(window, terms));
        // However long the brief is, something is left beside it.
        let least = brief + (self.history.tokens() - brief) / 4;
        let most = self.gauge.room(known.min(refused / 2)).max(least);
        // The request before was read, and had all but the newest turn. What is asked again has to fit, and no more.
        let bounds = Bounds { enough: most, ..Bounds::within(most, brief, refused) };
        self.shorten(bounds, tool_choice).await
    }

    /// Has the request for the report at a limit do with a part of the conversation, so that it can be paid for. Whether
    /// anything could be left out. Nothing is recorded: whoever goes on with more has all of it.
    pub(crate) async fn abridge(&mut self) -> Result<bool, JournalError> {
        let prices = self.services.speaker.terms.prices;
        let report = Bid { input_tokens: 0, max_output: 0, prices, is_report: true };
        let most = self.tally.account.most_input(&report);
        let (room, brief) = (self.gauge.room(most), self.history.brief_tokens());
        if room < brief + LEAST_DIGEST || self.gauge.measure(&self.history) <= most {
            return Ok(false);
        }
        let careful = room - (room - brief) / MARGIN;
        let shorter = self.shorter(Bounds::within(careful, brief, 0), ToolChoice::None).await?;
        let fits = |history: &History| self.gauge.measure(history) <= most;
        self.abridged = shorter
            .map(|shorter| shorter.history)
            .filter(fits)
            .or_else(|| Some(self.in_few_words(careful - brief)).filter(fits));
        Ok(self.abridged.is_some())
    }

    /// The brief, what was said and done since within so many tokens, and what is asked now.
    fn in_few_words(&self, room: u64) -> History {
        let asked = self.history.messages().len() - 1;
        let head = self.history.messages().get(1..asked).unwrap_or_default();
        let besides = self.history.messages().last().map_or(0, estimate::message_tokens) + DIGEST_HEAD;
        let summary = Summary {
            messages: head.len(),
            turns: n_turns(head),
            text: digest(head, estimate::bytes(room.saturating_sub(besides))),
        };
        let mut history = self.history.clone();
        history.shorten(&Compaction { stubs: Vec::new(), summary: Some(summary) });
        history
    }

    /// How many bytes of reports may join the conversation now, if all its outputs have joined it but for these. Old outputs
    /// make way for them.
    pub(crate) fn room_for_reports(&self, not_joined: usize) -> usize {
        let terms = &self.services.speaker.terms;
        // What a provider has read fits its window, however much it is.
        let at_least = || USUAL_WINDOW.max(self.gauge.measure(&self.history).saturating_mul(2));
        let most = self.gauge.room(most_input(terms.window.unwrap_or_else(at_least), terms));
        let tokens = self.history.tokens();
        // Where there is room anyway, nobody goes through the whole conversation for it.
        let is_short = terms.window.is_some() && tokens > most / 2;
        let spared = if is_short { self.spared_by_stubs(most) } else { 0 };
        let left = most.saturating_sub(tokens.saturating_sub(spared));
        estimate::bytes(left / SHARE_OF_REPORTS).saturating_sub(not_joined)
    }

    /// How many tokens fewer the conversation has once it is shortened, by its old outputs alone: that is what is done as soon
    /// as it outgrows the window, before the next request.
    fn spared_by_stubs(&self, most: u64) -> u64 {
        let bounds = Bounds::within(most, self.history.brief_tokens(), most);
        let tail = self.history.tail(bounds.part);
        outputs::spared(&self.history.messages()[..tail], &self.services.gate)
    }

    /// Shortens the conversation for good, unless it is no longer what is sent. Whether anything could be left out.
    async fn shorten(&mut self, bounds: Bounds, tool_choice: ToolChoice) -> Result<bool, JournalError> {
        if self.abridged.is_some() {
            return Ok(false);
        }
        let Some(Shorter { history, compaction, usage }) = self.shorter(bounds, tool_choice).await? else {
            return Ok(false);
        };
        self.sink.append(Fact::Compacted { compaction, usage }).await?;
        self.history = history;
        self.tally.notice(SHORTENED);
        Ok(true)
    }

    async fn shorter(&mut self, bounds: Bounds, tool_choice: ToolChoice) -> Result<Option<Shorter>, JournalError> {
        let tail = self.history.tail(bounds.part);
        let gate = &self.services.gate;
        let mut compaction =
            Compaction { stubs: outputs::stubs(&self.history.messages()[..tail], gate), summary: None };
        let mut history = self.history.clone();
        history.shorten(&compaction);
        let mut usage = Usage::default();
        if history.tokens() > bounds.enough {
            let (summary, used) = self.sum_up(&history, tail, bounds, tool_choice).await?;
            if summary.is_some() {
                // What it stands for has all of them.
                compaction = Compaction { stubs: Vec::new(), summary };
                history = self.history.clone();
                history.shorten(&compaction);
            }
            usage = used;
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

    /// What stands for all between the brief and the tail, and what it cost: in the model's words, or, where these are not
    /// to be had, in few of ours.
    async fn sum_up(
        &mut self,
        history: &History,
        tail: usize,
        bounds: Bounds,
        tool_choice: ToolChoice,
    ) -> Result<(Option<Summary>, Usage), JournalError> {
        let head = history.messages().get(1..tail).unwrap_or_default();
        let tokens: u64 = head.iter().map(estimate::message_tokens).sum();
        // At a limit nothing is left to pay for it.
        let is_paid = tool_choice == ToolChoice::Auto;
        if !bounds.are_worth_a_summary(tokens, if is_paid { history.summary_tokens() } else { 0 }) {
            return Ok((None, Usage::default()));
        }
        let request = history.head(tail, SUM_UP);
        let room = estimate::bytes(bounds.part);
        let fits = is_paid && self.gauge.measure(&request) <= bounds.readable;
        let written = if fits { self.ask_for_summary(&request).await? } else { None };
        let (text, usage) = match written {
            Some((text, usage)) if !text.trim().is_empty() => (by_the_model(&text, room), usage),
            written => (digest(head, room), written.map(|(_, usage)| usage).unwrap_or_default()),
        };
        Ok((Some(Summary { messages: head.len(), turns: n_turns(head), text }), usage))
    }

    /// Has the model sum up a conversation; `None` where that cannot be paid, or where nothing comes of it.
    async fn ask_for_summary(&mut self, request: &History) -> Result<Option<(String, Usage)>, JournalError> {
        let speaker = &self.services.speaker;
        let input_tokens = self.gauge.measure(request);
        let bid = Bid { input_tokens, max_output: SUMMARY_OUTPUT, prices: speaker.terms.prices, is_report: false };
        let lease = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Ok(None),
            () = speaker.deadline.passes() => return Ok(None),
            lease = self.tally.account.reserve_beside(bid) => lease,
        };
        let Ok(lease) = lease else { return Ok(None) };
        let number = self.tally.turns() + 1;
        let turn = Turn {
            number,
            is_beside: true,
            tool_choice: ToolChoice::None,
            input_tokens,
            max_output: lease.max_output().or(Some(SUMMARY_OUTPUT)),
            retries_made: 0,
            lease,
        };
        let Ok(reply) = speaker.call(self.job, request, turn, self.sink, self.cancel).await? else { return Ok(None) };
        Ok(Some((reply.text(), Usage { turns: 0, tool_calls: 0, ..reply.usage })))
    }
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
