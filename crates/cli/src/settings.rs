//! Settings: the values of files, variables and flags, read once and turned into what the program needs.
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
use std::path::{Path, PathBuf};
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

pub(crate) use allow_rule::{allow_for_good, replace};
pub(crate) use config_template::config_template;
pub(crate) use hook::{Hook, HookProgram, Seam};
pub(crate) use key::PROMPT_BYTES_SETTING;
pub(crate) use mcp_server::in_project_file as servers_in;
pub(crate) use project::effect;
pub(crate) use route::{ResolvedRoute, variables as route_variables};

use crate::environment::origin::{Origin, Owner};
use crate::environment::{Confinement, Environment, Places, Sources};
use crate::error::CommandError;
use crate::trust::Trust;
use layers::{LayerText, Layers, SetAside, Setting};
use project::Project;
use value::Narrower;

/// Everything that a command needs to know before it starts.
#[derive(Debug)]
pub(crate) struct Settings {
    layers: Layers,
    set_aside: Vec<SetAside>,
    trust: Trust,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    /// Only a flag can remove the walls, never a file.
    pub(crate) confinement: Confinement,
    /// Warnings about settings that are ignored.
    pub(crate) warnings: Vec<String>,
}

/// A setting as `config show` lists it.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) path: String,
    /// Value as the file would spell it; `(not set)` if there is none.
    pub(crate) value: String,
    pub(crate) origin: String,
    pub(crate) doc: &'static str,
    /// True for an item of a list that layers can only add to.
    pub(crate) is_item: bool,
}

/// Ignored value of the project's file, as `config show` lists it.
#[derive(Debug)]
pub(crate) struct ListedAside {
    pub(crate) path: String,
    pub(crate) value: String,
    /// Line in the project's file.
    pub(crate) line: usize,
    /// Reason why it is ignored.
    pub(crate) why: String,
}

impl Settings {
    /// Finds all paths, whatever the settings are.
    pub(crate) fn locate(sources: &Sources) -> Result<(Environment, Places), CommandError> {
        let environment = Environment::read(sources.env_file.as_deref())?;
        let places = Places::find(sources, &environment)?;
        Ok((environment, places))
    }

    /// Directory of Sortie's own data, the same for every project.
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
        layers.warnings.extend(route::assumptions(&layers, &environment));
        let contract = contract_of(&layers);
        layers.add_defaults(contract.name(), &contract.defaults());
        layers.warn_of_unknown_tools();
        let warnings = std::mem::take(&mut layers.warnings);
        Ok(Self { layers, set_aside, trust, environment, places, confinement: sources.confinement, warnings })
    }

    /// Dialect of the Task tool.
    pub(crate) fn contract(&self) -> Arc<dyn Contract> {
        contract_of(&self.layers)
    }

    /// Rules of the task tree.
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

    /// Default limits of a main agent, below any flag.
    pub(crate) fn run_limits(&self) -> Limits {
        let layers = &self.layers;
        Limits {
            max_tokens: layers.optional_number(&key::RUN_MAX_TOKENS),
            max_cost: layers.optional_number(&key::RUN_MAX_COST_USD).map(Money::from_nanos),
            timeout: layers.optional_number(&key::RUN_TIMEOUT_SECONDS).map(Duration::from_secs),
            ..Limits::default()
        }
    }

    /// Time to keep tasks after they end; `None` keeps them until somebody removes them.
    pub(crate) fn retention(&self) -> Option<Duration> {
        Some(self.layers.number(&key::RETENTION_DAYS)).filter(|days| *days > 0).map(days)
    }

    /// File of the result cache, if results are reused.
    pub(crate) fn result_cache(&self) -> Option<PathBuf> {
        self.layers.switch(&key::CACHE).then(|| self.places.cache())
    }

    /// Default retention.
    pub(crate) fn usual_retention() -> Duration {
        days(key::RETENTION_DAYS.default)
    }

    /// True if background tasks finish after an MCP client has gone.
    pub(crate) fn finishes_background(&self) -> bool {
        self.layers.switch(&key::FINISH_BACKGROUND)
    }

    /// True if agents can use Sortie itself as an MCP server.
    pub(crate) fn allows_nesting(&self) -> bool {
        self.layers.switch(&key::NESTED)
    }

    /// True if every call of a sub-agent gets a line.
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

    /// Retry settings of model calls.
    pub(crate) fn call_settings(&self) -> CallSettings {
        CallSettings {
            max_retries: saturating_u32(self.layers.number(&key::MAX_RETRIES)),
            retry_base: Duration::from_millis(self.layers.number(&key::RETRY_BASE_MS)),
            idle_timeout: Duration::from_secs(self.layers.number(&key::IDLE_TIMEOUT_SECONDS)),
        }
    }

    /// The usable routes, main first, and why each of the others cannot be used.
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

    /// Reason why a configured main route cannot be used.
    pub(crate) fn problem_of_main(&self) -> Option<CommandError> {
        self.each_route().into_iter().find(|resolved| resolved.name == MAIN_ROUTE)?.route.err()
    }

    /// Model configured for a route, usable or not.
    pub(crate) fn model_of(&self, route: &str) -> Option<&str> {
        self.layers.text_of(&key::MODEL, route).map(|set| set.text)
    }

    /// Every route, including unusable ones with their reason.
    pub(crate) fn each_route(&self) -> Vec<ResolvedRoute> {
        route::all(&self.layers, &self.environment)
    }

    /// The aliases and what each one stands for: a model id or a route.
    pub(crate) fn aliases(&self) -> BTreeMap<String, String> {
        self.layers.aliases().map(|(name, meant)| (name.to_owned(), meant.to_owned())).collect()
    }

    /// Error for routes and aliases that do not form a table, with the origin of the mistake.
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

    /// Adds the origin of a setting to a refusal that is due to it, unless the value is the default or from a flag.
    pub(crate) fn explained(&self, mut failure: Failure) -> Failure {
        if let Some(setting) = failure.setting {
            failure.message = self.with_origin(setting, failure.message);
        }
        failure
    }

    /// Adds the origin of the setting at `path` to a message about it.
    pub(crate) fn with_origin(&self, path: &str, message: String) -> String {
        let Some(origin) = self.layers.origin_of(path) else { return message };
        if matches!(origin, Origin::Default | Origin::Flag(_)) || message.contains(&origin.to_string()) {
            return message;
        }
        format!("{message}; that is set in {origin}, and `--set {path}=…` overrides it")
    }

    /// All hooks: the user's first, then a trusted project's.
    pub(crate) fn hooks(&self) -> Vec<Hook> {
        hook::meant(self.layers.hooks(), |text, origin| self.path_said(&LayerText { text, origin }))
    }

    /// The servers in force, by name.
    pub(crate) fn servers(&self) -> Vec<ServerDefinition> {
        self.layers.servers().map(|(server, _)| server.clone()).collect()
    }

    /// Places with the user's keys and passwords, besides the usual ones below the home directory.
    pub(crate) fn secret_places(&self) -> Vec<PathBuf> {
        self.environment.secret_places()
    }

    /// Home directories of other people in the workspace or an added directory.
    pub(crate) fn other_homes(&self) -> Vec<PathBuf> {
        let added = self.added_directories().unwrap_or_default();
        let tops: Vec<&Path> = added.iter().map(PathBuf::as_path).chain([self.places.workspace.as_path()]).collect();
        self.environment.other_homes(&tops)
    }

    /// Lookup of `${NAME}` in a server's definition.
    pub(crate) fn server_variables(&self) -> Lookup {
        let variables: BTreeMap<String, String> = self.environment.texts();
        Arc::new(move |name| variables.get(name).cloned())
    }

    /// Secrets in servers' definitions, hidden from every tool even before the servers start.
    pub(crate) fn server_secrets(&self) -> Vec<String> {
        let lookup = self.server_variables();
        let accesses = self.servers().into_iter().filter_map(|server| expanded(&server, &lookup).ok());
        accesses.flat_map(|access| secrets_of(&access)).collect()
    }

    /// Model catalogue: the built-in list, extended by the user's own.
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

    /// Check of a project file, by path and bytes, against the user's trust.
    pub(crate) fn trust(&self) -> TrustCheck {
        self.trust.check()
    }

    /// Extent of the user's trust in this project, in words.
    pub(crate) fn trust_summary(&self) -> String {
        self.trust.summary()
    }

    /// Every setting, secrets masked.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Listed> {
        self.layers.iter().map(Listed::from)
    }

    /// Settings whose value the project's file decides.
    pub(crate) fn listed_of_project(&self) -> impl Iterator<Item = Listed> {
        let is_projects = |setting: &Setting<'_>| matches!(setting.origin, Origin::File { owner: Owner::Project, .. });
        self.layers.iter().filter(is_projects).map(Listed::from)
    }

    /// Ignored values of the project's file, secrets masked.
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

/// Only names of contracts pass the parser, so the default applies only if nobody named one.
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
