//! The answer for one call, and its reason in words.

use std::fmt;

/// The answer for one call, from most lenient to strictest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// A person has to approve it; if nobody can be asked, it is refused.
    Ask(Ground),
    Deny(Ground),
}

impl Decision {
    pub fn is_allowed(&self) -> bool {
        *self == Self::Allow
    }

    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Deny(_))
    }

    /// The decision about something in a form that cannot be judged.
    pub(super) fn unclear(what: String) -> Self {
        Self::Deny(Ground::ours(Why::Unclear { what }))
    }
}

/// The reason why a call is not simply allowed. Its text is a sentence for people and models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// Owner of the layer that decided.
    pub owner: String,
    /// The rule that decided, as written.
    pub rule: Option<String>,
    /// Allow rules that together would have made the difference; empty if none would.
    pub remedies: Vec<String>,
    pub why: Why,
}

impl Ground {
    /// The ground against a change that no agent may make: of `what`, in words.
    pub fn protected(what: String) -> Self {
        Self::ours(Why::Protected { what })
    }

    /// A ground that belongs to no layer.
    pub(super) fn ours(why: Why) -> Self {
        Self { owner: "Sortie".to_owned(), rule: None, remedies: Vec::new(), why }
    }
}

/// The reason for a layer's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// None of the tools that the layer admits covers the call.
    NotAdmitted {
        admitted: Vec<String>,
        /// The part of a command line they do not cover, as the end of the sentence.
        uncovered: Option<String>,
    },
    /// A deny rule.
    Denied,
    /// Plan mode, which changes nothing.
    Planning,
    /// An ask rule.
    AskedFor,
    /// The mode asks, and no rule allows it.
    Unmentioned,
    /// No rule allowed it when the task was started. The task was resumed, and rules added since do not count.
    UnmentionedAtStart,
    /// The layer never asks, and the call would need approval for the reason inside.
    WouldAsk { asked: Box<Ground> },
    /// No agent may change it.
    Protected { what: String },
    /// No agent may read it either.
    Secret { place: String },
    /// Part of a command line is not understood: a rule could be about it, or none can allow it.
    Obscure { what: String },
    /// The target of the call is in a form that cannot be judged.
    Unclear { what: String },
}

/// Maximum number of admitted rules named in one sentence.
const NAMED: usize = 12;

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, rule, remedies, why } = self;
        let rule = rule.as_deref().unwrap_or_default();
        match why {
            Why::NotAdmitted { admitted, .. } if admitted.is_empty() => {
                write!(f, "denied by {owner}: it has no tools")
            }
            Why::NotAdmitted { admitted, uncovered } => {
                let named = &admitted[..admitted.len().min(NAMED)];
                write!(f, "denied by {owner}: its tools are {}", named.join(", "))?;
                let more = admitted.len() - named.len();
                if more > 0 {
                    write!(f, " and {more} more")?;
                }
                uncovered.as_ref().map_or(Ok(()), |uncovered| write!(f, ", {uncovered}"))
            }
            Why::Denied => write!(f, "denied by {owner}: its rule `{rule}`"),
            Why::Planning => write!(f, "denied by {owner}: its mode is plan, which allows no changes"),
            Why::AskedFor => write!(f, "needs approval; the rule `{rule}` of {owner} asks for it"),
            Why::Unmentioned if remedies.is_empty() => write!(f, "needs approval; no rule of {owner} allows it"),
            Why::Unmentioned => {
                let flag = |rule: &String| format!("--allow '{}'", rule.replace('\'', r"'\''"));
                let flags: Vec<String> = remedies.iter().map(flag).collect();
                let (rules, flags) = (listed(remedies), flags.join(" "));
                write!(f, "needs approval; {rules} under [permissions] allow, or {flags}, would allow it")
            }
            Why::UnmentionedAtStart => {
                write!(
                    f,
                    "needs approval; it was not allowed when this task started, and rules added since are for new tasks"
                )
            }
            Why::WouldAsk { asked } => write!(f, "denied by {owner}, which never asks: {asked}"),
            Why::Protected { what } => write!(f, "denied: it belongs to {what}, which no agent may change"),
            Why::Secret { place } => {
                write!(f, "denied: people or Sortie keep secrets in `{place}`, which no agent may read or change")
            }
            Why::Obscure { what } if rule.is_empty() => {
                write!(f, "needs approval; no rule of {owner} allows it, since {what}")
            }
            Why::Obscure { what } => write!(f, "denied by {owner}: its rule `{rule}` could be about it, since {what}"),
            Why::Unclear { what } => write!(f, "denied: {what}"),
        }
    }
}

/// Joins rules as `a`, `b` and `c`.
fn listed(rules: &[String]) -> String {
    let quoted: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    match &quoted[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        quoted => quoted.concat(),
    }
}
