//! What is held back for one model call, from before it is made until it is known what it used.

use std::sync::Arc;

use sortie_protocol::{Limit, Usage};

use super::Account;
use super::bid::{Amount, Bid};

/// A call that may be made. Whoever lets go of it without a word may have paid for all of it, so all of it counts as
/// used.
pub(crate) struct Lease {
    pub(super) account: Arc<Account>,
    pub(super) bid: Bid,
    /// Nothing where no limit is to be kept.
    pub(super) reserved: Usage,
    /// The cap on the reply, where a limit asks for one.
    pub(super) max_output: Option<u64>,
    /// The limit that makes the cap lower than the call would have liked.
    pub(super) short_of: Option<Limit>,
}

impl Lease {
    pub(crate) fn reserved(&self) -> Usage {
        self.reserved
    }

    pub(crate) fn max_output(&self) -> Option<u64> {
        self.max_output
    }

    pub(crate) fn short_of(&self) -> Option<Limit> {
        self.short_of
    }

    /// The call is over, and has used so much. A report will have to read what it wrote.
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
