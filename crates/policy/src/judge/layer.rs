//! One layer of a grant, prepared for decisions: its owner's verdict on a call.

mod confined;

use std::path::Path;

use sortie_mutant::is_out;
use sortie_protocol::{GrantLayer, Mode, Resource};
use sortie_shell_reader::WhyNot;

pub(super) use self::confined::WriteScope;
pub use self::confined::{Access, NetworkReach};
use super::allow_rule::{self, Gap};
use super::decision::{Decision, Ground, Why};
use super::line::{Line, Uncovered, WorkspaceWrites};
use crate::matching::{Call, CalledTool, Matcher, Role, RuleList};
use crate::rule::{RuleError, ToolKind};

/// A layer of a grant, with its rules prepared.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "mirrors `GrantLayer`")]
pub(super) struct Layer {
    owner: String,
    admitted: Option<RuleList>,
    deny: RuleList,
    ask: RuleList,
    allow: RuleList,
    shares_allow: bool,
    mode: Option<Mode>,
    approves_reads: bool,
    never_asks: bool,
    as_started: bool,
}

/// The most lenient possible decision about any call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BestCase {
    Allow,
    Ask,
    Deny,
}

impl Layer {
    pub(super) fn new(layer: &GrantLayer, home: Option<&Path>) -> Result<Self, RuleError> {
        let read = |rules: &[String], role| {
            let owned = |error| RuleError { owner: Some(layer.owner.clone()), ..error };
            RuleList::new(rules, role, home).map_err(owned)
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

    /// Combines the decision so far with this layer's verdict.
    pub(super) fn after(&self, so_far: Decision, call: &Call<'_>, resource: &Resource) -> Decision {
        let so_far = match so_far {
            Decision::Ask(_) if self.approves_reads && call.tool.kind == ToolKind::Reading => Decision::Allow,
            so_far => so_far,
        };
        self.together(so_far, self.decide(call, resource))
    }

    /// Combines the decision so far with this layer's verdict on what a command does by itself. A tool list for
    /// commands alone does not count here.
    pub(super) fn after_command(&self, so_far: Decision, call: &Call<'_>, resource: &Resource) -> Decision {
        let own = if self.is_for_commands_alone() {
            self.decide_admitted(call, resource)
        } else {
            self.decide(call, resource)
        };
        self.together(so_far, own)
    }

    /// Combines the decision so far with this layer's verdict on a command line.
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

    /// This layer's own verdict.
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

    /// The verdict on a call of an admitted tool.
    fn decide_admitted(&self, call: &Call<'_>, resource: &Resource) -> Decision {
        if let Some(rule) = self.deny.find(call).filter(|_| !is_out("deny-rules")) {
            return Decision::Deny(self.ground(Some(rule), Vec::new(), Why::Denied));
        }
        if self.mode == Some(Mode::Plan) && changes_things(call.tool.kind) {
            return Decision::Deny(self.ground(None, Vec::new(), Why::Planning));
        }
        if let Some(rule) = self.ask.find(call) {
            return Decision::Ask(self.ground(Some(rule), Vec::new(), Why::AskedFor));
        }
        if self.mode.is_none_or(|mode| allows(mode, call.tool.kind)) || self.allow.find(call).is_some() {
            return Decision::Allow;
        }
        Decision::Ask(self.unmentioned(allow_rule::for_call(call.tool.name, resource).into_iter().collect()))
    }

    /// Merges the grounds if a layer above and this one both ask. An ask rule is named before a mode that asks, since
    /// no allow rule can help against it. Rules satisfy both modes only if this layer shares the allow rules from
    /// above. In a command line, each layer may lack a different part.
    fn both(&self, mut above: Ground, own: Ground) -> Ground {
        match (&above.why, &own.why) {
            (Why::Unmentioned, Why::AskedFor | Why::Obscure { .. } | Why::UnmentionedAtStart) => return own,
            (Why::Unmentioned, Why::Unmentioned)
                if self.shares_allow && !above.remedies.is_empty() && !own.remedies.is_empty() =>
            {
                above.remedies.extend(own.remedies);
                above.remedies = allow_rule::together(above.remedies).unwrap_or_default();
            }
            _ => above.remedies.clear(),
        }
        above
    }

    /// This layer's own verdict on a command line: the strictest for any part of it.
    fn decide_line(&self, line: &Line<'_>) -> Decision {
        if let Some(admitted) = &self.admitted {
            match line.uncovered_by(admitted, WorkspaceWrites::NeedRule) {
                Uncovered::Nothing => {}
                open => return Decision::Deny(self.ground(None, Vec::new(), not_admitted(admitted, &open, line))),
            }
        }
        if let Some((rule, doubt)) = forbidding(&self.deny, line) {
            let why = doubt.map_or(Why::Denied, |why| Why::Obscure { what: why.to_string() });
            return Decision::Deny(self.ground(Some(rule), Vec::new(), why));
        }
        let kind = line.whole.tool.kind;
        if self.mode == Some(Mode::Plan) && changes_things(kind) {
            return Decision::Deny(self.ground(None, Vec::new(), Why::Planning));
        }
        if let Some((rule, _)) = forbidding(&self.ask, line) {
            return Decision::Ask(self.ground(Some(rule), Vec::new(), Why::AskedFor));
        }
        if self.mode.is_none_or(|mode| allows(mode, kind)) {
            return Decision::Allow;
        }
        let writes = if self.mode.is_none_or(|mode| allows(mode, ToolKind::Editing)) {
            WorkspaceWrites::Allowed
        } else {
            WorkspaceWrites::NeedRule
        };
        let found = match line.uncovered_by(&self.allow, writes) {
            Uncovered::Nothing => return Decision::Allow,
            Uncovered::Whole => Err(obscure(line)),
            Uncovered::Gaps(gaps) => allow_rule::for_gaps(&gaps, line.places.root.as_deref()),
        };
        Decision::Ask(match found {
            Err(what) => self.ground(None, Vec::new(), Why::Obscure { what }),
            // In plan mode allow rules would not help.
            Ok(_) if self.mode == Some(Mode::Plan) => self.unmentioned(Vec::new()),
            Ok(remedies) => self.unmentioned(remedies),
        })
    }

    /// The ground for asking about a call that no rule here allows, with rules that would allow it.
    fn unmentioned(&self, remedies: Vec<String>) -> Ground {
        if self.as_started {
            return self.ground(None, Vec::new(), Why::UnmentionedAtStart);
        }
        self.ground(None, remedies, Why::Unmentioned)
    }

    fn ground(&self, rule: Option<&Matcher>, remedies: Vec<String>, why: Why) -> Ground {
        Ground { owner: self.owner.clone(), rule: rule.map(|rule| rule.text.clone()), remedies, why }
    }

    /// The most lenient result of `after` for any call of the tool.
    pub(super) fn best_case_after(&self, so_far: BestCase, tool: CalledTool<'_>) -> BestCase {
        let approved = so_far == BestCase::Ask && self.approves_reads && tool.kind == ToolKind::Reading;
        let so_far = if approved { BestCase::Allow } else { so_far };
        match so_far.max(self.best_case(tool)) {
            BestCase::Ask if self.never_asks => BestCase::Deny,
            together => together,
        }
    }

    fn best_case(&self, tool: CalledTool<'_>) -> BestCase {
        let some = |rules: &RuleList| rules.are_about(tool);
        let all = |rules: &RuleList| rules.are_about_all(tool);
        let planning = self.mode == Some(Mode::Plan) && changes_things(tool.kind);
        if planning || all(&self.deny) || self.admitted.as_ref().is_some_and(|admitted| !some(admitted)) {
            return BestCase::Deny;
        }
        let unmentioned = self.mode.is_none_or(|mode| allows(mode, tool.kind));
        if all(&self.ask) || !unmentioned && !some(&self.allow) { BestCase::Ask } else { BestCase::Allow }
    }

    /// Names and name prefixes of tools that are known only from rules.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let rules = self.admitted.iter().chain([&self.deny, &self.ask, &self.allow]);
        rules.flat_map(RuleList::iter).filter_map(Matcher::name)
    }

    pub(super) fn guards_reads(&self) -> bool {
        let guards = |rule: &Matcher| rule.looks_at_paths() && rule.is_about(CalledTool::any_of(ToolKind::Reading));
        self.admitted.iter().chain([&self.deny, &self.ask]).flat_map(RuleList::iter).any(guards)
    }
}

/// Returns the first rule that forbids some part of a line, with a reason if it only might.
fn forbidding<'a>(rules: &'a RuleList, line: &Line<'_>) -> Option<(&'a Matcher, Option<WhyNot>)> {
    line.calls().find_map(|(call, part)| {
        let rule = rules.find(call)?;
        Some((rule, line.doubt(rule, call, part)))
    })
}

/// The reason why a tool list does not admit a line. Includes the uncovered part if the list is about commands at all.
fn not_admitted(admitted: &RuleList, open: &Uncovered<'_>, line: &Line<'_>) -> Why {
    let words = match open {
        Uncovered::Gaps(gaps) => format!("which do not cover {}", gaps.first().map(Gap::to_string).unwrap_or_default()),
        Uncovered::Whole | Uncovered::Nothing => format!("and no pattern covers it, since {}", obscure(line)),
    };
    let uncovered = Some(words).filter(|_| admitted.are_about(line.whole.tool));
    Why::NotAdmitted { admitted: admitted.iter().map(|rule| rule.text.clone()).collect(), uncovered }
}

/// The part of a line that is not understood.
fn obscure(line: &Line<'_>) -> String {
    line.analysis.why_not.as_ref().map_or_else(|| "it names no command".to_owned(), WhyNot::to_string)
}

/// True for tools that plan mode refuses: all that are not known to change nothing.
pub(super) fn changes_things(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Editing | ToolKind::Shell | ToolKind::Mcp | ToolKind::Unknown)
}

/// True if a mode allows such tools without a rule.
fn allows(mode: Mode, kind: ToolKind) -> bool {
    match mode {
        Mode::Bypass => true,
        Mode::AcceptEdits if kind == ToolKind::Editing => true,
        Mode::Default | Mode::Plan | Mode::AcceptEdits => {
            matches!(kind, ToolKind::Reading | ToolKind::Notes | ToolKind::Delegating | ToolKind::Companion)
        }
    }
}
