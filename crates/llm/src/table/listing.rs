//! Listing of routes for a person: the endpoint of each, its model's limits, and its other names.

use super::offline;
use super::route_table::RouteTable;
use crate::call::WireModel;
use crate::model_data::{Prices, WireKind};
use crate::port::Models as _;
use crate::route::{LIGHT_ROUTE, MAIN_ROUTE};

/// One route as shown to a person. It holds no key.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteListing {
    pub name: String,
    /// Empty if the route cannot be used.
    pub model: String,
    /// Absent for `offline`, which is not an endpoint.
    pub wire: Option<WireKind>,
    /// The address, without credentials and query.
    pub base_url: Option<String>,
    /// Place where the address is set, if a provider's own variable moves it.
    pub base_url_setting: Option<String>,
    /// Place where the key is set, if there is one.
    pub key: Option<String>,
    /// Size of the model's context in tokens, if known.
    pub window: Option<u64>,
    /// Cap on one reply's tokens: the one sent with a request, else the model's own if known.
    pub max_output: Option<u64>,
    pub prices: Prices,
    /// Reason why the route cannot be used, and what to do about it.
    pub problem: Option<String>,
    /// Other names that lead here.
    pub serves: Vec<Served>,
}

/// Another name that leads to a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    pub name: String,
    /// The model that serves it: the route's own or another at the same address.
    pub model: String,
    /// Set if that is not the requested model.
    pub notice: Option<String>,
}

/// Lists all routes in order; see [`RouteTable::listing`].
pub(super) fn listing(table: &RouteTable) -> Vec<RouteListing> {
    let usable = table.models().map(|model| listed(table, model));
    let unusable = table.unusable.iter().map(|(name, problem)| listed_bare(table, name, "", Some(problem)));
    let mut routes: Vec<RouteListing> = usable.chain(unusable).collect();
    routes.sort_by_key(|route| (route.name != MAIN_ROUTE, route.name != LIGHT_ROUTE, route.name.clone()));
    routes.push(listed_bare(table, offline::ROUTE, offline::MODEL_ID, None));
    routes
}

fn listed(table: &RouteTable, model: &WireModel) -> RouteListing {
    let route = &model.route;
    let facts = table.catalogue().lookup(&route.model).unwrap_or_default();
    RouteListing {
        name: route.name.clone(),
        model: route.model.clone(),
        wire: Some(route.wire),
        base_url: Some(route.base_url.to_string()),
        base_url_setting: route.base_url.setting().map(str::to_owned),
        key: route.key_place(),
        window: route.window.or(facts.window),
        max_output: model.output_cap(&route.model).or(facts.max_output),
        prices: facts.prices,
        problem: route.missing_key(),
        serves: served_by(table, &route.name),
    }
}

/// Lists a route that is not an endpoint, or an unusable one.
fn listed_bare(table: &RouteTable, name: &str, model: &str, problem: Option<&String>) -> RouteListing {
    RouteListing {
        name: name.to_owned(),
        model: model.to_owned(),
        wire: None,
        base_url: None,
        base_url_setting: None,
        key: None,
        window: None,
        max_output: None,
        prices: Prices::default(),
        problem: problem.cloned(),
        serves: served_by(table, name),
    }
}

/// Lists the aliases, and the unset built-in names, that lead to a route.
fn served_by(table: &RouteTable, route: &str) -> Vec<Served> {
    let unset = [MAIN_ROUTE, LIGHT_ROUTE].into_iter().filter(|name| table.get(name).is_none());
    let named = |name: &str| {
        let chosen = table.choose(Some(name), None).ok().filter(|chosen| chosen.choice.route == route)?;
        Some(Served { name: name.to_owned(), model: chosen.choice.id, notice: chosen.notice })
    };
    unset.chain(table.aliases.names()).filter_map(named).collect()
}
