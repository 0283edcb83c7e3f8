//! A lease: the amount reserved for one model call, until its usage is known.

use std::sync::Arc;

use sortie_protocol::{Limit, Limits, Usage};

use super::Account;
use super::bid::{Amount, Bid};

/// Permission for one call. If it is dropped without settling, the whole reservation counts as used, since the provider
/// may charge for it.
pub(crate) struct Lease {
    pub(super) account: Arc<Account>,
    pub(super) bid: Bid,
    /// Zero if there is no limit to keep.
    pub(super) reserved: Usage,
    /// Cap on the reply, if a limit requires one.
    pub(super) max_output: Option<u64>,
    /// The limit that lowers the cap below the wanted reply.
    pub(super) short_of: Option<Limit>,
}

impl Lease {
    pub(crate) fn reserved(&self) -> Usage {
        self.reserved
    }

    /// Returns the reserved amounts as limits; only those that are limited.
    pub(crate) fn lent(&self) -> Limits {
        let limited = |is_limited: fn(&Limits) -> bool| self.account.levels().any(|level| is_limited(&level.limits));
        Limits {
            max_tokens: limited(|limits| limits.max_tokens.is_some()).then(|| self.reserved.total_tokens()),
            max_cost: limited(|limits| limits.max_cost.is_some()).then_some(self.reserved.cost),
            ..Limits::default()
        }
    }

    pub(crate) fn max_output(&self) -> Option<u64> {
        self.max_output
    }

    pub(crate) fn short_of(&self) -> Option<Limit> {
        self.short_of
    }

    /// Ends the call with its real usage. A later report will have to read its output.
    pub(crate) fn settle(mut self, usage: Usage) {
        let reserved = std::mem::take(&mut self.reserved);
        let input_tokens = self.bid.input_tokens.saturating_add(usage.output_tokens);
        let after = Bid { input_tokens, ..self.bid }.for_report();
        self.account.give_back(Amount::from(reserved), usage, after);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.reserved.is_nothing() {
            self.account.give_back(Amount::from(self.reserved), self.reserved, Amount::default());
        }
    }
}
