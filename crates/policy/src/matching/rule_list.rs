//! A list of rules, searched for the first that covers a call.

use std::path::Path;

use sortie_shell_reader::Part;

use super::{Call, CalledTool, Matcher, Role};
use crate::rule::RuleError;
use crate::text::Bigrams;

/// Rules of one role, in the order they were written.
#[derive(Debug, Default)]
pub(crate) struct RuleList {
    /// Cheap prechecks, stored contiguously so that a long list is scanned quickly.
    glances: Vec<Glance>,
    matchers: Vec<Matcher>,
}

#[derive(Debug)]
struct Glance {
    needed: Bigrams,
    /// True if the bigrams are those of a path from the root of the file system.
    absolute: bool,
}

impl RuleList {
    /// Reads rules. A rule about the home directory is an error if there is none.
    pub(crate) fn new(texts: &[String], role: Role, home: Option<&Path>) -> Result<Self, RuleError> {
        let matchers: Vec<Matcher> =
            texts.iter().map(|text| Matcher::new(text, role, home)).collect::<Result<_, _>>()?;
        let glances =
            matchers.iter().map(|matcher| Glance { needed: matcher.bigrams(), absolute: matcher.is_absolute() });
        Ok(Self { glances: glances.collect(), matchers })
    }

    /// Returns the first rule that covers the call.
    pub(crate) fn find(&self, call: &Call<'_>) -> Option<&Matcher> {
        let [own, absolute] = call.target.bigrams();
        let rules = self.glances.iter().zip(&self.matchers);
        let mut may =
            rules.filter(|(glance, _)| if glance.absolute { absolute } else { own }.has_all_of(glance.needed));
        may.find(|(_, matcher)| matcher.matches(call)).map(|(_, matcher)| matcher)
    }

    /// True if some rule for the runner also covers the command it runs.
    pub(crate) fn speak_for(&self, call: &Call<'_>, runner: &Part, part: &Part) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about(call.tool) && matcher.speaks_for(runner, part))
    }

    /// True if some rule covers some call of the tool.
    pub(crate) fn are_about(&self, tool: CalledTool<'_>) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about(tool))
    }

    /// True if some rule covers every call of the tool.
    pub(crate) fn are_about_all(&self, tool: CalledTool<'_>) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about_all(tool))
    }

    /// Returns the rules in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Matcher> {
        self.matchers.iter()
    }
}
