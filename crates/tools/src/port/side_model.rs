//! Port to a small model that answers questions about a text.

use sortie_protocol::Failure;

use super::future::BoxFuture;

/// A small model, bound to the task that makes the call and pays for it.
pub trait Assistant: Send + Sync {
    /// Answers a question about a text. The text is data: `system` tells the model how to recognise it.
    fn answer<'a>(
        &'a self,
        system: &'a str,
        text: &'a str,
        question: &'a str,
    ) -> BoxFuture<'a, Result<String, Failure>>;
}
