//! From arguments, files and the environment to what they mean, once. Nothing else reads them.
//!
//! [`said`] holds what each layer said and where; [`Settings`] is what it means to the rest of the program.

mod env_file;
mod environment;
mod file;
mod key;
mod place;
mod route;
mod said;
mod value;

use std::path::PathBuf;
use std::time::Duration;

use sortie_engine::Rules;
use sortie_llm::{CallSettings, Route};

pub(crate) use environment::Environment;
pub(crate) use place::Places;
pub(crate) use said::Assignment;

use crate::error::CommandError;
use said::Said;

/// Where to look, as the command line says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    pub(crate) config: Option<PathBuf>,
    pub(crate) env_file: Option<PathBuf>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) set: Vec<Assignment>,
}

/// All that a command needs to know before it starts.
#[derive(Debug)]
pub(crate) struct Settings {
    said: Said,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    /// What was set and does not count, for the person to know.
    pub(crate) warnings: Vec<String>,
}

/// A setting as `config show` lists it.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) path: &'static str,
    /// As the file would say it; `(not set)` where nothing is.
    pub(crate) value: String,
    pub(crate) origin: String,
    pub(crate) doc: &'static str,
}

impl Settings {
    pub(crate) fn load(sources: &Sources) -> Result<Self, CommandError> {
        let environment = Environment::read(sources.env_file.as_deref())?;
        let places = Places::find(sources.cwd.as_deref(), sources.config.as_deref(), &environment)?;
        let file = match (&places.config, &sources.config) {
            (Some(path), Some(_)) => file::read(path)?,
            (Some(path), None) => file::read_if_present(path)?,
            (None, _) => file::FileLayer::default(),
        };
        let mut said = Said::gather(file, &environment, &sources.set)?;
        let mut warnings = std::mem::take(&mut said.warnings);
        warnings.extend(unread_project_files(&places));
        Ok(Self { said, environment, places, warnings })
    }

    /// The rules of the task tree.
    pub(crate) fn rules(&self) -> Rules {
        let said = &self.said;
        Rules {
            delegation: said.switch(&key::ENABLED),
            max_depth: saturating_u32(said.number(&key::MAX_DEPTH)),
            default_timeout: Duration::from_secs(said.number(&key::DEFAULT_TIMEOUT_SECONDS)),
            max_tokens: said.optional_number(&key::MAX_TOKENS),
            max_concurrent: saturating_usize(said.number(&key::MAX_CONCURRENT)),
            max_children: saturating_u32(said.number(&key::MAX_CHILDREN)),
            max_prompt_bytes: self.max_prompt_bytes(),
        }
    }

    pub(crate) fn max_prompt_bytes(&self) -> usize {
        saturating_usize(self.said.number(&key::MAX_PROMPT_BYTES))
    }

    /// How model calls are retried and given up.
    pub(crate) fn call_settings(&self) -> CallSettings {
        CallSettings {
            max_retries: saturating_u32(self.said.number(&key::MAX_RETRIES)),
            retry_base: Duration::from_millis(self.said.number(&key::RETRY_BASE_MS)),
            idle_timeout: Duration::from_secs(self.said.number(&key::IDLE_TIMEOUT_SECONDS)),
        }
    }

    /// The main route; `None` when none is set, and an error when what is set does not suffice.
    pub(crate) fn main_route(&self) -> Result<Option<Route>, CommandError> {
        route::main(&self.said, &self.environment)
    }

    /// Every setting, secrets masked.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Listed> {
        self.said.iter().map(|setting| Listed {
            path: setting.key.path,
            value: match &setting.value {
                Some(value) => setting.key.kind.render(value),
                None => "(not set)".to_owned(),
            },
            origin: setting.origin.to_string(),
            doc: setting.key.doc,
        })
    }
}

/// A project's own files are not read in this version; whoever wrote one should know.
fn unread_project_files(places: &Places) -> Option<String> {
    let present: Vec<&str> =
        [".sortie/config.toml", ".env"].into_iter().filter(|file| places.workspace.join(file).is_file()).collect();
    (!present.is_empty()).then(|| {
        format!(
            "{} of the workspace {} not read in this version; use --config or --env-file",
            present.join(" and "),
            if present.len() == 1 { "is" } else { "are" }
        )
    })
}

fn saturating_u32(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn saturating_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
