//! The sign-in at one server while it is used: the token for its requests, renewed in time, by one task at a time.

use std::sync::Arc;

use reqwest::Url;
use sortie_policy::Redactor;

use crate::oauth::fetch::Fetch;
use crate::oauth::oauth_error::OAuthError;
use crate::oauth::token_request::{Given, Proof, now, tokens};
use crate::oauth::token_store::{Stored, TokenFile, TokenStore};

/// Time before its end at which a token is renewed, in seconds.
const EARLY: u64 = 30;

#[derive(Clone)]
pub(crate) struct SignIn(Arc<Parts>);

struct Parts {
    server: Url,
    file: TokenFile,
    redactor: Arc<Redactor>,
}

impl SignIn {
    pub(crate) fn new(store: &TokenStore, name: &str, server: &Url, redactor: &Arc<Redactor>) -> Self {
        let file = store.file(name, server);
        Self(Arc::new(Parts { server: server.clone(), file, redactor: Arc::clone(redactor) }))
    }

    /// The token for the next request; `None` if nobody has signed in.
    pub(crate) async fn token(&self) -> Result<Option<String>, OAuthError> {
        let Some(stored) = self.read()? else { return Ok(None) };
        let is_over = stored.expires.is_some_and(|expires| expires <= now() + EARLY);
        if is_over && stored.refresh_token.is_some() {
            // If it cannot be renewed, the server decides about the one that there is.
            return Ok(Some(self.renewed(&stored.access_token).await?.unwrap_or(stored.access_token)));
        }
        Ok(Some(stored.access_token))
    }

    /// Returns a newer token than this one, which the server has refused; `None` if there is none to be had. Tasks and
    /// processes that come meanwhile wait, and get the same one. If the token that renews were shown twice, the place
    /// might take back everything.
    pub(crate) async fn renewed(&self, refused: &str) -> Result<Option<String>, OAuthError> {
        let file = self.0.file.clone();
        let locked = tokio::task::spawn_blocking(move || file.lock()).await;
        let _lock = locked.map_err(|error| OAuthError::NoChance(error.to_string()))??;
        let Some(mut stored) = self.read()? else { return Ok(None) };
        if stored.access_token != refused {
            return Ok(Some(stored.access_token));
        }
        let Some(token) = stored.refresh_token.clone() else { return Ok(None) };
        let fetch = Fetch::new(&self.0.server)?;
        let place = fetch.address("the place of tokens", &stored.token_endpoint)?;
        match tokens(&fetch, &place, &stored.registered, &stored.resource, Proof::Refresh { token: &token }).await {
            Ok(given) => {
                stored.take(given);
                self.learn(&stored);
                self.0.file.write(&stored)?;
                Ok(Some(stored.access_token))
            }
            // It is not worth another try.
            Err(OAuthError::Refused { status: 400 | 401, .. }) => {
                stored.refresh_token = None;
                self.0.file.write(&stored)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes scopes that the server asks for, for the next sign-in.
    pub(crate) async fn want(&self, scopes: &[String]) -> Result<(), OAuthError> {
        let file = self.0.file.clone();
        let locked = tokio::task::spawn_blocking(move || file.lock()).await;
        let _lock = locked.map_err(|error| OAuthError::NoChance(error.to_string()))??;
        let Some(mut stored) = self.read()? else { return Ok(()) };
        if stored.wanted == scopes {
            return Ok(());
        }
        stored.wanted = scopes.to_vec();
        self.0.file.write(&stored)
    }

    fn read(&self) -> Result<Option<Stored>, OAuthError> {
        let stored = self.0.file.read()?;
        if let Some(stored) = &stored {
            self.learn(stored);
        }
        Ok(stored)
    }

    fn learn(&self, stored: &Stored) {
        let secrets =
            [Some(&stored.access_token), stored.refresh_token.as_ref(), stored.registered.client_secret.as_ref()];
        self.0.redactor.learn(secrets.into_iter().flatten().cloned().collect());
    }
}

impl Stored {
    /// Replaces the tokens. A place that gives no new token to renew with means the old one to stay.
    pub(super) fn take(&mut self, given: Given) {
        let Given { access, refresh, expires, scopes } = given;
        self.access_token = access;
        self.refresh_token = refresh.or(self.refresh_token.take());
        self.expires = expires;
        self.scopes = scopes.unwrap_or(std::mem::take(&mut self.scopes));
    }
}
