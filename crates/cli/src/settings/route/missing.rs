//! Errors about incomplete routes, with advice.

use std::fmt::Display;

use sortie_llm::{BaseUrl, WireKind};

use super::provider::{PROVIDERS, Provider};
use crate::environment::origin::Origin;
use crate::error::CommandError;
use crate::settings::key::{self, Key, variable};

/// Way to set a field of a route: its variable if there is one, otherwise the file.
fn setting(key: &Key, route: &str) -> String {
    variable::shared_name(key, route).unwrap_or_else(|| format!("`{}`", key.path_of(route)))
}

/// Instruction to set it.
fn instruction(key: &Key, route: &str) -> String {
    let field = key.path.rsplit('.').next().unwrap_or(key.path);
    match variable::shared_name(key, route) {
        Some(variable) => format!("export {variable}=…, or set {field} in [routes.{route}]"),
        None => format!("set {field} in [routes.{route}]"),
    }
}

pub(super) fn no_key(route: &str, base_url: &BaseUrl, owner: Option<&Provider>) -> CommandError {
    let variable = owner.and_then(|provider| provider.key_variables.first()).map(|name| (*name).to_owned());
    let setting = variable.clone().unwrap_or_else(|| setting(&key::API_KEY, route));
    let error = CommandError::config(format!("there is no key for {base_url}: {setting} is not set"));
    let variable = variable.or_else(|| variable::shared_name(&key::API_KEY, route));
    let export = variable.map(|variable| format!("export {variable}=…, or ")).unwrap_or_default();
    error.hint(format!("{export}name the variable that holds it in [routes.{route}] api_key_env"))
}

pub(super) fn key_is_for_another_address(route: &str, key: &dyn Display, base_url: &BaseUrl) -> CommandError {
    CommandError::config(format!("the key in {key} was not set for {base_url}, so it is not sent there"))
        .hint(instruction(&key::API_KEY, route))
}

pub(super) fn no_model(route: &str, base_url: &BaseUrl) -> CommandError {
    CommandError::config(format!("no model is set for {base_url}")).hint(instruction(&key::MODEL, route))
}

/// No setting says where the model is served.
pub(super) fn no_address_of_model(route: &str, model: &str) -> CommandError {
    let (address, wire) = (setting(&key::BASE_URL, route), setting(&key::WIRE, route));
    no_destination(route, &format!("where the model {model:?} is served: {address} is not set, nor {wire}"))
}

/// No setting says what the key is for.
pub(super) fn no_use_of_key(route: &str, key: &Origin) -> CommandError {
    let (model, address, wire) =
        (setting(&key::MODEL, route), setting(&key::BASE_URL, route), setting(&key::WIRE, route));
    no_destination(route, &format!("what the key in {key} is for: {model} is not set, nor {address} or {wire}"))
}

/// No setting says where the route leads.
pub(super) fn no_meaning(route: &str) -> CommandError {
    no_destination(route, &format!("what the route `{route}` leads to: {} is not set", setting(&key::MODEL, route)))
}

/// Refuses to guess a destination: a guess could send the key to a stranger.
fn no_destination(route: &str, what: &str) -> CommandError {
    let error = CommandError::config(format!("nothing says {what}"));
    let error = match (
        variable::shared_name(&key::MODEL, route),
        variable::shared_name(&key::BASE_URL, route),
        variable::shared_name(&key::WIRE, route),
    ) {
        (Some(model), Some(address), Some(wire)) => {
            error.hint(format!("export {model}=… and {address}=…, or {wire}=… for the wire's own provider"))
        }
        _ => error.hint(format!("set model and base_url in [routes.{route}], or wire for the wire's own provider")),
    };
    if route != sortie_llm::route::MAIN_ROUTE {
        return error;
    }
    let variables: Vec<&str> =
        PROVIDERS.iter().filter_map(|provider| provider.key_variables.first().copied()).collect();
    error.hint(format!("a key in {} needs no other setting", variables.join(", ")))
}

pub(super) fn no_address_of_wire(route: &str, wire: WireKind) -> CommandError {
    CommandError::config(format!("no URL is set for the wire {wire}")).hint(instruction(&key::BASE_URL, route))
}
