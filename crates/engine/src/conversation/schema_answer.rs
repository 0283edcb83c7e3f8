//! Structured answers: the request for a JSON value, and the check of the answer.
//!
//! `sortie-schema` decides what fits.

use serde_json::Value;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Job};
use sortie_schema::Schema;

use crate::conversation::outcome::Ending;

/// Returns the schema part of a system prompt, or the reason why the schema cannot be used.
pub(crate) fn asked_for(schema: &Value) -> Result<String, Failure> {
    let unusable =
        |error| Failure::new(FailureCode::InvalidArguments, format!("`output_schema` cannot be used: {error}"));
    Schema::read(schema).map_err(unusable)?;
    Ok(format!("\n\nYour final answer must be one JSON value that fits this JSON Schema, and nothing else:\n{schema}"))
}

/// Returns the value in an answer, or the reason why it does not fit; `None` if no schema was given.
pub(crate) fn value(config: &AgentConfig, answer: &str) -> Option<Result<Value, String>> {
    let schema = Schema::read(config.output_schema.as_ref()?);
    Some(match schema {
        Ok(schema) => schema.find(answer).map_err(|unfit| unfit.to_string()),
        // A version that checks more than this one has started the task.
        Err(error) => Err(format!("it cannot be checked: {error}")),
    })
}

/// An ending, checked against the output schema.
pub(crate) struct CheckedAnswer {
    pub(crate) ending: Ending,
    pub(crate) value: Option<Value>,
    /// Notice about an answer that does not fit.
    pub(crate) notice: Option<String>,
}

/// Checks the ending of a leg against the output schema. A leg without a fitting value has not completed.
pub(crate) fn weigh(job: &Job, ending: Ending) -> CheckedAnswer {
    let text = match &ending {
        Ending::Completed { text } | Ending::Limited { text, .. } => text,
        Ending::OutOfTime | Ending::Failed { .. } | Ending::Cancelled { .. } | Ending::Interrupted { .. } => {
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
