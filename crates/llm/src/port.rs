//! Port to models: requests, events and errors, the same for every provider.

mod model;
mod model_error;
mod models;

pub use model::{BoxFuture, Model, ModelEvent, ModelRequest, ToolChoice};
pub use model_error::{ErrorKind, ModelError};
pub use models::{Chosen, Endpoint, Models, Terms, UnknownModel};
