//! The limits of commands under a grant: what it leaves to programs that read no rules.
//!
//! They are in terms that the kernel can enforce: directories, files and the network. The judge decides whether a
//! command may run at all; the caller finds out what exists.

use std::path::{Path, PathBuf};

use sortie_protocol::Resource;

use super::decision::Decision;
use super::layer::{Access, Layer, NetworkReach, WriteScope};
use crate::matching::{Call, CalledTool, Matcher, Target};
use crate::rule::{Base, Places};

/// What commands can touch under a grant: what every one of its layers leaves to them.
///
/// Where the mode asks about edits, commands may write all the same: who lets a command run lets it do its work. The
/// same holds for a list of tools with none for files: it is for commands alone, and says nothing of what they do.
#[derive(Debug, Clone, Copy)]
pub struct Confinement<'a> {
    layers: &'a [Layer],
    places: &'a Places,
}

/// Where commands may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    /// Nowhere; `owner` is whose layer leaves nothing.
    Nowhere { owner: String },
    /// In these directories: relative to the workspace root, which itself is empty; absolute in an added directory.
    /// Sorted, none inside another. One may not exist, or may be a file.
    Within(Vec<PathBuf>),
}

impl<'a> Confinement<'a> {
    pub(super) fn new(layers: &'a [Layer], places: &'a Places) -> Self {
        Self { layers, places }
    }

    /// Where commands may write, apart from what is protected and from what [`keeps`](Self::keeps) speaks of.
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
            // A rule that is about a directory is about all that is in it.
            directories.retain(|directory| !self.is_kept_by(layer, directory));
            if directories.is_empty() {
                return nowhere(layer);
            }
        }
        Writes::Within(outermost(directories))
    }

    /// Whether a list of tools names this one of [`Writes::Within`] as a directory (`Edit(target/**)`): then it is
    /// meant to be one, also where it does not exist.
    pub fn names_directory(&self, path: &Path) -> bool {
        self.layers.iter().flat_map(|layer| layer.named_directories(self.places)).any(|named| named == path)
    }

    pub fn network(&self) -> NetworkReach {
        self.layers.iter().map(Layer::network).min().unwrap_or(NetworkReach::All)
    }

    /// Whether a command may talk to this host.
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

    /// Whether a deny or ask rule with a pattern is about using this path so: then it stays as it is, or unread. The
    /// path is resolved, and relative to the workspace root or absolute.
    pub fn keeps(&self, path: &Path, access: Access) -> bool {
        let target = Target::path(path, self.places);
        target.map_or(true, |target| self.keepers(access).any(|rule| rule.covers(&target)))
    }

    /// The files and directories that those rules name in full, whether they exist or not. Named as in
    /// [`Writes::Within`].
    pub fn named_places(&self, access: Access) -> Vec<PathBuf> {
        outermost(self.keepers(access).filter_map(|rule| self.named_place(rule)).collect())
    }

    /// Whether those rules are about more than what they name in full: to find that, every path has to be asked about.
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

    /// What a rule names in full. A name without its place can be anywhere.
    fn named_place(&self, rule: &Matcher) -> Option<PathBuf> {
        let literal = rule.literal().filter(|literal| literal.base != Base::Anywhere)?;
        Some(self.places.of_literal(literal))
    }

    /// The directories that lie in one of each.
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

/// Sorted, without those that lie in others.
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
