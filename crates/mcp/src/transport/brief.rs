//! A server's words in a presentable form: without secrets, on one line of bounded length. Errors on the way to it,
//! without the library's own names.

use std::error::Error;

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use sortie_policy::Redactor;

const MAX_CHARS: usize = 500;

/// Removes secrets before anything is cut, because half a key is also a secret.
pub(crate) fn brief(redactor: &Redactor, text: &str) -> String {
    let text = redactor.redact(text).text;
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the root cause; the outer errors only name the layers that it passed.
pub(crate) fn plain(error: &DynamicTransportError) -> String {
    let mut deepest: &(dyn Error + 'static) = error.error.as_ref();
    loop {
        let inner = match deepest.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            // The library does not expose it as its source.
            Some(StreamableHttpError::Client(inner)) => Some(inner as &(dyn Error + 'static)),
            Some(StreamableHttpError::UnexpectedServerResponse(words)) => return words.to_string(),
            _ => deepest.source(),
        };
        match inner {
            Some(inner) => deepest = inner,
            None => return deepest.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_at_the_cut_is_not_shown_in_part() {
        let redactor = Redactor::new(vec!["tok-abcdefghijklmnop".to_owned()]);
        let said = format!("{} tok-abcdefghijklmnop\nand more", "x".repeat(MAX_CHARS - 10));
        let shown = brief(&redactor, &said);
        assert!(!shown.contains("tok-"), "{shown}");
        assert_eq!(shown.chars().count(), MAX_CHARS + 1);
        assert_eq!(brief(&redactor, "one\ntwo"), "one two");
    }
}
