//! The routes of a process: taken once, then only read.

use std::collections::BTreeMap;
use std::sync::Arc;

use sortie_protocol::ModelChoice;

use super::alias::Aliases;
use super::{AUTO, CallSettings, KnownNames, LIGHT_ROUTE, MAIN_ROUTE, Route, RouteSetup};
use crate::call::{Shared, WireModel};
use crate::catalogue::{Catalogue, Prices};
use crate::http::HttpClients;
use crate::offline::{self, OfflineModel};
use crate::pace::Paces;
use crate::{Chosen, Endpoint, ErrorKind, Model, ModelError, Models, Terms, UnknownModel};

/// All routes of a process, and [`offline`], which is always there and cannot be redefined. They share connections,
/// and those that lead to one endpoint its pace.
pub struct RouteTable {
    routes: BTreeMap<String, Arc<WireModel>>,
    /// Names of routes that are set but cannot be used, and why.
    pub(super) unusable: BTreeMap<String, String>,
    pub(super) aliases: Aliases,
    pub(super) shared: Arc<Shared>,
    pub(super) settings: CallSettings,
}

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

impl RouteTable {
    /// Takes what was set. Nothing is connected, loaded or looked up before the first call.
    pub fn new(setup: RouteSetup) -> Result<Self, RouteError> {
        let RouteSetup { routes, unusable, aliases, catalogue, settings } = setup;
        for (at, route) in routes.iter().enumerate() {
            check(route)?;
            if routes[..at].iter().any(|other| other.name == route.name) {
                return Err(RouteError::Duplicate { name: route.name.clone() });
            }
        }
        let always = [MAIN_ROUTE, LIGHT_ROUTE, AUTO, offline::ROUTE, offline::MODEL_ID];
        let is_route = |name: &str| {
            let names = routes.iter().map(|route| &route.name).chain(unusable.keys()).map(String::as_str);
            names.chain(always).any(|known| known.eq_ignore_ascii_case(name))
        };
        let aliases = Aliases::new(&aliases, is_route)?;
        let names = routes.iter().map(|route| route.name.as_str()).chain([offline::ROUTE]).chain(aliases.names());
        let known = KnownNames { names: names.map(str::to_owned).collect(), catalogue };
        let paces = Paces::new(&routes);
        let shared = Arc::new(Shared { clients: HttpClients::default(), known, paces });
        let model = |route: Route| (route.name.clone(), Arc::new(WireModel::new(route, Arc::clone(&shared), settings)));
        let routes = routes.into_iter().map(model).collect();
        Ok(Self { routes, unusable, aliases, shared, settings })
    }

    /// The route of that name; `None` for `offline`, which is no endpoint.
    pub fn get(&self, name: &str) -> Option<&Route> {
        self.routes.get(name).map(|model| &model.route)
    }

    /// All routes, the main one first, then the light one, then by name.
    pub(super) fn routes(&self) -> impl Iterator<Item = &Route> {
        self.models().map(|model| &model.route)
    }

    pub(super) fn models(&self) -> impl Iterator<Item = &WireModel> {
        let first = [MAIN_ROUTE, LIGHT_ROUTE];
        let others = self.routes.keys().map(String::as_str).filter(move |name| !first.contains(name));
        first.into_iter().chain(others).filter_map(|name| self.routes.get(name)).map(Arc::as_ref)
    }

    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.shared.known.catalogue
    }
}

fn check(route: &Route) -> Result<(), RouteError> {
    let name = route.name.clone();
    if [offline::ROUTE, AUTO].contains(&&*name) {
        return Err(RouteError::Reserved { name });
    }
    if route.model.trim().is_empty() {
        return Err(RouteError::NoModel { setting: route.model_setting(), name });
    }
    Ok(())
}

impl Models for RouteTable {
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        let chosen = match (asked, inherited) {
            (Some(asked), _) => self.asked_for(asked)?,
            (None, Some(inherited)) => inherited.clone().into(),
            (None, None) => self.require_usable(MAIN_ROUTE, MAIN_ROUTE).map(|()| self.unasked())?,
        };
        Ok(self.known_there(chosen))
    }

    fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        if choice.route == offline::ROUTE {
            return Ok(Arc::new(OfflineModel));
        }
        let Some(model) = self.routes.get(&choice.route) else {
            let message = format!("route `{}` is not set here; {}", choice.route, self.hint(&choice.route));
            return Err(ModelError::new(ErrorKind::Setup, message));
        };
        match model.route.missing_key() {
            Some(message) => Err(ModelError::new(ErrorKind::Setup, message)),
            None => Ok(Arc::clone(model) as Arc<dyn Model>),
        }
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        let endpoint = |route: &Route| Endpoint {
            route: route.name.clone(),
            wire: route.wire.to_string(),
            base_url: route.base_url.to_string(),
            model: route.model.clone(),
        };
        self.routes().map(endpoint).collect()
    }

    fn terms(&self, choice: &ModelChoice) -> Terms {
        if choice.route == offline::ROUTE {
            return Terms { prices: Prices::FREE, ..Terms::default() };
        }
        self.routes.get(&choice.route).map(|model| model.terms(&choice.id)).unwrap_or_default()
    }
}
