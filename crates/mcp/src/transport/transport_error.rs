//! Errors on the way to a server, without the library's own names for it.

use std::error::Error;

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// What is at the bottom of it: the rest says only through which layers it came.
pub(crate) fn plain(error: &DynamicTransportError) -> String {
    let mut deepest: &(dyn Error + 'static) = error.error.as_ref();
    loop {
        let inner = match deepest.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            // It does not name it as its source.
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
