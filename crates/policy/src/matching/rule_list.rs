//! A list of rules, searched for the first that covers a call.

use std::path::Path;

use sortie_shell_reader::Part;

use super::{Call, CalledTool, Matcher, Role};
use crate::rule::RuleError;
use crate::text::Bigrams;

/// Rules of one role, in the order in which they were written.
#[derive(Debug, Default)]
pub(crate) struct RuleList {
    /// What can be told at a glance, close together, so that a long list is quickly passed over.
    glances: Vec<Glance>,
    matchers: Vec<Matcher>,
}

#[derive(Debug)]
struct Glance {
    needed: Bigrams,
    /// Whether the bigrams are those of a path from the root of the file system.
    absolute: bool,
}

impl RuleList {
    /// Reads rules; those about home are read only where it is known.
    pub(crate) fn new(texts: &[String], role: Role, home: Option<&Path>) -> Result<Self, RuleError> {
        let matchers: Vec<Matcher> =
            texts.iter().map(|text| Matcher::new(text, role, home)).collect::<Result<_, _>>()?;
        let glances =
            matchers.iter().map(|matcher| Glance { needed: matcher.bigrams(), absolute: matcher.is_absolute() });
        Ok(Self { glances: glances.collect(), matchers })
    }

    /// The first rule that covers the call.
    pub(crate) fn find(&self, call: &Call<'_>) -> Option<&Matcher> {
        let [own, absolute] = call.target.bigrams();
        let rules = self.glances.iter().zip(&self.matchers);
        let mut may =
            rules.filter(|(glance, _)| if glance.absolute { absolute } else { own }.has_all_of(glance.needed));
        may.find(|(_, matcher)| matcher.matches(call)).map(|(_, matcher)| matcher)
    }

    /// Whether some rule for a command speaks for another that it runs.
    pub(crate) fn speak_for(&self, call: &Call<'_>, runner: &Part, part: &Part) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about(call.tool) && matcher.speaks_for(runner, part))
    }

    /// Whether some rule covers some call of the tool.
    pub(crate) fn are_about(&self, tool: CalledTool<'_>) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about(tool))
    }

    /// Whether some rule covers every call of the tool.
    pub(crate) fn are_about_all(&self, tool: CalledTool<'_>) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_about_all(tool))
    }

    /// The rules in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Matcher> {
        self.matchers.iter()
    }
}
