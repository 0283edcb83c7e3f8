//! Limits that one layer sets to programs that read no rules.

use std::path::PathBuf;

use sortie_protocol::Mode;

use super::{Layer, allows};
use crate::matching::{CalledTool, Matcher, RuleList};
use crate::rule::{Places, ToolKind};

/// The kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Write,
}

/// Hosts that commands may talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkReach {
    /// No host is allowed without asking.
    None,
    /// Some hosts may be allowed: see `Confinement::reaches`.
    Hosts,
    /// Every layer allows every host.
    All,
}

/// Places where one layer lets commands write.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::judge) enum WriteScope {
    /// Wherever the other layers do.
    Anywhere,
    /// Only in these directories.
    Within(Vec<PathBuf>),
}

impl Layer {
    pub(in crate::judge) fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns the places where commands may write, before any rule about single files.
    pub(in crate::judge) fn write_scope(&self, places: &Places) -> WriteScope {
        let editing = CalledTool::any_of(ToolKind::Editing);
        // Edit can do everything MultiEdit does, so a deny of MultiEdit alone does not count.
        let denied = ["Edit", "Write"].iter().any(|tool| self.deny.are_about_all(CalledTool::named(tool)));
        if self.mode == Some(Mode::Plan) || denied {
            return WriteScope::Within(Vec::new());
        }
        let Some(admitted) = &self.admitted else { return WriteScope::Anywhere };
        if admitted.are_about_all(editing) {
            WriteScope::Anywhere
        } else if admitted.are_about(editing) {
            let editing = admitted.iter().filter(|rule| rule.is_about(editing));
            // A bare name counts only at the workspace root.
            let directories = editing.filter_map(Matcher::literal).map(|literal| places.of_literal(literal));
            WriteScope::Within(directories.collect())
        } else if admitted.are_about(CalledTool::any_of(ToolKind::Reading)) {
            WriteScope::Within(Vec::new())
        } else {
            WriteScope::Anywhere
        }
    }

    /// Returns the directories that its tool list names for editing, spelled as directories.
    pub(in crate::judge) fn named_directories<'a>(&'a self, places: &'a Places) -> impl Iterator<Item = PathBuf> + 'a {
        let editing = CalledTool::any_of(ToolKind::Editing);
        let rules = self.admitted.iter().flat_map(RuleList::iter).filter(move |rule| rule.is_about(editing));
        rules.filter_map(Matcher::literal_directory).map(|literal| places.of_literal(literal))
    }

    /// Returns the hosts that commands may talk to without asking.
    pub(in crate::judge) fn network(&self) -> NetworkReach {
        let web = CalledTool::any_of(ToolKind::Web);
        let given = |rules: &RuleList| match (rules.are_about(web), rules.are_about_all(web)) {
            (_, true) => NetworkReach::All,
            (true, false) => NetworkReach::Hosts,
            (false, false) => NetworkReach::None,
        };
        let left = |rules: &RuleList| match given(rules) {
            NetworkReach::All => NetworkReach::None,
            NetworkReach::Hosts => NetworkReach::Hosts,
            NetworkReach::None => NetworkReach::All,
        };
        let admitted = self.admitted.as_ref().filter(|_| !self.is_for_commands_alone());
        let admitted = admitted.map_or(NetworkReach::All, given);
        let unmentioned = self.mode.is_none_or(|mode| allows(mode, ToolKind::Web));
        let allowed = if unmentioned { NetworkReach::All } else { given(&self.allow) };
        admitted.min(allowed).min(left(&self.deny)).min(left(&self.ask))
    }

    /// Returns the deny and ask rules with a pattern that cover this access to files.
    pub(in crate::judge) fn keepers(&self, access: Access) -> impl Iterator<Item = &Matcher> {
        let tools = CalledTool::any_of(match access {
            Access::Read => ToolKind::Reading,
            Access::Write => ToolKind::Editing,
        });
        let rules = self.deny.iter().chain(self.ask.iter());
        rules.filter(move |rule| rule.looks_at_paths() && rule.is_about(tools))
    }

    /// True if its tool list has no tool for files or the web. It then does not limit how commands use them.
    pub(super) fn is_for_commands_alone(&self) -> bool {
        let kinds = [ToolKind::Reading, ToolKind::Editing, ToolKind::Web];
        self.admitted
            .as_ref()
            .is_some_and(|admitted| !kinds.iter().any(|kind| admitted.are_about(CalledTool::any_of(*kind))))
    }
}
