//! Setup of a table of routes, and the errors in a setup.

use std::collections::BTreeMap;

use crate::model_data::Catalogue;
use crate::route::{CallSettings, Route};

/// Parts of a table of routes.
#[derive(Debug, Clone, Default)]
pub struct RouteSetup {
    pub routes: Vec<Route>,
    /// Routes that are set but unusable, by name, with the reason for the error message.
    pub unusable: BTreeMap<String, String>,
    /// The user's aliases, from a name to a model id or a route's name. They override the built-in ones.
    pub aliases: BTreeMap<String, String>,
    pub catalogue: Catalogue,
    pub settings: CallSettings,
}

/// An invalid setup.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    #[error("route `{name}` is defined twice; rename one of the two")]
    Duplicate { name: String },
    #[error("`{name}` is built in, and no route can have its name; choose another")]
    Reserved { name: String },
    #[error("route `{name}` names no model; set {setting}")]
    NoModel { name: String, setting: String },
    #[error("alias `{name}` has the name of a route; give it another")]
    AliasOfRoute { name: String },
    #[error("alias `{name}` points to the alias `{target}`; let it name a model id or a route")]
    AliasChain { name: String, target: String },
    #[error("alias `{name}` names `{target}`, which is neither a model id nor a route")]
    AliasTarget { name: String, target: String },
}
