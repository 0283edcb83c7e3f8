//! Settings: everything that files, variables and flags say, read once and turned into what the program needs.
//!
//! [`layers`] keeps the values of each layer with their origins. [`Settings`] is their meaning to the rest of the
//! program.

mod allow_rule;
mod config_file;
mod config_template;
mod hook;
mod key;
mod layers;
mod mcp_server;
mod permission;
mod project;
mod route;
mod value;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sortie_agents::ServerDefinition;
use sortie_contract::{Contract, Sortie};
use sortie_engine::{EngineSettings, InstructionRules, TrustCheck};
use sortie_llm::route::MAIN_ROUTE;
use sortie_llm::{CallSettings, Catalogue, Route, RouteError};
use sortie_mcp::{Lookup, expanded, secrets_of};
use sortie_protocol::{Failure, Limits, Money};
use sortie_sandbox::Workspace;

pub(crate) use allow_rule::allow_for_good;
pub(crate) use config_template::config_template;
pub(crate) use hook::{Hook, HookProgram, Seam};
pub(crate) use key::PROMPT_BYTES_SETTING;
pub(crate) use mcp_server::in_project_file as servers_in;
pub(crate) use project::effect;
pub(crate) use route::ResolvedRoute;

use crate::environment::origin::{Origin, Owner};
use crate::environment::{Confinement, Environment, Places, Sources};
use crate::error::CommandError;
use crate::trust::Trust;
use layers::{LayerText, Layers, SetAside, Setting};
use project::Project;
use value::Narrower;

/// All that a command needs to know before it starts.
#[derive(Debug)]
pub(crate) struct Settings {
    layers: Layers,
    set_aside: Vec<SetAside>,
    trust: Trust,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    /// Only a flag takes the walls away, never a file.
    pub(crate) confinement: Confinement,
    /// What was set and does not count, for the person to know.
    pub(crate) warnings: Vec<String>,
}

/// A setting as `config show` lists it.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) path: String,
    /// As the file would say it; `(not set)` where nothing is.
    pub(crate) value: String,
    pub(crate) origin: String,
    pub(crate) doc: &'static str,
    /// Whether this is one item of a list, to which others can only add.
    pub(crate) is_item: bool,
}

/// A value of the project's file that does not count, as `config show` lists it.
#[derive(Debug)]
pub(crate) struct ListedAside {
    pub(crate) path: String,
    pub(crate) value: String,
    /// Where in the project's file.
    pub(crate) line: usize,
    /// Why it does not count.
    pub(crate) why: String,
}

impl Settings {
    /// Finds out where things lie, whatever the settings are.
    pub(crate) fn locate(sources: &Sources) -> Result<(Environment, Places), CommandError> {
        let environment = Environment::read(sources.env_file.as_deref())?;
        let places = Places::find(sources, &environment)?;
        Ok((environment, places))
    }

    /// Where Sortie keeps things, whatever project this is.
    pub(crate) fn home() -> Result<PathBuf, CommandError> {
        crate::environment::home(&Environment::read(None)?)
    }

    pub(crate) fn load(sources: &Sources) -> Result<Self, CommandError> {
        let (mut environment, places) = Self::locate(sources)?;
        let mut layers = Layers::default();
        let (trust, doubt) = if sources.trust { (Trust::for_this_run(), None) } else { Trust::recall(&places) };
        layers.warnings.extend(doubt);
        match (&places.config, &sources.config) {
            (Some(path), Some(_)) => layers.add_file(config_file::read(path)?, Owner::User),
            (Some(path), None) => layers.add_file(config_file::read_if_present(path)?, Owner::User),
            (None, _) => {}
        }
        let workspace = Workspace::open(&places.workspace).map_err(|error| CommandError::config(error.to_string()))?;
        let project = Project { workspace: &workspace, trust: &trust };
        let set_aside = project.add_config(&mut layers)?;
        project.add_variables(&mut layers, &mut environment);
        project.add_servers(&mut layers)?;
        layers.warnings.extend(environment.take_warnings());
        layers.add_environment(&environment, &|path| sources.replace(path))?;
        for assignment in &sources.set {
            layers.add_flag(assignment)?;
        }
        if let Some(name) = &sources.contract {
            layers.add_contract(name);
        }
        let contract = contract_of(&layers);
        layers.add_defaults(contract.name(), &contract.defaults());
        layers.warn_of_unknown_tools();
        let warnings = std::mem::take(&mut layers.warnings);
        Ok(Self { layers, set_aside, trust, environment, places, confinement: sources.confinement, warnings })
    }

    /// The dialect in which tasks are asked for and answered.
    pub(crate) fn contract(&self) -> Arc<dyn Contract> {
        contract_of(&self.layers)
    }

    /// The rules of the task tree.
    pub(crate) fn rules(&self) -> EngineSettings {
        let layers = &self.layers;
        EngineSettings {
            delegation: layers.switch(&key::ENABLED),
            max_depth: saturating_u32(layers.number(&key::MAX_DEPTH)),
            default_timeout: Duration::from_secs(layers.number(&key::DEFAULT_TIMEOUT_SECONDS)),
            max_tokens: layers.optional_number(&key::MAX_TOKENS),
            max_cost: layers.optional_number(&key::MAX_COST_USD).map(Money::from_nanos),
            model: layers.text_of(&key::TASK_MODEL, "").map(|model| model.text.to_owned()),
            max_concurrent: saturating_usize(layers.number(&key::MAX_CONCURRENT)),
            max_children: saturating_u32(layers.number(&key::MAX_CHILDREN)),
            delegations_per_minute: layers.optional_number(&key::DELEGATIONS_PER_MINUTE).map(saturating_u32),
            max_prompt_bytes: self.max_prompt_bytes(),
            allow_model_override: layers.switch(&key::ALLOW_MODEL_OVERRIDE),
            background: layers.switch(&key::BACKGROUND),
            resume_within: layers.switch(&key::RESUME).then(|| days(layers.number(&key::RESUME_DAYS))),
            builtin_agents: layers.switch(&key::BUILTIN_AGENTS),
            instructions: InstructionRules {
                start: self.places.start.clone(),
                max_bytes: saturating_usize(layers.number(&key::CONTEXT_FILE_BYTES)),
                for_children: layers.switch(&key::INHERIT_CONTEXT_FILES),
            },
            cwd: self.cwd(),
        }
    }

    /// What bounds a main agent where no flag does.
    pub(crate) fn run_limits(&self) -> Limits {
        let layers = &self.layers;
        Limits {
            max_tokens: layers.optional_number(&key::RUN_MAX_TOKENS),
            max_cost: layers.optional_number(&key::RUN_MAX_COST_USD).map(Money::from_nanos),
            timeout: layers.optional_number(&key::RUN_TIMEOUT_SECONDS).map(Duration::from_secs),
            ..Limits::default()
        }
    }

    /// How long tasks are kept after they ended; `None`: until somebody removes them.
    pub(crate) fn retention(&self) -> Option<Duration> {
        Some(self.layers.number(&key::RETENTION_DAYS)).filter(|days| *days > 0).map(days)
    }

    /// Where it is kept which task has answered what, if results are to be given again.
    pub(crate) fn result_cache(&self) -> Option<PathBuf> {
        self.layers.switch(&key::CACHE).then(|| self.places.cache())
    }

    /// The same where nothing is set.
    pub(crate) fn usual_retention() -> Duration {
        days(key::RETENTION_DAYS.default)
    }

    /// Whether what works in the background goes on to its end when an MCP client is gone.
    pub(crate) fn finishes_background(&self) -> bool {
        self.layers.switch(&key::FINISH_BACKGROUND)
    }

    /// Whether every call of a sub-agent is worth a line.
    pub(crate) fn verbose_logging(&self) -> bool {
        self.layers.switch(&key::ENABLE_VERBOSE_LOGGING)
    }

    /// The working directory relative to the workspace.
    pub(crate) fn cwd(&self) -> String {
        let start = self.places.start.to_string_lossy();
        if start.is_empty() { ".".to_owned() } else { start.into_owned() }
    }

    pub(crate) fn max_prompt_bytes(&self) -> usize {
        saturating_usize(self.layers.number(&key::MAX_PROMPT_BYTES))
    }

    /// How model calls are retried and given up.
    pub(crate) fn call_settings(&self) -> CallSettings {
        CallSettings {
            max_retries: saturating_u32(self.layers.number(&key::MAX_RETRIES)),
            retry_base: Duration::from_millis(self.layers.number(&key::RETRY_BASE_MS)),
            idle_timeout: Duration::from_secs(self.layers.number(&key::IDLE_TIMEOUT_SECONDS)),
        }
    }

    /// The routes that can be used, main first, and why the others cannot.
    pub(crate) fn routes(&self) -> (Vec<Route>, BTreeMap<String, String>) {
        let (mut routes, mut unusable) = (Vec::new(), BTreeMap::new());
        for ResolvedRoute { name, route } in self.each_route() {
            match route {
                Ok(route) => routes.push(route),
                Err(error) => drop(unusable.insert(name, error.in_one_line())),
            }
        }
        (routes, unusable)
    }

    /// Why the main route cannot be used, where somebody set it up.
    pub(crate) fn problem_of_main(&self) -> Option<CommandError> {
        self.each_route().into_iter().find(|resolved| resolved.name == MAIN_ROUTE)?.route.err()
    }

    /// The model that was set for a route, whether the route can be used or not.
    pub(crate) fn model_of(&self, route: &str) -> Option<&str> {
        self.layers.text_of(&key::MODEL, route).map(|set| set.text)
    }

    /// The same one by one, with those that cannot be used and why.
    pub(crate) fn each_route(&self) -> Vec<ResolvedRoute> {
        route::all(&self.layers, &self.environment)
    }

    /// The aliases that are set, with what each one means: a model's id or a route.
    pub(crate) fn aliases(&self) -> BTreeMap<String, String> {
        self.layers.aliases().map(|(name, meant)| (name.to_owned(), meant.to_owned())).collect()
    }

    /// Why the routes and aliases do not make a table, and where what is wrong was said.
    pub(crate) fn unusable(&self, error: &RouteError) -> CommandError {
        let alias = match error {
            RouteError::AliasOfRoute { name }
            | RouteError::AliasChain { name, .. }
            | RouteError::AliasTarget { name, .. } => self.layers.text_of(&key::ALIAS, name),
            RouteError::Duplicate { .. } | RouteError::Reserved { .. } | RouteError::NoModel { .. } => None,
        };
        let place = alias.map(|alias| format!("{}: ", alias.origin)).unwrap_or_default();
        CommandError::config(format!("{place}{error}"))
    }

    /// A refusal that is due to a setting says where that was set, unless it is the default or was said just now.
    pub(crate) fn explained(&self, mut failure: Failure) -> Failure {
        if let Some(setting) = failure.setting {
            failure.message = self.with_origin(setting, failure.message);
        }
        failure
    }

    /// A message about the setting at `path`, with where that was set.
    pub(crate) fn with_origin(&self, path: &str, message: String) -> String {
        let Some(origin) = self.layers.origin_of(path) else { return message };
        if matches!(origin, Origin::Default | Origin::Flag(_)) || message.contains(&origin.to_string()) {
            return message;
        }
        format!("{message}; that is set in {origin}, and `--set {path}=…` overrides it")
    }

    /// All hooks: the user's, then those of a trusted project.
    pub(crate) fn hooks(&self) -> Vec<Hook> {
        hook::meant(self.layers.hooks(), |text, origin| self.path_said(&LayerText { text, origin }))
    }

    /// The servers that count, by name.
    pub(crate) fn servers(&self) -> Vec<ServerDefinition> {
        self.layers.servers().map(|(server, _)| server.clone()).collect()
    }

    /// What `${NAME}` in a server's definition stands for.
    pub(crate) fn server_variables(&self) -> Lookup {
        let variables: BTreeMap<String, String> = self.environment.texts();
        Arc::new(move |name| variables.get(name).cloned())
    }

    /// What servers' definitions hold that no tool may show, also before the servers are started.
    pub(crate) fn server_secrets(&self) -> Vec<String> {
        let lookup = self.server_variables();
        let accesses = self.servers().into_iter().filter_map(|server| expanded(&server, &lookup).ok());
        accesses.flat_map(|access| secrets_of(&access)).collect()
    }

    /// What is known of models: the built-in list, extended by the user's own.
    pub(crate) fn catalogue(&self) -> Result<Catalogue, CommandError> {
        let builtin = Catalogue::builtin();
        let Some(path) = self.places.models() else { return Ok(builtin) };
        match std::fs::read_to_string(&path) {
            Ok(text) => builtin
                .extended_with(&text, &path.display().to_string())
                .map_err(|error| CommandError::config(error.to_string())),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(builtin),
            Err(error) => {
                Err(CommandError::config(format!("the list of models {} cannot be read: {error}", path.display())))
            }
        }
    }

    /// Says of a project's file, by its path in the project and its bytes, whether the user trusts it.
    pub(crate) fn trust(&self) -> TrustCheck {
        self.trust.check()
    }

    /// How far the user trusts this project, in words.
    pub(crate) fn trust_summary(&self) -> String {
        self.trust.summary()
    }

    /// Every setting, secrets masked.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Listed> {
        self.layers.iter().map(Listed::from)
    }

    /// The settings in which the project's file has the last word.
    pub(crate) fn listed_of_project(&self) -> impl Iterator<Item = Listed> {
        let is_projects = |setting: &Setting<'_>| matches!(setting.origin, Origin::File { owner: Owner::Project, .. });
        self.layers.iter().filter(is_projects).map(Listed::from)
    }

    /// What the project's file says that does not count, secrets masked.
    pub(crate) fn listed_aside(&self) -> impl Iterator<Item = ListedAside> {
        self.set_aside.iter().map(|SetAside { value, instead }| {
            let (kind, narrower) = (value.entry.key.kind, value.entry.key.narrower);
            ListedAside {
                path: value.entry.path.clone(),
                value: kind.render(&value.value),
                line: value.line,
                why: match instead {
                    _ if value.entry.key.is_never_a_projects(&value.value) => "never counts from a project".to_owned(),
                    Some(instead) if narrower != Narrower::Never => {
                        format!("not narrower than {}", kind.render(instead))
                    }
                    _ => "does not count from a project until it is trusted".to_owned(),
                },
            }
        })
    }
}

impl From<Setting<'_>> for Listed {
    fn from(setting: Setting<'_>) -> Self {
        Self {
            value: match setting.value {
                Some(value) => setting.key.kind.render(value),
                None => "(not set)".to_owned(),
            },
            origin: setting.origin.to_string(),
            doc: setting.key.doc,
            is_item: setting.key.kind.is_list(),
            path: setting.path,
        }
    }
}

/// Only names of contracts are ever said, so that the default is for nobody having said one.
fn contract_of(layers: &Layers) -> Arc<dyn Contract> {
    let named = layers.text_of(&key::CONTRACT, "").and_then(|name| sortie_contract::contract(name.text));
    named.unwrap_or_else(|| Arc::new(Sortie))
}

fn days(number: u64) -> Duration {
    Duration::from_hours(number.saturating_mul(24))
}

fn saturating_u32(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn saturating_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
