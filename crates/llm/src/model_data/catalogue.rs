//! Catalogue of models: windows, caps on one reply, prices, and the wire of the provider.
//!
//! The built-in list is the data file `models.toml`; a user's file of the same form comes over it. Nothing here decides
//! which route serves a model, and a route's own figures win over it.

mod file;

use std::sync::{Arc, LazyLock};

pub use file::CatalogueError;
use file::Entry;

pub use super::prices::Prices;
use super::wire_kind::WireKind;

/// What is known about one model. A figure that nobody gave is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelFacts {
    /// The wire of the provider that the model comes from; of several, the one that serves it with tools.
    pub wire: Option<WireKind>,
    /// Tokens that fit its context.
    pub window: Option<u64>,
    /// The largest cap on one reply's tokens.
    pub max_output: Option<u64>,
    pub prices: Prices,
}

/// The built-in list of models, with what a user's file says over it. Cheap to make: the list is read by the first
/// question.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// The user's entries, which are asked first.
    extensions: Arc<[Entry]>,
}

impl Catalogue {
    /// The list that comes with the program.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// This catalogue with the entries of a user's file over it. `origin` names the file in an error.
    pub fn extended_with(&self, text: &str, origin: &str) -> Result<Self, CatalogueError> {
        let extensions = self.extensions.iter().cloned().chain(file::read(text, origin)?).collect();
        Ok(Self { extensions })
    }

    /// What is known about a model: by its exact id, else by the longest prefix. What a user's entry leaves out is
    /// filled from the built-in one.
    pub fn lookup(&self, id: &str) -> Option<ModelFacts> {
        match (best(&self.extensions, id), best(&BUILT_IN, id)) {
            (Some(extension), Some(builtin)) => Some(extension.facts.or(builtin.facts)),
            (extension, builtin) => extension.or(builtin).map(|entry| entry.facts),
        }
    }

    /// The id that is sent in place of a name which is none at its provider, like that of a whole family.
    pub(crate) fn meaning(&self, name: &str) -> Option<&str> {
        let meaning = |entries| best(entries, name)?.means.as_deref();
        meaning(&self.extensions).or_else(|| meaning(&BUILT_IN))
    }

    /// The ids that can be suggested: those of one wire's provider, or of all.
    pub(crate) fn ids(&self, wire: Option<WireKind>) -> impl Iterator<Item = &str> {
        let fits = move |entry: &&Entry| match (wire, entry.facts.wire) {
            (Some(asked), Some(known)) => asked.same_provider(known),
            (Some(_), None) => false,
            (None, _) => true,
        };
        self.extensions.iter().chain(BUILT_IN.iter()).filter(fits).filter_map(Entry::suggestion)
    }
}

/// Read by the first question, not at the start. A test holds that the file can be read.
static BUILT_IN: LazyLock<Vec<Entry>> =
    LazyLock::new(|| file::read(include_str!("../../models.toml"), "models.toml").unwrap_or_default());

/// The entry that fits an id best; of two alike the later one.
fn best<'a>(entries: &'a [Entry], id: &str) -> Option<&'a Entry> {
    entries.iter().filter_map(|entry| Some((entry.fit(id)?, entry))).max_by_key(|(fit, _)| *fit).map(|(_, entry)| entry)
}

impl ModelFacts {
    fn or(self, other: Self) -> Self {
        Self {
            wire: self.wire.or(other.wire),
            window: self.window.or(other.window),
            max_output: self.max_output.or(other.max_output),
            prices: self.prices.or(other.prices),
        }
    }
}
