//! Fetching from the web: allowed hosts and addresses, redirects, bodies, and HTML as Markdown.

pub(crate) mod address;
pub(crate) mod body;
mod client;
pub(crate) mod content;
pub(crate) mod fetch;
pub(crate) mod guard;
pub(crate) mod lookup;
pub(crate) mod markdown;
pub(crate) mod target;
pub(crate) mod web_rules;
