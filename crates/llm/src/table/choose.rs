//! Choice of a model by name: a route, an alias, or a model's own id, in that order.
//!
//! Names match exactly, else ignoring case. If another model serves than the requested one, the choice carries a
//! notice.

use sortie_protocol::ModelChoice;

use super::alias::Alias;
use super::offline;
use super::route_table::RouteTable;
use crate::route::{LIGHT_ROUTE, MAIN_ROUTE, Route, is_model_id};
use crate::{Chosen, UnknownModel, WireKind};

/// Advice for a person without any route.
const SET_A_MODEL: &str = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_API_KEY \
                           and LLM_BASE_URL";

/// Chooses a model from one table.
pub(super) struct Chooser<'a> {
    pub(super) table: &'a RouteTable,
}

impl Chooser<'_> {
    pub(super) fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        let chosen = match (asked, inherited) {
            (Some(asked), _) => self.asked_for(asked)?,
            (None, Some(inherited)) => inherited.clone().into(),
            (None, None) => self.require_usable(MAIN_ROUTE, MAIN_ROUTE).map(|()| self.unasked())?,
        };
        Ok(self.known_there(chosen))
    }

    /// Returns the model for a request that names none: the main route's, else its stand-in.
    fn unasked(&self) -> Chosen {
        match self.table.get(MAIN_ROUTE) {
            Some(main) => own_model(main).into(),
            None if self.table.get(LIGHT_ROUTE).is_some() => self.fallback(MAIN_ROUTE, MAIN_ROUTE),
            None => rule_based().into(),
        }
    }

    /// Replaces an id that its provider does not know, such as a family's name. This happens only at the provider's own
    /// address; other servers may well serve the id, so they get it as written.
    fn known_there(&self, chosen: Chosen) -> Chosen {
        let Chosen { choice, notice } = chosen;
        let at_provider = self.table.get(&choice.route).filter(|route| route.is_at_provider());
        let Some(id) = at_provider.and_then(|_| self.table.catalogue().meaning(&choice.id)) else {
            return Chosen { choice, notice };
        };
        let meant = format!("`{}` is not a model id at its provider: {id} serves (route {})", choice.id, choice.route);
        let notice = notice.map(|notice| notice + "; ").unwrap_or_default() + &meant;
        Chosen { choice: ModelChoice { id: id.to_owned(), ..choice }, notice: Some(notice) }
    }

    /// Returns the main route's model, else the light route's, else the rule-based one.
    fn whoever_is_there(&self) -> ModelChoice {
        let usual = self.table.get(MAIN_ROUTE).or_else(|| self.table.get(LIGHT_ROUTE));
        usual.map_or_else(rule_based, own_model)
    }

    fn asked_for(&self, asked: &str) -> Result<Chosen, UnknownModel> {
        self.require_usable(asked, asked)?;
        if let Some(chosen) = self.by_route_name(asked, asked)? {
            return Ok(chosen);
        }
        if let Some(alias) = self.table.aliases.find(asked) {
            self.require_usable(&alias.target, asked)?;
            return self.by_alias(alias);
        }
        // A route's configured model counts as an id whatever it looks like: a local server may name a model by its
        // path.
        let own = self.by_own_model(asked);
        let main = || {
            self.table.get(MAIN_ROUTE).filter(|main| !self.is_foreign_to(asked, main)).map(|main| with_id(main, asked))
        };
        let by_id = own.or_else(|| is_model_id(asked).then(|| self.by_owner(asked).or_else(main)).flatten());
        by_id.map(Chosen::from).ok_or_else(|| UnknownModel::Nobody { asked: asked.to_owned(), hint: self.hint(asked) })
    }

    /// True if the route leads to a provider's own address and the model is known to be another provider's.
    fn is_foreign_to(&self, id: &str, route: &Route) -> bool {
        let wire = || self.table.catalogue().lookup(id).and_then(|facts| facts.wire);
        route.is_at_provider() && wire().is_some_and(|wire| !route.wire.same_provider(wire))
    }

    /// Fails for a route that is set but unusable; no other route stands in for it.
    fn require_usable(&self, name: &str, asked: &str) -> Result<(), UnknownModel> {
        let unusable = self.table.unusable.iter().find(|(route, _)| route.eq_ignore_ascii_case(name));
        unusable.map_or(Ok(()), |(_, problem)| {
            Err(UnknownModel::Unusable { asked: asked.to_owned(), problem: problem.clone() })
        })
    }

    /// Returns the route called `name`, in answer to `asked`. `main` and `light` are names even if neither is set.
    fn by_route_name(&self, name: &str, asked: &str) -> Result<Option<Chosen>, UnknownModel> {
        if [offline::ROUTE, offline::MODEL_ID].iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(Some(rule_based().into()));
        }
        let any_case = || self.table.routes().find(|route| route.name.eq_ignore_ascii_case(name));
        if let Some(route) = self.table.get(name).or_else(any_case) {
            return Ok(Some(own_model(route).into()));
        }
        let missing = [MAIN_ROUTE, LIGHT_ROUTE].into_iter().find(|known| known.eq_ignore_ascii_case(name));
        missing
            .map(|missing| self.require_usable(MAIN_ROUTE, asked).map(|()| self.fallback(missing, asked)))
            .transpose()
    }

    /// Returns the stand-in for `main` or `light` if that is not set.
    fn fallback(&self, missing: &str, asked: &str) -> Chosen {
        let why = match missing {
            LIGHT_ROUTE => "no route `light` is set; set LIGHT_LLM_MODEL_ID or [routes.light]",
            _ => "no main route is set; set LLM_MODEL_ID or [routes.main]",
        };
        stand_in(asked, self.whoever_is_there(), why)
    }

    /// Resolves an alias. A user's alias is binding. A built-in one comes from files that know nothing of this machine,
    /// so without Anthropic on the main route an available model stands in.
    fn by_alias(&self, alias: &Alias) -> Result<Chosen, UnknownModel> {
        let (asked, id) = (alias.name.as_str(), alias.target.as_str());
        if let Some(chosen) = self.by_route_name(id, asked)? {
            return Ok(chosen);
        }
        let owner = if alias.is_the_users { self.by_owner(id) } else { self.by_own_model(id) };
        let main = self.table.get(MAIN_ROUTE).filter(|main| alias.is_the_users || main.wire == WireKind::Anthropic);
        if let Some(choice) = owner.or_else(|| main.map(|main| with_id(main, id))) {
            return Ok(choice.into());
        }
        let why = format!("no Anthropic model is on the main route; set `{asked}` in [aliases] to choose another");
        if alias.wants_small() {
            self.require_usable(LIGHT_ROUTE, asked)?;
            if let Some(light) = self.table.get(LIGHT_ROUTE) {
                return Ok(stand_in(asked, own_model(light), &why));
            }
        }
        self.require_usable(MAIN_ROUTE, asked)?;
        Ok(stand_in(asked, self.whoever_is_there(), &why))
    }

    /// Finds a model by id, on the route that is set to it, else on one that leads to the id's provider.
    fn by_owner(&self, id: &str) -> Option<ModelChoice> {
        self.by_own_model(id).or_else(|| {
            let wire = self.table.catalogue().lookup(id)?.wire?;
            let mut of_provider: Vec<&Route> =
                self.table.routes().filter(|route| self.speaks_to(route, wire)).collect();
            // OpenAI has two wires, and some of its models are served on only one of them.
            of_provider.sort_by_key(|route| route.wire != wire);
            of_provider.first().map(|route| with_id(route, id))
        })
    }

    fn by_own_model(&self, id: &str) -> Option<ModelChoice> {
        let exact = self.table.routes().find(|route| route.model == id);
        exact.or_else(|| self.table.routes().find(|route| route.model.eq_ignore_ascii_case(id))).map(own_model)
    }

    /// True if a route leads to the provider of a wire. Many servers speak another provider's wire, so the address or
    /// the route's own model must confirm it.
    fn speaks_to(&self, route: &Route, wire: WireKind) -> bool {
        let known = || self.table.catalogue().lookup(&route.model).and_then(|facts| facts.wire);
        route.wire.same_provider(wire) && (route.is_at_provider() || known().is_some_and(|own| own.same_provider(wire)))
    }

    /// Returns a hint for an unknown name: similar names, or what to set.
    pub(super) fn hint(&self, asked: &str) -> String {
        let names: Vec<&str> = self.table.routes().map(|route| route.name.as_str()).chain([offline::ROUTE]).collect();
        let names = names.join(", ");
        let known = &self.table.shared.known;
        let meant = if known.catalogue.lookup(asked).is_some_and(|facts| facts.wire.is_some()) {
            "no route leads to its provider; ".to_owned()
        } else {
            known.did_you_mean(asked, None).map(|question| question + " ").unwrap_or_default()
        };
        let next = match (self.table.get(MAIN_ROUTE), self.table.unusable.get(MAIN_ROUTE)) {
            (Some(_), _) => "anything else must be a model id of the main route's provider".to_owned(),
            (None, Some(problem)) => format!("the main route cannot be used: {problem}"),
            (None, None) => format!("to use a model by its id, {SET_A_MODEL}"),
        };
        format!("{meant}known routes: {names}; {next}")
    }
}

/// Adds a notice that `choice` stands in for `asked`. The rule-based model stands in for only one reason.
fn stand_in(asked: &str, choice: ModelChoice, why: &str) -> Chosen {
    let ModelChoice { route, id } = &choice;
    let no_model = format!("no main route is set; {SET_A_MODEL}");
    let why = if route == offline::ROUTE { &no_model } else { why };
    let notice = Some(format!("`{asked}` is served by {id} (route {route}): {why}"));
    Chosen { choice, notice }
}

fn own_model(route: &Route) -> ModelChoice {
    with_id(route, &route.model)
}

fn with_id(route: &Route, id: &str) -> ModelChoice {
    ModelChoice { route: route.name.clone(), id: id.to_owned() }
}

fn rule_based() -> ModelChoice {
    ModelChoice { route: offline::ROUTE.to_owned(), id: offline::MODEL_ID.to_owned() }
}
