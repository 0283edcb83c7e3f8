//! Table of the routes of a process: set up once, then only read.

use std::collections::BTreeMap;
use std::sync::Arc;

use sortie_protocol::ModelChoice;

use super::alias::Aliases;
use super::check::{self, Checked};
use super::choose::Chooser;
use super::confirm;
use super::listing::{self, RouteListing};
use super::offline::{self, OfflineModel};
use super::setup::{RouteError, RouteSetup};
use crate::call::{RateLimiters, Shared, WireModel};
use crate::model_data::{Catalogue, Prices};
use crate::route::{AUTO, CallSettings, KnownNames, LIGHT_ROUTE, MAIN_ROUTE, Route};
use crate::transport::HttpClients;
use crate::{BoxFuture, Chosen, Endpoint, ErrorKind, Model, ModelError, Models, Terms, UnknownModel};

/// All routes of a process, and [`offline`], which always exists and cannot be redefined. Routes share connections, and
/// those to one endpoint share its rate limits.
pub struct RouteTable {
    routes: BTreeMap<String, Arc<WireModel>>,
    /// Routes that are set but unusable, by name, with the reason.
    pub(super) unusable: BTreeMap<String, String>,
    pub(super) aliases: Aliases,
    pub(super) shared: Arc<Shared>,
    pub(super) settings: CallSettings,
}

impl RouteTable {
    /// Builds the table. Nothing is connected, loaded or looked up before the first call.
    pub fn new(setup: RouteSetup) -> Result<Self, RouteError> {
        let RouteSetup { routes, unusable, aliases, catalogue, settings } = setup;
        for (at, route) in routes.iter().enumerate() {
            require_valid(route)?;
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
        let limiters = RateLimiters::new(&routes);
        let shared = Arc::new(Shared { clients: HttpClients::default(), known, limiters });
        let model = |route: Route| (route.name.clone(), Arc::new(WireModel::new(route, Arc::clone(&shared), settings)));
        let routes = routes.into_iter().map(model).collect();
        Ok(Self { routes, unusable, aliases, shared, settings })
    }

    /// Returns the route of this name; `None` for `offline`, which is not an endpoint.
    pub fn get(&self, name: &str) -> Option<&Route> {
        self.routes.get(name).map(|model| &model.route)
    }

    /// Returns the model of the route of this name.
    pub(super) fn model(&self, name: &str) -> Option<&WireModel> {
        self.routes.get(name).map(Arc::as_ref)
    }

    /// Lists all routes, usable or not: main first, then light, then by name, and `offline` last.
    pub fn listing(&self) -> Vec<RouteListing> {
        listing::listing(self)
    }

    /// Asks the named model for one word. Any reply passes, even one cut short by the cap or withheld by the provider.
    /// It takes at most the idle timeout; a model that has begun to reply by then passes as well.
    pub async fn check(&self, name: &str) -> Result<Checked, ModelError> {
        check::check(self, name).await
    }

    /// All routes: main first, then light, then by name.
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

fn require_valid(route: &Route) -> Result<(), RouteError> {
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
        Chooser { table: self }.choose(asked, inherited)
    }

    fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        if choice.route == offline::ROUTE {
            return Ok(Arc::new(OfflineModel));
        }
        let Some(model) = self.routes.get(&choice.route) else {
            let message =
                format!("route `{}` is not set here; {}", choice.route, Chooser { table: self }.hint(&choice.route));
            return Err(ModelError::new(ErrorKind::Setup, message));
        };
        match model.route.missing_key() {
            Some(message) => Err(ModelError::new(ErrorKind::Setup, message)),
            None => Ok(Arc::clone(model) as Arc<dyn Model>),
        }
    }

    fn confirm<'a>(&'a self, choice: &'a ModelChoice) -> BoxFuture<'a, Result<(), UnknownModel>> {
        Box::pin(confirm::confirm(self, choice))
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
