//! Descriptions at well-known places: of the server (RFC 9728), and of the place to sign in (RFC 8414).

use reqwest::Url;
use serde_json::Value;

use crate::oauth::challenge::Challenge;
use crate::oauth::fetch::Fetch;
use crate::oauth::oauth_error::{OAuthError, said, shown};

/// Most items of a list that are read.
const MAX_ITEMS: usize = 100;

/// The place to sign in for a server.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) issuer: Issuer,
    /// The server, as the place knows it (RFC 8707).
    pub(super) resource: String,
    /// Scopes that the server has named, the most specific ones.
    pub(super) scopes: Vec<String>,
}

/// A place to sign in.
#[derive(Debug)]
pub(super) struct Issuer {
    pub(super) name: String,
    pub(super) authorization: Url,
    pub(super) token: Url,
    pub(super) registration: Option<Url>,
    /// Ways for a program to show who it is; `None` if the place names none.
    pub(super) methods: Option<Vec<String>>,
    pub(super) scopes: Vec<String>,
    /// True if its answers name it.
    pub(super) names_itself: bool,
}

/// Finds the place to sign in.
pub(super) async fn find(fetch: &Fetch, challenge: &Challenge) -> Result<Place, OAuthError> {
    let server = fetch.server();
    let Some(described) = of_server(fetch, challenge).await? else {
        // Servers of the revision 2025-03-26 are their own place to sign in.
        let issuer = Issuer::of_origin(fetch).await?;
        return Ok(Place { issuer, resource: shown(server), scopes: challenge.scopes.clone() });
    };
    let resource = described["resource"].as_str().unwrap_or_default();
    if !covers(resource, server) {
        let why = format!("it describes itself as another server, `{}`", said(resource));
        return Err(OAuthError::NoPlace { why });
    }
    let names = texts(&described["authorization_servers"]);
    let Some(name) = names.first() else {
        return Err(OAuthError::NoPlace { why: "its description lists none".to_owned() });
    };
    let issuer = Issuer::named(fetch, name).await?;
    let scopes = match &challenge.scopes {
        scopes if scopes.is_empty() => texts(&described["scopes_supported"]),
        scopes => scopes.clone(),
    };
    Ok(Place { issuer, resource: resource.to_owned(), scopes })
}

/// The server's description: where its challenge says, else at the well-known places.
async fn of_server(fetch: &Fetch, challenge: &Challenge) -> Result<Option<Value>, OAuthError> {
    let server = fetch.server();
    if let Some(text) = &challenge.resource_metadata {
        let url = fetch.address("the server's description", text)?;
        if url.origin() != server.origin() {
            let why = "it is not at the server itself";
            return Err(OAuthError::Address { what: "the server's description", url: shown(&url), why });
        }
        if let Some(described) = fetch.document(&url).await? {
            return Ok(Some(described));
        }
    }
    for url in well_known(server, "oauth-protected-resource") {
        if let Some(described) = fetch.document(&url).await? {
            return Ok(Some(described));
        }
    }
    Ok(None)
}

/// True if a description of this resource is one of the server: the same origin, and the same path or one above.
fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = resource.parse::<Url>() else { return false };
    let above = resource.path().trim_end_matches('/');
    let rest = server.path().strip_prefix(above);
    resource.origin() == server.origin() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Issuer {
    async fn named(fetch: &Fetch, name: &str) -> Result<Self, OAuthError> {
        let url = fetch.address("the place to sign in", name)?;
        let mut places = well_known(&url, "oauth-authorization-server");
        places.retain(|place| url.path() == "/" || place.path() != "/.well-known/oauth-authorization-server");
        places.push(at(&url, &format!("/.well-known/openid-configuration{}", bare_path(&url))));
        if url.path() != "/" {
            places.push(at(&url, &format!("{}/.well-known/openid-configuration", bare_path(&url))));
        }
        for place in places {
            if let Some(described) = fetch.document(&place).await? {
                return Self::read(fetch, name, &described);
            }
        }
        Err(OAuthError::Unfit { issuer: shown(&url), why: "it does not describe itself".to_owned() })
    }

    /// The place to sign in of a server that does not name one: its own origin, with the usual paths if there is no
    /// description.
    async fn of_origin(fetch: &Fetch) -> Result<Self, OAuthError> {
        let server = fetch.server();
        let name = server.origin().ascii_serialization();
        let place = at(server, "/.well-known/oauth-authorization-server");
        if let Some(described) = fetch.document(&place).await? {
            return Self::read(fetch, &name, &described);
        }
        let usual = |path: &str| at(server, path);
        Ok(Self {
            name,
            authorization: usual("/authorize"),
            token: usual("/token"),
            registration: Some(usual("/register")),
            methods: None,
            scopes: Vec::new(),
            names_itself: false,
        })
    }

    fn read(fetch: &Fetch, name: &str, described: &Value) -> Result<Self, OAuthError> {
        let unfit = |why: String| OAuthError::Unfit { issuer: said(name), why };
        let own = described["issuer"].as_str().unwrap_or_default();
        if own.trim_end_matches('/') != name.trim_end_matches('/') {
            return Err(unfit(format!("it calls itself `{}`", said(own))));
        }
        if !texts(&described["code_challenge_methods_supported"]).iter().any(|method| method == "S256") {
            return Err(unfit("it does not offer the proof of possession S256 (PKCE)".to_owned()));
        }
        let address = |key: &str, what| match described[key].as_str() {
            Some(text) => fetch.address(what, text).map(Some),
            None => Ok(None),
        };
        let missing = |what: &str| unfit(format!("it has no {what} endpoint"));
        Ok(Self {
            authorization: address("authorization_endpoint", "the page to sign in")?
                .ok_or_else(|| missing("authorization"))?,
            token: address("token_endpoint", "the place of tokens")?.ok_or_else(|| missing("token"))?,
            registration: address("registration_endpoint", "the place of registration")?,
            methods: described["token_endpoint_auth_methods_supported"]
                .is_array()
                .then(|| texts(&described["token_endpoint_auth_methods_supported"])),
            scopes: texts(&described["scopes_supported"]),
            names_itself: described["authorization_response_iss_parameter_supported"] == true,
            name: own.to_owned(),
        })
    }
}

/// The well-known places of an address: the one for its path, and the one for its host.
fn well_known(url: &Url, name: &str) -> Vec<Url> {
    let of_host = at(url, &format!("/.well-known/{name}"));
    let of_path = at(url, &format!("/.well-known/{name}{}", bare_path(url)));
    if of_path == of_host { vec![of_host] } else { vec![of_path, of_host] }
}

fn at(url: &Url, path: &str) -> Url {
    let mut at = url.clone();
    at.set_path(path);
    at.set_query(None);
    at.set_fragment(None);
    at
}

fn bare_path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// The texts in a list.
pub(super) fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().take(MAX_ITEMS).filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_covers_its_own_path_and_those_below() {
        let server = "https://example.com/a/mcp".parse().unwrap();
        for good in
            ["https://example.com", "https://example.com/a/", "https://example.com/a/mcp", "https://EXAMPLE.com/a"]
        {
            assert!(covers(good, &server), "{good}");
        }
        for bad in
            ["", "https://example.com/a/m", "https://example.com/b", "http://example.com/a", "https://a.example.com"]
        {
            assert!(!covers(bad, &server), "{bad}");
        }
    }

    #[test]
    fn descriptions_are_sought_for_the_path_and_for_the_host() {
        let places = |url: &str| well_known(&url.parse().unwrap(), "x").iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(places("https://a.b/c/d?e"), ["https://a.b/.well-known/x/c/d", "https://a.b/.well-known/x"]);
        assert_eq!(places("https://a.b/"), ["https://a.b/.well-known/x"]);
    }
}
