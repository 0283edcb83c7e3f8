//! Answers by a schema: how a task is asked for one, what its answer is worth, and that one that does not fit is sent back.
//!
//! What fits is `sortie-schema`'s business. An answer that is sent back takes an ordinary turn; whether there is one is
//! decided where that is decided for all of them.

use serde_json::Value;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Job};
use sortie_schema::Schema;

use crate::conversation::outcome::{Ending, Tally};

/// What a task's system prompt says of its schema; or why that cannot be used.
pub(crate) fn asked_for(schema: &Value) -> Result<String, Failure> {
    let unusable =
        |error| Failure::new(FailureCode::InvalidArguments, format!("`output_schema` cannot be used: {error}"));
    Schema::read(schema).map_err(unusable)?;
    Ok(format!("\n\nYour final answer must be one JSON value that fits this JSON Schema, and nothing else:\n{schema}"))
}

/// The value that an answer has, where one is asked for; or what is wrong with it.
pub(crate) fn value(config: &AgentConfig, answer: &str) -> Option<Result<Value, String>> {
    let schema = Schema::read(config.output_schema.as_ref()?);
    Some(match schema {
        Ok(schema) => schema.find(answer).map_err(|unfit| unfit.to_string()),
        // It was written by a version that checks more than this one.
        Err(error) => Err(format!("it cannot be checked: {error}")),
    })
}

impl Tally {
    /// The value of an ending that must have one. Without it nothing is completed.
    pub(crate) fn weigh(&mut self, job: &Job, ending: Ending) -> (Ending, Option<Value>) {
        let text = match &ending {
            Ending::Completed { text } | Ending::Limited { text, .. } => text,
            Ending::OutOfTime | Ending::Failed { .. } | Ending::Cancelled { .. } => return (ending, None),
        };
        let unfit = match value(&job.config, text) {
            None => return (ending, None),
            Some(Ok(value)) => return (ending, Some(value)),
            Some(Err(unfit)) => format!("the answer does not fit the output schema: {unfit}"),
        };
        if let Ending::Completed { text } = ending {
            return (Ending::Failed { failure: Failure::new(FailureCode::OutputSchema, unfit), text }, None);
        }
        self.notice(unfit);
        (ending, None)
    }
}
