//! Runs one tool for one call: guarded against panics, and ended when the call must end.
//!
//! Every call in Sortie comes through here, a task's as well as a host's. Permission was given before.

pub(crate) mod call_progress;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use sortie_protocol::{Fault, ToolOutput};
use sortie_tools::{CallContext, Tool};
use tokio::time::Instant;

use crate::budget::deadline::Deadline;

/// Time in which a stopped call may report its effect.
const EFFECT_GRACE: Duration = Duration::from_secs(5);

/// A command that takes this long may be waiting for something.
const WAITS_FROM: Duration = Duration::from_secs(1);

/// The tool that runs commands.
const COMMANDS: &str = "Bash";

/// A tool, and the arguments of a call with permission.
#[derive(Clone, Copy)]
pub(crate) struct PermittedCall<'a> {
    pub(crate) tool: &'a dyn Tool,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
}

/// Runs a call until it ends, or until its context says that it must end.
pub(crate) async fn run_tool(
    call: PermittedCall<'_>,
    context: CallContext<'_>,
    deadline: Option<&Deadline>,
) -> ToolOutput {
    let PermittedCall { tool, name, arguments } = call;
    let started = Instant::now();
    let running = AssertUnwindSafe(tool.run(arguments, context)).catch_unwind();
    let stopped = async {
        context.cancel.cancelled().await;
        // A stopped child ends itself, and its outcome is worth waiting for. So is, for a while, the effect of another
        // call.
        if tool.delegates() && !tool.idempotent() {
            std::future::pending::<()>().await;
        } else if !tool.idempotent() {
            tokio::time::sleep(EFFECT_GRACE).await;
        }
    };
    let output = tokio::select! {
        output = running => output.unwrap_or_else(|panic| panicked(name, panic.as_ref())),
        () = stopped => output_of_stopped(call, deadline),
    };
    ToolOutput { waited: name == COMMANDS && started.elapsed() >= WAITS_FROM, ..output }
}

/// Returns the output of a call that ran out of time or was cancelled.
fn output_of_stopped(PermittedCall { tool, name, .. }: PermittedCall<'_>, deadline: Option<&Deadline>) -> ToolOutput {
    let effect = if tool.idempotent() { "" } else { "; whether it had an effect is not known" };
    let output = ToolOutput::failure(format!("{name} was stopped before it was done{effect}"));
    if deadline.is_some_and(Deadline::has_passed) { output.because(Fault::TimedOut) } else { output }
}

fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolOutput {
    let text = format!("{tool} broke down: {}. This is a bug in the tool; try another way.", message(panic));
    ToolOutput::failure(text).because(Fault::Internal)
}

/// Returns the text of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it panicked")
}
