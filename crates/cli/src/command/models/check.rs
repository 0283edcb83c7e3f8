//! Checks routes: asks each for one word and reports its answer.

use std::sync::Arc;

use serde_json::{Value, json};
use sortie_llm::{Checked, ModelError, RouteTable};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::error::CommandError;
use crate::error::long_wait::noting_long_wait;
use crate::text::{table, words};

/// Answer of one route.
#[derive(Debug)]
pub(crate) struct RouteAnswer {
    /// Name as it was given.
    pub(crate) name: String,
    pub(crate) reply: Result<Checked, ModelError>,
}

/// Asks all routes at once; the answers come in the order of the names.
pub(crate) fn ask_all(models: &Arc<RouteTable>, names: &[String]) -> Result<Vec<RouteAnswer>, CommandError> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
    let asking = async {
        let mut calls = JoinSet::new();
        for (at, name) in names.iter().cloned().enumerate() {
            let models = Arc::clone(models);
            calls.spawn(async move {
                let reply = models.check(&name).await;
                (at, RouteAnswer { name, reply })
            });
        }
        let mut answers = calls.join_all().await;
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, answer)| answer).collect()
    };
    Ok(noting_long_wait("waiting for the models to answer", || runtime.block_on(asking)))
}

impl RouteAnswer {
    /// Answer or error, in one line.
    pub(crate) fn told(&self) -> String {
        match &self.reply {
            Ok(Checked { model_said, duration }) => {
                let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
                format!("{model_said} answered in {}", words::elapsed(ms))
            }
            Err(error) => error.to_string(),
        }
    }

    pub(super) fn object(&self) -> Value {
        match &self.reply {
            Ok(Checked { model_said, duration }) => {
                json!({"route": self.name, "ok": true, "model": model_said, "duration_ms": duration.as_millis() as u64})
            }
            Err(error) => json!({"route": self.name, "ok": false, "error": error.to_string()}),
        }
    }
}

pub(super) fn text(answers: &[RouteAnswer]) -> String {
    let word = |answer: &RouteAnswer| if answer.reply.is_ok() { "ok" } else { "failed" };
    let rows: Vec<[String; 3]> =
        answers.iter().map(|answer| [word(answer).to_owned(), answer.name.clone(), answer.told()]).collect();
    table(&rows)
}
