//! What is set aside for the reports of tasks that have not ended, at their own accounts and at every one above.
//!
//! What a task at work has set aside may soon come free, and is waited for. What one that waits itself has set aside is
//! not: two could wait for each other.

use std::sync::Arc;

use super::Account;
use super::bid::{Amount, Bid};

/// As long as this is kept, the task waits for others.
pub(crate) struct Rest(Arc<Account>);

/// As long as this is kept, the task has not ended.
pub(crate) struct Open(Arc<Account>);

impl Account {
    /// Sets this aside for the task's report, in place of what was; ancestors see it. To be called in one's turn.
    pub(super) fn set_aside(&self, amount: Amount) -> Amount {
        let (before, rests) = {
            let mut book = self.book();
            (std::mem::replace(&mut book.set_aside, amount), book.rests)
        };
        for level in self.levels().skip(1) {
            let mut book = level.book();
            let below = book.below(rests);
            *below = below.minus(before).plus(amount);
        }
        before
    }

    /// Sets aside as much as this, as far as it is left, and no less than before. To be called in one's turn.
    pub(super) fn set_more_aside(&self, amount: Amount) {
        let before = self.set_aside(Amount::default());
        let left = self.levels().map(|level| level.stand().left());
        let left = left.reduce(Amount::or_less).unwrap_or_default();
        self.set_aside(amount.or_less(left).or_more(before));
    }

    /// Sets aside what the report of a task needs that goes on with so much to read, as far as it is left.
    pub(crate) fn set_aside_again(&self, bid: &Bid) {
        let _turn = self.turn();
        self.set_more_aside(bid.for_report());
    }

    /// The task waits until the guard is dropped: nobody waits for what it has set aside.
    pub(crate) fn rest(self: &Arc<Self>) -> Rest {
        self.change_rest(|rests| rests + 1);
        Rest(Arc::clone(self))
    }

    fn change_rest(&self, change: impl Fn(u32) -> u32) {
        if !self.is_limited() {
            return;
        }
        let turn = self.turn();
        let amount = self.set_aside(Amount::default());
        {
            let mut book = self.book();
            book.rests = change(book.rests);
        }
        self.set_aside(amount);
        drop(turn);
        self.tree.given_back.notify_waiters();
    }

    /// Until the guard is dropped, the task may have a report to write; then nothing is set aside for one any more.
    pub(crate) fn open(self: &Arc<Self>) -> Open {
        Open(Arc::clone(self))
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.0.change_rest(|rests| rests.saturating_sub(1));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let turn = self.0.turn();
        self.0.set_aside(Amount::default());
        drop(turn);
        self.0.tree.given_back.notify_waiters();
    }
}
