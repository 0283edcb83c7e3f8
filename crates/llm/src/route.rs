//! Routes: named ways to a model, as plain data, and the table that serves them as [`Models`](crate::Models).
//!
//! Everything here is already decided: where a value came from (file, variable, flag) is the caller's business.

mod base_url;
mod secret;
mod table;

use std::time::Duration;

pub(crate) use base_url::shown;
pub use base_url::{BaseUrl, BaseUrlError};
pub use secret::Secret;
pub use table::{RouteError, RouteTable};

use crate::wire::WireKind;

/// The route that serves whatever was not asked for by name.
pub const MAIN_ROUTE: &str = "main";

/// A named way to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub name: String,
    pub wire: WireKind,
    pub base_url: BaseUrl,
    pub api_key: Option<Secret>,
    /// The model's id at its provider.
    pub model: String,
    /// Tokens that fit the model's context; not known when absent. Nothing decides on it yet: it is kept for whoever
    /// shortens a conversation before it no longer fits.
    pub window: Option<u64>,
    /// The cap on one reply's tokens; the provider's own when absent.
    pub max_output: Option<u64>,
}

/// How calls behave, the same on every route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSettings {
    /// Tries after the first one.
    pub max_retries: u32,
    /// The longest wait before the first retry; it doubles with each further one.
    pub retry_base: Duration,
    /// How long a call may bring no content before it counts as stalled.
    pub idle_timeout: Duration,
}

impl Default for CallSettings {
    fn default() -> Self {
        Self { max_retries: 5, retry_base: Duration::from_millis(500), idle_timeout: Duration::from_mins(1) }
    }
}

impl Route {
    /// Whether the provider is one that answers nobody without a key.
    pub(crate) fn lacks_key(&self) -> bool {
        let provider: Result<BaseUrl, _> = self.wire.default_base_url().parse();
        self.api_key.is_none() && provider.is_ok_and(|provider| provider.host() == self.base_url.host())
    }

    /// Where this route's key is set, in words for a person.
    pub(crate) fn key_setting(&self) -> String {
        match self.api_key.as_ref().and_then(Secret::setting) {
            Some(setting) => setting.to_owned(),
            None => self.setting("API_KEY", "api_key"),
        }
    }

    /// Where this route's base URL is set, in words for a person.
    pub(crate) fn base_url_setting(&self) -> String {
        self.setting("BASE_URL", "base_url")
    }

    /// Where this route's model id is set, in words for a person.
    pub(crate) fn model_setting(&self) -> String {
        self.setting("MODEL_ID", "model")
    }

    fn setting(&self, variable: &str, key: &str) -> String {
        let name = &self.name;
        match name.as_str() {
            MAIN_ROUTE => format!("LLM_{variable} or `{key}` in [routes.main]"),
            "light" => format!("LIGHT_LLM_{variable} or `{key}` in [routes.light]"),
            _ => format!("`{key}` in [routes.{name}]"),
        }
    }
}
