//! A host's calls of companion tools: judged, run and redacted like a task's own calls.
//!
//! A host has no grant and nobody to ask: the user's rules alone decide. It has no log either. A call's effect is
//! recorded elsewhere: a message in the log of its recipient, a stop as a command.

use std::sync::Arc;

use sortie_policy::{Decision, Judge, Redactor};
use sortie_protocol::{CallId, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_tools::{CallContext, DecodedCall, Delegation, Kin, Seen, Tool};
use tokio_util::sync::CancellationToken;

use crate::gate::run_tool::{PermittedCall, run_tool};
use crate::ports::redaction::without_secrets;

/// The gate in front of one host's calls.
pub(crate) struct HostGate<'a> {
    pub(crate) judge: &'a Judge,
    pub(crate) redactor: &'a Redactor,
    pub(crate) workspace: &'a Arc<Workspace>,
    pub(crate) delegation: &'a dyn Delegation,
    pub(crate) relatives: &'a dyn Kin,
}

/// One call of a host.
pub(crate) struct HostCall<'a> {
    pub(crate) id: CallId,
    pub(crate) tool: &'a dyn Tool,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) cancel: &'a CancellationToken,
}

impl HostGate<'_> {
    /// Runs a call unless a rule denies it, and returns its redacted output.
    pub(crate) async fn pass(&self, call: HostCall<'_>) -> ToolOutput {
        let HostCall { id, tool, name, arguments, cancel } = call;
        let (decoded, seen) = (DecodedCall::default(), Seen::default());
        let context = CallContext {
            call: &id,
            decoded: &decoded,
            workspace: self.workspace,
            cancel,
            delegation: self.delegation,
            kin: self.relatives,
            structured: false,
            seen: &seen,
            assistant: None,
            lender: None,
            shells: None,
            progress: None,
        };
        if let Decision::Deny(ground) = self.judge.decide(name, &tool.resource(arguments, context)) {
            return ToolOutput::not_run(format!("{name} was not run: {ground}"));
        }
        let output = run_tool(PermittedCall { tool, name, arguments }, context, None).await;
        without_secrets(output, self.redactor)
    }
}
