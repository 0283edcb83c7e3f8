//! Port to the models of a process: choosing one by name, opening it, and looking up its facts.

use std::sync::Arc;

use sortie_protocol::ModelChoice;

use super::model::{BoxFuture, Model};
use super::model_error::ModelError;
use crate::model_data::Prices;

/// Models that the process can reach.
pub trait Models: Send + Sync {
    /// Chooses a model: the requested one, else the parent's, else the main route's.
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel>;

    /// Fails if the chosen model's own server says that it does not have it. Only an id that nothing here knows is in
    /// doubt, and a server that does not list its models is believed.
    fn confirm<'a>(&'a self, _choice: &'a ModelChoice) -> BoxFuture<'a, Result<(), UnknownModel>> {
        Box::pin(async { Ok(()) })
    }

    /// Opens a chosen model. Cheap: calls make the connections and share them.
    fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError>;

    /// Endpoints of the models. One model name may mean different models at different endpoints.
    fn endpoints(&self) -> Vec<Endpoint> {
        Vec::new()
    }

    /// Known facts about a chosen model before any call.
    fn terms(&self, _choice: &ModelChoice) -> Terms {
        Terms::default()
    }
}

/// Destination of a route, enough to tell it from others. It holds no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub route: String,
    pub wire: String,
    /// Without credentials and query.
    pub base_url: String,
    /// The model's id at its provider, unless a request names another.
    pub model: String,
}

/// Limits and prices of a model at its endpoint. Unknown figures are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Terms {
    /// Size of its context in tokens.
    pub window: Option<u64>,
    /// Cap on one reply's tokens, sent with every request.
    pub output_cap: Option<u64>,
    /// Largest cap that it accepts.
    pub max_output: Option<u64>,
    pub prices: Prices,
}

/// The model chosen for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub choice: ModelChoice,
    /// Set if another model serves than the requested one: says which, for which, and what to set. It ends up in the
    /// outcome.
    pub notice: Option<String>,
}

impl From<ModelChoice> for Chosen {
    fn from(choice: ModelChoice) -> Self {
        Self { choice, notice: None }
    }
}

/// No model serves that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownModel {
    /// Nothing has this name. `hint` suggests what was meant, or what to set.
    #[error("unknown model `{asked}`; {hint}")]
    Nobody { asked: String, hint: String },
    /// A route of this name is set, but it cannot be used.
    #[error("the model `{asked}` cannot be used: {problem}")]
    Unusable { asked: String, problem: String },
    /// No model is set, and the built-in rules do not stand in for one here.
    #[error("no model is configured, so nothing was started")]
    NotSet,
}
