//! Sign-in at servers at addresses, by OAuth: discovery, registration, a person's consent, and tokens in private files.
//!
//! Everything that a server names is untrusted: addresses, lists and texts. A token is sent only to the server that it
//! was given for.

mod authorization;
mod challenge;
mod fetch;
mod login;
mod metadata;
mod oauth_error;
mod redirect;
mod registration;
mod sign_in;
mod token_request;
mod token_store;

pub(crate) use challenge::Challenge;
pub use login::{Login, login};
pub use oauth_error::OAuthError;
pub(crate) use sign_in::SignIn;
pub use token_store::TokenStore;
