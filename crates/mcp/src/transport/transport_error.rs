//! Errors on the way to a server, without the library's own names for it.

use std::error::Error;

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

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
