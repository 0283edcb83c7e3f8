//! Values of settings by layer: the highest layer that has one wins, and every value keeps its origin.
//!
//! Layers, lowest first: defaults, the user's file, the project's file, the environment, flags.

use std::collections::{BTreeMap, BTreeSet};

use sortie_agents::ServerDefinition;
use sortie_contract::Defaults;
use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_mutant::is_out;

use super::config_file::{FileLayer, FileValue};
use super::hook::HookEntry;
use super::key::meaning::{self, Entry, Meaning};
use super::key::variable::{self, Form};
use super::key::{
    ALIAS, Always, CONTRACT, HOOKS, INHERIT_CONTEXT_FILES, KEYS, Key, MAX_CONCURRENT, MAX_DEPTH, MAX_TOKENS, SERVER,
};
use super::value::{Kind, Value};
use crate::environment::origin::{Origin, Owner};
use crate::environment::{Assignment, Environment, SET_FLAG, Variables};
use crate::error::CommandError;

/// Every setting that somebody has set, by layer.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// By path; what was said in each layer, the strongest last.
    values: BTreeMap<String, Vec<(Value, Origin)>>,
    pub(super) warnings: Vec<String>,
}

/// One setting as it is, whether anybody said something of it or not.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) key: &'static Key,
    pub(super) path: String,
    pub(super) value: Option<&'a Value>,
    pub(super) origin: &'a Origin,
}

/// A text that was set, and its origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerText<'a> {
    pub(super) text: &'a str,
    pub(super) origin: &'a Origin,
}

/// A value of a project's file that does not count.
#[derive(Debug)]
pub(super) struct SetAside {
    pub(super) value: FileValue,
    /// What counts instead, where it is a matter of more or less.
    pub(super) instead: Option<Value>,
}

impl Layers {
    /// Takes all that a file says.
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

    /// Keeps what was said, unless it is a project's word that never counts.
    fn put(&mut self, entry: Entry, value: Value, origin: Origin) {
        if origin.is_projects() && entry.key.is_never_a_projects(&value) {
            let (path, value) = (entry.path, entry.key.kind.render(&value));
            let warning = format!("ignored: `{path} = {value}` ({origin}): a project cannot set it, trusted or not");
            return self.warnings.push(warning);
        }
        self.values.entry(entry.path).or_default().push((value, origin));
    }

    /// Takes what a project's file says where that is narrower than what was said so far, and returns the rest.
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

    /// Takes all that variables say. One that cannot be understood stands in nobody's way where `replaced` says of its
    /// path that a flag has the last word.
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
                    // A list adds up: what a flag says does not stand for what was meant here.
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
                "{flag}: `{path}` is not taken from the command line, where others can see it"
            ))
            .hint(format!("{shared}name a variable in `routes.{route}.api_key_env`")));
        }
        let values = match entry.key.kind {
            // A directory may have commas in its name.
            Kind::Directories if *flag != SET_FLAG => entry.parse_one(value).map(|value| vec![value]),
            _ => entry.parse(value),
        };
        let values = values.map_err(|what| CommandError::usage(format!("{flag}: {what}")))?;
        self.put_all(&entry, values, &Origin::Flag(flag));
        Ok(())
    }

    /// Takes the contract that a flag of its own names.
    pub(super) fn add_contract(&mut self, name: &str) {
        let entry = Entry { key: &CONTRACT, path: CONTRACT.path.to_owned() };
        self.put(entry, Value::Text(name.to_owned().into()), Origin::Flag("--contract"));
    }

    /// Takes what a contract decides where nobody else has.
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

    /// Origin of the setting at `path`; `None` where nobody set it.
    pub(super) fn origin_of(&self, path: &str) -> Option<&Origin> {
        self.get(path).map(|(_, origin)| origin)
    }

    /// Every setting in the order of the table. Of the routes, main and light are always among them.
    pub(super) fn iter(&self) -> impl Iterator<Item = Setting<'_>> {
        let single = KEYS.into_iter().filter(|key| !key.is_family()).map(|key| (key, String::new()));
        let routes = self.route_names().into_iter();
        let of_routes = routes
            .flat_map(|name| KEYS.into_iter().filter(|key| key.is_of_routes()).map(move |key| (key, name.clone())));
        let aliases = self.aliases().map(|(name, _)| (&ALIAS, name.to_owned()));
        let servers = self.servers().map(|(server, _)| (&SERVER, server.name.clone()));
        single.chain(of_routes).chain(aliases).chain(servers).flat_map(|(key, name)| self.setting(key, &name))
    }

    /// The setting as it is; of a list each item.
    fn setting(&self, key: &'static Key, name: &str) -> Vec<Setting<'_>> {
        let path = key.path_of(name);
        let said = self.values.get(&path).map_or(&[][..], Vec::as_slice);
        let counts = if key.kind.is_list() { said } else { &said[said.len().saturating_sub(1)..] };
        if counts.is_empty() {
            return vec![Setting { key, value: key.default.as_ref(), origin: &Origin::Default, path }];
        }
        counts.iter().map(|(value, origin)| Setting { key, value: Some(value), origin, path: path.clone() }).collect()
    }

    /// Main, light, and whichever others were said something of.
    pub(super) fn route_names(&self) -> Vec<String> {
        let name = |path| KEYS.iter().filter(|key| key.is_of_routes()).find_map(|key| meaning::name_in(key, path));
        let others: BTreeSet<&str> = self.values.keys().filter_map(|path| name(path)).collect();
        let others = others.into_iter().filter(|name| ![MAIN_ROUTE, LIGHT_ROUTE].contains(name));
        [MAIN_ROUTE, LIGHT_ROUTE].into_iter().chain(others).map(str::to_owned).collect()
    }

    /// Whether anything was said of a route.
    pub(super) fn mentions_route(&self, name: &str) -> bool {
        KEYS.iter().any(|key| key.is_of_routes() && self.values.contains_key(&key.path_of(name)))
    }

    /// Every alias that was set, with what it means.
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

    /// A number of one member of a family.
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

    /// A text of one member of a family.
    pub(super) fn text_of(&self, key: &Key, name: &str) -> Option<LayerText<'_>> {
        self.texts_of(key, name).last()
    }

    /// What each layer said of it, the strongest last; of a list each item, and all of them count.
    pub(super) fn texts_of(&self, key: &Key, name: &str) -> impl Iterator<Item = LayerText<'_>> {
        self.values.get(&key.path_of(name)).into_iter().flatten().filter_map(|(value, origin)| match value {
            Value::Text(text) => Some(LayerText { text, origin }),
            Value::Switch(_) | Value::Number(_) | Value::Hook(_) | Value::Server(_) => None,
        })
    }

    /// Every MCP server that was set up, in the order of the names, each with where it was said.
    pub(super) fn servers(&self) -> impl Iterator<Item = (&ServerDefinition, &Origin)> {
        self.values.keys().filter(|path| meaning::name_in(&SERVER, path).is_some()).filter_map(|path| {
            match self.get(path)? {
                (Value::Server(server), origin) => Some((&**server, origin)),
                _ => None,
            }
        })
    }

    /// Takes in a server of a project's own file for them.
    pub(super) fn add_server(&mut self, server: ServerDefinition, origin: Origin) {
        let entry = Entry { key: &SERVER, path: SERVER.path_of(&server.name) };
        self.put(entry, Value::Server(Box::new(server)), origin);
    }

    /// All hooks, those of the user first, each with where it was said.
    pub(super) fn hooks(&self) -> impl Iterator<Item = (&HookEntry, &Origin)> {
        self.values.get(HOOKS.path).into_iter().flatten().filter_map(|(value, origin)| match value {
            Value::Hook(hook) => Some((hook, origin)),
            Value::Switch(_) | Value::Number(_) | Value::Text(_) | Value::Server(_) => None,
        })
    }
}
