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
use crate::command::Word;
use crate::decision::{Decision, Ground, Why};
use crate::remedy::{self, remedy};
use crate::rule::RuleError;
use crate::tool::Kind;

#[derive(Debug)]
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
                let remedy = asked.remedy.clone();
                Decision::Deny(self.ground(None, remedy, Why::WouldAsk { asked: Box::new(asked) }))
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
            return Decision::Deny(self.ground(None, None, Why::NotAdmitted { admitted }));
        }
        self.decide_admitted(call, resource)
    }

    /// What it says of a call of a tool that it admits.
    fn decide_admitted(&self, call: &Call<'_>, resource: &Resource) -> Decision {
        if let Some(rule) = self.deny.find(call).filter(|_| !is_out("deny-rules")) {
            return Decision::Deny(self.ground(Some(rule), None, Why::Denied));
        }
        if self.mode == Some(Mode::Plan) && changes_things(call.kind) {
            return Decision::Deny(self.ground(None, None, Why::Planning));
        }
        if let Some(rule) = self.ask.find(call) {
            return Decision::Ask(self.ground(Some(rule), None, Why::AskedFor));
        }
        if self.mode.is_none_or(|mode| allows(mode, call.kind)) || self.allow.find(call).is_some() {
            return Decision::Allow;
        }
        Decision::Ask(self.ground(None, remedy(call.tool, resource), Why::Unmentioned))
    }

    /// The ground of a question that a layer above would ask, and this one as well. A rule that asks is named before a
    /// mode that does: it is what no allow rule can help against. Of two modes one rule satisfies both only where this
    /// layer takes its rules from above, and both lack the same: of a line, each may have rules for another part.
    fn both(&self, above: Ground, own: Ground) -> Ground {
        match (&above.why, &own.why) {
            (Why::Unmentioned, Why::Unmentioned) if self.shares_allow && above.remedy == own.remedy => above,
            (Why::Unmentioned, Why::AskedFor) => own,
            _ => Ground { remedy: None, ..above },
        }
    }

    /// What this layer alone says of a command line: the strictest that holds for any part of it.
    fn decide_line(&self, line: &Line<'_>) -> Decision {
        if let Some(admitted) = &self.admitted
            && !matches!(line.left_open(admitted, false), Open::Nothing)
        {
            let admitted = admitted.iter().map(|rule| rule.text.clone()).collect();
            return Decision::Deny(self.ground(None, None, Why::NotAdmitted { admitted }));
        }
        if let Some((rule, obscure)) = forbidding(&self.deny, line) {
            return Decision::Deny(self.ground(Some(rule), None, obscure.unwrap_or(Why::Denied)));
        }
        let kind = line.whole.kind;
        if self.mode == Some(Mode::Plan) && changes_things(kind) {
            return Decision::Deny(self.ground(None, None, Why::Planning));
        }
        if let Some((rule, _)) = forbidding(&self.ask, line) {
            return Decision::Ask(self.ground(Some(rule), None, Why::AskedFor));
        }
        if self.mode.is_none_or(|mode| allows(mode, kind)) {
            return Decision::Allow;
        }
        let may_write = self.mode.is_none_or(|mode| allows(mode, Kind::Editing));
        let (remedy, why) = match line.left_open(&self.allow, may_write) {
            Open::Nothing => return Decision::Allow,
            Open::Whole => (None, obscure(line).unwrap_or(Why::Unmentioned)),
            Open::Command(part) => (remedy::for_part(part), Why::Unmentioned),
            Open::Write(path) => (remedy::for_write(path, line.places.root.as_deref()), Why::Unmentioned),
            Open::Several => (None, Why::Unmentioned),
        };
        let remedy = remedy.filter(|_| self.mode != Some(Mode::Plan));
        Decision::Ask(self.ground(None, remedy, why))
    }

    fn ground(&self, rule: Option<&Matcher>, remedy: Option<String>, why: Why) -> Ground {
        Ground { owner: self.owner.clone(), rule: rule.map(|rule| rule.text.clone()), remedy, why }
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

    pub(super) fn guards_reads(&self) -> bool {
        let guards = |rule: &Matcher| rule.looks_at_paths() && rule.is_about("", Called::of_kind(Kind::Reading));
        self.admitted.iter().chain([&self.deny, &self.ask]).flat_map(Rules::iter).any(guards)
    }
}

/// The first rule that forbids some part of a line; with a reason where it only could.
fn forbidding<'a>(rules: &'a Rules, line: &Line<'_>) -> Option<(&'a Matcher, Option<Why>)> {
    line.calls().find_map(|(call, part)| {
        let rule = rules.find(call)?;
        let unknown = match part {
            Some(part) => part.words.contains(&Word::Unknown) && !rule.is_about_all(call.tool, call.names),
            None => call.target.is_unknown(),
        };
        Some((rule, if unknown { obscure(line) } else { None }))
    })
}

/// What is not understood of a line.
fn obscure(line: &Line<'_>) -> Option<Why> {
    line.analysis.why_not.as_ref().map(|why| Why::Obscure { what: why.to_string() })
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
