//! Answers by a schema: how a task is asked for one, and what its answer is worth.
//!
//! What fits is `sortie-schema`'s business.

use serde_json::Value;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Job};
use sortie_schema::Schema;

use crate::conversation::outcome::Ending;

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

/// An ending, held against the schema of its answer.
pub(crate) struct CheckedAnswer {
    pub(crate) ending: Ending,
    pub(crate) value: Option<Value>,
    /// What the outcome should say of an answer that does not fit.
    pub(crate) notice: Option<String>,
}

/// Holds the ending of a leg against the schema that was asked for. Without a value nothing is completed.
pub(crate) fn weigh(job: &Job, ending: Ending) -> CheckedAnswer {
    let text = match &ending {
        Ending::Completed { text } | Ending::Limited { text, .. } => text,
        Ending::OutOfTime | Ending::Failed { .. } | Ending::Cancelled { .. } => {
            return CheckedAnswer { ending, value: None, notice: None };
        }
    };
    let unfit = match value(&job.config, text) {
        None => return CheckedAnswer { ending, value: None, notice: None },
        Some(Ok(value)) => return CheckedAnswer { ending, value: Some(value), notice: None },
        Some(Err(unfit)) => format!("the answer does not fit the output schema: {unfit}"),
    };
    if let Ending::Completed { text } = ending {
        let ending = Ending::Failed { failure: Failure::new(FailureCode::OutputSchema, unfit), text };
        return CheckedAnswer { ending, value: None, notice: None };
    }
    CheckedAnswer { ending, value: None, notice: Some(unfit) }
}
