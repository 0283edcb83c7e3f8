//! Lends the limits of a task to a call that works on its behalf in another process. It lends all that is left, until
//! the call is over. Its usage is the task's own.

use std::sync::Arc;

use sortie_protocol::{Fact, Failure, FailureCode, Loan, ModelChoice, Repayment, Usage};
use sortie_tools::{BoxFuture, Lender, Lent};
use tokio::time::Instant;

use crate::budget::account::{Account, Lease};
use crate::budget::deadline::Deadline;
use crate::log::writer::FactWriter;

/// Route under which such usage is recorded.
const ROUTE: &str = "sortie";

/// The limits of one task.
pub(crate) struct TaskLender {
    pub(crate) account: Arc<Account>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) sink: FactWriter,
    /// Levels of tasks that may be below the task.
    pub(crate) levels: u32,
}

impl Lender for TaskLender {
    fn lend(&self) -> BoxFuture<'_, Result<Box<dyn Lent>, Failure>> {
        Box::pin(async {
            let used_up =
                |limit| Failure::new(FailureCode::Limit(limit), format!("the {limit} of this task are used up"));
            let lease = self.account.lend().await.map_err(used_up)?;
            let mut limits = lease.lent();
            limits.timeout = self.deadline.at().map(|end| end.saturating_duration_since(Instant::now()));
            limits.max_children = match self.account.children_left() {
                Some(0) => {
                    // A lease that is dropped counts as used.
                    lease.settle(Usage::default());
                    let message = "the limit on sub-agents is reached; continue without more";
                    return Err(Failure::new(FailureCode::MaxChildren, message));
                }
                // The task there counts as well.
                left => left.map(|left| left - 1),
            };
            let (account, sink) = (Arc::clone(&self.account), self.sink.clone());
            let loan = Loan { levels: self.levels, limits };
            Ok(Box::new(TaskLoan { loan, lease, account, sink }) as Box<dyn Lent>)
        })
    }
}

struct TaskLoan {
    loan: Loan,
    lease: Lease,
    account: Arc<Account>,
    sink: FactWriter,
}

impl Lent for TaskLoan {
    fn loan(&self) -> Loan {
        self.loan
    }

    fn settle(self: Box<Self>, Repayment { usage, started }: Repayment) -> BoxFuture<'static, Result<(), Failure>> {
        let Self { lease, account, sink, .. } = *self;
        account.count_children(started);
        lease.settle(usage);
        Box::pin(async move {
            let model = ModelChoice { route: ROUTE.to_owned(), id: "another process".to_owned() };
            let recorded = sink.append(Fact::Assisted { model, usage }).await;
            recorded.map_err(|error| Failure::new(FailureCode::Journal, error.to_string()))
        })
    }
}
