//! Routes: named ways to a model, as plain data.
//!
//! Everything here is already decided; the caller knows which file, variable or flag a value came from.

mod base_url;
mod call_settings;
mod known_names;
mod rate_limits;
mod secret;

pub(crate) use base_url::shown;
pub use base_url::{BaseUrl, BaseUrlError};
pub use call_settings::CallSettings;
pub(crate) use known_names::KnownNames;
pub use rate_limits::RateLimits;
pub use secret::Secret;

use crate::model_data::WireKind;

/// The route for every request that names no other.
pub const MAIN_ROUTE: &str = "main";

/// The route for small work.
pub const LIGHT_ROUTE: &str = "light";

/// Model name that leaves the choice to the engine. No route and no alias can have this name.
pub const AUTO: &str = "auto";

/// A named way to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub name: String,
    pub wire: WireKind,
    pub base_url: BaseUrl,
    pub api_key: Option<Secret>,
    /// The model's id at its provider.
    pub model: String,
    /// Size of the model's context in tokens; taken from the catalogue if absent.
    pub window: Option<u64>,
    /// Cap on one reply's tokens; the provider's own if absent. A wire that requires a cap then sends its default, or
    /// the catalogue's limit for the model if that is lower.
    pub max_output: Option<u64>,
    pub rate_limits: RateLimits,
}

/// True if a text can be a provider's model id and can go into a URL path unchanged.
pub(crate) fn is_model_id(text: &str) -> bool {
    let is_clean = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '?' | '#' | '\\');
    text.chars().all(is_clean) && text.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

impl Route {
    /// True if both lead to one endpoint with one key, and so share its rate limits.
    pub(crate) fn is_same_endpoint(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|route| route.api_key.as_ref().map(Secret::reveal));
        self.base_url.is_same_address(&other.base_url) && own == others
    }

    /// True if the address belongs to the provider that the wire comes from.
    pub(crate) fn is_at_provider(&self) -> bool {
        let provider: Result<BaseUrl, _> = self.wire.default_base_url().parse();
        provider.is_ok_and(|provider| provider.host() == self.base_url.host())
    }

    /// Advice for a route without a key whose provider requires one.
    pub(crate) fn missing_key(&self) -> Option<String> {
        let missing = self.api_key.is_none() && !self.base_url.has_key() && self.is_at_provider();
        missing.then(|| format!("route `{}` has no key for {}; set {}", self.name, self.base_url, self.key_setting()))
    }

    /// Place where this route's key is set; `None` if it has no key.
    pub(crate) fn key_place(&self) -> Option<String> {
        let in_address = || self.base_url.has_key().then(|| self.base_url_setting());
        self.api_key.is_some().then(|| self.key_setting()).or_else(in_address)
    }

    /// Place to set this route's key, in words for a person.
    pub(crate) fn key_setting(&self) -> String {
        match self.api_key.as_ref().and_then(Secret::setting) {
            Some(setting) => setting.to_owned(),
            None => self.setting("API_KEY", "api_key"),
        }
    }

    /// Place to set this route's base URL, in words for a person.
    pub(crate) fn base_url_setting(&self) -> String {
        self.base_url.setting().map_or_else(|| self.setting("BASE_URL", "base_url"), str::to_owned)
    }

    /// Place to set this route's model id, in words for a person.
    pub(crate) fn model_setting(&self) -> String {
        self.setting("MODEL_ID", "model")
    }

    fn setting(&self, variable: &str, key: &str) -> String {
        let name = &self.name;
        match name.as_str() {
            MAIN_ROUTE => format!("LLM_{variable} or `{key}` in [routes.main]"),
            LIGHT_ROUTE => format!("LIGHT_LLM_{variable} or `{key}` in [routes.light]"),
            _ => format!("`{key}` in [routes.{name}]"),
        }
    }
}
