//! Catalogue of models: windows, caps on one reply, prices, and the wire of the provider.
//!
//! The built-in list is the data file `models.toml`; a user's file of the same form overrides it. Nothing here decides
//! which route serves a model, and a route's own settings override the catalogue.

mod file;

use std::sync::{Arc, LazyLock};

pub use file::CatalogueError;
use file::Entry;

pub use super::prices::Prices;
use super::wire_kind::WireKind;

/// Facts about one model. Unknown figures are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelFacts {
    /// The wire of the model's provider; of several, the one that serves it with tools.
    pub wire: Option<WireKind>,
    /// Size of its context in tokens.
    pub window: Option<u64>,
    /// Largest cap on one reply's tokens.
    pub max_output: Option<u64>,
    pub prices: Prices,
}

/// The built-in list of models, overridden by the user's file. Cheap to create: the list is parsed by the first lookup.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// The user's entries, consulted first.
    extensions: Arc<[Entry]>,
}

impl Catalogue {
    /// Returns the list that comes with the program.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Adds the entries of a user's file, which override this catalogue. `origin` names the file in errors.
    pub fn extended_with(&self, text: &str, origin: &str) -> Result<Self, CatalogueError> {
        let extensions = self.extensions.iter().cloned().chain(file::read(text, origin)?).collect();
        Ok(Self { extensions })
    }

    /// Looks up a model: by its exact id, else by the longest prefix. Gaps in a user's entry are filled from the
    /// built-in one.
    pub fn lookup(&self, id: &str) -> Option<ModelFacts> {
        match (best(&self.extensions, id), best(&BUILT_IN, id)) {
            (Some(extension), Some(builtin)) => Some(extension.facts.or(builtin.facts)),
            (extension, builtin) => extension.or(builtin).map(|entry| entry.facts),
        }
    }

    /// Returns the id to send for a name that its provider does not know, such as the name of a family.
    pub(crate) fn meaning(&self, name: &str) -> Option<&str> {
        let meaning = |entries| best(entries, name)?.means.as_deref();
        meaning(&self.extensions).or_else(|| meaning(&BUILT_IN))
    }

    /// Ids that can be suggested, of all providers or of one wire's.
    pub(crate) fn ids(&self, wire: Option<WireKind>) -> impl Iterator<Item = &str> {
        let fits = move |entry: &&Entry| match (wire, entry.facts.wire) {
            (Some(asked), Some(known)) => asked.same_provider(known),
            (Some(_), None) => false,
            (None, _) => true,
        };
        self.extensions.iter().chain(BUILT_IN.iter()).filter(fits).filter_map(Entry::suggestion)
    }
}

/// Parsed by the first lookup, not at start-up. A test ensures that the file is valid.
static BUILT_IN: LazyLock<Vec<Entry>> =
    LazyLock::new(|| file::read(include_str!("../../models.toml"), "models.toml").unwrap_or_default());

/// Returns the entry that fits an id best; on a tie, the later one.
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
