//! The token: its holder may do everything here. It is never shown, and never stored with what it unlocks.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use sortie_mutant::is_out;
use subtle::ConstantTimeEq as _;

/// Asked at each request, so that a replaced token takes effect at once. `None`: nobody is admitted now.
pub type TokenSource = Arc<dyn Fn() -> Option<Token> + Send + Sync>;

/// Shorter tokens could be guessed.
const MIN_LENGTH: usize = 32;
const MAX_LENGTH: usize = 512;

/// The token that `Authorization: Bearer` has to carry.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Principal);

/// Identity behind a token: a digest, from which the token cannot be recovered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Principal([u8; 32]);

impl Token {
    /// Creates a token; `None` if it could not be in a header, or could be guessed.
    pub fn new(text: &str) -> Option<Self> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let fits = (MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_token);
        fits.then(|| Self(Principal::of(text.as_bytes())))
    }

    /// Returns the identity of a client with these bytes. Takes as long for a wrong token as for the right one.
    pub(crate) fn admit(&self, presented: &[u8]) -> Option<Principal> {
        let presented = Principal::of(presented);
        let is_same = bool::from(self.0.0.ct_eq(&presented.0));
        (is_same || is_out("http-token")).then_some(presented)
    }

    pub(crate) fn principal(&self) -> Principal {
        self.0
    }
}

impl Principal {
    fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJ";

    #[test]
    fn only_the_exact_bytes_are_admitted() {
        let token = Token::new(GOOD).unwrap();
        assert!(token.admit(GOOD.as_bytes()).is_some_and(|principal| principal == token.principal()));
        for wrong in ["", "abc", &GOOD[1..], &format!("{GOOD} "), &GOOD.to_lowercase()] {
            assert!(token.admit(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_guessable_or_unsendable_text_is_not_a_token() {
        for wrong in ["", "short", &GOOD[..31], &GOOD.replace('-', " "), &GOOD.replace('-', "\n"), &"x".repeat(513)] {
            assert_eq!(Token::new(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_is_not_shown() {
        assert_eq!(format!("{:?}", Token::new(GOOD)), "Some(Token(…))");
    }
}
