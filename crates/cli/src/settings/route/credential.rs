//! Key of a route, which only goes to the address that it was set for.
//!
//! A provider's own variable goes to that provider's host or, if another variable moves its API, to that address alone.
//! Main's key goes to main's host. A key from a lower layer than the address goes to no other host.

use sortie_llm::{BaseUrl, Secret};

use super::provider::{Provider, secret_in};
use super::{Wish, missing};
use crate::environment::origin::Origin;
use crate::error::CommandError;
use crate::settings::key::{self, Key};
use crate::settings::layers::LayerText;

/// Key for `base_url`, whose API is the owner's; `None` if there is none.
pub(super) fn find(
    wish: &Wish<'_>,
    base_url: &BaseUrl,
    owner: Option<&Provider>,
) -> Result<Option<Secret>, CommandError> {
    if let Some(said) = said(wish)? {
        return if is_meant_for(wish, said, base_url) {
            reveal(wish, said).map(Some)
        } else if base_url.is_loopback() {
            Ok(None)
        } else {
            Err(missing::key_is_for_another_address(wish.name, &said.text.origin, base_url))
        };
    }
    if let Some(main) = wish.main.filter(|main| main.base_url.is_same_origin(base_url))
        && main.api_key.is_some()
    {
        return Ok(main.api_key.clone());
    }
    let Some(owner) = owner else { return Ok(None) };
    let key = owner.key(wish.environment)?;
    match (owner.moved_to(wish.environment)?, &key) {
        // A key beside an address of its own may be a gateway's, so it goes nowhere else.
        (Some(moved), Some(key)) if !moved.is_same_origin(base_url) => {
            let place = key.setting().unwrap_or(owner.address_variable);
            Err(missing::key_is_for_another_address(wish.name, &place, base_url))
        }
        _ => Ok(key),
    }
}

/// Configured key: itself, or the variable that holds it.
#[derive(Debug, Clone, Copy)]
struct SaidKey<'a> {
    text: LayerText<'a>,
    is_variable: bool,
}

/// Key from the higher layer of `api_key` and `api_key_env`.
fn said<'a>(wish: &Wish<'a>) -> Result<Option<SaidKey<'a>>, CommandError> {
    let direct = wish.text(&key::API_KEY);
    let named = wish.text(&key::API_KEY_ENV);
    Ok(match (direct, named) {
        (Some(direct), Some(named)) if direct.origin.rank() == named.origin.rank() => {
            let (key, variable) = (key::API_KEY.path_of(wish.name), key::API_KEY_ENV.path_of(wish.name));
            return Err(CommandError::config(format!(
                "`{key}` ({}) and `{variable}` ({}) are both set; keep one",
                direct.origin, named.origin
            )));
        }
        (Some(direct), named) if named.is_none_or(|named| named.origin.rank() < direct.origin.rank()) => {
            Some(SaidKey { text: direct, is_variable: false })
        }
        (_, named) => named.map(|named| SaidKey { text: named, is_variable: true }),
    })
}

/// True if the key was set with this address in view: in its layer or above it, or for the same host. A key set without
/// any address is for whatever address there is.
fn is_meant_for(wish: &Wish<'_>, key: SaidKey<'_>, base_url: &BaseUrl) -> bool {
    let rank = key.text.origin.rank();
    let beside =
        |setting: &Key| wish.said.texts_of(setting, wish.name).take_while(|said| said.origin.rank() <= rank).last();
    let address = wish.text(&key::BASE_URL);
    if address.is_none_or(|address| address.origin.rank() <= rank) {
        return true;
    }
    match beside(&key::BASE_URL) {
        Some(address) => address.text.parse::<BaseUrl>().is_ok_and(|url| url.is_same_origin(base_url)),
        None => beside(&key::MODEL).is_none() && beside(&key::WIRE).is_none(),
    }
}

fn reveal(wish: &Wish<'_>, key: SaidKey<'_>) -> Result<Secret, CommandError> {
    let LayerText { text, origin } = key.text;
    if !key.is_variable {
        return Ok(secret(text, origin));
    }
    match wish.environment.text(text)? {
        Some(variable) => Ok(secret_in(&variable)),
        None => Err(CommandError::config(format!(
            "the variable {text} is not set, but `{}` ({origin}) names it",
            key::API_KEY_ENV.path_of(wish.name)
        ))),
    }
}

fn secret(key: &str, origin: &Origin) -> Secret {
    Secret::new(key).set_in(origin.to_string())
}
