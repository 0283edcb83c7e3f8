//! Permissions in resolved form: layers of a grant, directories outside the workspace, hosts.
//!
//! Rules add up over files, variables and flags. Each origin of forbidding rules has its own layer, so that a refusal
//! can name it. Allow rules go with the mode, from which they are exceptions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sortie_agents::{AgentDefinition, Registry};
use sortie_policy::Rule;
use sortie_protocol::{GrantLayer, Mode};
use sortie_tools::WebRules;

use super::key::{ADD_DIRS, ALLOW, ANSWER_SECONDS, ASK, DENY, Key, MODE, OPEN_NETWORK, PRIVATE};
use super::layers::{LayerText, Layers};
use super::value::mode;
use super::{Settings, hook};
use crate::environment::PROJECT_CONFIG;
use crate::environment::origin::{Origin, Owner};
use crate::error::CommandError;

/// Owner of the user's settings and of the defaults.
const USER: &str = "user settings";

impl Settings {
    /// Grant of a main agent: the layers above all agents.
    pub(crate) fn permission_layers(&self) -> Vec<GrantLayer> {
        let said = &self.layers;
        let mode = said.text_of(&MODE, "");
        let mut layers = vec![GrantLayer {
            allow: said.texts_of(&ALLOW, "").map(|rule| rule.text.to_owned()).collect(),
            mode: Some(mode.and_then(|mode| mode::named(mode.text)).unwrap_or(Mode::Default)),
            ..GrantLayer::new(mode.map_or_else(|| USER.to_owned(), |mode| owner(mode.origin)))
        }];
        let asking = said.texts_of(&ASK, "").map(|rule| (rule, Forbids::Asking));
        let denying = said.texts_of(&DENY, "").map(|rule| (rule, Forbids::Denying));
        let mut forbidding: Vec<(LayerText<'_>, Forbids)> = asking.chain(denying).collect();
        forbidding.sort_by_key(|(rule, _)| rule.origin.rank());
        for (rule, forbids) in forbidding {
            forbids.rules_of(&mut layers, owner(rule.origin)).push(rule.text.to_owned());
        }
        layers
    }

    /// Origin of a rule in this owner's layer.
    pub(crate) fn place_of_rule(&self, layer_owner: &str, rule: &str) -> Option<String> {
        let said = [&DENY, &ASK, &ALLOW].into_iter().flat_map(|key| self.layers.texts_of(key, ""));
        let said: Vec<LayerText<'_>> = said.filter(|said| said.text == rule).collect();
        // Allow rules may be in another owner's layer.
        let own = said.iter().find(|said| owner(said.origin) == layer_owner);
        own.or(said.last()).map(|said| said.origin.to_string())
    }

    /// Origin of the mode; `None` for the default one.
    pub(crate) fn place_of_mode(&self) -> Option<String> {
        self.layers.text_of(&MODE, "").map(|mode| mode.origin.to_string())
    }

    /// Warns about rules for unknown agents, which may be misspelt and do nothing.
    pub(crate) fn rules_about_nobody(&self, agents: &Registry) -> Vec<String> {
        let names = || agents.all().iter().flat_map(AgentDefinition::names);
        let mut warnings = Vec::new();
        for key in [&ALLOW, &ASK, &DENY] {
            for LayerText { text, origin } in self.layers.texts_of(key, "") {
                let Ok(rule) = text.parse::<Rule>() else { continue };
                if rule.is_about_agent(names()) == Some(false) {
                    warnings.push(format!("{origin}: `{}`: `{text}` names an unknown agent", key.path));
                }
            }
        }
        warnings.extend(hook::about_nobody(self.layers.hooks(), agents));
        warnings
    }

    /// Added directories that tools see: absolute and existing.
    pub(crate) fn added_directories(&self) -> Result<Vec<PathBuf>, CommandError> {
        self.layers.texts_of(&ADD_DIRS, "").map(|said| self.added_directory(&said)).collect()
    }

    fn added_directory(&self, said: &LayerText<'_>) -> Result<PathBuf, CommandError> {
        let LayerText { text, origin } = said;
        let unusable =
            |why: &str| CommandError::config(format!("{origin}: the directory {text} cannot be added: {why}"));
        let path = self.path_said(said).ok_or_else(|| unusable("HOME is not set"))?;
        let path = path.canonicalize().map_err(|error| unusable(&error.to_string()))?;
        if path.is_dir() { Ok(path) } else { Err(unusable("it is not a directory")) }
    }

    /// Path that a text means at its origin; `None` if it begins with `~` and the home is unknown.
    pub(super) fn path_said(&self, said: &LayerText<'_>) -> Option<PathBuf> {
        match said.text.strip_prefix('~').filter(|below| below.is_empty() || below.starts_with('/')) {
            Some(below) => Some(self.environment.absolute_path("HOME")?.join(below.trim_start_matches('/'))),
            None => Some(self.base_of(said.origin).join(said.text)),
        }
    }

    /// Base of relative paths: the file's own directory, the project for its files, or else the current directory.
    fn base_of<'a>(&'a self, origin: &'a Origin) -> &'a Path {
        match origin {
            Origin::File { path, owner: Owner::User, .. } => path.parent().unwrap_or(Path::new("")),
            _ if origin.is_projects() => &self.places.workspace,
            _ => Path::new(""),
        }
    }

    /// Approval timeout of a background task.
    pub(crate) fn answer_within(&self) -> Duration {
        Duration::from_secs(self.layers.number(&ANSWER_SECONDS))
    }

    /// True if commands of agents that may fetch from any host get direct network access.
    pub(crate) fn open_network(&self) -> bool {
        self.layers.switch(&OPEN_NETWORK)
    }

    /// Private hosts that may be fetched from. The servers of our own models never are.
    pub(crate) fn web_rules(&self) -> Result<WebRules, CommandError> {
        let (routes, _) = self.routes();
        let own = routes.iter().map(|route| route.base_url.to_string());
        let private = self.layers.texts_of(&PRIVATE, "").map(|host| host.text.to_owned());
        WebRules::new(private, own).map_err(|error| CommandError::config(error.to_string()))
    }
}

/// List of a layer that a rule belongs in.
#[derive(Clone, Copy)]
enum Forbids {
    Asking,
    Denying,
}

impl Forbids {
    /// List in this owner's layer, which is created if missing.
    fn rules_of(self, layers: &mut Vec<GrantLayer>, owner: String) -> &mut Vec<String> {
        let place = layers.iter().position(|layer| layer.owner == owner).unwrap_or_else(|| {
            layers.push(GrantLayer::new(owner));
            layers.len() - 1
        });
        let layer = &mut layers[place];
        match self {
            Self::Asking => &mut layer.ask,
            Self::Denying => &mut layer.deny,
        }
    }
}

/// Owner of a value, as refusals name it.
fn owner(origin: &Origin) -> String {
    match origin {
        Origin::Default | Origin::Contract(_) | Origin::File { owner: Owner::User, .. } => USER.to_owned(),
        Origin::File { owner: Owner::Project, .. } => format!("project settings ({PROJECT_CONFIG})"),
        Origin::Variable { name, .. } => format!("the variable {name}"),
        Origin::Flag(flag) => format!("the flag {flag}"),
    }
}

impl Layers {
    /// Warns about rules for unknown tools, which may be misspelt and do nothing.
    pub(super) fn warn_of_unknown_tools(&mut self) {
        let doubtful = |key: &'static Key| {
            let rules = self.texts_of(key, "");
            rules.filter_map(move |LayerText { text, origin }| {
                let rule = text.parse::<Rule>().ok()?;
                // An allow rule must name its tool exactly.
                let unknown =
                    if key.path == ALLOW.path { rule.unknown_tool() } else { rule.unknown_tool_in_any_case() }?;
                Some(format!("{origin}: `{}`: {unknown}", key.path))
            })
        };
        let warnings: Vec<String> = [&ALLOW, &ASK, &DENY].into_iter().flat_map(doubtful).collect();
        self.warnings.extend(warnings);
    }
}
