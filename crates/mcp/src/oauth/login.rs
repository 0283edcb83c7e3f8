//! A sign-in from its begin to its tokens: a person's browser does the middle part.

use reqwest::Url;
use serde_json::json;
use sortie_agents::OAuthSettings;

use crate::oauth::authorization::Authorization;
use crate::oauth::challenge::Challenge;
use crate::oauth::fetch::Fetch;
use crate::oauth::metadata::{Place, find};
use crate::oauth::oauth_error::{OAuthError, shown};
use crate::oauth::redirect::Redirect;
use crate::oauth::registration::Registered;
use crate::oauth::token_request::{Proof, tokens};
use crate::oauth::token_store::{Stored, TokenFile, TokenStore};

/// A server, and what the user has set for signing in there.
#[derive(Debug)]
pub struct Login<'a> {
    pub name: &'a str,
    pub url: &'a str,
    pub settings: &'a OAuthSettings,
}

/// Signs in: calls `open` with the address for the person's browser, waits for the answer, and keeps the tokens.
/// Returns the name of the place.
pub async fn login(store: &TokenStore, login: Login<'_>, open: impl FnOnce(&str)) -> Result<String, OAuthError> {
    let Login { name, url, settings } = login;
    let unusable = |why| OAuthError::Address { what: "the server's address", url: String::new(), why };
    let server: Url = url.parse().map_err(|_| unusable("it is not an address"))?;
    let fetch = Fetch::new(&server)?;
    let file = store.file(name, &server);
    let before = file.read()?;
    let place = find(&fetch, &challenge(&fetch).await?).await?;
    let before = before.filter(|before| before.issuer == place.issuer.name);
    let scopes = scopes(settings, &place, before.as_ref());

    let (redirect, registered) = introduce(&fetch, settings, &place, before.as_ref(), &scopes).await?;
    let asked = Authorization::new(&place, &registered.client_id, redirect.address(), &scopes)?;
    open(asked.url.as_str());
    let code = redirect.answer(&asked.state).await?.code(&place.issuer)?;

    let proof = Proof::Code { code: &code, verifier: &asked.verifier, redirect: redirect.address() };
    let given = tokens(&fetch, &place.issuer.token, &registered, &place.resource, proof).await?;
    let mut stored = Stored {
        server: file.address().to_owned(),
        resource: place.resource,
        issuer: place.issuer.name.clone(),
        token_endpoint: place.issuer.token.to_string(),
        registered,
        redirect: redirect.address().to_owned(),
        access_token: String::new(),
        refresh_token: None,
        expires: None,
        scopes,
        wanted: Vec::new(),
    };
    stored.take(given);
    keep(file, stored).await?;
    Ok(place.issuer.name)
}

/// Asks the server for something without a token, so that it says where to get one.
async fn challenge(fetch: &Fetch) -> Result<Challenge, OAuthError> {
    let client = json!({ "name": "sortie", "version": env!("CARGO_PKG_VERSION") });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": client,
        "io.modelcontextprotocol/clientCapabilities": {},
    } } });
    let (status, header) = fetch.challenge(&body).await?;
    match (status, header) {
        (401 | 403, Some(header)) => Ok(Challenge::read(&header)),
        (401 | 403, None) | (200..500, _) => Ok(Challenge::default()),
        (status, _) => Err(OAuthError::Refused { url: shown(fetch.server()), status, said: String::new() }),
    }
}

/// Returns the scopes to ask for: those that the user has set, else those that the server names. If the server has
/// asked for more since, these are added to those granted before, so that nothing is lost.
fn scopes(settings: &OAuthSettings, place: &Place, before: Option<&Stored>) -> Vec<String> {
    let mut scopes = if settings.scopes.is_empty() { place.scopes.clone() } else { settings.scopes.clone() };
    if let Some(before) = before.filter(|before| !before.wanted.is_empty()) {
        scopes.extend(before.scopes.iter().chain(&before.wanted).cloned());
    }
    let offers = place.issuer.scopes.iter().any(|scope| scope == "offline_access");
    if offers && settings.scopes.is_empty() {
        scopes.push("offline_access".to_owned());
    }
    let mut seen = std::collections::HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

/// Opens the way back for the answer, and makes this program known. A registration is used again with the place where
/// it was made, if its way back is free.
async fn introduce(
    fetch: &Fetch,
    settings: &OAuthSettings,
    place: &Place,
    before: Option<&Stored>,
    scopes: &[String],
) -> Result<(Redirect, Registered), OAuthError> {
    if let Some(registered) = Registered::configured(settings, &place.issuer) {
        return Ok((Redirect::open(settings.callback_port).await?, registered));
    }
    if let Some(before) = before {
        let port = before.redirect.parse::<Url>().ok().and_then(|address| address.port());
        if let Ok(redirect) = Redirect::open(port).await
            && redirect.address() == before.redirect
            && settings.callback_port.is_none_or(|wanted| Some(wanted) == port)
        {
            return Ok((redirect, before.registered.clone()));
        }
    }
    let redirect = Redirect::open(settings.callback_port).await?;
    let registered = Registered::new(fetch, &place.issuer, redirect.address(), scopes).await?;
    Ok((redirect, registered))
}

async fn keep(file: TokenFile, stored: Stored) -> Result<(), OAuthError> {
    let kept = tokio::task::spawn_blocking(move || {
        let _lock = file.lock()?;
        file.write(&stored)
    });
    kept.await.map_err(|error| OAuthError::NoChance(error.to_string()))?
}
