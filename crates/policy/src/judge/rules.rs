//! A list of rules that is searched for the first that covers a call.

use std::path::Path;

use super::matcher::{Matcher, Role};
use super::{Call, Called};
use crate::pairs::Pairs;
use crate::rule::RuleError;
use sortie_shell_reader::Part;

/// Rules of one role, in the order in which they were written.
#[derive(Debug)]
pub(super) struct Rules {
    /// What can be told at a glance, close together, so that a long list is quickly passed over.
    glances: Vec<Glance>,
    matchers: Vec<Matcher>,
}

#[derive(Debug)]
struct Glance {
    needed: Pairs,
    /// Whether the pairs are those of a path from the root of the file system.
    absolute: bool,
}

impl Rules {
    pub(super) fn new(texts: &[String], role: Role, home: Option<&Path>) -> Result<Self, RuleError> {
        let matchers: Vec<Matcher> =
            texts.iter().map(|text| Matcher::new(text, role, home)).collect::<Result<_, _>>()?;
        let glances =
            matchers.iter().map(|matcher| Glance { needed: matcher.pairs(), absolute: matcher.is_absolute() });
        Ok(Self { glances: glances.collect(), matchers })
    }

    /// The first rule that covers the call.
    pub(super) fn find(&self, call: &Call<'_>) -> Option<&Matcher> {
        let [own, absolute] = call.target.pairs();
        let rules = self.glances.iter().zip(&self.matchers);
        let mut may =
            rules.filter(|(glance, _)| if glance.absolute { absolute } else { own }.has_all_of(glance.needed));
        may.find(|(_, matcher)| matcher.matches(call)).map(|(_, matcher)| matcher)
    }

    /// Whether some rule for a command speaks for another that it runs.
    pub(super) fn speak_for(&self, call: &Call<'_>, runner: &Part, part: &Part) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about(call.tool, call.names) && matcher.speaks_for(runner, part))
    }

    /// Whether some rule covers some call of the tool.
    pub(super) fn are_about(&self, tool: &str, names: Called) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about(tool, names))
    }

    /// Whether some rule covers every call of the tool.
    pub(super) fn are_about_all(&self, tool: &str, names: Called) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about_all(tool, names))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Matcher> {
        self.matchers.iter()
    }
}
