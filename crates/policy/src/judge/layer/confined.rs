//! The limits that one layer sets to programs that read no rules.

use std::path::PathBuf;

use sortie_protocol::Mode;

use super::{Layer, allows};
use crate::matching::{CalledTool, Matcher, RuleList};
use crate::rule::{Places, ToolKind};

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Write,
}

/// Whom commands may talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkReach {
    /// No host can be allowed without asking.
    None,
    /// Some hosts may be: see `Confinement::reaches`.
    Hosts,
    /// Every layer allows every host.
    All,
}

/// Where one layer lets commands write.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::judge) enum WriteScope {
    /// Wherever the other layers do.
    Anywhere,
    /// In these directories alone.
    Within(Vec<PathBuf>),
}

impl Layer {
    pub(in crate::judge) fn owner(&self) -> &str {
        &self.owner
    }

    /// Where commands may write, before any rule about single files.
    pub(in crate::judge) fn write_scope(&self, places: &Places) -> WriteScope {
        let editing = CalledTool::any_of(ToolKind::Editing);
        // What MultiEdit does, Edit does as well: to be without it says nothing.
        let denied = ["Edit", "Write"].iter().any(|tool| self.deny.are_about_all(CalledTool::named(tool)));
        if self.mode == Some(Mode::Plan) || denied {
            return WriteScope::Within(Vec::new());
        }
        let Some(admitted) = &self.admitted else { return WriteScope::Anywhere };
        if admitted.are_about_all(editing) {
            WriteScope::Anywhere
        } else if admitted.are_about(editing) {
            let editing = admitted.iter().filter(|rule| rule.is_about(editing));
            // One that is named without its place counts at the root alone.
            let directories = editing.filter_map(Matcher::literal).map(|literal| places.of_literal(literal));
            WriteScope::Within(directories.collect())
        } else if admitted.are_about(CalledTool::any_of(ToolKind::Reading)) {
            WriteScope::Within(Vec::new())
        } else {
            WriteScope::Anywhere
        }
    }

    /// The directories that its list of tools names for editing, as directories.
    pub(in crate::judge) fn named_directories<'a>(&'a self, places: &'a Places) -> impl Iterator<Item = PathBuf> + 'a {
        let editing = CalledTool::any_of(ToolKind::Editing);
        let rules = self.admitted.iter().flat_map(RuleList::iter).filter(move |rule| rule.is_about(editing));
        rules.filter_map(Matcher::literal_directory).map(|literal| places.of_literal(literal))
    }

    /// Whom commands may talk to without anybody being asked.
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

    /// The deny and ask rules with a pattern that are about using files so.
    pub(in crate::judge) fn keepers(&self, access: Access) -> impl Iterator<Item = &Matcher> {
        let tools = CalledTool::any_of(match access {
            Access::Read => ToolKind::Reading,
            Access::Write => ToolKind::Editing,
        });
        let rules = self.deny.iter().chain(self.ask.iter());
        rules.filter(move |rule| rule.looks_at_paths() && rule.is_about(tools))
    }

    /// Whether its list of tools has none for files or the web: then it says nothing of what commands do with them.
    pub(super) fn is_for_commands_alone(&self) -> bool {
        let kinds = [ToolKind::Reading, ToolKind::Editing, ToolKind::Web];
        self.admitted
            .as_ref()
            .is_some_and(|admitted| !kinds.iter().any(|kind| admitted.are_about(CalledTool::any_of(*kind))))
    }
}
