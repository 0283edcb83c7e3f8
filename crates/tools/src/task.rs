//! Task: delegation as an ordinary tool. What it says and understands is the contract's; what it does, the engine's.

use std::sync::Arc;

use sortie_contract::{AgentLine, Call, Contract};
use sortie_protocol::{ToolOutput, ToolSpec};

use crate::{AnswerParts, BoxFuture, CallContext, Tool};

/// What people read first of a call that started nobody.
pub const NOT_STARTED: &str = "not started: ";

/// The tool that sends a sub-agent out.
pub struct TaskTool {
    contract: Arc<dyn Contract>,
    spec: ToolSpec,
}

impl TaskTool {
    /// `agents` are those that the tool's description lists.
    pub fn new(contract: Arc<dyn Contract>, agents: &[AgentLine]) -> Self {
        let spec = ToolSpec {
            name: contract.tool_name().to_owned(),
            description: contract.description(agents),
            schema: contract.schema(agents),
        };
        Self { contract, spec }
    }
}

impl Tool for TaskTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn idempotent(&self) -> bool {
        false
    }

    fn delegates(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let started = match self.contract.decode(arguments) {
                Ok(request) => context.delegation.delegate(context.call, request).await,
                Err(failure) => Err(failure),
            };
            let AnswerParts { cwd, spare_id, mark } = context.delegation.answer_parts();
            let call = Call { arguments, cwd, spare_id };
            let answer = started.as_ref();
            let for_model = self.contract.encode_for_model(&call, answer, &mark);
            let failed = self.contract.is_error(answer);
            let code = self.contract.code(answer);
            let (for_people, files_changed) = match started {
                Ok(outcome) => (format!("{} {}", outcome.task_id, outcome.status), outcome.files_changed),
                Err(failure) => (format!("{NOT_STARTED}{failure}"), Vec::new()),
            };
            ToolOutput {
                failed,
                // A contract's answer is its bytes, whatever the wire does to other outputs.
                verbatim: true,
                files_changed,
                code,
                ..ToolOutput::done(for_model, for_people)
            }
        })
    }
}
