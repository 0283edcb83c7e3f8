//! The routes of a process, and who is meant by a model's name.

use std::collections::BTreeMap;
use std::sync::Arc;

use sortie_protocol::ModelChoice;

use super::{CallSettings, MAIN_ROUTE, Route};
use crate::call::WireModel;
use crate::http::HttpClients;
use crate::offline::{self, OfflineModel};
use crate::{ErrorKind, Model, ModelError, Models, UnknownModel};

/// All routes of a process, and [`offline`], which is always there and cannot be redefined. They share connections.
pub struct RouteTable {
    routes: BTreeMap<String, Arc<WireModel>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    #[error("route `{name}` is defined twice; rename one of the two")]
    Duplicate { name: String },
    #[error("route `{name}` is built in and cannot be redefined; choose another name")]
    Reserved { name: String },
    #[error("route `{name}` names no model; set {setting}")]
    NoModel { name: String, setting: String },
}

impl RouteTable {
    /// Takes the routes that were set. Nothing is connected, loaded or looked up before the first call.
    pub fn new(routes: impl IntoIterator<Item = Route>, settings: CallSettings) -> Result<Self, RouteError> {
        let clients = Arc::new(HttpClients::default());
        let mut table = BTreeMap::new();
        for route in routes {
            let name = route.name.clone();
            if name == offline::ROUTE {
                return Err(RouteError::Reserved { name });
            }
            if route.model.trim().is_empty() {
                return Err(RouteError::NoModel { setting: route.model_setting(), name });
            }
            let model = WireModel::new(route, Arc::clone(&clients), settings);
            if table.insert(name.clone(), Arc::new(model)).is_some() {
                return Err(RouteError::Duplicate { name });
            }
        }
        Ok(Self { routes: table })
    }

    /// The route of that name; `None` for `offline`, which is no endpoint.
    pub fn get(&self, name: &str) -> Option<&Route> {
        self.routes.get(name).map(|model| &model.route)
    }

    fn named(&self, name: &str) -> Option<ModelChoice> {
        if name == offline::ROUTE || name == offline::MODEL_ID {
            return Some(rule_based());
        }
        self.get(name).map(|route| ModelChoice { route: route.name.clone(), id: route.model.clone() })
    }

    /// A full model id: on the route that is set to it, else on the main route's endpoint.
    fn by_model_id(&self, id: &str) -> Option<ModelChoice> {
        let main = self.get(MAIN_ROUTE);
        let all = self.routes.values().map(|model| &model.route);
        let set_to_it = main.into_iter().chain(all).find(|route| route.model == id);
        set_to_it.or(main).map(|route| ModelChoice { route: route.name.clone(), id: id.to_owned() })
    }

    fn unknown(&self, asked: &str) -> UnknownModel {
        let names: Vec<&str> = self.routes.keys().map(String::as_str).chain([offline::ROUTE]).collect();
        let known = names.join(", ");
        let hint = if self.routes.contains_key(MAIN_ROUTE) {
            format!("known routes: {known}; anything else must be a model id of the main route's provider")
        } else {
            format!(
                "known routes: {known}; to use a model by its id set ANTHROPIC_API_KEY or OPENAI_API_KEY, \
                 or LLM_MODEL_ID with LLM_API_KEY and LLM_BASE_URL"
            )
        };
        UnknownModel { asked: asked.to_owned(), hint }
    }
}

fn rule_based() -> ModelChoice {
    ModelChoice { route: offline::ROUTE.to_owned(), id: offline::MODEL_ID.to_owned() }
}

impl Models for RouteTable {
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<ModelChoice, UnknownModel> {
        match (asked, inherited) {
            (Some(asked), _) => {
                let is_id = !asked.is_empty() && !asked.chars().any(|c| c.is_whitespace() || c.is_control());
                self.named(asked)
                    .or_else(|| is_id.then(|| self.by_model_id(asked)).flatten())
                    .ok_or_else(|| self.unknown(asked))
            }
            (None, Some(inherited)) => Ok(inherited.clone()),
            (None, None) => Ok(self.named(MAIN_ROUTE).unwrap_or_else(rule_based)),
        }
    }

    fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        if choice.route == offline::ROUTE {
            return Ok(Arc::new(OfflineModel));
        }
        let Some(model) = self.routes.get(&choice.route) else {
            let hint = self.unknown(&choice.route).hint;
            let message = format!("route `{}` is not set here; {hint}", choice.route);
            return Err(ModelError::new(ErrorKind::Setup, message));
        };
        let route = &model.route;
        if route.lacks_key() {
            let message =
                format!("route `{}` has no key for {}; set {}", route.name, route.base_url, route.key_setting());
            return Err(ModelError::new(ErrorKind::Setup, message));
        }
        Ok(Arc::clone(model) as Arc<dyn Model>)
    }
}
