//! Paths protected whatever the rules say: files that no agent may change, and places with secrets.
//!
//! Files that steer Sortie, other agents, git, editors or shells are known by name. A name counts at any depth, in any
//! letter case and Unicode form, and in its Windows short form. These names do not restrict reading.

mod names;
mod secret_places;
mod walls;

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path};

use self::names::{BEGINNINGS, ENDINGS, INNER, NAMES};
pub use self::secret_places::{moved_secret_places, secret_places, secret_places_below};
pub(crate) use self::secret_places::{own_secret_places, secret_place_of_another};
pub use self::walls::{WallNames, protected_from_commands, wall_names};
use crate::text::fold;

/// The kind of a protected path, in words: a noun phrase such as `a git directory`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protected {
    what: &'static str,
    name: &'static str,
}

impl fmt::Display for Protected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (`{}`)", self.what, self.name)
    }
}

impl Protected {
    /// The kind without the name: `what a shell runs`.
    pub fn what(&self) -> &'static str {
        self.what
    }
}

/// Every protected name that can be looked up, in its usual spelling. A name protected only in certain directories has
/// its directory before it.
pub fn protected_names() -> impl Iterator<Item = &'static str> {
    let anywhere = NAMES.iter().flat_map(|(_, names)| names.iter().copied());
    anywhere.chain(INNER.iter().flat_map(|(_, inner)| inner.iter().map(|(_, name)| *name)))
}

/// Returns the kind of a protected path, which no agent may change. The path is taken literally: resolve it first.
pub fn protected(path: &Path) -> Option<Protected> {
    let mut outer: Option<&[(&'static str, &'static str)]> = None;
    for component in path.components() {
        let Component::Normal(name) = component else { continue };
        let name = name.to_string_lossy();
        // Elsewhere a backslash is a separator, and so is a character that folds to a slash.
        for folded in fold(&name).split(['/', '\\']) {
            let name = Name::new(folded);
            if let Some(protected) = name.protected().or_else(|| name.protected_in(outer?)) {
                return Some(protected);
            }
            outer = INNER.iter().find(|(outer, _)| name.is(outer)).map(|(_, inner)| *inner);
        }
    }
    None
}

/// One name of a path, in all forms that are looked up.
struct Name<'a> {
    name: &'a str,
    /// Start and extension of a Windows short name.
    short: Option<(&'a str, &'a str)>,
}

impl<'a> Name<'a> {
    fn new(folded: &'a str) -> Self {
        let name = found_by_windows(folded);
        Self { name, short: short_form(name) }
    }

    fn is(&self, long: &str) -> bool {
        self.name == long || self.short.is_some_and(|(start, _)| is_short_form(start, long))
    }

    fn begins(&self, beginning: &str) -> bool {
        self.name.starts_with(beginning) || self.short.is_some_and(|(start, _)| is_short_form(start, beginning))
    }

    fn ends(&self, ending: &str) -> bool {
        self.name.ends_with(ending) || self.short.is_some_and(|(_, extension)| ending.get(1..4) == Some(extension))
    }

    /// Returns its kind if it is protected in any directory.
    fn protected(&self) -> Option<Protected> {
        let all =
            |known: &'static [(&'static str, &'static str)]| known.iter().map(|&(what, name)| Protected { what, name });
        let mut known = NAMES.iter().flat_map(|(what, names)| names.iter().map(|&name| Protected { what, name }));
        known
            .find(|known| self.is(known.name))
            .or_else(|| all(BEGINNINGS).find(|known| self.begins(known.name)))
            .or_else(|| all(ENDINGS).find(|known| self.ends(known.name)))
    }

    /// Returns its kind if it is protected in a directory with these names.
    fn protected_in(&self, inner: &[(&'static str, &'static str)]) -> Option<Protected> {
        let last = |name: &'static str| name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        inner.iter().find(|(_, name)| self.is(&last(name))).map(|&(what, name)| Protected { what, name })
    }
}

/// Returns a name without the parts that Windows ignores: trailing dots and blanks, and the name of a stream after a
/// colon.
fn found_by_windows(name: &str) -> &str {
    let before_stream = name.split(':').next().unwrap_or(name);
    before_stream.trim_end_matches(['.', ' '])
}

/// True if Windows may store `long` under a short name with this start: `GIT~1` or `GITMOD~1`. After some collisions it
/// has two letters and a number, as in `GI7EBA~1`.
fn is_short_form(start: &str, long: &str) -> bool {
    let plain: String = stem(long).chars().filter(|character| !".-_ ".contains(*character)).collect();
    let spelled = stem(long).trim_start_matches('.');
    let begins = |whole: &str| start == &whole[..whole.len().min(6)];
    let hashed = start.len() == 6
        && plain.get(..2).is_some_and(|two| start.starts_with(two))
        && start[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
    begins(&plain) || begins(spelled) || hashed
}

/// Splits a name of the form `START~1` or `START~1.EXT`.
fn short_form(name: &str) -> Option<(&str, &str)> {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let (start, number) = stem.rsplit_once('~')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !start.is_empty() && start.is_ascii()).then_some((start, extension))
}

/// Returns a name without its extension. A leading dot starts no extension.
fn stem(name: &str) -> &str {
    name.rfind('.').filter(|&at| at > 0).map_or(name, |at| &name[..at])
}

/// True if a path is a directory or inside it, in any letter case and Unicode form.
pub(crate) fn is_within(path: &Path, directory: &Path) -> bool {
    let mut path = path.components().map(folded);
    directory.components().map(folded).all(|name| path.next().is_some_and(|own| own == name))
}

fn folded(component: Component<'_>) -> Cow<'_, str> {
    match component.as_os_str().to_string_lossy() {
        Cow::Borrowed(name) => fold(name),
        Cow::Owned(name) => Cow::Owned(fold(&name).into_owned()),
    }
}
