//! What one layer leaves to programs that read no rules.

use std::path::PathBuf;

use sortie_protocol::Mode;

use super::{Layer, allows};
use crate::judge::confinement::{Access, NetworkReach};
use crate::judge::matcher::Matcher;
use crate::judge::rules::Rules;
use crate::judge::{Called, Places};
use crate::tool::Kind;

/// Where one layer lets commands write.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::judge) enum Room {
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
    pub(in crate::judge) fn room(&self, places: &Places) -> Room {
        let editing = Called::of_kind(Kind::Editing);
        // What MultiEdit does, Edit does as well: to be without it says nothing.
        let denied = ["Edit", "Write"].iter().any(|tool| self.deny.are_about_all(tool, Called::new(tool)));
        if self.mode == Some(Mode::Plan) || denied {
            return Room::Within(Vec::new());
        }
        let Some(admitted) = &self.admitted else { return Room::Anywhere };
        if admitted.are_about_all("", editing) {
            Room::Anywhere
        } else if admitted.are_about("", editing) {
            let editing = admitted.iter().filter(|rule| rule.is_about("", editing));
            // One that is named without its place counts at the root alone.
            let directories = editing.filter_map(Matcher::literal).map(|literal| places.of_literal(literal));
            Room::Within(directories.collect())
        } else if admitted.are_about("", Called::of_kind(Kind::Reading)) {
            Room::Within(Vec::new())
        } else {
            Room::Anywhere
        }
    }

    /// The directories that its list of tools names for editing, as directories.
    pub(in crate::judge) fn named_directories<'a>(&'a self, places: &'a Places) -> impl Iterator<Item = PathBuf> + 'a {
        let editing = Called::of_kind(Kind::Editing);
        let rules = self.admitted.iter().flat_map(Rules::iter).filter(move |rule| rule.is_about("", editing));
        rules.filter_map(Matcher::literal_directory).map(|literal| places.of_literal(literal))
    }

    /// Whom commands may talk to without anybody being asked.
    pub(in crate::judge) fn network(&self) -> NetworkReach {
        let web = Called::of_kind(Kind::Web);
        let given = |rules: &Rules| match (rules.are_about("", web), rules.are_about_all("", web)) {
            (_, true) => NetworkReach::All,
            (true, false) => NetworkReach::Hosts,
            (false, false) => NetworkReach::None,
        };
        let left = |rules: &Rules| match given(rules) {
            NetworkReach::All => NetworkReach::None,
            NetworkReach::Hosts => NetworkReach::Hosts,
            NetworkReach::None => NetworkReach::All,
        };
        let admitted = self.admitted.as_ref().filter(|_| !self.is_for_commands_alone());
        let admitted = admitted.map_or(NetworkReach::All, given);
        let unmentioned = self.mode.is_none_or(|mode| allows(mode, Kind::Web));
        let allowed = if unmentioned { NetworkReach::All } else { given(&self.allow) };
        admitted.min(allowed).min(left(&self.deny)).min(left(&self.ask))
    }

    /// The deny and ask rules with a pattern that are about using files so.
    pub(in crate::judge) fn keepers(&self, access: Access) -> impl Iterator<Item = &Matcher> {
        let tools = Called::of_kind(match access {
            Access::Read => Kind::Reading,
            Access::Write => Kind::Editing,
        });
        let rules = self.deny.iter().chain(self.ask.iter());
        rules.filter(move |rule| rule.looks_at_paths() && rule.is_about("", tools))
    }

    /// Whether its list of tools has none for files or the web: then it says nothing of what commands do with them.
    pub(super) fn is_for_commands_alone(&self) -> bool {
        let kinds = [Kind::Reading, Kind::Editing, Kind::Web];
        self.admitted
            .as_ref()
            .is_some_and(|admitted| !kinds.iter().any(|kind| admitted.are_about("", Called::of_kind(*kind))))
    }
}
