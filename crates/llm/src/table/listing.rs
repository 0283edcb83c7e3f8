//! Listing of the routes for a person: the endpoint of each, what is known of its model, and its other names.

use super::offline;
use super::route_table::RouteTable;
use crate::call::WireModel;
use crate::model_data::{Prices, WireKind};
use crate::port::Models as _;
use crate::route::{LIGHT_ROUTE, MAIN_ROUTE};

/// One route, with everything that is shown of it. No key is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteListing {
    pub name: String,
    /// Empty where the route cannot be used.
    pub model: String,
    /// Absent for `offline`, which is no endpoint.
    pub wire: Option<WireKind>,
    /// The address, without credentials and query.
    pub base_url: Option<String>,
    /// Where the key is set, if there is one.
    pub key: Option<String>,
    /// Tokens that fit the model's context, where that is known.
    pub window: Option<u64>,
    /// The cap on one reply's tokens: the one that is sent with a request, else the model's own where it is known.
    pub max_output: Option<u64>,
    pub prices: Prices,
    /// What keeps the route from being used, and what to do about it.
    pub problem: Option<String>,
    /// The other names that lead here.
    pub serves: Vec<Served>,
}

/// A name that leads to a route which is not called so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    pub name: String,
    /// The model that serves it: the route's own or another at the same address.
    pub model: String,
    /// Set where that is another model than the one asked for.
    pub notice: Option<String>,
}

/// All routes in their order. [`RouteTable::listing`] states the contract.
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
        key: route.key_place(),
        window: route.window.or(facts.window),
        max_output: model.output_cap(&route.model).or(facts.max_output),
        prices: facts.prices,
        problem: route.missing_key(),
        serves: served_by(table, &route.name),
    }
}

/// A route that is no endpoint, or none that could be used.
fn listed_bare(table: &RouteTable, name: &str, model: &str, problem: Option<&String>) -> RouteListing {
    RouteListing {
        name: name.to_owned(),
        model: model.to_owned(),
        wire: None,
        base_url: None,
        key: None,
        window: None,
        max_output: None,
        prices: Prices::default(),
        problem: problem.cloned(),
        serves: served_by(table, name),
    }
}

/// The built-in names that are not set, and the aliases, that lead to a route.
fn served_by(table: &RouteTable, route: &str) -> Vec<Served> {
    let unset = [MAIN_ROUTE, LIGHT_ROUTE].into_iter().filter(|name| table.get(name).is_none());
    let named = |name: &str| {
        let chosen = table.choose(Some(name), None).ok().filter(|chosen| chosen.choice.route == route)?;
        Some(Served { name: name.to_owned(), model: chosen.choice.id, notice: chosen.notice })
    };
    unset.chain(table.aliases.names()).filter_map(named).collect()
}
