//! Known providers: their hosts, wires, model names and key variables.

use sortie_llm::{BaseUrl, Catalogue, Secret, WireKind};

use crate::environment::{Environment, Variable};
use crate::error::CommandError;

/// Provider with a host of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Provider {
    /// Wires that it speaks, the usual one first.
    wires: &'static [WireKind],
    pub(super) base_url: &'static str,
    host: &'static str,
    /// Variable that moves its API to another address, such as a gateway's.
    pub(super) address_variable: &'static str,
    /// Variables for its key; the first one set counts.
    pub(super) key_variables: &'static [&'static str],
    /// Variable for a bearer token, which counts before the key.
    token_variable: Option<&'static str>,
    /// Default model.
    pub(super) model: &'static str,
    /// Prefixes of its models' ids.
    model_prefixes: &'static [&'static str],
}

/// Providers, in the order in which their keys are looked for.
pub(super) static PROVIDERS: [Provider; 3] = [
    Provider {
        wires: &[WireKind::Anthropic],
        base_url: "https://api.anthropic.com",
        host: "anthropic.com",
        address_variable: "ANTHROPIC_BASE_URL",
        key_variables: &["ANTHROPIC_API_KEY"],
        token_variable: Some("ANTHROPIC_AUTH_TOKEN"),
        model: "claude-sonnet-5-5",
        model_prefixes: &["claude"],
    },
    Provider {
        wires: &[WireKind::OpenAiChat, WireKind::OpenAiResponses],
        base_url: "https://api.openai.com",
        host: "openai.com",
        address_variable: "OPENAI_BASE_URL",
        key_variables: &["OPENAI_API_KEY"],
        token_variable: None,
        model: "gpt-6.1-sol",
        model_prefixes: &["gpt", "chatgpt", "codex", "o1", "o3", "o4"],
    },
    Provider {
        wires: &[WireKind::Gemini],
        base_url: "https://generativelanguage.googleapis.com",
        host: "generativelanguage.googleapis.com",
        address_variable: "GOOGLE_GEMINI_BASE_URL",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        token_variable: None,
        model: "gemini-3.8-flash",
        model_prefixes: &["gemini"],
    },
];

impl Provider {
    /// Provider of this host.
    pub(super) fn at(url: &BaseUrl) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.owns(url.host()))
    }

    /// Address that its variable moves its API to.
    pub(super) fn moved_to(&self, environment: &Environment) -> Result<Option<BaseUrl>, CommandError> {
        let Some(Variable { value, origin, .. }) = environment.text(self.address_variable)? else { return Ok(None) };
        // The URL is not quoted: it may hold credentials.
        let moved = value.parse().map(|url: BaseUrl| Some(url.set_in(origin.to_string())));
        moved.map_err(|_| CommandError::config(format!("{origin} is not a usable URL")))
    }

    /// True if its variable moves its API to this server, where it speaks this wire.
    pub(super) fn is_moved_to(&self, url: &BaseUrl, wire: WireKind, environment: &Environment) -> bool {
        let moved = self.moved_to(environment).ok().flatten();
        self.wires.contains(&wire) && moved.is_some_and(|moved| moved.is_same_origin(url))
    }

    /// Every variable for its key, in the order of precedence.
    pub(super) fn secret_variables(&self) -> impl Iterator<Item = &'static str> {
        self.token_variable.into_iter().chain(self.key_variables.iter().copied())
    }

    /// Key in its own variables.
    pub(super) fn key(&self, environment: &Environment) -> Result<Option<Secret>, CommandError> {
        for name in self.secret_variables() {
            if let Some(variable) = environment.text(name)? {
                return Ok(Some(secret_in(&variable)));
            }
        }
        Ok(None)
    }

    pub(super) fn speaking(wire: WireKind) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.wires.contains(&wire))
    }

    /// Provider of models with such names.
    pub(super) fn of_model(model: &str) -> Option<&'static Self> {
        let model = model.to_lowercase();
        let begins = |provider: &&Self| provider.model_prefixes.iter().any(|prefix| model.starts_with(prefix));
        PROVIDERS.iter().find(begins)
    }

    /// Most likely wire of another's compatible server for such models.
    pub(super) fn usual_wire(&self) -> WireKind {
        self.wires.first().copied().unwrap_or(WireKind::OpenAiChat)
    }

    /// Wire at its own address. A provider with several serves some models over only one of them; the catalogue knows
    /// which, and is read for no other provider.
    pub(super) fn own_wire(&self, base_url: &BaseUrl, model: &str) -> WireKind {
        if self.wires.len() > 1 {
            let model = if model.is_empty() { self.model } else { model };
            let known = Catalogue::builtin().lookup(model).and_then(|facts| facts.wire);
            return known.filter(|wire| self.wires.contains(wire)).unwrap_or_else(|| self.usual_wire());
        }
        // Google also serves OpenAI's interface, below a path of that name.
        let is_compatible_path = base_url.to_string().ends_with("/openai");
        if is_compatible_path { WireKind::OpenAiChat } else { self.usual_wire() }
    }

    fn owns(&self, host: &str) -> bool {
        host == self.host || host.strip_suffix(self.host).is_some_and(|rest| rest.ends_with('.'))
    }
}

/// Key in a variable. The name says whether it is a bearer token.
pub(super) fn secret_in(variable: &Variable<'_>) -> Secret {
    let secret = Secret::new(variable.value).set_in(variable.origin.to_string());
    let is_token = PROVIDERS.iter().any(|provider| provider.token_variable == Some(variable.name));
    if is_token { secret.as_bearer() } else { secret }
}
