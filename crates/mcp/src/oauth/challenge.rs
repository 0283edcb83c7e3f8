//! The challenge of a server that refuses a request: the header `WWW-Authenticate`, as far as it matters here.

use std::iter::Peekable;
use std::str::Chars;

/// Longest header that is read.
const MAX_BYTES: usize = 8 << 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Address of the server's description of itself (RFC 9728).
    pub(crate) resource_metadata: Option<String>,
    /// Scopes that a token must have.
    pub(crate) scopes: Vec<String>,
    pub(crate) error: Option<String>,
}

impl Challenge {
    /// Reads a header; the parameters of all its schemes count.
    pub(crate) fn read(header: &str) -> Self {
        let mut challenge = Self::default();
        if header.len() > MAX_BYTES {
            return challenge;
        }
        let mut letters = header.chars().peekable();
        while letters.peek().is_some() {
            let name = token(&mut letters);
            if name.is_empty() {
                letters.next();
                continue;
            }
            // Without a value it is the name of a scheme.
            if letters.next_if_eq(&'=').is_none() {
                continue;
            }
            let value = value(&mut letters);
            match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => challenge.resource_metadata = Some(value),
                "scope" => challenge.scopes = scopes(&value),
                "error" => challenge.error = Some(value),
                _ => {}
            }
        }
        challenge
    }

    /// True if a token was accepted as such, but is not good for the request.
    pub(crate) fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// Splits a list of scopes.
pub(crate) fn scopes(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn token(letters: &mut Peekable<Chars<'_>>) -> String {
    let mut token = String::new();
    while let Some(letter) = letters.next_if(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(*letter)) {
        token.push(letter);
    }
    token
}

fn value(letters: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    if letters.next_if_eq(&'"').is_none() {
        while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace() && *letter != ',') {
            value.push(letter);
        }
        return value;
    }
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => value.extend(letters.next()),
            letter => value.push(letter),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_quoted_or_not_and_after_other_schemes() {
        let read = Challenge::read(
            r#"Basic realm="a, scope=b", Bearer error="insufficient_scope", scope="files:read files:\"x\"", resource_metadata=https://a/b?c=d"#,
        );
        assert_eq!(read.scopes, ["files:read", "files:\"x\""]);
        assert_eq!(read.resource_metadata.as_deref(), Some("https://a/b?c=d"));
        assert!(read.wants_more());
    }

    #[test]
    fn nothing_is_read_from_a_broken_or_endless_header() {
        for header in ["", "Bearer", "=,=\"", "scope", &format!("scope=\"{}\"", "a ".repeat(MAX_BYTES))] {
            assert_eq!(Challenge::read(header), Challenge::default(), "{header:.20}");
        }
    }
}
