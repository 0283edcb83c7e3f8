//! `CallContext`: the surroundings of one call of a tool.

use std::sync::Arc;

use sortie_protocol::{CallId, Resource};
use sortie_sandbox::Workspace;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, AnswerForm};
use crate::call::decoded_call::DecodedCall;
use crate::files::read_state::Seen;
use crate::port::delegation::Delegation;
use crate::port::lender::Lender;
use crate::port::progress::Progress;
use crate::port::relatives::Kin;
use crate::port::side_model::Assistant;
use crate::shell::shells::Shells;

/// The surroundings of one call.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    pub call: &'a CallId,
    /// The request of a Task call, decoded once.
    pub decoded: &'a DecodedCall,
    pub workspace: &'a Arc<Workspace>,
    /// Set when the call must end; a tool that works for long looks at it.
    pub cancel: &'a CancellationToken,
    pub delegation: &'a dyn Delegation,
    /// The tasks around the one that makes the call.
    pub kin: &'a dyn Kin,
    /// True if the caller also wants the output as an object ([`sortie_protocol::ToolOutput::payload`]).
    pub structured: bool,
    /// The files that this task has read.
    pub seen: &'a Seen,
    /// A small model for questions about a tool's findings, if there is one.
    pub assistant: Option<&'a dyn Assistant>,
    /// The limits of the task that makes the call; `None` outside of any task.
    pub lender: Option<&'a dyn Lender>,
    /// The commands of this task; `None` where there is no shell.
    pub shells: Option<&'a Shells>,
    /// The people who follow the call, if there are any.
    pub progress: Option<&'a dyn Progress>,
}

impl CallContext<'_> {
    /// An empty answer in the form that the call wants.
    pub(crate) fn answer(&self) -> Answer {
        Answer::new(if self.structured { AnswerForm::Object } else { AnswerForm::Words })
    }
}

/// A path as the grant knows it; nothing if no tool could go there.
pub(crate) fn path_resource(path: &str, context: CallContext<'_>) -> Resource {
    context.workspace.locate(path).map_or(Resource::Nothing, Resource::Path)
}
