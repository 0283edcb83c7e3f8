//! Model routes made from settings, or the reasons why they cannot be used.
//!
//! `main` may be as little as a provider's key or address in its own variable. `light` may be as little as a model,
//! served where main is. Any other route must be complete. [`credential`] decides which key may go where.

mod credential;
mod missing;
mod provider;

use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_llm::{BaseUrl, RateLimits, Route, WireKind};

use super::key::{self, Key, variable};
use super::layers::{LayerText, Layers};
use crate::environment::Environment;
use crate::error::CommandError;
use provider::{PROVIDERS, Provider};

/// Name of a wire, and last part of the path at which many servers speak it.
const ANTHROPIC: &str = "anthropic";

/// Requested route, usable or not.
#[derive(Debug)]
pub(crate) struct ResolvedRoute {
    pub(crate) name: String,
    pub(crate) route: Result<Route, CommandError>,
}

/// Every configured route: main first, then light.
pub(super) fn all(said: &Layers, environment: &Environment) -> Vec<ResolvedRoute> {
    let mut main = None;
    let mut routes = Vec::new();
    for name in said.route_names() {
        let wish = Wish { name: &name, said, environment, main: main.as_ref() };
        let Some(route) = wish.route().transpose() else { continue };
        if name == MAIN_ROUTE {
            main = route.as_ref().ok().cloned();
        }
        routes.push(ResolvedRoute { name, route });
    }
    routes
}

/// Variables that hold the keys of providers.
pub(super) fn key_variables() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().flat_map(Provider::secret_variables)
}

/// Variables that move the APIs of providers.
pub(super) fn address_variables() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|provider| provider.address_variable)
}

/// Variables that the route `main` may be made of: those of Sortie, then those of the providers.
pub(crate) fn variables() -> Vec<&'static str> {
    let own = [&key::MODEL, &key::BASE_URL, &key::WIRE, &key::API_KEY].into_iter().filter_map(|key| key.variable);
    own.chain(key_variables()).chain(address_variables()).collect()
}

/// Notices about wires that nobody set and no provider's host implies.
pub(super) fn assumptions(said: &Layers, environment: &Environment) -> Vec<String> {
    let notice = |name: String| {
        let wish = Wish { name: &name, said, environment, main: None };
        let (url, address) = (wish.base_url().ok()??, wish.text(&key::BASE_URL)?);
        let is_assumed =
            wish.wire(&name).ok()?.is_none() && Provider::at(&url).is_none() && url.path_ends_in(ANTHROPIC);
        let setting = variable::shared_name(&key::WIRE, &name).unwrap_or_else(|| key::WIRE.path_of(&name));
        is_assumed.then(|| {
            format!(
                "the route `{name}` is assumed to speak `{ANTHROPIC}`, because its address ({}) ends in /{ANTHROPIC}; \
                 set {setting} to confirm it, or to another wire",
                address.origin
            )
        })
    };
    said.route_names().into_iter().filter_map(notice).collect()
}

/// Configured values of a route that is being built.
struct Wish<'a> {
    name: &'a str,
    said: &'a Layers,
    environment: &'a Environment,
    /// The main route, unless it is the one being built.
    main: Option<&'a Route>,
}

/// Destination of a route.
struct Destination {
    base_url: BaseUrl,
    wire: WireKind,
}

impl<'a> Wish<'a> {
    /// The route; `None` if it is not configured.
    fn route(&self) -> Result<Option<Route>, CommandError> {
        let Some(Destination { base_url, wire }) = self.destination()? else { return Ok(None) };
        let owner = self.owner(&base_url, wire);
        let api_key = credential::find(self, &base_url, owner)?;
        if api_key.is_none() && !base_url.has_key() && !base_url.is_loopback() {
            return Err(missing::no_key(self.name, &base_url, owner));
        }
        let model = match (self.text(&key::MODEL), owner) {
            (Some(model), _) => model.text.to_owned(),
            (None, Some(provider)) if self.is_main() => provider.model.to_owned(),
            (None, _) => return Err(missing::no_model(self.name, &base_url)),
        };
        let number = |key: &Key| self.said.number_of(key, self.name);
        let rate_limits = RateLimits {
            requests_per_minute: number(&key::REQUESTS_PER_MINUTE),
            tokens_per_minute: number(&key::TOKENS_PER_MINUTE),
            max_connections: number(&key::MAX_CONNECTIONS),
        };
        Ok(Some(Route {
            name: self.name.to_owned(),
            wire,
            base_url,
            api_key,
            model,
            window: number(&key::WINDOW),
            max_output: number(&key::MAX_OUTPUT),
            rate_limits,
        }))
    }

    fn is_main(&self) -> bool {
        self.name == MAIN_ROUTE
    }

    fn text(&self, key: &Key) -> Option<LayerText<'a>> {
        self.said.text_of(key, self.name)
    }

    fn model(&self) -> &'a str {
        self.text(&key::MODEL).map_or("", |model| model.text)
    }

    /// Destination by the configured URL. Otherwise main's address, for a light route that asks for no other. Otherwise
    /// the provider implied by the wire, the model's name or a provider's own key.
    fn destination(&self) -> Result<Option<Destination>, CommandError> {
        let wire = self.wire(self.name)?;
        if let Some(base_url) = self.base_url()? {
            let guessed = || match Provider::at(&base_url) {
                Some(owner) => owner.own_wire(&base_url, self.model()),
                None if base_url.path_ends_in(ANTHROPIC) => WireKind::Anthropic,
                None => Provider::of_model(self.model()).map_or(WireKind::OpenAiChat, Provider::usual_wire),
            };
            let wire = wire.unwrap_or_else(guessed);
            return Ok(Some(Destination { base_url, wire }));
        }
        let named = match wire {
            Some(wire) => Some(Provider::speaking(wire).ok_or_else(|| missing::no_address_of_wire(self.name, wire))?),
            None => Provider::of_model(self.model()),
        };
        if let Some(main) = self.main.filter(|main| self.is_served_by(main, named)) {
            let main_wire = self.wire(MAIN_ROUTE)?;
            let guessed = || match Provider::at(&main.base_url) {
                Some(owner) => owner.own_wire(&main.base_url, self.model()),
                None => main.wire,
            };
            let wire = wire.or(main_wire).unwrap_or_else(guessed);
            return Ok(Some(Destination { base_url: main.base_url.clone(), wire }));
        }
        let provider = match named {
            Some(provider) => provider,
            None => match self.provider_by_key()? {
                Some(provider) => provider,
                None => return self.nowhere().map(|()| None),
            },
        };
        let base_url = match provider.moved_to(self.environment)? {
            Some(moved) => moved,
            None => {
                provider.base_url.parse().map_err(|_| missing::no_address_of_wire(self.name, provider.usual_wire()))?
            }
        };
        let wire = wire.unwrap_or_else(|| provider.own_wire(&base_url, self.model()));
        Ok(Some(Destination { base_url, wire }))
    }

    /// True for a light route that leaves address and key to main, if main's host may well have its model.
    fn is_served_by(&self, main: &Route, named: Option<&'static Provider>) -> bool {
        let has_key = [&key::API_KEY, &key::API_KEY_ENV].into_iter().any(|key| self.text(key).is_some());
        let owner = self.owner(&main.base_url, main.wire);
        let may_have = named.is_none() || owner.is_none() || named == owner;
        self.name == LIGHT_ROUTE && self.said.mentions_route(LIGHT_ROUTE) && !has_key && may_have
    }

    fn wire(&self, route: &str) -> Result<Option<WireKind>, CommandError> {
        let Some(LayerText { text, origin }) = self.said.text_of(&key::WIRE, route) else { return Ok(None) };
        text.parse().map(Some).map_err(|error| CommandError::config(format!("{origin}: {error}")))
    }

    fn base_url(&self) -> Result<Option<BaseUrl>, CommandError> {
        let Some(LayerText { text, origin }) = self.text(&key::BASE_URL) else { return Ok(None) };
        // The URL is not quoted: it may hold credentials.
        let path = key::BASE_URL.path_of(self.name);
        text.parse().map(Some).map_err(|_| CommandError::config(format!("{origin}: `{path}` is not a usable URL")))
    }

    /// Provider whose API is at an address: on its own host, or where its variable moves it.
    fn owner(&self, base_url: &BaseUrl, wire: WireKind) -> Option<&'static Provider> {
        let moved = PROVIDERS.iter().find(|provider| provider.is_moved_to(base_url, wire, self.environment));
        moved.or_else(|| Provider::at(base_url))
    }

    /// Provider of the key to be used, or else of an address in its own variable. A key of unknown owner implies no
    /// provider. Only the main route takes a key or an address that it does not name.
    fn provider_by_key(&self) -> Result<Option<&'static Provider>, CommandError> {
        let named = self.text(&key::API_KEY_ENV).map(|named| named.text);
        if self.text(&key::API_KEY).is_some() || (named.is_none() && !self.is_main()) {
            return Ok(None);
        }
        for provider in &PROVIDERS {
            for variable in provider.secret_variables() {
                let meant = named.is_none_or(|named| named == variable);
                if meant && self.environment.text(variable)?.is_some() {
                    return Ok(Some(provider));
                }
            }
        }
        for provider in PROVIDERS.iter().filter(|_| named.is_none()) {
            if self.environment.text(provider.address_variable)?.is_some() {
                return Ok(Some(provider));
            }
        }
        Ok(None)
    }

    /// Result for a route without a destination: fine if it is not configured at all.
    fn nowhere(&self) -> Result<(), CommandError> {
        let key = self.text(&key::API_KEY).or_else(|| self.text(&key::API_KEY_ENV));
        match (self.text(&key::MODEL), key) {
            (Some(model), _) => Err(missing::no_address_of_model(self.name, model.text)),
            (None, Some(key)) => Err(missing::no_use_of_key(self.name, key.origin)),
            (None, None) if self.is_main() || !self.said.mentions_route(self.name) => Ok(()),
            (None, None) => Err(missing::no_meaning(self.name)),
        }
    }
}
