//! Patterns for paths, written as in `.gitignore`, matched component by component.
//!
//! With a slash at its start or in its middle a pattern starts at the workspace root: `src/**`, `/build`. A single name
//! holds at any depth: `*.rs`, `docs/`. `~/` starts at home and `//` at the root of the file system. A pattern that
//! names a directory covers what is in it.

use std::path::{Component, Path, PathBuf};

use super::glob::Glob;
use crate::pairs::Pairs;

/// A path pattern as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    base: Base,
    parts: Vec<Part>,
}

/// Where a pattern starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// At any depth; for what forbids also above an added directory.
    Anywhere,
    Workspace,
    Home,
    FileSystem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// `**`: any number of components.
    AnyDepth,
    Name(Glob),
}

impl PathPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.starts_with('!') {
            return Err("`!` is not understood; what is to be let through belongs into another rule");
        }
        let (base, rest) = start(text)?;
        let mut parts = Vec::new();
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    return Err("`..` leads nowhere in a pattern; write `//` and the path from the file system's root");
                }
                "**" if parts.last() == Some(&Part::AnyDepth) => {}
                "**" => parts.push(Part::AnyDepth),
                name if name.contains("**") => return Err("`**` must stand alone between slashes"),
                name => parts.push(Part::Name(Glob::parse(name)?)),
            }
        }
        Ok(Self { base, parts })
    }

    /// Whether it covers every path there is.
    pub(crate) fn is_everything(&self) -> bool {
        let is_any = |part: &Part| if let Part::Name(glob) = part { glob.is_any() } else { true };
        self.base == Base::Anywhere && matches!(&self.parts[..], [only] if is_any(only))
    }

    /// The pattern ready for matching; `None` if it starts at a home that is not known.
    pub(crate) fn compile(&self, home: Option<&Path>, folded: bool) -> Option<CompiledPath> {
        let mut parts: Vec<Part> = Vec::new();
        if self.base == Base::Home {
            parts.extend(names(home?).map(|name| Part::Name(Glob::literal(&name))));
        }
        parts.extend(self.parts.iter().cloned());
        let literal = literal(&parts);
        if self.base == Base::Anywhere {
            parts.insert(0, Part::AnyDepth);
        }
        parts.push(Part::AnyDepth);
        parts.dedup_by(|later, earlier| *later == Part::AnyDepth && *earlier == Part::AnyDepth);
        if folded {
            for part in &mut parts {
                if let Part::Name(glob) = part {
                    *glob = glob.folded();
                }
            }
        }
        let base = if self.base == Base::Home { Base::FileSystem } else { self.base };
        let ends_in_any_depth = self.parts.last() == Some(&Part::AnyDepth);
        Some(CompiledPath { base, parts, literal, ends_in_any_depth })
    }
}

/// Where a pattern starts, and what follows.
fn start(text: &str) -> Result<(Base, &str), &'static str> {
    if let Some(rest) = text.strip_prefix("//") {
        return Ok((Base::FileSystem, rest));
    }
    if let Some(rest) = text.strip_prefix('~') {
        let is_own = rest.is_empty() || rest.starts_with('/');
        let other = "only one's own `~/` is understood; write `\\~` for a name that begins so";
        return if is_own { Ok((Base::Home, rest)) } else { Err(other) };
    }
    let inner_slash = text.trim_end_matches('/').contains('/') && !text.starts_with("**/");
    let at_root = text.starts_with('/') || text == "." || text.starts_with("./");
    Ok((if at_root || inner_slash { Base::Workspace } else { Base::Anywhere }, text))
}

/// A path pattern ready for matching. Its last part is `**`, since it covers what is in the directories it names.
#[derive(Debug, Clone)]
pub(crate) struct CompiledPath {
    pub(crate) base: Base,
    parts: Vec<Part>,
    /// The path itself, as it was written, where it is no more than that, or `**` behind it.
    literal: Option<PathBuf>,
    /// Whether it was written with `**` at its end, and so is about what is in a directory.
    ends_in_any_depth: bool,
}

/// A path that a pattern names, without wildcards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Literal<'a> {
    /// Where it starts; never at home.
    pub(crate) base: Base,
    /// From there on.
    pub(crate) path: &'a Path,
}

impl CompiledPath {
    pub(crate) fn literal(&self) -> Option<Literal<'_>> {
        self.literal.as_deref().map(|path| Literal { base: self.base, path })
    }

    /// The same, if it is a directory that the pattern speaks of.
    pub(crate) fn literal_directory(&self) -> Option<Literal<'_>> {
        self.literal().filter(|_| self.ends_in_any_depth)
    }

    /// Whether it covers the path of these components, which start where the pattern starts.
    ///
    /// As with the characters of one name, only the last `**` ever has to take one component more.
    pub(crate) fn covers<S: AsRef<str>>(&self, path: &[S]) -> bool {
        let (mut part, mut component) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match self.parts.get(part) {
                Some(Part::AnyDepth) if part + 1 == self.parts.len() => return true,
                Some(Part::AnyDepth) => {
                    part += 1;
                    retry = Some((part, component));
                    continue;
                }
                Some(Part::Name(glob)) if path.get(component).is_some_and(|name| glob.matches(name.as_ref())) => {
                    part += 1;
                    component += 1;
                    continue;
                }
                _ if component >= path.len() => return false,
                _ => {}
            }
            let Some((after, from)) = &mut retry else { return false };
            *from += 1;
            (part, component) = (*after, *from);
        }
    }

    /// What occurs in every path that it covers.
    pub(crate) fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::default();
        for part in &self.parts {
            if let Part::Name(glob) = part {
                glob.add_pairs(&mut pairs);
            }
        }
        pairs
    }
}

/// The path that these parts are, if they have no wildcards but `**` at the end.
fn literal(parts: &[Part]) -> Option<PathBuf> {
    let parts = parts.strip_suffix(&[Part::AnyDepth]).unwrap_or(parts);
    let name = |part: &Part| if let Part::Name(glob) = part { glob.name().map(str::to_owned) } else { None };
    parts.iter().map(name).collect()
}

/// The components of a path as text, without its root.
pub(crate) fn names(path: &Path) -> impl Iterator<Item = String> {
    let name = |component| if let Component::Normal(name) = component { Some(name) } else { None };
    path.components().filter_map(name).map(|name| name.to_string_lossy().into_owned())
}
