//! Keeps a conversation within its model's window: shortened before it outgrows it, or when the provider says that it has.
//!
//! Old outputs go first; if that is not enough, all but the newest turns become a summary; if even these are too long, their
//! outputs are cut. The brief stays as it is, and so does what every request begins with. What was left out is in the log.

mod outputs;
mod summary;

use sortie_journal::JournalError;
use sortie_llm::{Terms, ToolChoice, estimate};
use sortie_protocol::{Compaction, Fact, Message, Summary, Usage};

use self::summary::{SUM_UP, by_the_model, digest};
use crate::account::Bid;
use crate::history::History;
use crate::run::Run;
use crate::turn::Turn;

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

/// What the outcome says of it.
pub(crate) const SHORTENED: &str =
    "the conversation was shortened to fit the model's window, or what was left to spend; the log has all of it";

/// How many tokens, as they are estimated, a conversation may have.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    most: u64,
    /// What it is shortened to, so that it can grow for a while.
    enough: u64,
    /// What its newest turns may have, so that they stay as they are.
    tail: u64,
}

impl Bounds {
    fn within(most: u64) -> Self {
        Self { most, enough: most / 2, tail: most / 4 }
    }
}

/// Into how much a conversation has to fit, in tokens of its request.
#[derive(Debug, Clone, Copy)]
struct Fit {
    most: u64,
    /// What the model can read to sum it up.
    readable: u64,
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
            self.shorten(Fit { most, readable: most }, tool_choice).await?;
        }
        Ok(())
    }

    /// Shortens the conversation of which the provider has said that it does not fit. Whether anything could be left out.
    pub(crate) async fn make_more_room(&mut self, tool_choice: ToolChoice) -> Result<bool, JournalError> {
        let terms = &self.services.speaker.terms;
        let refused = self.gauge.measure(&self.history);
        let known = terms.window.map_or(refused, |window| most_input(window, terms));
        // The request before was read, and had all but the newest turn.
        self.shorten(Fit { most: known.min(refused - refused / 4), readable: refused }, tool_choice).await
    }

    /// Shortens the conversation so that the report at a limit can be paid. Whether anything could be left out.
    pub(crate) async fn make_it_cheaper(&mut self) -> Result<bool, JournalError> {
        let prices = self.services.speaker.terms.prices;
        let report = Bid { input_tokens: 0, max_output: 0, prices, is_report: true };
        let most = self.tally.account.most_input(&report);
        if self.gauge.room(most) < LEAST_HEAD || self.gauge.measure(&self.history) <= most {
            return Ok(false);
        }
        self.shorten(Fit { most: most - most / MARGIN, readable: 0 }, ToolChoice::None).await
    }

    /// How many bytes of reports may join the conversation now, if all its outputs have joined it but for these.
    pub(crate) fn room_for_reports(&self, not_joined: usize) -> usize {
        let terms = &self.services.speaker.terms;
        let most = self.gauge.room(most_input(terms.window.unwrap_or(USUAL_WINDOW), terms));
        let left = most.saturating_sub(self.history.tokens());
        estimate::bytes(left / SHARE_OF_REPORTS).saturating_sub(not_joined)
    }

    async fn shorten(&mut self, fit: Fit, tool_choice: ToolChoice) -> Result<bool, JournalError> {
        let bounds = Bounds::within(self.gauge.room(fit.most));
        let tail = self.history.tail(bounds.tail);
        let gate = &self.services.gate;
        let mut compaction =
            Compaction { stubs: outputs::stubs(&self.history.messages()[..tail], gate), summary: None };
        let mut shorter = self.history.clone();
        shorter.shorten(&compaction);
        let mut usage = Usage::default();
        if shorter.tokens() > bounds.enough {
            let (summary, used) = self.sum_up(&shorter, tail, (fit, bounds), tool_choice).await?;
            if summary.is_some() {
                // What it stands for has all of them.
                compaction = Compaction { stubs: Vec::new(), summary };
                shorter = self.history.clone();
                shorter.shorten(&compaction);
            }
            usage = used;
        }
        let excess = shorter.tokens().saturating_sub(bounds.most);
        if excess > 0 {
            let tail = shorter.tail(bounds.tail);
            let cuts = Compaction { stubs: outputs::cuts(&shorter.messages()[tail..], excess, gate), summary: None };
            shorter.shorten(&cuts);
            compaction.stubs.extend(cuts.stubs);
        }
        if compaction.is_nothing() {
            return Ok(false);
        }
        self.sink.append(Fact::Compacted { compaction, usage }).await?;
        self.history = shorter;
        self.tally.notice(SHORTENED);
        Ok(true)
    }

    /// What stands for all between the brief and the tail, and what it cost: in the model's words, or, where these are not
    /// to be had, in few of ours.
    async fn sum_up(
        &mut self,
        history: &History,
        tail: usize,
        (fit, bounds): (Fit, Bounds),
        tool_choice: ToolChoice,
    ) -> Result<(Option<Summary>, Usage), JournalError> {
        let head = history.messages().get(1..tail).unwrap_or_default();
        if head.iter().map(estimate::message_tokens).sum::<u64>() < LEAST_HEAD {
            return Ok((None, Usage::default()));
        }
        let request = history.head(tail, SUM_UP);
        let room = estimate::bytes(bounds.enough / 2);
        // At a limit nothing is left to pay for it.
        let fits = tool_choice == ToolChoice::Auto && self.gauge.measure(&request) <= fit.readable;
        let written = if fits { self.ask_for_summary(&request).await? } else { None };
        let (text, usage) = match written {
            Some((text, usage)) if !text.trim().is_empty() => (by_the_model(&text, room), usage),
            written => (digest(head, room), written.map(|(_, usage)| usage).unwrap_or_default()),
        };
        let turns = head.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        Ok((Some(Summary { messages: head.len(), turns, text }), usage))
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
        let turn = Turn { number, is_beside: true, tool_choice: ToolChoice::None, input_tokens, lease };
        let Ok(reply) = speaker.call(self.job, request, turn, self.sink, self.cancel).await? else { return Ok(None) };
        Ok(Some((reply.text(), Usage { turns: 0, tool_calls: 0, ..reply.usage })))
    }
}
