//! What was said, key by key: the highest layer that speaks wins, and every value keeps its origin.
//!
//! Layers, lowest first: defaults, the user's file, the environment, flags.

use super::environment::Environment;
use super::file::FileLayer;
use super::key::{self, Always, KEYS, Key};
use super::value::{Kind, Origin, Value};
use crate::error::CommandError;

/// Every known setting, in the order of the table.
#[derive(Debug)]
pub(super) struct Said {
    settings: Vec<Setting>,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Setting {
    pub(super) key: &'static Key,
    pub(super) value: Option<Value>,
    pub(super) origin: Origin,
}

/// A text that was said, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoken<'a> {
    pub(super) text: &'a str,
    pub(super) origin: &'a Origin,
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) path: String,
    pub(crate) value: String,
}

pub(super) const SET_FLAG: &str = "--set";

impl Said {
    pub(super) fn gather(
        file: FileLayer,
        environment: &Environment,
        flags: &[Assignment],
    ) -> Result<Self, CommandError> {
        let mut said = Self { settings: KEYS.map(default_setting).into(), warnings: file.warnings };
        for (key, value, origin) in file.values {
            said.put(key, value, origin);
        }
        said.hear_environment(environment)?;
        for assignment in flags {
            said.hear_flag(assignment)?;
        }
        Ok(said)
    }

    fn hear_environment(&mut self, environment: &Environment) -> Result<(), CommandError> {
        for key in KEYS {
            let own = key.own_variable();
            // Our own name is the more particular one, so it comes last and wins.
            for name in key.variable.into_iter().chain([own.as_str()]) {
                let Some(variable) = environment.text(name)? else { continue };
                let value = key.kind.parse(variable.value).ok_or_else(|| {
                    let what = key.misfit_text(variable.value);
                    CommandError::config(format!("the variable {}: {what}", variable.origin))
                })?;
                self.put(key, value, variable.origin.clone());
            }
        }
        for (name, origin) in environment.names() {
            if let Some(what) = unknown_variable(name) {
                self.warnings.push(format!("the variable {origin} is ignored: {what}"));
            }
        }
        Ok(())
    }

    fn hear_flag(&mut self, assignment: &Assignment) -> Result<(), CommandError> {
        let Assignment { path, value } = assignment;
        let Some(key) = key::find(path) else {
            return Err(CommandError::usage(format!("{SET_FLAG}: {}", key::unknown(path))));
        };
        if matches!(key.kind, Kind::Secret) {
            return Err(CommandError::usage(format!(
                "{SET_FLAG}: `{path}` is not taken from the command line, where others can see it"
            ))
            .hint("set LLM_API_KEY, or name a variable in `routes.main.api_key_env`"));
        }
        let Some(value) = key.kind.parse(value) else {
            return Err(CommandError::usage(format!("{SET_FLAG}: {}", key.misfit_text(value))));
        };
        self.put(key, value, Origin::Flag(SET_FLAG));
        Ok(())
    }

    fn put(&mut self, key: &'static Key, value: Value, origin: Origin) {
        if let Some(setting) = self.settings.iter_mut().find(|setting| setting.key.path == key.path) {
            setting.value = Some(value);
            setting.origin = origin;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter()
    }

    fn get(&self, key: &Key) -> Option<(&Value, &Origin)> {
        let setting = self.settings.iter().find(|setting| setting.key.path == key.path)?;
        Some((setting.value.as_ref()?, &setting.origin))
    }

    pub(super) fn number(&self, number: &Always<u64>) -> u64 {
        self.optional_number(&number.key).unwrap_or(number.default)
    }

    pub(super) fn optional_number(&self, key: &Key) -> Option<u64> {
        match self.get(key)?.0 {
            Value::Number(number) => Some(*number),
            Value::Switch(_) | Value::Text(_) => None,
        }
    }

    pub(super) fn switch(&self, switch: &Always<bool>) -> bool {
        match self.get(&switch.key) {
            Some((Value::Switch(on), _)) => *on,
            _ => switch.default,
        }
    }

    pub(super) fn text(&self, key: &Key) -> Option<Spoken<'_>> {
        match self.get(key)? {
            (Value::Text(text), origin) => Some(Spoken { text, origin }),
            _ => None,
        }
    }
}

fn default_setting(key: &'static Key) -> Setting {
    Setting { key, value: key.default.clone(), origin: Origin::Default }
}

/// What to say of a variable that looks like a setting and is none.
fn unknown_variable(name: &str) -> Option<String> {
    if key::LATER_VARIABLES.contains(&name) {
        return Some("it is not in this version".to_owned());
    }
    // Names without a double underscore, like SORTIE_HOME, are no settings.
    let path = name.strip_prefix("SORTIE_").filter(|rest| rest.contains("__"))?.to_lowercase().replace("__", ".");
    key::find(&path).is_none().then(|| key::unknown(&path))
}
