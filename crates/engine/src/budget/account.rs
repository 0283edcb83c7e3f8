//! Usage, changed files and started tasks of a task and its descendants, counted at every ancestor, so that no branch
//! escapes a limit.
//!
//! Before a call, its maximum is reserved at every level; afterwards its real usage is booked there.

mod aside;
mod bid;
mod lease;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_llm::catalogue::Prices;
use sortie_protocol::{CallResult, Failure, FailureCode, Limit, Limits, ModelChoice, Usage};
use tokio::sync::Notify;

use self::bid::{Amount, Short, Stand};

pub(crate) use self::bid::Bid;
pub(crate) use self::lease::Lease;

/// Usage, changed files and started tasks of a task with its descendants so far.
#[derive(Debug, Clone, Default)]
pub struct Footprint {
    pub usage: Usage,
    pub files_changed: BTreeSet<String>,
    /// Number of started tasks.
    pub(crate) started: u32,
}

impl AddAssign for Footprint {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.files_changed.extend(other.files_changed);
        self.started += other.started;
    }
}

/// The account of one task, linked to those of its ancestors.
pub(crate) struct Account {
    limits: Limits,
    book: Mutex<Book>,
    files_changed: Mutex<BTreeSet<String>>,
    /// Number of tasks that the task and its descendants have started.
    started: AtomicU32,
    above: Option<Arc<Account>>,
    tree: Arc<Tree>,
}

/// Amounts of a task with its descendants.
#[derive(Default)]
struct Book {
    spent: Usage,
    /// Reserved for their calls under way.
    held: Amount,
    /// Reserved for the task's own report.
    set_aside: Amount,
    /// Number of reasons for which the task waits now: for others, or for tokens.
    rests: u32,
    /// Set aside by descendants at work, which may soon give it back.
    working: Amount,
    /// Set aside by descendants that wait. Waiting for these could deadlock.
    resting: Amount,
}

/// State shared by the accounts of a tree.
#[derive(Default)]
struct Tree {
    /// Held by a bidder, because it looks at several accounts.
    turn: Mutex<()>,
    given_back: Notify,
}

impl Book {
    /// Returns the amount set aside by resting descendants, or by working ones.
    fn below(&mut self, rests: u32) -> &mut Amount {
        if rests > 0 { &mut self.resting } else { &mut self.working }
    }
}

impl Account {
    pub(crate) fn of_root(limits: Limits) -> Arc<Self> {
        Self::restored(limits, Footprint::default(), None)
    }

    pub(crate) fn below(above: &Arc<Self>, limits: Limits) -> Arc<Self> {
        Self::restored(limits, Footprint::default(), Some(Arc::clone(above)))
    }

    /// Account of a resumed task. Its usage so far, with that of its descendants, is in the log and already booked
    /// above.
    pub(crate) fn restored(limits: Limits, so_far: Footprint, above: Option<Arc<Self>>) -> Arc<Self> {
        let Footprint { usage: spent, files_changed, started } = so_far;
        let tree = above.as_ref().map(|above| Arc::clone(&above.tree)).unwrap_or_default();
        let book = Mutex::new(Book { spent, ..Book::default() });
        let (files_changed, started) = (Mutex::new(files_changed), AtomicU32::new(started));
        Arc::new(Self { limits, book, files_changed, started, above, tree })
    }

    /// Reserves the maximum of a call, here and at every ancestor, or returns the limit that forbids it. Waits while
    /// others hold what it needs.
    pub(crate) async fn reserve(self: &Arc<Self>, bid: Bid) -> Result<Lease, Limit> {
        let _rest = self.rest();
        loop {
            let given_back = self.tree.given_back.notified();
            match self.offer(&bid) {
                Some(reserved) => return reserved,
                None => given_back.await,
            }
        }
    }

    /// Reserves without waiting; `None` while others hold what it needs.
    pub(crate) fn offer(self: &Arc<Self>, bid: &Bid) -> Option<Result<Lease, Limit>> {
        match self.bid(bid) {
            Ok(lease) => Some(Ok(lease)),
            Err(Short::OverLimit(limit)) => Some(Err(limit)),
            Err(Short::Held) => None,
        }
    }

    /// Reserves all that is left, here and at every ancestor, for work in another process. Waits while others hold it.
    pub(crate) async fn lend(self: &Arc<Self>) -> Result<Lease, Limit> {
        let _rest = self.rest();
        loop {
            let given_back = self.tree.given_back.notified();
            match self.loan() {
                Ok(lease) => return Ok(lease),
                Err(Short::OverLimit(limit)) => return Err(limit),
                Err(Short::Held) => given_back.await,
            }
        }
    }

    fn loan(self: &Arc<Self>) -> Result<Lease, Short> {
        let _turn = self.turn();
        let mut limits = Limits::default();
        for level in self.levels() {
            let stand = level.stand();
            limits = limits.tighter(stand.left_of_limits()?);
        }
        let reserved = Usage {
            input_tokens: limits.max_tokens.unwrap_or_default(),
            cost: limits.max_cost.unwrap_or_default(),
            ..Usage::default()
        };
        for level in self.levels() {
            let mut book = level.book();
            book.held = book.held.plus(Amount::from(reserved));
        }
        Ok(Lease { account: Arc::clone(self), bid: Bid::nothing(), reserved, max_output: None, short_of: None })
    }

    /// Returns the number of tasks that may still be started; `None` without a limit.
    pub(crate) fn children_left(&self) -> Option<u32> {
        let left =
            |level: &Self| Some(level.limits.max_children?.saturating_sub(level.started.load(Ordering::Relaxed)));
        self.levels().filter_map(left).min()
    }

    /// Counts tasks that another process has started, here and at every ancestor.
    pub(crate) fn count_children(&self, started: u32) {
        for level in self.levels() {
            level.started.fetch_add(started, Ordering::Relaxed);
        }
    }

    /// Reserves for a call outside the task's own conversation.
    pub(crate) async fn reserve_beside(self: &Arc<Self>, bid: Bid) -> Result<Lease, Limit> {
        // Bids like a child without a report to write, so that the amount for the task's own report stays.
        let (beside, bid) = (Self::below(self, Limits::default()), Bid { is_report: true, ..bid });
        if let Some(reserved) = beside.offer(&bid) {
            return reserved;
        }
        let _rest = self.rest();
        beside.reserve(bid).await
    }

    fn bid(self: &Arc<Self>, bid: &Bid) -> Result<Lease, Short> {
        let account = Arc::clone(self);
        if !self.is_limited() {
            return Ok(Lease { account, bid: *bid, reserved: Usage::default(), max_output: None, short_of: None });
        }
        let _turn = self.turn();
        let before = self.set_aside(Amount::default());
        let (output, short_of) = self.room(bid).inspect_err(|_| {
            self.set_aside(before);
        })?;
        let reserved = bid.usage(output);
        for level in self.levels() {
            let mut book = level.book();
            book.held = book.held.plus(Amount::from(reserved));
        }
        self.set_aside(bid.for_report());
        Ok(Lease { account, bid: *bid, reserved, max_output: Some(output), short_of })
    }

    /// Fails if a task that has not begun cannot pay for its first call, whatever other tasks give back.
    pub(crate) fn check_first_call(&self, bid: &Bid) -> Result<(), Failure> {
        let _turn = self.turn();
        self.levels().try_for_each(|level| {
            let stand = level.stand();
            match bid.room(&stand) {
                Err(Short::OverLimit(limit)) => Err(bid.no_room(&stand, limit)),
                Ok(_) | Err(Short::Held) => Ok(()),
            }
        })
    }

    /// Returns the longest possible reply, and the limit that bounds it.
    fn room(&self, bid: &Bid) -> Result<(u64, Option<Limit>), Short> {
        self.levels().try_fold((bid.max_output, None), |room, level| {
            let here = bid.room(&level.stand())?;
            Ok(if here.0 < room.0 { here } else { room })
        })
    }

    /// Returns the largest input of a report that this account can still pay for.
    pub(crate) fn most_input(&self, report: &Bid) -> u64 {
        let _turn = self.turn();
        let before = self.set_aside(Amount::default());
        let most = self.levels().map(|level| report.most_input(&level.stand())).min();
        self.set_aside(before);
        most.unwrap_or(u64::MAX)
    }

    /// Replaces a call's reservation with its usage, and sets aside what the task's report needs after it.
    fn give_back(&self, held: Amount, usage: Usage, for_report: Amount) {
        {
            // Keeps others from taking what is given back before the report's share is set aside.
            let _turn = self.turn();
            for level in self.levels() {
                let mut book = level.book();
                book.held = book.held.minus(held);
                book.spent += usage;
            }
            self.set_more_aside(for_report);
        }
        self.tree.given_back.notify_waiters();
    }

    /// True if a limit bounds the tokens or the cost of this task.
    pub(crate) fn is_limited(&self) -> bool {
        self.levels().any(|level| level.limits.max_tokens.is_some() || level.limits.max_cost.is_some())
    }

    /// Fails if cost is limited and the model's price is unknown.
    pub(crate) fn check_prices(&self, model: &ModelChoice, prices: &Prices) -> Result<(), Failure> {
        if prices.are_known() || self.levels().all(|level| level.limits.max_cost.is_none()) {
            return Ok(());
        }
        let message = format!(
            "the cost is limited, and the price of `{}` is not known; set its prices in models.toml, or limit its tokens \
             instead",
            model.id
        );
        Err(Failure::new(FailureCode::UnknownPrice, message))
    }

    /// Returns a limit that was passed, here or above. Failed attempts may have used more than was reserved.
    pub(crate) fn overdrawn(&self) -> Option<Limit> {
        self.levels().find_map(|level| {
            let (limits, used) = (level.limits, level.used());
            let is_over_tokens = limits.max_tokens.is_some_and(|max| used.tokens > max);
            let is_over_cost = limits.max_cost.is_some_and(|max| used.cost > max);
            is_over_tokens.then_some(Limit::Tokens).or(is_over_cost.then_some(Limit::Cost))
        })
    }

    /// Iterates over this account and those above it.
    fn levels(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |level| level.above.as_deref())
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.tree.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stand(&self) -> Stand {
        let Book { spent, held, set_aside, working, resting, .. } = *self.book();
        Stand {
            limits: self.limits,
            fixed: Amount::from(spent).plus(set_aside).plus(resting),
            passing: held.plus(working),
        }
    }

    /// Returns the amount spent and reserved by calls under way.
    fn used(&self) -> Amount {
        let book = self.book();
        Amount::from(book.spent).plus(book.held)
    }

    /// Books spending here and at every ancestor.
    pub(crate) fn spend(&self, usage: Usage) {
        for level in self.levels() {
            level.book().spent += usage;
        }
    }

    /// Books a call that ran, with the files it changed.
    pub(crate) fn book_call(&self, result: CallResult, files_changed: &[String]) {
        self.spend(Usage::of_call(result));
        self.change(files_changed);
    }

    /// Books the usage of a failed attempt, which is not a turn.
    pub(crate) fn spend_on_broken_try(&self, usage: Usage) {
        self.spend(Usage { turns: 0, tool_calls: 0, ..usage });
    }

    pub(crate) fn spent(&self) -> Usage {
        self.book().spent
    }

    /// Books changed files here and at every ancestor.
    pub(crate) fn change(&self, files: &[String]) {
        self.changed().extend(files.iter().cloned());
        if let Some(above) = &self.above {
            above.change(files);
        }
    }

    /// Returns all files that the task and its descendants have changed.
    pub(crate) fn files_changed(&self) -> Vec<String> {
        self.changed().iter().cloned().collect()
    }

    fn changed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.files_changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more task here and at every ancestor; counts it nowhere if one of them has reached its limit.
    pub(crate) fn admit_child(&self) -> Result<(), Failure> {
        let max = self.limits.max_children;
        let one_more = |started: u32| max.is_none_or(|max| started < max).then_some(started + 1);
        if self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            let max = max.unwrap_or_default();
            let message = format!("the limit of {max} sub-agents is reached; continue without more");
            return Err(Failure::new(FailureCode::MaxChildren, message));
        }
        let admitted_above = self.above.as_ref().map_or(Ok(()), |above| above.admit_child());
        if admitted_above.is_err() {
            self.started.fetch_sub(1, Ordering::Relaxed);
        }
        admitted_above
    }

    /// Takes back a task that was counted but not started.
    pub(crate) fn take_back_child(&self) {
        self.started.fetch_sub(1, Ordering::Relaxed);
        if let Some(above) = &self.above {
            above.take_back_child();
        }
    }
}
