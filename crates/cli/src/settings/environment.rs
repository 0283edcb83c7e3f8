//! The process's environment, read once: nothing else in Sortie reads a variable.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::env_file;
use super::value::Origin;
use crate::error::CommandError;

/// Variables of the process, with those of `--env-file` over them.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, (OsString, Origin)>,
}

/// A variable that is set and not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    pub(super) origin: &'a Origin,
}

impl Environment {
    /// Reads the process's variables, and the file's over them: it was named for this one run.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, CommandError> {
        let mut variables = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            // A name that is not UTF-8 is none that anything here asks for.
            if let Ok(name) = name.into_string() {
                variables.insert(name.clone(), (value, Origin::Variable { name, file: None }));
            }
        }
        if let Some(path) = file {
            for assignment in env_file::read(path)? {
                let origin =
                    Origin::Variable { name: assignment.name.clone(), file: Some((path.to_owned(), assignment.line)) };
                variables.insert(assignment.name, (assignment.value.into(), origin));
            }
        }
        Ok(Self { variables })
    }

    /// A variable's text. An empty one counts as not set.
    pub(super) fn text(&self, name: &str) -> Result<Option<Variable<'_>>, CommandError> {
        let Some((name, (value, origin))) = self.variables.get_key_value(name) else { return Ok(None) };
        match value.to_str() {
            Some("") => Ok(None),
            Some(value) => Ok(Some(Variable { name, value, origin })),
            None => Err(CommandError::config(format!("the variable {origin} is not valid UTF-8"))),
        }
    }

    /// A variable that holds an absolute path. An empty or relative one counts as not set, as XDG asks.
    pub(super) fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        self.path(name).filter(|path| path.is_absolute())
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(|(value, _)| PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty())
    }

    /// Whether the terminal can move its cursor.
    pub(crate) fn has_smart_terminal(&self) -> bool {
        self.variables.get("TERM").is_some_and(|(term, _)| term != "dumb" && !term.is_empty())
    }

    /// Names of all variables that are set.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.variables.iter().filter(|(_, (value, _))| !value.is_empty()).map(|(name, (_, origin))| (&**name, origin))
    }
}
