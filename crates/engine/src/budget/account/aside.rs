//! Amounts set aside for the reports of tasks that have not ended, at their own accounts and at every ancestor.
//!
//! An amount set aside by a working task may soon come free, so others wait for it. Nobody waits for the amount of a
//! waiting task: two could wait for each other.

use std::sync::Arc;

use super::Account;
use super::bid::{Amount, Bid};

/// Guard: while held, the task waits for others.
pub(crate) struct Rest(Arc<Account>);

/// Guard: while held, the task has not ended.
pub(crate) struct Open(Arc<Account>);

impl Account {
    /// Replaces the amount set aside for the task's report, here and at its ancestors, and returns the old one.
    /// Requires the turn.
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

    /// Raises the amount set aside to this one, as far as there is enough left. Requires the turn.
    pub(super) fn set_more_aside(&self, amount: Amount) {
        let before = self.set_aside(Amount::default());
        let left = self.levels().map(|level| level.stand().left());
        let left = left.reduce(Amount::or_less).unwrap_or_default();
        self.set_aside(amount.or_less(left).or_more(before));
    }

    /// Sets aside what the report of a resumed task with this input needs, as far as there is enough left.
    pub(crate) fn set_aside_again(&self, bid: &Bid) {
        let _turn = self.turn();
        self.set_more_aside(bid.for_report());
    }

    /// Marks the task as waiting until the guard is dropped, so that nobody waits for what it has set aside.
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

    /// Keeps the amount for the task's report until the guard is dropped.
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
