//! Decisions about calls: a grant is prepared once and then judges call after call.
//!
//! All decisions are made here. The answer names the layer and rule that decided, and the rules that would have helped.

mod allow_rule;
mod confinement;
mod decision;
mod layer;
mod line;
mod narrow;
mod remedy;

use std::path::{Component, Path, PathBuf};

use sortie_mutant::is_out;
use sortie_protocol::{Grant, Resource};
use sortie_shell_reader::{self as shell_reader, analyse};

pub use self::confinement::{Confinement, Writes};
pub use self::decision::{Decision, Ground, Why};
pub use self::layer::{Access, NetworkReach};
use self::layer::{BestCase, Layer, changes_things};
use self::line::Line;
pub use self::narrow::{intersect, narrow};
pub use self::remedy::{lasting_remedy, remedies};
use crate::matching::{Call, CalledTool, Target};
use crate::protected;
use crate::rule::{LOOKING_AFTER_COMMANDS, Places, RuleError};
use crate::text::printable_path;

/// The most lenient decision about any call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Possibility {
    Allowed,
    /// Only if a person approves.
    Asked,
    Never,
}

/// A grant prepared for decisions.
#[derive(Debug)]
pub struct Judge {
    layers: Vec<Layer>,
    places: Places,
    /// The secret places that file tools could reach, and those that hold the workspace.
    secrets: Vec<PathBuf>,
}

impl Judge {
    /// Reads all rules of a grant. An unreadable rule is an error: a task with such a grant must not run.
    pub fn new(grant: &Grant, places: Places) -> Result<Self, RuleError> {
        let layers = grant.layers.iter().map(|layer| Layer::new(layer, places.home.as_deref()));
        let near = |place: &PathBuf| {
            let mut reachable = places.root.iter().chain(&places.added);
            reachable.any(|top| protected::is_within(place, top) || protected::is_within(top, place))
        };
        let layers = layers.collect::<Result<_, _>>()?;
        let secrets = protected::own_secret_places(&places).into_iter().filter(near).collect();
        Ok(Self { layers, places, secrets })
    }

    /// Decides one call. The strictest layer decides; among equally strict layers the first is named.
    pub fn decide(&self, tool: &str, resource: &Resource) -> Decision {
        if let Resource::Command { line, directory } = resource {
            return self.decide_line(tool, line, directory);
        }
        let tool = CalledTool::named(tool);
        let target = match Target::new(resource, &self.places) {
            Ok(target) => target,
            Err(what) => return Decision::unclear(what),
        };
        if tool.may_edit()
            && let Resource::Path(path) = resource
            && let Some(what) = self.protects(path)
            && !is_out("protected-names")
        {
            return Decision::Deny(Ground::ours(Why::Protected { what }));
        }
        if let Resource::Path(path) = resource
            && let Some(place) = self.hides(path)
        {
            return Decision::Deny(Ground::ours(Why::Secret { place }));
        }
        let call = Call { tool, target };
        let mut so_far = Decision::Allow;
        for layer in &self.layers {
            so_far = layer.after(so_far, &call, resource);
            if so_far.is_denied() {
                break;
            }
        }
        so_far
    }

    /// Decides a command line by everything it could execute and write from its directory.
    fn decide_line(&self, tool: &str, line: &str, directory: &Path) -> Decision {
        if directory.components().any(|component| component == Component::ParentDir) {
            return Decision::unclear(format!("`{}` is not resolved: it has `..`", printable_path(directory)));
        }
        let directory = self.places.absolute(directory);
        let analysis = analyse(line, directory.as_deref());
        for target in analysis.writes.iter().chain(&analysis.changes) {
            if let shell_reader::Target::Path(path) = target
                && let Some(what) = self.protects(path)
            {
                return Decision::Deny(Ground::ours(Why::Protected { what }));
            }
        }
        let line = match Line::new(CalledTool::named(tool), &analysis, &self.places) {
            Ok(line) => line,
            Err(what) => return Decision::unclear(what),
        };
        let mut so_far = Decision::Allow;
        for layer in &self.layers {
            so_far = layer.after_line(so_far, &line);
            if so_far.is_denied() {
                break;
            }
        }
        so_far
    }

    /// True if some call of the tool could be allowed or asked about. Offer only such tools. Tools for background
    /// commands also need commands.
    pub fn admits_some(&self, tool: &str) -> bool {
        let tool = CalledTool::named(tool);
        if LOOKING_AFTER_COMMANDS.contains(&tool.name) && !self.admits_some("Bash") {
            return false;
        }
        self.best(tool) != Possibility::Never
    }

    /// Returns the most lenient decision about any call of a tool that may change something. It is `None` for tools
    /// that only read, take notes, delegate or fetch. The name may be a prefix that stands for tools which no rule
    /// names.
    pub fn change_by(&self, tool: &str) -> Option<Possibility> {
        let tool = CalledTool::named(tool);
        changes_things(tool.kind).then(|| self.best(tool))
    }

    /// Returns the most lenient decision about any call of the tool.
    pub fn possibility(&self, tool: &str) -> Possibility {
        self.best(CalledTool::named(tool))
    }

    fn best(&self, tool: CalledTool<'_>) -> Possibility {
        let so_far = self.layers.iter().fold(BestCase::Allow, |so_far, layer| layer.best_case_after(so_far, tool));
        match so_far {
            BestCase::Allow => Possibility::Allowed,
            BestCase::Ask => Possibility::Asked,
            BestCase::Deny => Possibility::Never,
        }
    }

    /// Names of tools and name prefixes that are known only from rules.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().flat_map(Layer::names)
    }

    /// True if some call of some tool with this name prefix could be allowed or asked about. Otherwise a server whose
    /// tools are not known yet is of no use.
    pub fn admits_some_of(&self, prefix: &str) -> bool {
        // The prefix itself stands for a tool that no rule names.
        let named = self.layers.iter().flat_map(Layer::names).filter(|name| name.starts_with(prefix));
        named.chain([prefix]).any(|tool| self.admits_some(tool))
    }

    /// True if a rule could treat files differently for a reading tool. If false, a walk need not ask about each file.
    pub fn guards_reads(&self) -> bool {
        self.has_secrets() || self.layers.iter().any(Layer::guards_reads)
    }

    /// Returns the limits for programs that read no rules, such as those a command starts.
    pub fn confinement(&self) -> Confinement<'_> {
        Confinement::new(&self.layers, &self.places)
    }

    /// Returns the place of secrets that the path is in, which no agent may read or change.
    fn hides(&self, path: &Path) -> Option<String> {
        if !self.has_secrets() || is_out("secret-reads") {
            return None;
        }
        let absolute = self.places.absolute(path).unwrap_or_else(|| path.to_owned());
        let own = self.secrets.iter().find(|place| protected::is_within(&absolute, place)).cloned();
        let place = own.or_else(|| protected::secret_place_of_another(&self.places, &absolute))?;
        Some(printable_path(&self.places.named(&place)))
    }

    /// True if file tools could reach a secret place.
    fn has_secrets(&self) -> bool {
        !self.secrets.is_empty() || !self.places.other_homes.is_empty()
    }

    /// Returns the kind of a protected path, which no agent may change.
    fn protects(&self, path: &Path) -> Option<String> {
        let root = self.places.root.as_deref();
        // Names above the workspace root do not count.
        let within = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        if let Some(protected) = protected::protected(within) {
            return Some(protected.to_string());
        }
        let absolute = self.places.absolute(path).unwrap_or_else(|| path.to_owned());
        let within = |own: &PathBuf| protected::is_within(&absolute, own);
        self.places
            .own
            .iter()
            .find(|own| within(own))
            .map(|own| format!("Sortie's own settings and state (`{}`)", printable_path(own)))
    }
}

/// Returns the tools with some call that could be allowed or asked about, in the given order. An unreadable grant
/// offers none.
pub fn offerable(grant: &Grant, tools: &[String]) -> Vec<String> {
    // The paths of the rules do not matter here, so any home directory will do.
    let places = Places { home: Some(PathBuf::from("/")), ..Places::default() };
    let Ok(judge) = Judge::new(grant, places) else { return Vec::new() };
    tools.iter().filter(|tool| judge.admits_some(tool)).cloned().collect()
}
