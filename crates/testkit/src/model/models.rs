//! The models that a test can reach: one scripted model, under any name that the test allows.

use std::sync::Arc;

use sortie_llm::{Chosen, Model, ModelError, Models, Terms, UnknownModel};
use sortie_protocol::ModelChoice;

use super::ScriptedModel;
use crate::script::Script;

/// The route of every choice.
const ROUTE: &str = "main";
/// Id of the model if none was requested.
const MODEL: &str = "scripted";

/// Implements [`Models`]: every choice leads to one [`ScriptedModel`].
#[derive(Clone)]
pub struct ScriptedModels {
    model: Arc<ScriptedModel>,
    also_known: Vec<String>,
    terms: Terms,
}

impl ScriptedModels {
    pub fn new(script: Script) -> Self {
        Self::of(Arc::new(ScriptedModel::new(script)))
    }

    pub fn of(model: Arc<ScriptedModel>) -> Self {
        Self { model, also_known: Vec::new(), terms: Terms::default() }
    }

    /// Accepts another model id besides `scripted`.
    #[must_use]
    pub fn also_known_as(mut self, id: impl Into<String>) -> Self {
        self.also_known.push(id.into());
        self
    }

    /// Sets the known facts about the model.
    #[must_use]
    pub fn on_terms(self, terms: Terms) -> Self {
        Self { terms, ..self }
    }

    /// Returns the model behind every choice.
    pub fn model(&self) -> &Arc<ScriptedModel> {
        &self.model
    }
}

impl Models for ScriptedModels {
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        let choice = |id: &str| ModelChoice { route: ROUTE.to_owned(), id: id.to_owned() };
        let choice = match asked {
            None => Ok(inherited.cloned().unwrap_or_else(|| choice(MODEL))),
            Some(ROUTE | MODEL) => Ok(choice(MODEL)),
            Some(id) if self.also_known.iter().any(|known| known == id) => Ok(choice(id)),
            Some(id) => {
                Err(UnknownModel::Nobody { asked: id.to_owned(), hint: format!("this test knows `{MODEL}` only") })
            }
        };
        choice.map(Chosen::from)
    }

    fn open(&self, _choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::clone(&self.model) as Arc<dyn Model>)
    }

    fn terms(&self, _choice: &ModelChoice) -> Terms {
        self.terms
    }
}
