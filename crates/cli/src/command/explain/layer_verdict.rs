//! Verdicts of a grant's layers on a call, each with its place, and which of them decides.

use serde_json::{Value, json};
use sortie_agents::Registry;
use sortie_policy::{Decision, Ground, Judge, Places, Why};
use sortie_protocol::{AgentConfig, Grant, GrantLayer, Resource};

use crate::error::CommandError;
use crate::settings::Settings;

/// Verdict of one layer.
pub(super) struct LayerVerdict {
    owner: String,
    verdict: &'static str,
    /// Rule that decided, or why none did.
    why: String,
    rule: Option<String>,
    /// Place where the owner wrote the rule, if known.
    place: Option<String>,
    has_mode: bool,
    decides: bool,
}

/// Verdict of each layer, in order. A refusal before all layers comes first.
pub(super) fn each(
    config: &AgentConfig,
    tool: &str,
    resource: &Resource,
    places: &Places,
) -> Result<Vec<LayerVerdict>, CommandError> {
    let decide = |layers: &[GrantLayer]| {
        let judge = Judge::new(&Grant { layers: layers.to_vec() }, places.clone());
        let judge = judge.map_err(|error| CommandError::config(error.to_string()))?;
        Ok(judge.decide(tool, resource))
    };
    // Without layers, only what nobody may do is refused.
    if let Decision::Deny(ground) = decide(&[])? {
        return Ok(vec![LayerVerdict { decides: true, ..LayerVerdict::of(&ground, "denies") }]);
    }
    let layers = &config.grant.layers;
    let mut says = Vec::new();
    let mut before = Decision::Allow;
    for (index, layer) in layers.iter().enumerate() {
        let (alone, after) = (decide(std::slice::from_ref(layer))?, decide(&layers[..=index])?);
        let mut say = match &alone {
            Decision::Deny(ground) => LayerVerdict::of(ground, "denies"),
            Decision::Ask(ground) => LayerVerdict::of(ground, "asks"),
            Decision::Allow => allows(layer, &decide)?,
        };
        match (&before, &alone, &after) {
            (Decision::Ask(_), _, Decision::Allow) => {
                (say.verdict, say.why) = ("approves", "its reading needs no approval".to_owned());
            }
            (_, Decision::Allow | Decision::Ask(_), Decision::Deny(ground)) if !before.is_denied() => {
                say = LayerVerdict::of(ground, "denies");
            }
            _ => {}
        }
        say.decides = after != before;
        says.push(LayerVerdict { owner: layer.owner.clone(), has_mode: layer.mode.is_some(), ..say });
        before = after;
    }
    settle(&mut says);
    Ok(says)
}

/// Marks the layer that decides: the last one that changed the decision.
fn settle(says: &mut [LayerVerdict]) {
    let last = says.iter().rposition(|say| say.decides);
    for (index, say) in says.iter_mut().enumerate() {
        say.decides = Some(index) == last;
    }
}

/// Verdict of a layer that allows the call, with its rule if there is one.
fn allows(
    layer: &GrantLayer,
    decide: &impl Fn(&[GrantLayer]) -> Result<Decision, CommandError>,
) -> Result<LayerVerdict, CommandError> {
    let by_mode = GrantLayer { mode: layer.mode, ..GrantLayer::new("") };
    let mut say = LayerVerdict { why: "nothing against it".to_owned(), ..LayerVerdict::new("allows") };
    if decide(std::slice::from_ref(&by_mode))?.is_allowed() {
        if let Some(mode) = layer.mode {
            say.why = format!("mode {mode}");
        }
        return Ok(say);
    }
    for rule in &layer.allow {
        if decide(&[GrantLayer { allow: vec![rule.clone()], ..by_mode.clone() }])?.is_allowed() {
            (say.why, say.rule) = (format!("rule `{rule}`"), Some(rule.clone()));
            break;
        }
    }
    Ok(say)
}

impl LayerVerdict {
    fn new(verdict: &'static str) -> Self {
        Self {
            owner: String::new(),
            verdict,
            why: String::new(),
            rule: None,
            place: None,
            has_mode: false,
            decides: false,
        }
    }

    /// Adds the place where the owner wrote the rule.
    pub(super) fn placed(self, settings: &Settings, agents: &Registry) -> Self {
        let place = match (self.owner.strip_prefix("agent "), &self.rule) {
            (Some(agent), _) => agents.get(agent).ok().map(|agent| agent.origin.to_string()),
            (None, Some(rule)) => settings.place_of_rule(&self.owner, rule),
            (None, None) if self.has_mode => settings.place_of_mode(),
            (None, None) => None,
        };
        Self { place, ..self }
    }

    fn of(ground: &Ground, verdict: &'static str) -> Self {
        let Ground { owner, rule, why, .. } = ground;
        let words = match (why, rule) {
            (_, Some(rule)) => format!("rule `{rule}`"),
            (Why::NotAdmitted { admitted, .. }, _) if admitted.is_empty() => "it has no tools".to_owned(),
            (Why::NotAdmitted { admitted, .. }, _) => format!("its tools are {}", admitted.join(", ")),
            (Why::Planning, _) => "mode plan".to_owned(),
            (Why::Unmentioned | Why::UnmentionedAtStart, _) => "no rule allows it".to_owned(),
            (Why::WouldAsk { .. }, _) => "it never asks".to_owned(),
            (Why::Protected { what }, _) => format!("it belongs to {what}, which no agent may change"),
            (Why::Secret { place }, _) => {
                format!("people or Sortie keep secrets in `{place}`, which no agent may read or change")
            }
            (Why::Unclear { what } | Why::Obscure { what }, _) => what.clone(),
            (Why::Denied | Why::AskedFor, None) => String::new(),
        };
        Self { owner: owner.clone(), why: words, rule: rule.clone(), ..Self::new(verdict) }
    }

    /// Removes the mark of the deciding layer: no layer makes a difference.
    pub(super) fn decide_nothing(&mut self) {
        self.decides = false;
    }

    /// Row: owner, verdict with its reason, place, mark.
    pub(super) fn row(&self) -> [String; 4] {
        let place = self.place.clone().unwrap_or_default();
        let mark = if self.decides { "← decides" } else { "" };
        [self.owner.clone(), format!("{}: {}", self.verdict, self.why), place, mark.to_owned()]
    }

    pub(super) fn to_json(&self) -> Value {
        let verdict = match self.verdict {
            "denies" => "deny",
            "asks" => "ask",
            _ => "allow",
        };
        let mut object = json!({ "owner": self.owner, "verdict": verdict, "why": self.why, "decides": self.decides });
        for (name, value) in [("rule", &self.rule), ("place", &self.place)] {
            if let Some(value) = value {
                object[name] = value.as_str().into();
            }
        }
        object
    }
}
