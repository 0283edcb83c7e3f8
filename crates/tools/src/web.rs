//! Fetching from the web: which hosts and addresses may be reached, redirects, bodies, and pages as Markdown.

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
