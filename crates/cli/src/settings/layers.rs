//! Values of settings by layer: the highest layer with a value wins, and every value keeps its origin.
//!
//! Layers, lowest first: defaults, the user's file, the project's file, the environment, flags.

use std::collections::{BTreeMap, BTreeSet};

use sortie_agents::ServerDefinition;
use sortie_contract::Defaults;
use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_mutant::is_out;

use super::config_file::{FileLayer, FileValue};
use super::hook::HookEntry;
use super::key::meaning::{self, Entry, Meaning, apparent_items};
use super::key::variable::{self, Form};
use super::key::{
    ALIAS, Always, CONTRACT, HOOKS, INHERIT_CONTEXT_FILES, KEYS, Key, MAX_CONCURRENT, MAX_DEPTH, MAX_TOKENS, SERVER,
};
use super::value::{Kind, Value};
use crate::environment::origin::{Origin, Owner};
use crate::environment::{Assignment, Environment, SET_FLAG, Variables};
use crate::error::CommandError;

/// Every configured setting, by layer.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Values by path and layer, the strongest last.
    values: BTreeMap<String, Vec<(Value, Origin)>>,
    pub(super) warnings: Vec<String>,
}

/// Effective setting, whether configured or not.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) key: &'static Key,
    pub(super) path: String,
    pub(super) value: Option<&'a Value>,
    pub(super) origin: &'a Origin,
}

/// Configured text and its origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerText<'a> {
    pub(super) text: &'a str,
    pub(super) origin: &'a Origin,
}

/// Ignored value of a project's file.
#[derive(Debug)]
pub(super) struct SetAside {
    pub(super) value: FileValue,
    /// Value in force instead, for settings that are a matter of more or less.
    pub(super) instead: Option<Value>,
}

impl Layers {
    /// Adds everything from a file.
    pub(super) fn add_file(&mut self, file: FileLayer, owner: Owner) {
        self.warnings.extend(file.warnings());
        for FileValue { entry, value, line } in file.values {
            let origin = Origin::File { path: file.path.clone(), line, owner };
            self.put(entry, value, origin);
        }
    }

    fn put_all(&mut self, entry: &Entry, values: Vec<Value>, origin: &Origin) {
        for value in values {
            self.put(entry.clone(), value, origin.clone());
        }
    }

    /// Keeps a value, unless it is a project's and may never count.
    fn put(&mut self, entry: Entry, value: Value, origin: Origin) {
        if origin.is_projects() && entry.key.is_never_a_projects(&value) {
            let (path, value) = (entry.path, entry.key.kind.render(&value));
            let warning = format!("ignored: `{path} = {value}` ({origin}): a project cannot set it, trusted or not");
            return self.warnings.push(warning);
        }
        self.values.entry(entry.path).or_default().push((value, origin));
    }

    /// Adds the values of a project's file that narrow the current ones, and returns the others.
    pub(super) fn add_narrower(&mut self, file: FileLayer) -> Vec<SetAside> {
        let mut set_aside = Vec::new();
        for said in file.values {
            let Entry { key, path } = &said.entry;
            let now = self.get(path).map(|(value, _)| value).or(key.default.as_ref());
            if now == Some(&said.value) && !key.kind.is_list() {
                continue;
            }
            if key.narrower.than(now, &said.value) || is_out("project-narrows") {
                let origin = Origin::File { path: file.path.clone(), line: said.line, owner: Owner::Project };
                self.put(said.entry, said.value, origin);
            } else {
                let instead = now.cloned().filter(|_| !key.kind.is_list());
                set_aside.push(SetAside { value: said, instead });
            }
        }
        set_aside
    }

    /// Adds the values of variables. An invalid one is ignored if `replaced` says that a flag sets its path.
    pub(super) fn add_environment(
        &mut self,
        environment: &Environment,
        replaced: &dyn Fn(&str) -> bool,
    ) -> Result<(), CommandError> {
        for variables in environment.by_standing() {
            for form in [Form::Shared, Form::Own] {
                self.add_variables(variables, form, replaced)?;
            }
        }
        Ok(())
    }

    fn add_variables(
        &mut self,
        variables: &Variables,
        form: Form,
        replaced: &dyn Fn(&str) -> bool,
    ) -> Result<(), CommandError> {
        for name in variables.names() {
            let meaning = match variable::meaning(name) {
                Some((found, meaning)) if found == form => meaning,
                _ => continue,
            };
            let Some(variable) = variables.text(name)? else { continue };
            let ignored = match meaning {
                Meaning::Setting(entry) if matches!(entry.key.kind, Kind::Server) => {
                    format!("`{}` is set up in a file, as a table", entry.path)
                }
                Meaning::Setting(entry) => match entry.parse(variable.value) {
                    Ok(values) => {
                        self.put_all(&entry, values, variable.origin);
                        continue;
                    }
                    // Layers of a list add up, so a flag does not replace what was meant here.
                    Err(what) if replaced(&entry.path) && !entry.key.kind.is_list() => what,
                    Err(what) => {
                        return Err(CommandError::config(format!("the variable {}: {what}", variable.origin)));
                    }
                },
                Meaning::Section => "it names a table, not a setting in it".to_owned(),
                Meaning::Refused(what) | Meaning::Unknown(what) => what,
            };
            self.warnings.push(format!("the variable {} is ignored: {ignored}", variable.origin));
        }
        Ok(())
    }

    pub(super) fn add_flag(&mut self, assignment: &Assignment) -> Result<(), CommandError> {
        let Assignment { flag, path, value } = assignment;
        let entry = match meaning::of(path) {
            Meaning::Setting(entry) => entry,
            Meaning::Section => {
                return Err(CommandError::usage(format!("{flag}: `{path}` is a table, not a setting in it")));
            }
            Meaning::Refused(what) | Meaning::Unknown(what) => {
                return Err(CommandError::usage(format!("{flag}: {what}")));
            }
        };
        if matches!(entry.key.kind, Kind::Secret) {
            let route = meaning::name_in(entry.key, path).unwrap_or(MAIN_ROUTE);
            let shared =
                variable::shared_name(entry.key, route).map(|name| format!("set {name}, or ")).unwrap_or_default();
            return Err(CommandError::usage(format!(
                "{flag}: `{path}` cannot be set on the command line, where others can see it"
            ))
            .hint(format!("{shared}name a variable in `routes.{route}.api_key_env`")));
        }
        let values = match entry.key.kind {
            // One flag is one item: a comma may be part of a name.
            kind if kind.is_list() && *flag != SET_FLAG => entry.parse_one(value).map(|value| vec![value]),
            _ => entry.parse(value),
        };
        if matches!(entry.key.kind, Kind::Rules) && *flag != SET_FLAG && apparent_items(value).nth(1).is_some() {
            self.warnings.push(format!("{flag}: `{value}` is one rule; for several, give {flag} several times"));
        }
        let values = values.map_err(|what| CommandError::usage(format!("{flag}: {what}")))?;
        self.put_all(&entry, values, &Origin::Flag(flag));
        Ok(())
    }

    /// Adds the contract from `--contract`.
    pub(super) fn add_contract(&mut self, name: &str) {
        let entry = Entry { key: &CONTRACT, path: CONTRACT.path.to_owned() };
        self.put(entry, Value::Text(name.to_owned().into()), Origin::Flag("--contract"));
    }

    /// Adds the defaults of a contract.
    pub(super) fn add_defaults(&mut self, name: &'static str, defaults: &Defaults) {
        let by_contract = [
            (&MAX_DEPTH.key, Some(Value::Number(defaults.max_depth.into()))),
            (&MAX_CONCURRENT.key, Some(Value::Number(defaults.max_concurrent as u64))),
            (&MAX_TOKENS, defaults.max_tokens.map(Value::Number)),
            (&INHERIT_CONTEXT_FILES.key, Some(Value::Switch(defaults.inherit_context_files))),
        ];
        for (key, value) in by_contract {
            if let Some(value) = value.filter(|value| Some(value) != key.default.as_ref())
                && self.get(key.path).is_none()
            {
                self.put(Entry { key, path: key.path.to_owned() }, value, Origin::Contract(name));
            }
        }
    }

    fn get(&self, path: &str) -> Option<(&Value, &Origin)> {
        self.values.get(path)?.last().map(|(value, origin)| (value, origin))
    }

    /// Origin of the setting at `path`; `None` if it is not set.
    pub(super) fn origin_of(&self, path: &str) -> Option<&Origin> {
        self.get(path).map(|(_, origin)| origin)
    }

    /// Every setting in the order of the table. The routes always include main and light.
    pub(super) fn iter(&self) -> impl Iterator<Item = Setting<'_>> {
        let single = KEYS.into_iter().filter(|key| !key.is_family()).map(|key| (key, String::new()));
        let routes = self.route_names().into_iter();
        let of_routes = routes
            .flat_map(|name| KEYS.into_iter().filter(|key| key.is_of_routes()).map(move |key| (key, name.clone())));
        let aliases = self.aliases().map(|(name, _)| (&ALIAS, name.to_owned()));
        let servers = self.servers().map(|(server, _)| (&SERVER, server.name.clone()));
        single.chain(of_routes).chain(aliases).chain(servers).flat_map(|(key, name)| self.setting(key, &name))
    }

    /// Effective setting; for a list, each item.
    fn setting(&self, key: &'static Key, name: &str) -> Vec<Setting<'_>> {
        let path = key.path_of(name);
        let said = self.values.get(&path).map_or(&[][..], Vec::as_slice);
        let counts = if key.kind.is_list() { said } else { &said[said.len().saturating_sub(1)..] };
        if counts.is_empty() {
            return vec![Setting { key, value: key.default.as_ref(), origin: &Origin::Default, path }];
        }
        counts.iter().map(|(value, origin)| Setting { key, value: Some(value), origin, path: path.clone() }).collect()
    }

    /// Main, light, and every other configured route.
    pub(super) fn route_names(&self) -> Vec<String> {
        let name = |path| KEYS.iter().filter(|key| key.is_of_routes()).find_map(|key| meaning::name_in(key, path));
        let others: BTreeSet<&str> = self.values.keys().filter_map(|path| name(path)).collect();
        let others = others.into_iter().filter(|name| ![MAIN_ROUTE, LIGHT_ROUTE].contains(name));
        [MAIN_ROUTE, LIGHT_ROUTE].into_iter().chain(others).map(str::to_owned).collect()
    }

    /// True if the route is configured in any way.
    pub(super) fn mentions_route(&self, name: &str) -> bool {
        KEYS.iter().any(|key| key.is_of_routes() && self.values.contains_key(&key.path_of(name)))
    }

    /// Every configured alias and what it stands for.
    pub(super) fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.keys().filter_map(|path| match self.get(path)?.0 {
            Value::Text(meant) => Some((meaning::name_in(&ALIAS, path)?, &**meant)),
            Value::Switch(_) | Value::Number(_) | Value::Hook(_) | Value::Server(_) => None,
        })
    }

    pub(super) fn number(&self, number: &Always<u64>) -> u64 {
        self.optional_number(&number.key).unwrap_or(number.default)
    }

    pub(super) fn optional_number(&self, key: &Key) -> Option<u64> {
        self.number_of(key, "")
    }

    /// Number of one member of a family.
    pub(super) fn number_of(&self, key: &Key, name: &str) -> Option<u64> {
        match self.get(&key.path_of(name))?.0 {
            Value::Number(number) => Some(*number),
            Value::Switch(_) | Value::Text(_) | Value::Hook(_) | Value::Server(_) => None,
        }
    }

    pub(super) fn switch(&self, switch: &Always<bool>) -> bool {
        match self.get(switch.key.path) {
            Some((Value::Switch(on), _)) => *on,
            _ => switch.default,
        }
    }

    /// Text of one member of a family.
    pub(super) fn text_of(&self, key: &Key, name: &str) -> Option<LayerText<'_>> {
        self.texts_of(key, name).last()
    }

    /// Text from each layer, the strongest last; for a list each item, and all of them count.
    pub(super) fn texts_of(&self, key: &Key, name: &str) -> impl Iterator<Item = LayerText<'_>> {
        self.values.get(&key.path_of(name)).into_iter().flatten().filter_map(|(value, origin)| match value {
            Value::Text(text) => Some(LayerText { text, origin }),
            Value::Switch(_) | Value::Number(_) | Value::Hook(_) | Value::Server(_) => None,
        })
    }

    /// Every configured MCP server by name, with its origin.
    pub(super) fn servers(&self) -> impl Iterator<Item = (&ServerDefinition, &Origin)> {
        self.values.keys().filter(|path| meaning::name_in(&SERVER, path).is_some()).filter_map(|path| {
            match self.get(path)? {
                (Value::Server(server), origin) => Some((&**server, origin)),
                _ => None,
            }
        })
    }

    /// Adds a server from a project's `.mcp.json`.
    pub(super) fn add_server(&mut self, server: ServerDefinition, origin: Origin) {
        let entry = Entry { key: &SERVER, path: SERVER.path_of(&server.name) };
        self.put(entry, Value::Server(Box::new(server)), origin);
    }

    /// All hooks with their origin, the user's first.
    pub(super) fn hooks(&self) -> impl Iterator<Item = (&HookEntry, &Origin)> {
        self.values.get(HOOKS.path).into_iter().flatten().filter_map(|(value, origin)| match value {
            Value::Hook(hook) => Some((hook, origin)),
            Value::Switch(_) | Value::Number(_) | Value::Text(_) | Value::Server(_) => None,
        })
    }
}
