//! Children that worked beside a task when it stopped: they go on with it, or their reports come into its mail.

use sortie_protocol::{CallId, Failure, FailureCode};
use sortie_tools::BoxFuture;

use crate::conversation::replay::{Attached, IN_BACKGROUND, PastCharge};
use crate::tasks::delegate::Delegate;
use crate::tasks::end_interrupted::Caller;
use crate::tasks::reattach::{Found, Persistence};

impl Delegate {
    /// Takes all of them up again, before the task's next turn. What to say of those that cannot go on.
    ///
    /// A task is started within one that is being started: hence a type that ends.
    pub(crate) fn take_up<'a>(&'a self, charges: &'a [PastCharge]) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            let mut lost = Vec::new();
            for charge in charges {
                if let Err(why) = self.take_up_one(*charge).await {
                    lost.push(format!("{} worked in the background and cannot go on: {why}", charge.child));
                    self.end_one(*charge, &why).await;
                }
            }
            lost
        })
    }

    async fn take_up_one(&self, PastCharge { child, ended_leg, .. }: PastCharge) -> Result<(), Failure> {
        let call = CallId::from(IN_BACKGROUND);
        let persistence = Persistence::new();
        loop {
            let address = self.address(&call, false);
            match self.again(address, &call, Attached { child, ended_leg, is_released: true }).await {
                Found::Ended(_) => {
                    let report = self.engine.report_of(child, ended_leg, self.caller(&call)).await?;
                    self.inbox.report(child, report);
                    return Ok(());
                }
                Found::Open(task) => match self.launch(*task).await {
                    Err(held) if persistence.tries_again_after(&held).await => {}
                    launched => return launched.map(drop),
                },
                Found::OutOfReach(known) => {
                    return Err(known
                        .error
                        .unwrap_or_else(|| Failure::new(FailureCode::StillRunning, "it is not here")));
                }
            }
        }
    }

    /// One that does not go on is ended, and reported as such. If even that cannot be, nobody waits for it any more.
    async fn end_one(&self, PastCharge { child, ended_leg, .. }: PastCharge, why: &Failure) {
        let call = CallId::from(IN_BACKGROUND);
        let caller = Caller { why: Some(why), ..self.caller(&call) };
        match self.engine.report_of(child, ended_leg, caller).await {
            Ok(report) => self.inbox.report(child, report),
            Err(_) => self.inbox.forget(child),
        }
    }
}
