//! Secrets, taken out of what tools return before anyone sees it.
//!
//! It finds known values, and keys with a known shape. A password that looks like any other word is not found unless
//! its value is known.

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

/// Shorter values are left alone: they are part of too many ordinary words.
const LEAST_KNOWN: usize = 8;

/// What people write where a server wants some key and takes any, or where the key is the one that everybody knows.
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

/// Takes secrets out of texts, in time linear in their length.
pub struct Redactor {
    /// `None` if the search could not be set up; then no text is let through. Whoever reads holds the lock only until
    /// he has the search, which is never changed, only replaced.
    search: RwLock<Option<Arc<Search>>>,
}

struct Search {
    /// Where to look: what the shapes begin with.
    anchors: AhoCorasick,
    known: AhoCorasick,
    /// What `known` was made of.
    words: Vec<String>,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    pub text: Cow<'a, str>,
    /// How many were taken out.
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
    /// A redactor that also knows these values, such as the keys of this process.
    ///
    /// Values below eight bytes are too likely to be ordinary words, and are ignored.
    pub fn new(known_values: Vec<String>) -> Self {
        let anchors = search_for(SHAPES.iter().map(|shape| shape.anchor));
        let search = anchors.and_then(|anchors| Search::new(anchors, words(known_values)));
        Self { search: RwLock::new(search.ok().map(Arc::new)) }
    }

    /// Knows these values from now on, too, for everybody who shares it. For keys that are found out only while the
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

    /// The text with a mark such as `[redacted: GitHub token]` in the place of each secret.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        let Some(search) = self.search() else {
            return Redacted {
                text: Cow::Borrowed("[redacted: everything, since secrets cannot be searched for]"),
                count: 1,
            };
        };
        replace(text, search.all(text))
    }

    /// The secrets in a text, as they stand there.
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

    /// A search with more words; this one where it has them all.
    fn knowing(self: Arc<Self>, mut more: Vec<String>) -> Result<Arc<Self>, BuildError> {
        more.retain(|word| !self.words.contains(word));
        if more.is_empty() {
            return Ok(self);
        }
        more.extend(self.words.iter().cloned());
        Self::new(self.anchors.clone(), more).map(Arc::new)
    }

    /// Every secret, in the order of their places.
    fn all(&self, text: &str) -> Vec<Found> {
        let mut found = self.shapes(text);
        found.extend(self.known(text));
        found.sort_by_key(|found| found.place.start);
        found
    }

    /// Every place of a known value, also those that overlap.
    fn known<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Found> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let hit = self.known.find(Input::new(text).range(from..))?;
            from = hit.start() + 1;
            Some(Found { place: hit.range(), what: "known secret" })
        })
    }

    /// Every secret with a known shape.
    fn shapes(&self, text: &str) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let mut from = 0;
        // Up to where each shape is known not to occur.
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
    /// Says nothing of what it knows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// Of two words at one place the longer is found.
fn search_for(words: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<AhoCorasick, BuildError> {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words)
}

/// The values that are worth looking for, in each of their spellings.
fn words(values: Vec<String>) -> Vec<String> {
    let is_secret = |value: &String| value.len() >= LEAST_KNOWN && !PLACEHOLDERS.contains(&value.as_str());
    values.into_iter().filter(is_secret).flat_map(spellings).collect()
}

/// A value as it stands, and as it stands inside a JSON string, where the ends of its lines are written out.
fn spellings(value: String) -> Vec<String> {
    let written = [("\\", r"\\"), ("\"", r#"\""#), ("\n", r"\n"), ("\r", r"\r"), ("\t", r"\t")];
    let escaped = written.into_iter().fold(value.clone(), |text, (letter, written)| text.replace(letter, written));
    if escaped == value { vec![value] } else { vec![value, escaped] }
}

/// Puts a mark in each place; places that overlap get one.
fn replace(text: &str, found: Vec<Found>) -> Redacted<'_> {
    if found.is_empty() {
        return Redacted { text: Cow::Borrowed(text), count: 0 };
    }
    let mut clean = String::with_capacity(text.len());
    let (mut done, mut count) = (0, 0);
    for Found { place, what } in found {
        if place.start < done {
            // It overlaps what has a mark already: only its rest is left to take out.
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
