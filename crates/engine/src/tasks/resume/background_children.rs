//! Background children of an interrupted task: they resume with it, or their reports come into its inbox.

use sortie_protocol::{CallId, Failure, FailureCode};
use sortie_tools::BoxFuture;

use crate::conversation::task_record::{Attached, IN_BACKGROUND};
use crate::messages::inbox_record::BackgroundChild;
use crate::tasks::delegate::launch;
use crate::tasks::resume::end_interrupted::{Caller, report_of};
use crate::tasks::resume::reattach::{Found, HeldRetry, again};
use crate::tasks::scope::{LaunchMode, TaskScope};

/// Resumes all of them before the task's next turn. Returns notices about those that could not resume.
///
/// A task is started while another one is being started: hence the boxed future, so that the type is finite.
pub(crate) fn take_up<'a>(
    scope: &'a TaskScope,
    background_children: &'a [BackgroundChild],
) -> BoxFuture<'a, Vec<String>> {
    Box::pin(async move {
        let mut lost = Vec::new();
        for background_child in background_children {
            if let Err(why) = take_up_one(scope, background_child).await {
                lost.push(format!("{} worked in the background and cannot resume: {why}", background_child.child));
                end_one(scope, background_child, &why).await;
            }
        }
        lost
    })
}

async fn take_up_one(
    scope: &TaskScope,
    &BackgroundChild { child, ended_leg, .. }: &BackgroundChild,
) -> Result<(), Failure> {
    let call = CallId::from(IN_BACKGROUND);
    let persistence = HeldRetry::new();
    loop {
        let attached = Attached { child, ended_leg, is_released: true };
        match again(scope, &call, attached, LaunchMode::Background).await {
            Found::Ended(_) => {
                let report = report_of(&scope.engine, child, ended_leg, scope.caller(&call)).await?;
                scope.inbox.report(child, report);
                return Ok(());
            }
            Found::Open(admitted) => match launch(*admitted).await {
                Err(held) if persistence.tries_again_after(&held).await => {}
                launched => return launched.map(drop),
            },
            Found::OutOfReach(known) => {
                return Err(known.error.unwrap_or_else(|| Failure::new(FailureCode::StillRunning, "it is not here")));
            }
        }
    }
}

/// Ends a child that does not resume, and reports it. If even that fails, nobody waits for it any more.
async fn end_one(scope: &TaskScope, &BackgroundChild { child, ended_leg, .. }: &BackgroundChild, why: &Failure) {
    let call = CallId::from(IN_BACKGROUND);
    let caller = Caller { why: Some(why), ..scope.caller(&call) };
    match report_of(&scope.engine, child, ended_leg, caller).await {
        Ok(report) => scope.inbox.report(child, report),
        Err(_) => scope.inbox.forget(child),
    }
}
