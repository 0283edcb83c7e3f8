//! From what was said about the main route to a route that can be used, or to what is missing.
//!
//! A provider's own key variable is only ever used with that provider's own host.

use sortie_llm::route::MAIN_ROUTE;
use sortie_llm::{BaseUrl, Route, Secret, WireKind};

use super::environment::Environment;
use super::key;
use super::said::{Said, Spoken};
use super::value::Origin;
use crate::error::CommandError;

/// What is known of a provider without being told.
struct Provider {
    wire: WireKind,
    base_url: &'static str,
    host: &'static str,
    key_variable: &'static str,
    model: &'static str,
    /// Its models' ids begin with one of these.
    model_prefixes: &'static [&'static str],
}

/// In the order in which their keys are looked for.
const PROVIDERS: [Provider; 2] = [
    Provider {
        wire: WireKind::Anthropic,
        base_url: "https://api.anthropic.com",
        host: "anthropic.com",
        key_variable: "ANTHROPIC_API_KEY",
        model: "claude-sonnet-4-5",
        model_prefixes: &["claude"],
    },
    Provider {
        wire: WireKind::OpenAiChat,
        base_url: "https://api.openai.com",
        host: "openai.com",
        key_variable: "OPENAI_API_KEY",
        model: "gpt-5",
        model_prefixes: &["gpt", "chatgpt", "o1", "o3", "o4"],
    },
];

impl Provider {
    fn owns(&self, host: &str) -> bool {
        host == self.host || host.strip_suffix(self.host).is_some_and(|rest| rest.ends_with('.'))
    }
}

/// The main route; `None` when nobody said anything of one.
pub(super) fn main(said: &Said, environment: &Environment) -> Result<Option<Route>, CommandError> {
    let Some(wire) = wire(said, environment)? else { return Ok(None) };
    let provider = PROVIDERS.iter().find(|provider| provider.wire == wire);
    let base_url = match (base_url(said)?, provider) {
        (Some(url), _) => url,
        (None, Some(provider)) => provider.base_url.parse().map_err(|_| missing_base_url(wire))?,
        (None, None) => return Err(missing_base_url(wire)),
    };
    let owner = owner(&base_url);
    let api_key = key(said, environment, owner)?;
    if api_key.is_none() && !base_url.is_loopback() {
        return Err(missing_key(&base_url, owner));
    }
    let model = match (said.text(&key::MODEL), owner) {
        (Some(model), _) => model.text.to_owned(),
        (None, Some(provider)) => provider.model.to_owned(),
        (None, None) => return Err(missing_model(&base_url)),
    };
    let window = said.optional_number(&key::WINDOW);
    let max_output = said.optional_number(&key::MAX_OUTPUT);
    Ok(Some(Route { name: MAIN_ROUTE.to_owned(), wire, base_url, api_key, model, window, max_output }))
}

fn base_url(said: &Said) -> Result<Option<BaseUrl>, CommandError> {
    let Some(Spoken { text, origin }) = said.text(&key::BASE_URL) else { return Ok(None) };
    // The URL is not quoted: it may hold credentials.
    let unusable = |_| CommandError::config(format!("{origin}: `routes.main.base_url` is not a usable URL"));
    text.parse().map(Some).map_err(unusable)
}

fn owner(url: &BaseUrl) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.owns(url.host()))
}

/// The wire that was named; else the one that the URL's host, the model's name or a provider's own key points to.
/// `None` when nobody said anything of a route.
fn wire(said: &Said, environment: &Environment) -> Result<Option<WireKind>, CommandError> {
    if let Some(Spoken { text, origin }) = said.text(&key::WIRE) {
        return text.parse().map(Some).map_err(|error| CommandError::config(format!("{origin}: {error}")));
    }
    let base_url = base_url(said)?;
    if let Some(provider) = base_url.as_ref().and_then(owner) {
        return Ok(Some(provider.wire));
    }
    let model = said.text(&key::MODEL);
    let lower = model.map(|model| model.text.to_lowercase()).unwrap_or_default();
    let known = |provider: &&Provider| provider.model_prefixes.iter().any(|prefix| lower.starts_with(prefix));
    if let Some(provider) = PROVIDERS.iter().find(known) {
        return Ok(Some(provider.wire));
    }
    if base_url.is_some() {
        return Ok(Some(WireKind::OpenAiChat));
    }
    if let Some(provider) = provider_by_key(said, environment)? {
        return Ok(Some(provider.wire));
    }
    let key = said.text(&key::API_KEY).or_else(|| said.text(&key::API_KEY_ENV));
    match (model, key) {
        (None, None) => Ok(None),
        (Some(model), _) => Err(missing_destination(&format!(
            "where the model {:?} is served: LLM_BASE_URL is not set, nor LLM_WIRE",
            model.text
        ))),
        (None, Some(key)) => Err(missing_destination(&format!(
            "what the key in {} is for: LLM_MODEL_ID is not set, nor LLM_BASE_URL or LLM_WIRE",
            key.origin
        ))),
    }
}

/// The provider whose own key is the one to be used. A key of unknown owner points to nobody.
fn provider_by_key(said: &Said, environment: &Environment) -> Result<Option<&'static Provider>, CommandError> {
    let named = said.text(&key::API_KEY_ENV).map(|named| named.text);
    if said.text(&key::API_KEY).is_some() {
        return Ok(None);
    }
    for provider in &PROVIDERS {
        let meant = named.is_none_or(|named| named == provider.key_variable);
        if meant && environment.text(provider.key_variable)?.is_some() {
            return Ok(Some(provider));
        }
    }
    Ok(None)
}

/// The key, from the higher layer of `api_key` and `api_key_env`; else from the variable of the host's provider.
fn key(said: &Said, environment: &Environment, owner: Option<&Provider>) -> Result<Option<Secret>, CommandError> {
    let secret = |key: &str, origin: &Origin| Secret::new(key).set_in(origin.to_string());
    let direct = said.text(&key::API_KEY);
    let named = said.text(&key::API_KEY_ENV);
    match (direct, named) {
        (Some(direct), Some(named)) if rank(direct.origin) == rank(named.origin) => Err(CommandError::config(format!(
            "`routes.main.api_key` ({}) and `routes.main.api_key_env` ({}) are both set; keep one",
            direct.origin, named.origin
        ))),
        (Some(direct), named) if named.is_none_or(|named| rank(named.origin) < rank(direct.origin)) => {
            Ok(Some(secret(direct.text, direct.origin)))
        }
        (_, Some(named)) => match environment.text(named.text)? {
            Some(variable) => Ok(Some(secret(variable.value, variable.origin))),
            None => Err(CommandError::config(format!(
                "the variable {} is not set, but `routes.main.api_key_env` ({}) names it",
                named.text, named.origin
            ))),
        },
        _ => {
            let variable = owner.map(|provider| environment.text(provider.key_variable)).transpose()?.flatten();
            Ok(variable.map(|variable| secret(variable.value, variable.origin)))
        }
    }
}

fn rank(origin: &Origin) -> u8 {
    match origin {
        Origin::Default => 0,
        Origin::File { .. } => 1,
        Origin::Variable { .. } => 2,
        Origin::Flag(_) => 3,
    }
}

fn missing_key(base_url: &BaseUrl, owner: Option<&Provider>) -> CommandError {
    let variable = owner.map_or("LLM_API_KEY", |provider| provider.key_variable);
    CommandError::config(format!("there is no key for {base_url}: {variable} is not set"))
        .hint(format!("export {variable}=…, or name the variable that holds it in [routes.main] api_key_env"))
}

fn missing_model(base_url: &BaseUrl) -> CommandError {
    CommandError::config(format!("no model is set for {base_url}"))
        .hint("export LLM_MODEL_ID=…, or set model in [routes.main]")
}

/// A guess would send somebody's key to a stranger.
fn missing_destination(what: &str) -> CommandError {
    CommandError::config(format!("nothing says {what}"))
        .hint("export LLM_MODEL_ID=… and LLM_BASE_URL=…, or LLM_WIRE=… for the wire's own provider")
        .hint("a key in ANTHROPIC_API_KEY or OPENAI_API_KEY needs nothing beside it")
}

fn missing_base_url(wire: WireKind) -> CommandError {
    CommandError::config(format!("no URL is set for the wire {wire}"))
        .hint("export LLM_BASE_URL=…, or set base_url in [routes.main]")
}
