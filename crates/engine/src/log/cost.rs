//! The cost of one task, from its log: by model, how much of its input repeats earlier input, and how far estimates
//! were off. Descendants are not included; the caller adds them up.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Fact, ModelChoice, TaskId, Usage};

/// The cost of one task, or the sum of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostStatement {
    /// Usage by model; `turns` counts calls that were answered.
    pub models: BTreeMap<ModelChoice, Usage>,
    /// Input of all calls except each task's first.
    pub following_tokens: u64,
    /// The part of it that repeats the previous request, since requests only grow: a prefix cache can serve this part.
    pub repeated_tokens: u64,
    /// Input of the calls whose size was estimated in advance.
    pub measured_tokens: u64,
    /// Total error of those estimates, in either direction.
    pub misjudged_tokens: u64,
}

impl CostStatement {
    /// Reads a task's log. If the log is damaged, returns the cost up to the damage, together with the error.
    pub fn read(journal: &dyn Journal, task: TaskId) -> (Self, Result<(), JournalError>) {
        let mut reading = Reading::default();
        let read = journal.read_each(task, 1, &mut |event| reading.see(event.fact));
        // The damaged part may hold the answer of the last call.
        let bill = if read.is_ok() { reading.end() } else { reading.bill };
        (bill, read)
    }

    /// Sum over all models.
    pub fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        for usage in self.models.values() {
            sum += *usage;
        }
        sum
    }
}

impl AddAssign<&Self> for CostStatement {
    fn add_assign(&mut self, other: &Self) {
        for (model, usage) in &other.models {
            *self.models.entry(model.clone()).or_default() += *usage;
        }
        self.following_tokens += other.following_tokens;
        self.repeated_tokens += other.repeated_tokens;
        self.measured_tokens += other.measured_tokens;
        self.misjudged_tokens += other.misjudged_tokens;
    }
}

/// Fold state while a log is read.
#[derive(Default)]
struct Reading {
    bill: CostStatement,
    model: Option<ModelChoice>,
    /// Reservation and estimated input of a call that has no answer yet.
    called: Usage,
    estimated: u64,
    /// Input of the previous call, and of the first one.
    before: Option<u64>,
    first: Option<u64>,
}

impl Reading {
    fn see(&mut self, fact: Fact) {
        match fact {
            Fact::TaskStarted { job } => self.speak_to(job.config.model),
            Fact::TaskResumed { config, .. } => self.speak_to(config.model),
            Fact::ModelCalled { input_tokens, reserved, .. } => {
                self.lose_call();
                (self.called, self.estimated) = (reserved, input_tokens);
            }
            Fact::ModelReplied { reply, .. } => {
                self.called = Usage::default();
                self.pay(Usage { turns: 1, ..reply.usage });
                self.compare(reply.usage.all_input_tokens());
            }
            Fact::ModelLost { usage, .. } => {
                self.called = Usage::default();
                self.pay(Usage { turns: 0, ..usage });
            }
            Fact::ModelRetried { usage, .. } => self.pay(Usage { turns: 0, ..usage }),
            Fact::Compacted { usage, .. } => {
                // This call wrote the summary, if one was requested.
                if !usage.is_nothing() {
                    self.called = Usage::default();
                }
                self.pay(Usage { turns: 0, ..usage });
                // A compaction keeps the beginning: prompt, tools and brief.
                self.before = self.first;
            }
            Fact::Assisted { model, usage } => {
                *self.bill.models.entry(model).or_default() += Usage { tool_calls: 0, ..usage };
            }
            _ => {}
        }
    }

    fn end(mut self) -> CostStatement {
        self.lose_call();
        self.bill
    }

    fn speak_to(&mut self, model: ModelChoice) {
        if self.model.as_ref() != Some(&model) {
            (self.before, self.first) = (None, None);
        }
        self.model = Some(model);
    }

    /// A call without an answer may have used its whole reservation.
    fn lose_call(&mut self) {
        let called = std::mem::take(&mut self.called);
        self.pay(called);
    }

    fn pay(&mut self, usage: Usage) {
        if let Some(model) = self.model.clone().filter(|_| !usage.is_nothing()) {
            *self.bill.models.entry(model).or_default() += Usage { tool_calls: 0, ..usage };
        }
    }

    /// Compares the input of an answered call with the estimate and with the previous call.
    fn compare(&mut self, input: u64) {
        let bill = &mut self.bill;
        if let Some(before) = self.before.replace(input) {
            bill.following_tokens = bill.following_tokens.saturating_add(input);
            bill.repeated_tokens = bill.repeated_tokens.saturating_add(before.min(input));
        }
        self.first.get_or_insert(input);
        if self.estimated > 0 {
            bill.measured_tokens = bill.measured_tokens.saturating_add(input);
            bill.misjudged_tokens = bill.misjudged_tokens.saturating_add(self.estimated.abs_diff(input));
        }
    }
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{Compaction, Failure, FailureCode, Money, Reply, StopReason};

    use super::*;

    fn model(id: &str) -> ModelChoice {
        ModelChoice { route: "main".to_owned(), id: id.to_owned() }
    }

    fn usage(input_tokens: u64, cache_read_tokens: u64, output_tokens: u64) -> Usage {
        let priced_tokens = input_tokens + cache_read_tokens + output_tokens;
        let cost = Money::from_nanos(priced_tokens);
        Usage { input_tokens, cache_read_tokens, output_tokens, priced_tokens, cost, ..Usage::default() }
    }

    fn called(input_tokens: u64, reserved: Usage) -> Fact {
        Fact::ModelCalled { turn: 1, input_tokens, reserved }
    }

    fn replied(usage: Usage) -> Fact {
        Fact::ModelReplied { turn: 1, reply: Reply { usage, ..reply() } }
    }

    fn reply() -> Reply {
        Reply {
            parts: Vec::new(),
            stop: StopReason::End,
            model: "m".to_owned(),
            usage: Usage::default(),
            usage_doubted: false,
            usage_high: false,
        }
    }

    fn bill(facts: Vec<Fact>) -> CostStatement {
        let mut reading = Reading::default();
        reading.speak_to(model("m"));
        for fact in facts {
            reading.see(fact);
        }
        reading.end()
    }

    #[test]
    fn answered_retried_lost_and_assistant_calls_are_paid() {
        let error = Failure::new(FailureCode::ModelOverloaded, "busy");
        let bill = bill(vec![
            called(0, Usage::default()),
            Fact::ModelRetried { turn: 1, attempt: 2, wait_ms: 1, error, usage: usage(50, 0, 5) },
            replied(usage(100, 0, 10)),
            called(0, usage(700, 0, 70)),
            called(0, usage(1000, 0, 100)),
            Fact::ModelLost { turn: 2, usage: usage(30, 0, 3) },
            Fact::Assisted { model: model("small"), usage: usage(7, 0, 1) },
            called(0, usage(2000, 0, 200)),
        ]);
        let paid = bill.models[&model("m")];
        assert_eq!(
            paid.total_tokens(),
            55 + 110 + 770 + 33 + 2200,
            "a call without an answer counts with what it held"
        );
        assert_eq!((paid.turns, paid.cost), (1, Money::from_nanos(paid.total_tokens())));
        assert_eq!(bill.models[&model("small")].total_tokens(), 8);
        assert_eq!(bill.usage().total_tokens(), paid.total_tokens() + 8);
    }

    #[test]
    fn a_request_repeats_the_previous_one_unless_the_model_changes() {
        let mut reading = Reading::default();
        reading.speak_to(model("m"));
        for (input, cached) in [(1000, 0), (200, 1000), (100, 1200)] {
            reading.see(replied(usage(input, cached, 1)));
        }
        reading.speak_to(model("m"));
        reading.see(replied(usage(1400, 0, 1)));
        reading.speak_to(model("other"));
        reading.see(replied(usage(1500, 0, 1)));
        let bill = reading.end();
        assert_eq!((bill.following_tokens, bill.repeated_tokens), (1200 + 1300 + 1400, 1000 + 1200 + 1300));
    }

    #[test]
    fn a_shortened_conversation_still_begins_as_before() {
        let compacted = Fact::Compacted { compaction: Compaction::default(), usage: usage(90, 0, 9) };
        let facts = [1000, 5000].map(|input| replied(usage(input, 0, 1)));
        let bill = bill(facts.into_iter().chain([compacted, replied(usage(1500, 0, 1))]).collect());
        assert_eq!((bill.following_tokens, bill.repeated_tokens), (5000 + 1500, 1000 + 1000));
        assert_eq!((bill.usage().total_tokens(), bill.usage().turns), (7503 + 99, 3));
    }

    #[test]
    fn estimation_errors_in_opposite_directions_do_not_cancel_out() {
        let facts = [(1100, 1000), (1900, 2000), (0, 3000)];
        let facts = facts.map(|(estimated, input)| [called(estimated, Usage::default()), replied(usage(input, 0, 1))]);
        let bill = bill(facts.into_iter().flatten().collect());
        assert_eq!((bill.measured_tokens, bill.misjudged_tokens), (3000, 200));
    }
}
