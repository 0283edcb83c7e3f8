//! This program as a place to sign in knows it: registered beforehand by the user, or by itself (RFC 7591).

use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sortie_agents::OAuthSettings;

use crate::oauth::fetch::{Fetch, encoded};
use crate::oauth::metadata::Issuer;
use crate::oauth::oauth_error::{OAuthError, said, shown};

/// Name shown to the person who signs in.
const NAME: &str = "Sortie";

/// Proof by which a program shows who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Method {
    None,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
}

impl Method {
    /// In order of preference: a program on a person's machine can keep no secret.
    const ALL: [Self; 3] = [Self::None, Self::Basic, Self::Post];

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Registered {
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    pub(super) method: Method,
}

impl Registered {
    /// As the user has registered it.
    pub(super) fn configured(settings: &OAuthSettings, issuer: &Issuer) -> Option<Self> {
        let client_id = settings.client_id.clone()?;
        let client_secret = settings.client_secret.clone();
        let offers = |method: Method| {
            issuer.methods.as_ref().is_none_or(|methods| methods.iter().any(|name| name == method.name()))
        };
        let method = match &client_secret {
            None => Method::None,
            Some(_) if offers(Method::Basic) || !offers(Method::Post) => Method::Basic,
            Some(_) => Method::Post,
        };
        Some(Self { client_id, client_secret, method })
    }

    /// Registers this program.
    pub(super) async fn new(
        fetch: &Fetch,
        issuer: &Issuer,
        redirect: &str,
        scopes: &[String],
    ) -> Result<Self, OAuthError> {
        let Some(place) = &issuer.registration else {
            return Err(OAuthError::NoRegistration { issuer: said(&issuer.name) });
        };
        let wanted = match &issuer.methods {
            None => Method::None,
            Some(methods) => Method::ALL
                .into_iter()
                .find(|method| methods.iter().any(|name| name == method.name()))
                .ok_or_else(|| OAuthError::Unfit {
                    issuer: said(&issuer.name),
                    why: "it knows programs only in ways that need a key of their own".to_owned(),
                })?,
        };
        let mut body = json!({
            "client_name": NAME,
            "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": wanted.name(),
            "application_type": "native",
        });
        if !scopes.is_empty() {
            body["scope"] = scopes.join(" ").into();
        }
        let answer = fetch.post_json(place, &body).await?;
        if !answer.is_good() {
            return Err(OAuthError::Refused { url: shown(place), status: answer.status, said: answer.said() });
        }
        let text = |key: &str| answer.body[key].as_str().map(str::to_owned);
        let Some(client_id) = text("client_id") else {
            return Err(OAuthError::Unreadable { url: shown(place), why: "it has no `client_id`".to_owned() });
        };
        let client_secret = text("client_secret").filter(|secret| !secret.is_empty());
        let method = text("token_endpoint_auth_method").and_then(|name| Method::of(&name)).unwrap_or(wanted);
        let method = if client_secret.is_none() { Method::None } else { method };
        Ok(Self { client_id, client_secret, method })
    }

    /// Adds what shows who this is to a form, or returns it as a header.
    pub(super) fn sign<'a>(&'a self, form: &mut Vec<(&'a str, &'a str)>) -> Option<HeaderValue> {
        match (self.method, &self.client_secret) {
            (Method::Basic, Some(secret)) => return basic(&self.client_id, secret),
            (Method::Post, Some(secret)) => {
                form.push(("client_id", &self.client_id));
                form.push(("client_secret", secret));
            }
            _ => form.push(("client_id", &self.client_id)),
        }
        None
    }
}

/// The two are encoded like a form first (RFC 6749, 2.3.1).
fn basic(id: &str, secret: &str) -> Option<HeaderValue> {
    use base64::Engine as _;
    let pair = format!("{}:{}", encoded(id), encoded(secret));
    let value = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
