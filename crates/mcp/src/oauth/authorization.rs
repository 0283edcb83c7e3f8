//! The request for a person's consent: its address, the secrets that tie the answer to it, and the check of the answer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use sha2::{Digest as _, Sha256};

use crate::oauth::metadata::{Issuer, Place};
use crate::oauth::oauth_error::{OAuthError, said};

/// A request, and what is kept until its answer.
pub(super) struct Authorization {
    pub(super) url: Url,
    pub(super) verifier: String,
    pub(super) state: String,
}

/// The answer, as the browser brings it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) code: Option<String>,
    pub(super) state: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) error: Option<String>,
    pub(super) description: Option<String>,
}

impl Authorization {
    pub(super) fn new(place: &Place, client_id: &str, redirect: &str, scopes: &[String]) -> Result<Self, OAuthError> {
        let (verifier, state) = (random()?, random()?);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let mut url = place.issuer.authorization.clone();
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("response_type", "code").append_pair("client_id", client_id);
        pairs.append_pair("redirect_uri", redirect).append_pair("state", &state);
        pairs.append_pair("code_challenge", &challenge).append_pair("code_challenge_method", "S256");
        pairs.append_pair("resource", &place.resource);
        if !scopes.is_empty() {
            pairs.append_pair("scope", &scopes.join(" "));
        }
        if scopes.iter().any(|scope| scope == "offline_access") {
            pairs.append_pair("prompt", "consent");
        }
        drop(pairs);
        Ok(Self { url, verifier, state })
    }
}

impl Answered {
    /// Returns the code, if the answer comes from the place that was asked (RFC 9207).
    pub(super) fn code(self, issuer: &Issuer) -> Result<String, OAuthError> {
        match &self.issuer {
            Some(named) if *named != issuer.name => {
                return Err(OAuthError::Untrusted { why: "it comes from another place than the one that was asked" });
            }
            None if issuer.names_itself => {
                return Err(OAuthError::Untrusted { why: "it does not say from which place it comes" });
            }
            _ => {}
        }
        if let Some(error) = self.error {
            let more = self.description.map(|more| format!(": {}", said(&more))).unwrap_or_default();
            return Err(OAuthError::Denied { said: format!("{}{more}", said(&error)) });
        }
        self.code.ok_or(OAuthError::Untrusted { why: "it has no code" })
    }

    /// Reads the query of the address that the browser was sent to.
    pub(super) fn read(query: &str) -> Self {
        let mut answered = Self::default();
        let Ok(mut url) = Url::parse("form:") else { return answered };
        url.set_query(Some(query));
        for (name, value) in url.query_pairs() {
            let field = match &*name {
                "code" => &mut answered.code,
                "state" => &mut answered.state,
                "iss" => &mut answered.issuer,
                "error" => &mut answered.error,
                "error_description" => &mut answered.description,
                _ => continue,
            };
            *field = Some(value.into_owned());
        }
        answered
    }
}

/// 256 random bits, in letters that an address can carry.
fn random() -> Result<String, OAuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| OAuthError::NoChance(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(names_itself: bool) -> Place {
        let url = |path: &str| format!("https://id.example.org{path}").parse().unwrap();
        let issuer = Issuer {
            name: "https://id.example.org".to_owned(),
            authorization: url("/authorize?tenant=a"),
            token: url("/token"),
            registration: None,
            methods: None,
            scopes: Vec::new(),
            names_itself,
        };
        Place { issuer, resource: "https://mcp.example.com/mcp".to_owned(), scopes: Vec::new() }
    }

    #[test]
    fn a_request_has_the_proof_the_resource_and_the_scopes_and_keeps_the_places_own_query() {
        let asked =
            Authorization::new(&place(false), "me", "http://127.0.0.1:1/callback", &["a b".to_owned()]).unwrap();
        let pair = |name: &str| {
            let found = asked.url.query_pairs().find(|(key, _)| key == name);
            found.map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        assert_eq!(pair("code_challenge"), URL_SAFE_NO_PAD.encode(Sha256::digest(asked.verifier.as_bytes())));
        assert_eq!((pair("tenant"), pair("resource")), ("a".to_owned(), "https://mcp.example.com/mcp".to_owned()));
        assert_eq!((pair("code_challenge_method"), pair("scope")), ("S256".to_owned(), "a b".to_owned()));
        assert!(asked.verifier.len() >= 43 && asked.state != asked.verifier && pair("state") == asked.state);
    }

    #[test]
    fn an_answer_from_another_place_is_not_trusted() {
        let code = |names_itself, query: &str| Answered::read(query).code(&place(names_itself).issuer);
        assert_eq!(code(false, "code=c&state=s").unwrap(), "c");
        assert_eq!(code(true, "code=c&iss=https%3A%2F%2Fid.example.org").unwrap(), "c");
        assert!(code(true, "code=c").is_err() && code(false, "state=s").is_err());
        for other in ["https%3A%2F%2Fid.example.org%2F", "https%3A%2F%2FID.example.org", "https%3A%2F%2Fevil.example"] {
            assert!(code(false, &format!("code=c&iss={other}")).is_err(), "{other}");
        }
        let denied = code(false, "error=access_denied&error_description=not%0Atoday").unwrap_err().to_string();
        assert_eq!(denied, "the sign-in was not granted: access_denied: not today");
    }
}
