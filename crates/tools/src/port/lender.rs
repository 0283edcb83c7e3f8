//! Port to the limits of the calling task, for a call that works on its behalf in another process.

use sortie_protocol::{Failure, Loan, Repayment};

use super::future::BoxFuture;

/// Lends the limits of the task that makes the call.
pub trait Lender: Send + Sync {
    /// Reserves what is left of the limits. Waits while others hold it; fails if nothing is left.
    fn lend(&self) -> BoxFuture<'_, Result<Box<dyn Lent>, Failure>>;
}

/// A loan, until it is settled. If it is dropped before, everything lent counts as used.
pub trait Lent: Send {
    fn loan(&self) -> Loan;

    /// Books what was used, and gives the rest back.
    fn settle(self: Box<Self>, used: Repayment) -> BoxFuture<'static, Result<(), Failure>>;
}
