//! One owner's say, ready for deciding.

mod commands;

use std::path::Path;

use sortie_mutant::is_out;
use sortie_protocol::{GrantLayer, Mode, Resource};

pub(super) use self::commands::Room;
use super::line::{Line, Open};
use super::matcher::{Matcher, Role};
use super::rules::Rules;
use super::{Call, Called};
use crate::decision::{Decision, Ground, Why};
use crate::remedy::{self, Gap};
use crate::rule::RuleError;
use crate::tool::Kind;
use sortie_shell_reader::WhyNot;

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "as in the layer that it is made of")]
pub(super) struct Layer {
    owner: String,
    admitted: Option<Rules>,
    deny: Rules,
    ask: Rules,
    allow: Rules,
    shares_allow: bool,
    mode: Option<Mode>,
    approves_reads: bool,
    never_asks: bool,
    as_started: bool,
}

/// The most lenient that a decision about some call of a tool could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Least {
    Allow,
    Ask,
    Deny,
}

impl Layer {
    pub(super) fn new(layer: &GrantLayer, home: Option<&Path>) -> Result<Self, RuleError> {
        let read = |rules: &[String], role| {
            let owned = |error| RuleError { owner: Some(layer.owner.clone()), ..error };
            Rules::new(rules, role, home).map_err(owned)
        };
        let admitted = layer.tools.as_deref().filter(|tools| !tools.is_empty() || !is_out("empty-list"));
        Ok(Self {
            owner: layer.owner.clone(),
            admitted: admitted.map(|tools| read(tools, Role::Admit)).transpose()?,
            deny: read(&layer.deny, Role::Deny)?,
            ask: read(&layer.ask, Role::Ask)?,
            allow: read(&layer.allow, Role::Allow)?,
            shares_allow: layer.shares_allow,
            mode: layer.mode,
            approves_reads: layer.approves_reads,
            never_asks: layer.never_asks,
            as_started: layer.as_started,
        })
    }

    /// The decision so far, with this layer's say.
    pub(super) fn after(&self, so_far: Decision, call: &Call<'_>, resource: &Resource) -> Decision {
        let so_far = match so_far {
            Decision::Ask(_) if self.approves_reads && call.kind == Kind::Reading => Decision::Allow,
            so_far => so_far,
        };
        self.together(so_far, self.decide(call, resource))
    }

    /// The same for what a command would do by itself: a list of tools for commands alone has no say in it.
    pub(super) fn after_command(&self, so_far: Decision, call: &Call<'_>, resource: &Resource) -> Decision {
        let own = if self.is_for_commands_alone() {
            self.decide_admitted(call, resource)
        } else {
            self.decide(call, resource)
        };
        self.together(so_far, own)
    }

    /// The decision so far, with this layer's say on a command line.
    pub(super) fn after_line(&self, so_far: Decision, line: &Line<'_>) -> Decision {
        self.together(so_far, self.decide_line(line))
    }

    fn together(&self, so_far: Decision, own: Decision) -> Decision {
        let together = match (so_far, own) {
            (_, own @ Decision::Deny(_)) | (Decision::Allow, own) => own,
            (Decision::Ask(first), Decision::Ask(own)) => Decision::Ask(self.both(first, own)),
            (so_far, _) => so_far,
        };
        match together {
            Decision::Ask(asked) if self.never_asks => {
                let remedies = asked.remedies.clone();
                Decision::Deny(self.ground(None, remedies, Why::WouldAsk { asked: Box::new(asked) }))
            }
            together => together,
        }
    }

    /// What this layer alone says.
    fn decide(&self, call: &Call<'_>, resource: &Resource) -> Decision {
        if let Some(admitted) = &self.admitted
            && admitted.find(call).is_none()
        {
            let admitted = admitted.iter().map(|rule| rule.text.clone()).collect();
            let why = Why::NotAdmitted { admitted, uncovered: None };
            return Decision::Deny(self.ground(None, Vec::new(), why));
        }
        self.decide_admitted(call, resource)
    }

    /// What it says of a call of a tool that it admits.
    fn decide_admitted(&self, call: &Call<'_>, resource: &Resource) -> Decision {
        if let Some(rule) = self.deny.find(call).filter(|_| !is_out("deny-rules")) {
            return Decision::Deny(self.ground(Some(rule), Vec::new(), Why::Denied));
        }
        if self.mode == Some(Mode::Plan) && changes_things(call.kind) {
            return Decision::Deny(self.ground(None, Vec::new(), Why::Planning));
        }
        if let Some(rule) = self.ask.find(call) {
            return Decision::Ask(self.ground(Some(rule), Vec::new(), Why::AskedFor));
        }
        if self.mode.is_none_or(|mode| allows(mode, call.kind)) || self.allow.find(call).is_some() {
            return Decision::Allow;
        }
        Decision::Ask(self.unmentioned(remedy::for_call(call.tool, resource).into_iter().collect()))
    }

    /// The ground of a question that a layer above would ask, and this one as well. A rule that asks is named before a
    /// mode that does: it is what no allow rule can help against. Rules satisfy two modes only where this layer takes its
    /// rules from above; of a line, each may lack another part.
    fn both(&self, mut above: Ground, own: Ground) -> Ground {
        match (&above.why, &own.why) {
            (Why::Unmentioned, Why::AskedFor | Why::Obscure { .. } | Why::UnmentionedAtStart) => return own,
            (Why::Unmentioned, Why::Unmentioned)
                if self.shares_allow && !above.remedies.is_empty() && !own.remedies.is_empty() =>
            {
                above.remedies.extend(own.remedies);
                above.remedies = remedy::together(above.remedies).unwrap_or_default();
            }
            _ => above.remedies.clear(),
        }
        above
    }

    /// What this layer alone says of a command line: the strictest that holds for any part of it.
    fn decide_line(&self, line: &Line<'_>) -> Decision {
        if let Some(admitted) = &self.admitted {
            match line.left_open(admitted, false) {
                Open::Nothing => {}
                open => return Decision::Deny(self.ground(None, Vec::new(), not_admitted(admitted, &open, line))),
            }
        }
        if let Some((rule, doubt)) = forbidding(&self.deny, line) {
            let why = doubt.map_or(Why::Denied, |why| Why::Obscure { what: why.to_string() });
            return Decision::Deny(self.ground(Some(rule), Vec::new(), why));
        }
        let kind = line.whole.kind;
        if self.mode == Some(Mode::Plan) && changes_things(kind) {
            return Decision::Deny(self.ground(None, Vec::new(), Why::Planning));
        }
        if let Some((rule, _)) = forbidding(&self.ask, line) {
            return Decision::Ask(self.ground(Some(rule), Vec::new(), Why::AskedFor));
        }
        if self.mode.is_none_or(|mode| allows(mode, kind)) {
            return Decision::Allow;
        }
        let may_write = self.mode.is_none_or(|mode| allows(mode, Kind::Editing));
        let found = match line.left_open(&self.allow, may_write) {
            Open::Nothing => return Decision::Allow,
            Open::Whole => Err(obscure(line)),
            Open::Gaps(gaps) => remedy::for_gaps(&gaps, line.places.root.as_deref()),
        };
        Decision::Ask(match found {
            Err(what) => self.ground(None, Vec::new(), Why::Obscure { what }),
            // In plan mode they would not help.
            Ok(_) if self.mode == Some(Mode::Plan) => self.unmentioned(Vec::new()),
            Ok(remedies) => self.unmentioned(remedies),
        })
    }

    /// The ground of a question about what no rule here allows, with those that would.
    fn unmentioned(&self, remedies: Vec<String>) -> Ground {
        if self.as_started {
            return self.ground(None, Vec::new(), Why::UnmentionedAtStart);
        }
        self.ground(None, remedies, Why::Unmentioned)
    }

    fn ground(&self, rule: Option<&Matcher>, remedies: Vec<String>, why: Why) -> Ground {
        Ground { owner: self.owner.clone(), rule: rule.map(|rule| rule.text.clone()), remedies, why }
    }

    /// The most lenient that `after` could say of some call of the tool.
    pub(super) fn least_after(&self, so_far: Least, tool: &str, kind: Kind, names: Called) -> Least {
        let approved = so_far == Least::Ask && self.approves_reads && kind == Kind::Reading;
        let so_far = if approved { Least::Allow } else { so_far };
        match so_far.max(self.least(tool, kind, names)) {
            Least::Ask if self.never_asks => Least::Deny,
            together => together,
        }
    }

    fn least(&self, tool: &str, kind: Kind, names: Called) -> Least {
        let some = |rules: &Rules| rules.are_about(tool, names);
        let all = |rules: &Rules| rules.are_about_all(tool, names);
        let planning = self.mode == Some(Mode::Plan) && changes_things(kind);
        if planning || all(&self.deny) || self.admitted.as_ref().is_some_and(|admitted| !some(admitted)) {
            return Least::Deny;
        }
        let unmentioned = self.mode.is_none_or(|mode| allows(mode, kind));
        if all(&self.ask) || !unmentioned && !some(&self.allow) { Least::Ask } else { Least::Allow }
    }

    /// The names, and what names begin with, of tools that only rules know.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let rules = self.admitted.iter().chain([&self.deny, &self.ask, &self.allow]);
        rules.flat_map(Rules::iter).filter_map(Matcher::name)
    }

    pub(super) fn guards_reads(&self) -> bool {
        let guards = |rule: &Matcher| rule.looks_at_paths() && rule.is_about("", Called::of_kind(Kind::Reading));
        self.admitted.iter().chain([&self.deny, &self.ask]).flat_map(Rules::iter).any(guards)
    }
}

/// The first rule that forbids some part of a line; with a reason where it only could.
fn forbidding<'a>(rules: &'a Rules, line: &Line<'_>) -> Option<(&'a Matcher, Option<WhyNot>)> {
    line.calls().find_map(|(call, part)| {
        let rule = rules.find(call)?;
        Some((rule, line.doubt(rule, call, part)))
    })
}

/// Why a list of tools does not admit a line: with what it leaves open, where it is about commands at all.
fn not_admitted(admitted: &Rules, open: &Open<'_>, line: &Line<'_>) -> Why {
    let words = match open {
        Open::Gaps(gaps) => format!("which do not cover {}", gaps.first().map(Gap::to_string).unwrap_or_default()),
        Open::Whole | Open::Nothing => format!("and no pattern covers it, since {}", obscure(line)),
    };
    let uncovered = Some(words).filter(|_| admitted.are_about(line.whole.tool, line.whole.names));
    Why::NotAdmitted { admitted: admitted.iter().map(|rule| rule.text.clone()).collect(), uncovered }
}

/// What is not understood of a line.
fn obscure(line: &Line<'_>) -> String {
    line.analysis.why_not.as_ref().map_or_else(|| "it names no command".to_owned(), WhyNot::to_string)
}

/// What plan mode refuses: all that is not known to leave things as they are.
fn changes_things(kind: Kind) -> bool {
    matches!(kind, Kind::Editing | Kind::Shell | Kind::Mcp | Kind::Unknown)
}

/// What a mode allows where no rule does.
fn allows(mode: Mode, kind: Kind) -> bool {
    match mode {
        Mode::Bypass => true,
        Mode::AcceptEdits if kind == Kind::Editing => true,
        Mode::Default | Mode::Plan | Mode::AcceptEdits => {
            matches!(kind, Kind::Reading | Kind::Notes | Kind::Delegating | Kind::Companion)
        }
    }
}
