//! Aliases: other names for a model or a route. An alias never names another alias, so there is nothing to follow.

use std::collections::BTreeMap;

use super::setup::RouteError;
use crate::route::{AUTO, is_model_id};

/// Names used by agent files and by callers of other tools.
const BUILT_IN: [(&str, &str); 3] =
    [("haiku", "claude-haiku-4"), ("sonnet", "claude-sonnet-4"), ("opus", "claude-opus-4")];

/// The built-in alias that means a small model.
const SMALL: &str = "haiku";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alias {
    pub(super) name: String,
    /// A model id or a route's name.
    pub(super) target: String,
    /// True if the user defined it. Such an alias is binding; a built-in one is only a preference.
    pub(super) is_the_users: bool,
}

impl Alias {
    fn new(name: &str, target: &str) -> Self {
        let is_built_in = BUILT_IN.iter().any(|(known, id)| known.eq_ignore_ascii_case(name) && *id == target);
        Self { name: name.to_owned(), target: target.to_owned(), is_the_users: !is_built_in }
    }

    /// True if it asks for a small, fast model.
    pub(super) fn wants_small(&self) -> bool {
        self.name.eq_ignore_ascii_case(SMALL)
    }
}

/// Aliases of a process, by name.
#[derive(Debug, Default)]
pub(super) struct Aliases(Vec<Alias>);

impl Aliases {
    /// Combines the user's aliases with the built-in ones. A built-in alias gives way to a route of its name.
    pub(super) fn new(users: &BTreeMap<String, String>, is_route: impl Fn(&str) -> bool) -> Result<Self, RouteError> {
        let replaced = |name: &str| is_route(name) || users.keys().any(|user| user.eq_ignore_ascii_case(name));
        let built_in = BUILT_IN.into_iter().filter(|(name, _)| !replaced(name));
        let users = users.iter().map(|(name, target)| (name.as_str(), target.as_str()));
        let table = Self(built_in.chain(users).map(|(name, target)| Alias::new(name, target)).collect());
        table.0.iter().try_for_each(|alias| table.check(alias, &is_route))?;
        Ok(table)
    }

    /// Finds an alias by its exact name, else ignoring case.
    pub(super) fn find(&self, name: &str) -> Option<&Alias> {
        let exact = self.0.iter().find(|alias| alias.name == name);
        exact.or_else(|| self.0.iter().find(|alias| alias.name.eq_ignore_ascii_case(name)))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|alias| alias.name.as_str())
    }

    fn check(&self, alias: &Alias, is_route: impl Fn(&str) -> bool) -> Result<(), RouteError> {
        let (name, target) = (alias.name.clone(), alias.target.clone());
        if is_route(&name) {
            return Err(RouteError::AliasOfRoute { name });
        }
        // `auto` is a way to choose a model, not a model.
        if !is_model_id(&target) || target.eq_ignore_ascii_case(AUTO) {
            return Err(RouteError::AliasTarget { name, target });
        }
        if !is_route(&target) && self.find(&target).is_some() {
            return Err(RouteError::AliasChain { name, target });
        }
        Ok(())
    }
}
