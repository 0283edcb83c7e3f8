//! Patterns for paths, written as in `.gitignore` and matched component by component.
//!
//! With a slash at its start or in its middle a pattern starts at the workspace root: `src/**`, `/build`. A single name
//! holds at any depth: `*.rs`, `docs/`. `~/` starts at home and `//` at the root of the file system. A pattern for a
//! directory covers its contents.

use std::path::{Component, Path, PathBuf};

use super::glob::Glob;
use crate::text::{Bigrams, Spelling};

/// A path pattern as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    base: Base,
    segments: Vec<Segment>,
}

/// The start of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// At any depth; for rules that forbid, also above an added directory.
    Anywhere,
    Workspace,
    Home,
    FileSystem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// `**`: any number of components.
    AnyDepth,
    Name(Glob),
}

impl PathPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.starts_with('!') {
            return Err("`!` is not supported; write another rule for the exception");
        }
        let (base, rest) = start(text)?;
        let mut segments = Vec::new();
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    return Err("`..` leads nowhere in a pattern; write `//` and the path from the file system's root");
                }
                "**" if segments.last() == Some(&Segment::AnyDepth) => {}
                "**" => segments.push(Segment::AnyDepth),
                name if name.contains("**") => return Err("`**` must stand alone between slashes"),
                name => segments.push(Segment::Name(Glob::parse(name)?)),
            }
        }
        Ok(Self { base, segments })
    }

    /// True if it covers every path.
    pub(crate) fn is_everything(&self) -> bool {
        let is_any = |segment: &Segment| if let Segment::Name(glob) = segment { glob.is_any() } else { true };
        self.base == Base::Anywhere && matches!(&self.segments[..], [only] if is_any(only))
    }

    /// Prepares the pattern for matching; `None` if it starts at home and there is none.
    pub(crate) fn compile(&self, home: Option<&Path>, spelling: Spelling) -> Option<CompiledPath> {
        let mut segments: Vec<Segment> = Vec::new();
        if self.base == Base::Home {
            segments.extend(names(home?).map(|name| Segment::Name(Glob::literal(&name))));
        }
        segments.extend(self.segments.iter().cloned());
        let literal = literal(&segments);
        if self.base == Base::Anywhere {
            segments.insert(0, Segment::AnyDepth);
        }
        segments.push(Segment::AnyDepth);
        segments.dedup_by(|later, earlier| *later == Segment::AnyDepth && *earlier == Segment::AnyDepth);
        if spelling == Spelling::Folded {
            for segment in &mut segments {
                if let Segment::Name(glob) = segment {
                    *glob = glob.folded();
                }
            }
        }
        let base = if self.base == Base::Home { Base::FileSystem } else { self.base };
        let ends_in_any_depth = self.segments.last() == Some(&Segment::AnyDepth);
        Some(CompiledPath { base, segments, literal, ends_in_any_depth })
    }
}

/// Splits a pattern into its base and the rest.
fn start(text: &str) -> Result<(Base, &str), &'static str> {
    if let Some(rest) = text.strip_prefix("//") {
        return Ok((Base::FileSystem, rest));
    }
    if let Some(rest) = text.strip_prefix('~') {
        let is_own = rest.is_empty() || rest.starts_with('/');
        let other = "only your own `~/` is supported; write `\\~` for a name that begins with `~`";
        return if is_own { Ok((Base::Home, rest)) } else { Err(other) };
    }
    let inner_slash = text.trim_end_matches('/').contains('/') && !text.starts_with("**/");
    let at_root = text.starts_with('/') || text == "." || text.starts_with("./");
    Ok((if at_root || inner_slash { Base::Workspace } else { Base::Anywhere }, text))
}

/// A path pattern prepared for matching. Its last segment is `**`, since it covers the contents of the directories it
/// names.
#[derive(Debug, Clone)]
pub(crate) struct CompiledPath {
    pub(crate) base: Base,
    segments: Vec<Segment>,
    /// The path as written, if there are no wildcards but a final `**`.
    literal: Option<PathBuf>,
    /// True if it was written with `**` at its end, and so is about the contents of a directory.
    ends_in_any_depth: bool,
}

/// A path that a pattern names, without wildcards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Literal<'a> {
    /// Its base; never the home directory.
    pub(crate) base: Base,
    /// The path from that base.
    pub(crate) path: &'a Path,
}

impl CompiledPath {
    pub(crate) fn literal(&self) -> Option<Literal<'_>> {
        self.literal.as_deref().map(|path| Literal { base: self.base, path })
    }

    /// The path itself, if the pattern names it as a directory.
    pub(crate) fn literal_directory(&self) -> Option<Literal<'_>> {
        self.literal().filter(|_| self.ends_in_any_depth)
    }

    /// True if it covers the path of these components, which start at the pattern's base.
    ///
    /// As with the characters of one name, only the last `**` ever has to take one component more.
    pub(crate) fn covers<S: AsRef<str>>(&self, path: &[S]) -> bool {
        let (mut segment, mut component) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match self.segments.get(segment) {
                Some(Segment::AnyDepth) if segment + 1 == self.segments.len() => return true,
                Some(Segment::AnyDepth) => {
                    segment += 1;
                    retry = Some((segment, component));
                    continue;
                }
                Some(Segment::Name(glob)) if path.get(component).is_some_and(|name| glob.matches(name.as_ref())) => {
                    segment += 1;
                    component += 1;
                    continue;
                }
                _ if component >= path.len() => return false,
                _ => {}
            }
            let Some((after, from)) = &mut retry else { return false };
            *from += 1;
            (segment, component) = (*after, *from);
        }
    }

    /// Bigrams that occur in every path it covers.
    pub(crate) fn bigrams(&self) -> Bigrams {
        let mut bigrams = Bigrams::default();
        for segment in &self.segments {
            if let Segment::Name(glob) = segment {
                glob.add_bigrams(&mut bigrams);
            }
        }
        bigrams
    }
}

/// Returns the path of these segments, if they have no wildcards but a final `**`.
fn literal(segments: &[Segment]) -> Option<PathBuf> {
    let segments = segments.strip_suffix(&[Segment::AnyDepth]).unwrap_or(segments);
    let name =
        |segment: &Segment| if let Segment::Name(glob) = segment { glob.name().map(str::to_owned) } else { None };
    segments.iter().map(name).collect()
}

/// Returns the components of a path as text, without its root.
pub(crate) fn names(path: &Path) -> impl Iterator<Item = String> {
    let name = |component| if let Component::Normal(name) = component { Some(name) } else { None };
    path.components().filter_map(name).map(|name| name.to_string_lossy().into_owned())
}
