//! Port to the models of a process: choosing one by name, opening it, and what is known of it.

use std::sync::Arc;

use sortie_protocol::ModelChoice;

use super::model::Model;
use super::model_error::ModelError;
use crate::model_data::Prices;

/// The models that a process can reach.
pub trait Models: Send + Sync {
    /// Says which model is meant: by what was asked for, else what the parent has, else the main route.
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel>;

    /// Opens the way to a chosen model. Cheap: connections are made by calls and shared.
    fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError>;

    /// Where models are reached. What is asked there under one name need not be one model elsewhere.
    fn endpoints(&self) -> Vec<Endpoint> {
        Vec::new()
    }

    /// What is known of a chosen model before it is asked.
    fn terms(&self, _choice: &ModelChoice) -> Terms {
        Terms::default()
    }
}

/// Where a route leads, in words that tell it from another one. There is no key in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub route: String,
    pub wire: String,
    /// Without what stands before the host or in the query.
    pub base_url: String,
    /// The model's id at its provider, where nobody asks for another.
    pub model: String,
}

/// What a model takes, gives and costs where it is reached. What nobody knows is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Terms {
    /// Tokens that fit its context.
    pub window: Option<u64>,
    /// The cap on one reply's tokens that is sent with every request.
    pub output_cap: Option<u64>,
    /// The largest cap that it takes.
    pub max_output: Option<u64>,
    pub prices: Prices,
}

/// The model that serves a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub choice: ModelChoice,
    /// Set where another model serves than the one that was asked for: who, instead of whom, and what to set. It ends
    /// in the outcome.
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
    /// Nobody here knows it. `hint` says what could have been meant, or what to set.
    #[error("unknown model `{asked}`; {hint}")]
    Nobody { asked: String, hint: String },
    /// It is the name of a route that is set, but not so that it could be used.
    #[error("the model `{asked}` cannot be used: {problem}")]
    Unusable { asked: String, problem: String },
}
