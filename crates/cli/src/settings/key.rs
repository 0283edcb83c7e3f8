//! The one table of settings: paths, kinds, defaults, variables, and what an untrusted project may change. It drives
//! files, the environment, flags and `config show`; a setting that is not in it is not accepted.
//!
//! [`meaning`] looks up paths and reports unknown ones; [`variable`] does so for variables.

pub(super) mod meaning;
pub(super) mod variable;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use sortie_protocol::Mode;

use super::value::{Kind, Narrower, Value, mode};
use crate::environment;

/// One setting, or a family of settings that differ by a name.
#[derive(Debug)]
pub(super) struct Key {
    /// Section and name, as in the file: `task_tool.max_depth`. In a family, [`ANY_NAME`] replaces the name.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// `None` for an unset value or an empty list.
    pub(super) default: Option<Value>,
    /// Second variable, next to `SORTIE_SECTION__KEY`, by a name that other programs also use. In the family of routes
    /// it sets the main route; with `LIGHT_` before it, the light one.
    pub(super) variable: Option<&'static str>,
    pub(super) narrower: Narrower,
    pub(super) doc: &'static str,
}

/// Key that always has a value, with its default.
#[derive(Debug)]
pub(super) struct Always<T> {
    pub(super) key: Key,
    pub(super) default: T,
}

/// Placeholder for the name in the path of a family.
const ANY_NAME: &str = "*";

/// Ten years: far beyond any run, and safe to add to a clock.
const MOST_SECONDS: u64 = 315_360_000;
const MOST_DAYS: u64 = 3650;
/// More tasks, levels or tokens of one reply than anyone means.
const MOST: u64 = 1_000_000;
const MOST_PROMPT_BYTES: u64 = 1 << 30;
/// More than any model could read anyway.
const MOST_CONTEXT_FILE_BYTES: u64 = 1 << 24;

/// Path of the setting that bounds prompts.
pub(crate) const PROMPT_BYTES_SETTING: &str = "task_tool.max_prompt_bytes";

pub(super) static CONTRACT: Key = optional(
    environment::CONTRACT,
    Kind::Contract,
    Some("SORTIE_CONTRACT"),
    "JSON dialect of the Task tool; `sortie` if not set, see `sortie --help`",
);
pub(super) static HOOKS: Key =
    optional("hooks", Kind::Hooks, None, "programs to run when a task starts, ends or asks; all layers add up");
pub(super) static ENABLED: Always<bool> = switch("task_tool.enabled", true, "let agents start sub-agents");
pub(super) static MAX_DEPTH: Always<u64> =
    number("task_tool.max_depth", 0..=MOST, 2, "levels of sub-agents below the main agent");
pub(super) static DEFAULT_TIMEOUT_SECONDS: Always<u64> = number(
    "task_tool.default_timeout_seconds",
    1..=MOST_SECONDS,
    300,
    "time limit of a sub-agent; a call can ask for less",
);
pub(super) static MAX_TOKENS: Key =
    bound("task_tool.max_tokens", at_least_one(u64::MAX), "token limit of each delegated task, with its descendants");
pub(super) static MAX_COST_USD: Key =
    bound("task_tool.max_cost_usd", Kind::Dollars, "cost limit of each delegated task; models with a known price only");
pub(super) static TASK_MODEL: Key = optional(
    "task_tool.model",
    Kind::Text,
    None,
    "model of sub-agents if neither call nor agent names one; `auto` picks main or light",
);
pub(super) static MAX_CONCURRENT: Always<u64> =
    number("task_tool.max_concurrent", 1..=MOST, 20, "sub-agents that run at once; others wait");
pub(super) static MAX_CHILDREN: Always<u64> =
    number("task_tool.max_children", 0..=MOST, 200, "sub-agents that one run may start in total");
pub(super) static DELEGATIONS_PER_MINUTE: Key = {
    let kind = at_least_one(MOST);
    let doc = "sub-agents that may start within a minute; others are refused";
    let mut bound = optional("task_tool.delegations_per_minute", kind, None, doc);
    bound.narrower = Narrower::Lower;
    bound
};
pub(super) static MAX_PROMPT_BYTES: Always<u64> =
    never_narrower(number(PROMPT_BYTES_SETTING, 1..=MOST_PROMPT_BYTES, 1 << 20, "longest accepted prompt"));
pub(super) static ENABLE_VERBOSE_LOGGING: Always<bool> =
    switch("task_tool.enable_verbose_logging", false, "print a line on stderr for each call of a sub-agent");
pub(super) static ALLOW_MODEL_OVERRIDE: Always<bool> =
    switch("task_tool.allow_model_override", true, "let calls choose a model");
pub(super) static BACKGROUND: Always<bool> =
    switch("task_tool.background", true, "let calls start sub-agents in the background");
pub(super) static RESUME: Always<bool> =
    switch("task_tool.resume", true, "let calls resume sub-agents that have ended");
pub(super) static RESUME_DAYS: Always<u64> = number(
    "task_tool.resume_days",
    0..=MOST_DAYS,
    7,
    "days in which calls can resume a sub-agent; `sortie resume` always can",
);
pub(super) static CACHE: Always<bool> =
    switch("task_tool.cache", false, "reuse a read-only sub-agent's result if request and files are unchanged");
pub(super) static INHERIT_CONTEXT_FILES: Always<bool> =
    switch("task_tool.inherit_context_files", false, "also give context files such as AGENTS.md to sub-agents");
pub(super) static CONTEXT_FILE_BYTES: Always<u64> = number(
    "task_tool.context_file_bytes",
    0..=MOST_CONTEXT_FILE_BYTES,
    16_384,
    "bytes read from context files such as AGENTS.md",
);
pub(super) static RUN_MAX_TOKENS: Key =
    bound("run.max_tokens", at_least_one(u64::MAX), "token limit of a `sortie run`, sub-agents included");
pub(super) static RUN_MAX_COST_USD: Key =
    bound("run.max_cost_usd", Kind::Dollars, "cost limit of a `sortie run`; models with a known price only");
pub(super) static RUN_TIMEOUT_SECONDS: Key =
    bound("run.timeout_seconds", at_least_one(MOST_SECONDS), "time limit of a `sortie run`");
pub(super) static BUILTIN_AGENTS: Always<bool> =
    switch("agents.builtin", false, "offer built-in agents in the contract `result`, which otherwise has none");
pub(super) static FINISH_BACKGROUND: Always<bool> =
    switch("mcp.finish_background", true, "let background tasks of `sortie mcp` go on after its client has gone");
pub(super) static NESTED: Always<bool> =
    switch("mcp.nested", false, "let agents use Sortie itself as an MCP server, within the limits of their run");
pub(super) static MODE: Key = Key {
    path: "permissions.mode",
    kind: Kind::Mode,
    default: Some(Value::Text(Cow::Borrowed(mode::USUAL))),
    variable: None,
    narrower: Narrower::StricterMode,
    doc: "permission mode: plan, default, accept-edits or bypass",
};
pub(super) static ALLOW: Key =
    optional("permissions.allow", Kind::Rules, None, "rules for calls that need no approval; all layers add up");
pub(super) static ASK: Key =
    only_narrowing(optional("permissions.ask", Kind::Rules, None, "rules for calls that always need approval"));
pub(super) static DENY: Key =
    only_narrowing(optional("permissions.deny", Kind::Rules, None, "rules for calls that are always refused"));
pub(super) static ADD_DIRS: Key = optional(
    "permissions.add_dirs",
    Kind::Directories,
    None,
    "directories outside the workspace that tools may access",
);
pub(super) static ANSWER_SECONDS: Always<u64> = number(
    "permissions.answer_seconds",
    1..=MOST_SECONDS,
    300,
    "approval timeout of a background sub-agent; no answer counts as no",
);
pub(super) static PRIVATE: Key = optional(
    "web.private",
    Kind::Hosts,
    None,
    "local or private hosts, addresses and networks that WebFetch may reach",
);
pub(super) static OPEN_NETWORK: Always<bool> =
    switch("shell.open_network", false, "give commands direct network access if their agent may fetch from any host");
pub(super) static RETENTION_DAYS: Always<u64> = never_narrower(number(
    "journal.retention_days",
    0..=MOST_DAYS,
    30,
    "days to keep tasks after they end; 0 keeps them until `sortie tasks prune`",
));
pub(super) static MAX_RETRIES: Always<u64> =
    number("llm.max_retries", 0..=100, 5, "retries of a model call, never past the deadline");
pub(super) static RETRY_BASE_MS: Always<u64> =
    never_narrower(number("llm.retry_base_ms", 1..=600_000, 500, "wait before the first retry; it doubles each time"));
pub(super) static IDLE_TIMEOUT_SECONDS: Always<u64> = never_narrower(number(
    "llm.idle_timeout_seconds",
    1..=MOST_SECONDS,
    60,
    "retry a model call after this long without output",
));

pub(super) static MODEL: Key =
    optional("routes.*.model", Kind::Text, Some("LLM_MODEL_ID"), "model id, as its provider calls it");
pub(super) static API_KEY: Key = optional("routes.*.api_key", Kind::Secret, Some("LLM_API_KEY"), "API key");
pub(super) static API_KEY_ENV: Key =
    optional("routes.*.api_key_env", Kind::VariableName, None, "variable that holds the API key");
pub(super) static BASE_URL: Key =
    optional("routes.*.base_url", Kind::Url, Some("LLM_BASE_URL"), "URL of the provider or any compatible server");
pub(super) static WIRE: Key = optional(
    "routes.*.wire",
    Kind::Wire,
    Some("LLM_WIRE"),
    "API of the endpoint; guessed from URL and model if not set",
);
pub(super) static WINDOW: Key = optional(
    "routes.*.window",
    at_least_one(u64::MAX),
    None,
    "context window in tokens; longer conversations are compacted",
);
pub(super) static MAX_OUTPUT: Key =
    optional("routes.*.max_output", at_least_one(MOST), None, "most tokens of one reply");

pub(super) static REQUESTS_PER_MINUTE: Key =
    optional("routes.*.requests_per_minute", at_least_one(MOST), None, "rate limit in requests; others wait");
pub(super) static TOKENS_PER_MINUTE: Key = optional(
    "routes.*.tokens_per_minute",
    at_least_one(u64::MAX),
    None,
    "rate limit in tokens, input plus output; other calls wait",
);
pub(super) static MAX_CONNECTIONS: Key =
    optional("routes.*.max_connections", at_least_one(MOST), None, "model calls at once; others wait");

pub(super) static ALIAS: Key = optional("aliases.*", Kind::Text, None, "model id or route that this name stands for");

pub(super) static SERVER: Key = optional(
    "mcp_servers.*",
    Kind::Server,
    None,
    "MCP server, a table in a file: `command`, `args`, `env`, or `url`, `headers`",
);

/// All keys, in the order of listing. Members of a family are adjacent.
pub(super) static KEYS: [&Key; 50] = [
    &CONTRACT,
    &HOOKS,
    &ENABLED.key,
    &MAX_DEPTH.key,
    &DEFAULT_TIMEOUT_SECONDS.key,
    &MAX_TOKENS,
    &MAX_COST_USD,
    &TASK_MODEL,
    &MAX_CONCURRENT.key,
    &MAX_CHILDREN.key,
    &DELEGATIONS_PER_MINUTE,
    &MAX_PROMPT_BYTES.key,
    &ENABLE_VERBOSE_LOGGING.key,
    &ALLOW_MODEL_OVERRIDE.key,
    &BACKGROUND.key,
    &RESUME.key,
    &RESUME_DAYS.key,
    &CACHE.key,
    &INHERIT_CONTEXT_FILES.key,
    &CONTEXT_FILE_BYTES.key,
    &RUN_MAX_TOKENS,
    &RUN_MAX_COST_USD,
    &RUN_TIMEOUT_SECONDS,
    &BUILTIN_AGENTS.key,
    &FINISH_BACKGROUND.key,
    &NESTED.key,
    &MODE,
    &ALLOW,
    &ASK,
    &DENY,
    &ADD_DIRS,
    &ANSWER_SECONDS.key,
    &PRIVATE,
    &OPEN_NETWORK.key,
    &RETENTION_DAYS.key,
    &MAX_RETRIES.key,
    &RETRY_BASE_MS.key,
    &IDLE_TIMEOUT_SECONDS.key,
    &MODEL,
    &API_KEY,
    &API_KEY_ENV,
    &BASE_URL,
    &WIRE,
    &WINDOW,
    &MAX_OUTPUT,
    &REQUESTS_PER_MINUTE,
    &TOKENS_PER_MINUTE,
    &MAX_CONNECTIONS,
    &ALIAS,
    &SERVER,
];

const fn switch(path: &'static str, default: bool, doc: &'static str) -> Always<bool> {
    let value = Some(Value::Switch(default));
    let key = Key { path, kind: Kind::Switch, default: value, variable: None, narrower: Narrower::Off, doc };
    Always { key, default }
}

const fn number(path: &'static str, bounds: RangeInclusive<u64>, default: u64, doc: &'static str) -> Always<u64> {
    let kind = Kind::Number { least: *bounds.start(), most: *bounds.end() };
    let value = Some(Value::Number(default));
    Always { key: Key { path, kind, default: value, variable: None, narrower: Narrower::Lower, doc }, default }
}

/// Key for a number without a harmless direction: a lower one would burden a provider, or stop every run.
const fn never_narrower(mut number: Always<u64>) -> Always<u64> {
    number.key.narrower = Narrower::Never;
    number
}

const fn optional(path: &'static str, kind: Kind, variable: Option<&'static str>, doc: &'static str) -> Key {
    Key { path, kind, default: None, variable, narrower: Narrower::Never, doc }
}

/// Key for a limit that applies only if set.
const fn bound(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { path, kind, default: None, variable: None, narrower: Narrower::Lower, doc }
}

/// Key for a list that can only take something away.
const fn only_narrowing(mut list: Key) -> Key {
    list.narrower = Narrower::Always;
    list
}

const fn at_least_one(most: u64) -> Kind {
    Kind::Number { least: 1, most }
}

impl Key {
    /// Path before and after the name, for a family.
    fn around_name(&self) -> Option<(&'static str, &'static str)> {
        self.path.split_once(ANY_NAME)
    }

    pub(super) fn is_family(&self) -> bool {
        self.around_name().is_some()
    }

    /// True for a field of a route.
    pub(super) fn is_of_routes(&self) -> bool {
        self.path.starts_with("routes.")
    }

    /// True if a project may not set this value even when trusted.
    pub(super) fn is_never_a_projects(&self, value: &Value) -> bool {
        match (self.kind, value) {
            (Kind::Mode, Value::Text(name)) => mode::named(name) == Some(Mode::Bypass),
            (_, Value::Switch(is_on)) => *is_on && self.path == NESTED.key.path,
            _ => false,
        }
    }

    /// Path of one setting. Only a family uses `name`.
    pub(super) fn path_of(&self, name: &str) -> String {
        self.path.replace(ANY_NAME, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_short_plain_description() {
        const POOR_OPENINGS: [&str; 6] = ["what ", "whether ", "how ", "where ", "of ", "the same"];
        for Key { path, doc, .. } in KEYS {
            assert!(!doc.is_empty() && doc.chars().count() <= 90, "{path}: {doc}");
            assert!(!POOR_OPENINGS.iter().any(|opening| doc.starts_with(opening)), "{path}: {doc}");
        }
    }
}
