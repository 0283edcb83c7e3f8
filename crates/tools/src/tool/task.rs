//! `Task`: starts a sub-agent.
//!
//! The contract words the arguments and the answer; the engine does the work.

use std::sync::Arc;

use sortie_contract::{AgentLine, Call, Contract};
use sortie_protocol::{Failure, FailureCode, Fault, Launched, Resource, TaskOutcome, ToolOutput, ToolSpec};

use crate::call::context::CallContext;
use crate::call::decoded_call::DecodedCall;
use crate::call::tool::{Order, Tool};
use crate::port::delegation::{AnswerParts, Delegated};
use crate::port::future::BoxFuture;
use crate::port::outcome_digest::essence;

/// The essence of a call whose sub-agent has no outcome yet.
const LAUNCHED: &str = "launched";

/// The tool that starts a sub-agent.
pub struct TaskTool {
    contract: Arc<dyn Contract>,
    spec: ToolSpec,
}

impl TaskTool {
    /// `agents` are the ones the tool lists; `left_out` counts the others.
    pub fn new(contract: Arc<dyn Contract>, agents: &[AgentLine], left_out: usize) -> Self {
        let mut description = contract.description(agents);
        if left_out > 0 {
            description += &format!("\n{left_out} more agents are not listed here; each can be used by its name.");
        }
        let spec = ToolSpec { name: contract.tool_name().to_owned(), description, schema: contract.schema(agents) };
        Self { contract, spec }
    }

    /// Adds lines for the calling model.
    #[must_use]
    pub fn telling(mut self, lines: &[String]) -> Self {
        for line in lines {
            self.spec.description += &format!("\n{line}");
        }
        self
    }

    /// Removes this field from its schema: a field that is refused is not offered.
    #[must_use]
    pub fn without(mut self, field: &str) -> Self {
        if let Some(fields) = self.spec.schema["properties"].as_object_mut() {
            fields.shift_remove(field);
        }
        self
    }

    fn answer(&self, arguments: &str, context: CallContext<'_>, started: Result<TaskOutcome, Failure>) -> ToolOutput {
        task_answer(self.contract.as_ref(), arguments, &context.delegation.answer_parts(), started)
    }

    fn launched(&self, launched: &Launched) -> ToolOutput {
        let for_people = format!("{} running in the background", launched.task_id);
        let output = ToolOutput::done(self.contract.encode_launched_for_model(launched), for_people);
        ToolOutput { verbatim: true, essence: Some(LAUNCHED.to_owned()), ..output }
    }
}

/// The answer to a Task call, as the contract words it.
pub fn task_answer(
    contract: &dyn Contract,
    arguments: &str,
    AnswerParts { cwd, spare_id, mark }: &AnswerParts<'_>,
    started: Result<TaskOutcome, Failure>,
) -> ToolOutput {
    let call = Call { arguments, cwd, spare_id: *spare_id };
    let answer = started.as_ref();
    let for_model = contract.encode_for_model(&call, answer, mark);
    let failed = contract.is_error(answer);
    let code = contract.code(answer);
    let (did_not_run, essence) = (answer.is_err(), Some(essence(answer)));
    let (for_people, files_changed) = match started {
        Ok(outcome) => (format!("{} {}", outcome.task_id, outcome.status), outcome.files_changed),
        Err(failure) => (format!("not started: {failure}"), Vec::new()),
    };
    ToolOutput {
        failed,
        // A contract fixes the bytes of its answer, whatever the wire does to other outputs.
        verbatim: true,
        did_not_run,
        essence,
        files_changed,
        code,
        ..ToolOutput::done(for_model, for_people)
    }
}

impl Tool for TaskTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn idempotent(&self) -> bool {
        false
    }

    /// Resuming a sub-agent sends it a message.
    fn order(&self, arguments: &str, decoded: &DecodedCall) -> Order {
        let request = decoded.request(|| self.contract.decode(arguments));
        let resumes = request.is_ok_and(|request| request.resume.is_some());
        if resumes { Order::Says } else { Order::Free }
    }

    fn delegates(&self) -> bool {
        true
    }

    /// A launch in the background waits for nothing.
    fn waits(&self, arguments: &str, decoded: &DecodedCall) -> bool {
        let request = decoded.request(|| self.contract.decode(arguments));
        request.is_ok_and(|request| !request.background)
    }

    fn starts_children(&self) -> bool {
        true
    }

    fn needs_children(&self) -> bool {
        true
    }

    fn resource(&self, arguments: &str, context: CallContext<'_>) -> Resource {
        let request = context.decoded.request(|| self.contract.decode(arguments));
        request.map_or(Resource::Nothing, |request| context.delegation.agent_for(request))
    }

    fn refused(&self, arguments: &str, context: CallContext<'_>, refusal: &ToolOutput) -> Option<ToolOutput> {
        let code = if refusal.fault == Some(Fault::Arguments) {
            FailureCode::InvalidArguments
        } else {
            FailureCode::Permission
        };
        let failure = Failure::new(code, refusal.for_model.clone());
        // If nobody can delegate, this says more than that the tool is missing.
        Some(self.answer(arguments, context, context.delegation.is_switched_on().and(Err(failure))))
    }

    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let started = match context.decoded.request(|| self.contract.decode(arguments)) {
                Ok(request) => context.delegation.delegate(context.call, request.clone()).await,
                Err(failure) => Err(failure.clone()),
            };
            match started {
                Ok(Delegated::Ended(outcome)) => self.answer(arguments, context, Ok(*outcome)),
                Ok(Delegated::Launched(launched)) => self.launched(&launched),
                Err(failure) => self.answer(arguments, context, Err(failure)),
            }
        })
    }
}
