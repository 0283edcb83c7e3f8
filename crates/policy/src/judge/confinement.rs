//! Limits of commands under a grant: what it leaves to programs that read no rules.
//!
//! The limits are in terms the kernel can enforce: directories, files and the network. The judge decides if a command
//! may run at all; the caller finds out which paths exist.

use std::path::{Path, PathBuf};

use sortie_protocol::Resource;

use super::decision::Decision;
use super::layer::{Access, Layer, NetworkReach, WriteScope};
use crate::matching::{Call, CalledTool, Matcher, Target};
use crate::rule::{Base, Places};

/// The limits of commands under a grant: they can touch whatever all of its layers leave to them.
///
/// Commands may write even if the mode asks about edits: a person who approves a command lets it do its work. A tool
/// list without any tool for files does not limit them either: it is for commands alone and does not cover their
/// effects.
#[derive(Debug, Clone, Copy)]
pub struct Confinement<'a> {
    layers: &'a [Layer],
    places: &'a Places,
}

/// The places where commands may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    /// Nowhere; `owner` names the layer that leaves nothing.
    Nowhere { owner: String },
    /// Only these paths, sorted and not nested. Relative to the workspace root, which itself is empty; absolute in an
    /// added directory. A path may not exist, or may be a file.
    Within(Vec<PathBuf>),
}

impl<'a> Confinement<'a> {
    pub(super) fn new(layers: &'a [Layer], places: &'a Places) -> Self {
        Self { layers, places }
    }

    /// Returns the places where commands may write, before protected paths and those that [`keeps`](Self::keeps)
    /// covers.
    pub fn writes(&self) -> Writes {
        let mut directories: Vec<PathBuf> = vec![PathBuf::new()];
        directories.extend(self.places.added.iter().map(|added| self.places.named(added)));
        let nowhere = |layer: &Layer| Writes::Nowhere { owner: layer.owner().to_owned() };
        for layer in self.layers {
            if let WriteScope::Within(scope) = layer.write_scope(self.places) {
                directories = self.in_both(&directories, &scope);
            }
            if directories.is_empty() {
                return nowhere(layer);
            }
        }
        for layer in self.layers {
            // A rule about a directory covers all of its contents.
            directories.retain(|directory| !self.is_kept_by(layer, directory));
            if directories.is_empty() {
                return nowhere(layer);
            }
        }
        Writes::Within(outermost(directories))
    }

    /// True if a tool list names this path of [`Writes::Within`] as a directory (`Edit(target/**)`). It is then meant
    /// to be one even if it does not exist.
    pub fn names_directory(&self, path: &Path) -> bool {
        self.layers.iter().flat_map(|layer| layer.named_directories(self.places)).any(|named| named == path)
    }

    pub fn network(&self) -> NetworkReach {
        self.layers.iter().map(Layer::network).min().unwrap_or(NetworkReach::All)
    }

    /// Decides if a command may talk to this host.
    pub fn reaches(&self, host: &str) -> Decision {
        let resource = Resource::Host(host.to_owned());
        let target = match Target::new(&resource, self.places) {
            Ok(target) => target,
            Err(what) => return Decision::unclear(what),
        };
        let call = Call { tool: CalledTool::named("WebFetch"), target };
        let after = |so_far, layer: &Layer| layer.after_command(so_far, &call, &resource);
        self.layers.iter().fold(Decision::Allow, after)
    }

    /// True if a deny or ask rule with a pattern covers this access to the path, which must then stay unchanged or
    /// unread. The path is resolved, and relative to the workspace root or absolute.
    pub fn keeps(&self, path: &Path, access: Access) -> bool {
        let target = Target::path(path, self.places);
        target.map_or(true, |target| self.keepers(access).any(|rule| rule.covers(&target)))
    }

    /// The files and directories that those rules name in full, existing or not. Spelled as in [`Writes::Within`].
    pub fn named_places(&self, access: Access) -> Vec<PathBuf> {
        outermost(self.keepers(access).filter_map(|rule| self.named_place(rule)).collect())
    }

    /// True if those rules cover more than they name in full. To find the rest, every path has to be checked.
    pub fn has_globs(&self, access: Access) -> bool {
        self.keepers(access).any(|rule| self.named_place(rule).is_none())
    }

    fn keepers(&self, access: Access) -> impl Iterator<Item = &'a Matcher> {
        self.layers.iter().flat_map(move |layer| layer.keepers(access))
    }

    fn is_kept_by(&self, layer: &Layer, directory: &Path) -> bool {
        let target = Target::path(directory, self.places);
        target.map_or(true, |target| layer.keepers(Access::Write).any(|rule| rule.covers(&target)))
    }

    /// The place that a rule names in full. A bare name could be anywhere.
    fn named_place(&self, rule: &Matcher) -> Option<PathBuf> {
        let literal = rule.literal().filter(|literal| literal.base != Base::Anywhere)?;
        Some(self.places.of_literal(literal))
    }

    /// Returns the directories that are within both lists.
    fn in_both(&self, some: &[PathBuf], others: &[PathBuf]) -> Vec<PathBuf> {
        let pairs = some.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
        let inner = |(one, other): (&PathBuf, &PathBuf)| match (self.is_within(one, other), self.is_within(other, one))
        {
            (true, _) => Some(one.clone()),
            (false, true) => Some(other.clone()),
            (false, false) => None,
        };
        pairs.filter_map(inner).collect()
    }

    fn is_within(&self, path: &Path, directory: &Path) -> bool {
        match (self.places.absolute(path), self.places.absolute(directory)) {
            (Some(path), Some(directory)) => path.starts_with(directory),
            (None, None) => path.starts_with(directory),
            _ => false,
        }
    }
}

/// Sorts the paths and drops those inside others.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|other| path.is_absolute() == other.is_absolute() && path.starts_with(other)) {
            kept.push(path);
        }
    }
    kept
}
