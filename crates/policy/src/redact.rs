//! Secrets, redacted from tool outputs before anyone sees them.
//!
//! It finds known values and keys of a known shape. A password that looks like an ordinary word is found only if its
//! value is known.

mod base64_lines;
mod characters;
mod der;
mod mark;
mod named_values;
mod pem;
mod shape;
#[cfg(test)]
mod tests;
mod url;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, BuildError, Input, MatchKind};

pub use self::mark::redaction_marks;
use self::shape::{Looked, SHAPES};
pub use self::url::without_credentials;

/// Shorter values are not redacted: they occur in too many ordinary words.
const LEAST_KNOWN: usize = 8;

/// Dummy keys for servers that accept any key, and well-known default keys.
const PLACEHOLDERS: [&str; 9] = [
    "lm-studio",
    "not-needed",
    "no-key-required",
    "sk-no-key-required",
    "placeholder",
    "api-key-here",
    "postgres",
    "password",
    "changeme",
];

/// Redacts secrets in texts, in linear time.
pub struct Redactor {
    /// `None` if the search could not be set up; then no text is let through. Readers hold the lock only to clone the
    /// search, which is never changed, only replaced.
    search: RwLock<Option<Arc<Search>>>,
}

struct Search {
    /// Finds the starts of the shapes.
    anchors: AhoCorasick,
    known: AhoCorasick,
    /// The words that `known` searches for.
    words: Vec<String>,
}

/// A text with its secrets redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    pub text: Cow<'a, str>,
    /// Number of secrets redacted.
    pub count: usize,
}

impl Redacted<'_> {
    pub fn into_text(self) -> String {
        self.text.into_owned()
    }
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    place: Range<usize>,
    what: &'static str,
}

impl Redactor {
    /// Creates a redactor that also knows these values, such as the keys of this process.
    ///
    /// Values below eight bytes are too likely to be ordinary words, and are ignored.
    pub fn new(known_values: Vec<String>) -> Self {
        let anchors = search_for(SHAPES.iter().map(|shape| shape.anchor));
        let search = anchors.and_then(|anchors| Search::new(anchors, words(known_values)));
        Self { search: RwLock::new(search.ok().map(Arc::new)) }
    }

    /// Adds values to redact, for everybody who shares this redactor. Meant for keys that are discovered only while the
    /// program runs, before anybody can repeat them.
    pub fn learn(&self, values: Vec<String>) {
        let new = words(values);
        if new.is_empty() {
            return;
        }
        let mut search = self.search.write().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = search.take() else { return };
        *search = before.knowing(new).ok();
    }

    /// Returns the text with a mark such as `[redacted: GitHub token]` in place of each secret.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        let Some(search) = self.search() else {
            return Redacted {
                text: Cow::Borrowed("[redacted: everything, since secrets cannot be searched for]"),
                count: 1,
            };
        };
        replace(text, search.all(text))
    }

    /// Returns the secrets in a text, verbatim.
    pub fn secrets<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let found = self.search().map(|search| search.all(text)).unwrap_or_default();
        found.into_iter().map(|found| &text[found.place]).collect()
    }

    fn search(&self) -> Option<Arc<Search>> {
        self.search.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Search {
    fn new(anchors: AhoCorasick, words: Vec<String>) -> Result<Self, BuildError> {
        Ok(Self { anchors, known: search_for(&words)?, words })
    }

    /// Returns a search with more words, or this one if it has them all.
    fn knowing(self: Arc<Self>, mut more: Vec<String>) -> Result<Arc<Self>, BuildError> {
        more.retain(|word| !self.words.contains(word));
        if more.is_empty() {
            return Ok(self);
        }
        more.extend(self.words.iter().cloned());
        Self::new(self.anchors.clone(), more).map(Arc::new)
    }

    /// Returns every secret, in order of position.
    fn all(&self, text: &str) -> Vec<Found> {
        let mut found = self.shapes(text);
        found.extend(self.known(text));
        found.sort_by_key(|found| found.place.start);
        found
    }

    /// Returns every occurrence of a known value, including overlapping ones.
    fn known<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Found> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let hit = self.known.find(Input::new(text).range(from..))?;
            from = hit.start() + 1;
            Some(Found { place: hit.range(), what: "known secret" })
        })
    }

    /// Returns every secret of a known shape.
    fn shapes(&self, text: &str) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let mut from = 0;
        // Position up to which each shape is known not to occur.
        let mut barren = [0; SHAPES.len()];
        while let Some(hit) = self.anchors.find(Input::new(text).range(from..)) {
            let index = hit.pattern().as_usize();
            from = hit.start() + 1;
            if hit.start() < barren[index] {
                continue;
            }
            match SHAPES[index].look(text, hit.start()) {
                Looked::Nothing { until } => barren[index] = until,
                Looked::Secret(place) => {
                    from = from.max(place.end);
                    found.push(Found { place, what: SHAPES[index].what });
                }
            }
        }
        found
    }
}

impl fmt::Debug for Redactor {
    /// Reveals none of the known values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// Builds a search that prefers the longer of two words at one position.
fn search_for(words: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<AhoCorasick, BuildError> {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words)
}

/// Returns the values worth looking for, in each of their spellings.
fn words(values: Vec<String>) -> Vec<String> {
    let is_secret = |value: &String| value.len() >= LEAST_KNOWN && !PLACEHOLDERS.contains(&value.as_str());
    values.into_iter().filter(is_secret).flat_map(spellings).collect()
}

/// Returns a value verbatim and as it appears inside a JSON string, where line ends are escaped.
fn spellings(value: String) -> Vec<String> {
    let written = [("\\", r"\\"), ("\"", r#"\""#), ("\n", r"\n"), ("\r", r"\r"), ("\t", r"\t")];
    let escaped = written.into_iter().fold(value.clone(), |text, (letter, written)| text.replace(letter, written));
    if escaped == value { vec![value] } else { vec![value, escaped] }
}

/// Replaces each secret by a mark. Overlapping secrets share one.
fn replace(text: &str, found: Vec<Found>) -> Redacted<'_> {
    if found.is_empty() {
        return Redacted { text: Cow::Borrowed(text), count: 0 };
    }
    let mut clean = String::with_capacity(text.len());
    let (mut done, mut count) = (0, 0);
    for Found { place, what } in found {
        if place.start < done {
            // It overlaps a secret that has a mark already; drop only the rest.
            done = done.max(place.end);
            continue;
        }
        clean.push_str(&text[done..place.start]);
        clean.push_str(mark::START);
        clean.push_str(what);
        clean.push(mark::END);
        (done, count) = (place.end, count + 1);
    }
    clean.push_str(&text[done..]);
    Redacted { text: Cow::Owned(clean), count }
}
