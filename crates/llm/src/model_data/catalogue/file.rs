//! Catalogue file: TOML with one `[[models]]` table for each family of models.
//!
//! An unknown key is an error: otherwise, a misspelt price would cost nothing.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use serde::Deserialize;
use toml::Spanned;

use super::{ModelFacts, Prices};
use crate::model_data::wire_kind::{UnknownWire, WireKind};

/// A catalogue file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {reason}")]
pub struct CatalogueError {
    pub origin: String,
    /// Line number, from 1.
    pub line: usize,
    pub reason: String,
}

/// One family of models.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pattern: Pattern,
    pub(super) facts: ModelFacts,
    /// The id that is sent in its place, because the name itself is not an id.
    pub(super) means: Option<String>,
    /// Shut down by its provider.
    retired: bool,
}

impl Entry {
    /// Rates how well the entry fits an id, if at all: an exact match best, then the longer prefix.
    pub(super) fn fit(&self, id: &str) -> Option<(bool, usize)> {
        let Pattern { start, open } = &self.pattern;
        let begins = |with: &str| id.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
        let bare = start.strip_suffix('-').filter(|bare| *open && bare.len() == id.len() && begins(bare));
        if let Some(bare) = bare {
            return Some((false, bare.len()));
        }
        let fits = begins(start) && (*open || start.len() == id.len());
        fits.then_some((!open, start.len()))
    }

    /// The id that the entry describes. A family like `claude-opus-4-*` has none: it is a prefix of ids.
    pub(super) fn id(&self) -> Option<&str> {
        let Pattern { start, open } = &self.pattern;
        let is_id = (!open || !start.ends_with(['-', '.'])) && self.means.is_none();
        is_id.then_some(start.as_str())
    }

    /// The id, if it can be requested.
    pub(super) fn suggestion(&self) -> Option<&str> {
        self.id().filter(|_| !self.retired)
    }
}

/// Reads all entries of a file.
pub(super) fn read(text: &str, origin: &str) -> Result<Vec<Entry>, CatalogueError> {
    let error = |offset: usize, reason: String| {
        let before = text.as_bytes().iter().take(offset);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        CatalogueError { origin: origin.to_owned(), line, reason }
    };
    let file: File = toml::from_str(text)
        .map_err(|problem| error(problem.span().map_or(0, |span| span.start), problem.message().to_owned()))?;
    let mut seen = BTreeSet::new();
    for model in &file.models {
        let Pattern { start, open } = model.id.get_ref();
        if !seen.insert((start.to_ascii_lowercase(), *open)) {
            let reason = format!("`{start}` is described twice; keep one of the two");
            return Err(error(model.id.span().start, reason));
        }
    }
    Ok(file.models.into_iter().map(Entry::from).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    models: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    id: Spanned<Pattern>,
    wire: Option<WireName>,
    window: Option<NonZeroU64>,
    max_output: Option<NonZeroU64>,
    input: Option<Price>,
    output: Option<Price>,
    cache_read: Option<Price>,
    cache_write: Option<Price>,
    #[serde(default)]
    retired: bool,
    means: Option<String>,
}

/// An id, or a prefix of ids if it ends in `*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
struct Pattern {
    start: String,
    open: bool,
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (start, open) = text.strip_suffix('*').map_or((text.as_str(), false), |start| (start, true));
        if start.is_empty() || start.contains(|c: char| c == '*' || c.is_whitespace() || c.is_control()) {
            return Err(format!("`{text}` is not a model id; write one like `gpt-5` or, for a family, `gpt-5*`"));
        }
        Ok(Self { start: start.to_owned(), open })
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct WireName(WireKind);

impl TryFrom<String> for WireName {
    type Error = UnknownWire;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// US dollars per million tokens.
#[derive(Deserialize)]
#[serde(try_from = "f64")]
struct Price(f64);

impl TryFrom<f64> for Price {
    type Error = String;

    fn try_from(dollars: f64) -> Result<Self, Self::Error> {
        if dollars.is_finite() && dollars >= 0.0 {
            return Ok(Self(dollars));
        }
        Err(format!("{dollars} is not a price; write US dollars per million tokens, like 2.5"))
    }
}

impl From<Model> for Entry {
    fn from(model: Model) -> Self {
        let dollars = |price: Option<Price>| price.map(|Price(dollars)| dollars);
        let facts = ModelFacts {
            wire: model.wire.map(|WireName(wire)| wire),
            window: model.window.map(NonZeroU64::get),
            max_output: model.max_output.map(NonZeroU64::get),
            prices: Prices {
                input: dollars(model.input),
                output: dollars(model.output),
                cache_read: dollars(model.cache_read),
                cache_write: dollars(model.cache_write),
            },
        };
        Self { pattern: model.id.into_inner(), facts, means: model.means, retired: model.retired }
    }
}
