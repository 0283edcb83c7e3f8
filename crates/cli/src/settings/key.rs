//! The one table of settings: paths, kinds, defaults, variables, and what a project may do to them untrusted. Files,
//! the environment, flags and `config show` are all driven by it; a setting that is not in it is not accepted.
//!
//! What a path means, and what to say of one that means nothing, is in [`meaning`]; the same of variables in
//! [`variable`].

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
    /// Section and name, as in the file: `task_tool.max_depth`. In a family [`ANY_NAME`] stands for the name.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// `None`: not set, and of a list: empty.
    pub(super) default: Option<Value>,
    /// A variable beside `SORTIE_SECTION__KEY`, for the names that other programs use too. In the family of routes it
    /// is the main route's; the light route's has `LIGHT_` before it.
    pub(super) variable: Option<&'static str>,
    pub(super) narrower: Narrower,
    pub(super) doc: &'static str,
}

/// A key that always has a value, and the one that it has when nobody speaks.
#[derive(Debug)]
pub(super) struct Always<T> {
    pub(super) key: Key,
    pub(super) default: T,
}

/// Stands for the name in the path of a family.
const ANY_NAME: &str = "*";

/// Ten years: far beyond any run, and safe to add to a clock.
const MOST_SECONDS: u64 = 315_360_000;
const MOST_DAYS: u64 = 3650;
/// More tasks, levels or tokens of one reply than anyone means.
const MOST: u64 = 1_000_000;
const MOST_PROMPT_BYTES: u64 = 1 << 30;
/// What no model could take in anyway.
const MOST_CONTEXT_FILE_BYTES: u64 = 1 << 24;

/// Path of the setting that bounds prompts.
pub(crate) const PROMPT_BYTES_SETTING: &str = "task_tool.max_prompt_bytes";

pub(super) static CONTRACT: Key = optional(
    environment::CONTRACT,
    Kind::Contract,
    Some("SORTIE_CONTRACT"),
    "the dialect in which tasks are asked for and answered; `sortie` if not set",
);
pub(super) static HOOKS: Key =
    optional("hooks", Kind::Hooks, None, "your own programs, run when a task starts, ends or asks; all layers add up");
pub(super) static ENABLED: Always<bool> = switch("task_tool.enabled", true, "whether agents may start sub-agents");
pub(super) static MAX_DEPTH: Always<u64> =
    number("task_tool.max_depth", 0..=MOST, 2, "levels of sub-agents below the main agent");
pub(super) static DEFAULT_TIMEOUT_SECONDS: Always<u64> =
    number("task_tool.default_timeout_seconds", 1..=MOST_SECONDS, 300, "time of a sub-agent; a call can ask for less");
pub(super) static MAX_TOKENS: Key =
    bound("task_tool.max_tokens", at_least_one(u64::MAX), "tokens of each delegated task with its descendants");
pub(super) static MAX_COST_USD: Key =
    bound("task_tool.max_cost_usd", Kind::Dollars, "the same in US dollars; only for models whose price is known");
pub(super) static TASK_MODEL: Key = optional(
    "task_tool.model",
    Kind::Text,
    None,
    "the model of sub-agents for which neither the call nor the agent names one; `auto` chooses main or light",
);
pub(super) static MAX_CONCURRENT: Always<u64> =
    number("task_tool.max_concurrent", 1..=MOST, 20, "sub-agents that run at once; more wait");
pub(super) static MAX_CHILDREN: Always<u64> =
    number("task_tool.max_children", 0..=MOST, 200, "sub-agents that one run may start in all");
pub(super) static DELEGATIONS_PER_MINUTE: Key = {
    let kind = at_least_one(MOST);
    let doc = "sub-agents that may be started within a minute; more are refused";
    let mut bound = optional("task_tool.delegations_per_minute", kind, None, doc);
    bound.narrower = Narrower::Lower;
    bound
};
pub(super) static MAX_PROMPT_BYTES: Always<u64> =
    never_narrower(number(PROMPT_BYTES_SETTING, 1..=MOST_PROMPT_BYTES, 1 << 20, "longest prompt that is accepted"));
pub(super) static ENABLE_VERBOSE_LOGGING: Always<bool> =
    switch("task_tool.enable_verbose_logging", false, "whether each call of a sub-agent gets a line on stderr");
pub(super) static ALLOW_MODEL_OVERRIDE: Always<bool> =
    switch("task_tool.allow_model_override", true, "whether a call may name its model");
pub(super) static BACKGROUND: Always<bool> =
    switch("task_tool.background", true, "whether a call may start a sub-agent that it does not wait for");
pub(super) static RESUME: Always<bool> =
    switch("task_tool.resume", true, "whether a call may go on with a sub-agent that has ended");
pub(super) static RESUME_DAYS: Always<u64> = number(
    "task_tool.resume_days",
    0..=MOST_DAYS,
    7,
    "days after which no call goes on with a sub-agent; `sortie resume` does at any time",
);
pub(super) static CACHE: Always<bool> = switch(
    "task_tool.cache",
    false,
    "whether a sub-agent that only read is not started again for the same request on the same files",
);
pub(super) static INHERIT_CONTEXT_FILES: Always<bool> =
    switch("task_tool.inherit_context_files", false, "whether sub-agents read AGENTS.md and its like, too");
pub(super) static CONTEXT_FILE_BYTES: Always<u64> = number(
    "task_tool.context_file_bytes",
    0..=MOST_CONTEXT_FILE_BYTES,
    16_384,
    "bytes that are read of AGENTS.md and its like",
);
pub(super) static RUN_MAX_TOKENS: Key =
    bound("run.max_tokens", at_least_one(u64::MAX), "tokens of a `sortie run`, sub-agents included");
pub(super) static RUN_MAX_COST_USD: Key =
    bound("run.max_cost_usd", Kind::Dollars, "the same in US dollars; only for models whose price is known");
pub(super) static RUN_TIMEOUT_SECONDS: Key =
    bound("run.timeout_seconds", at_least_one(MOST_SECONDS), "time of a `sortie run`");
pub(super) static BUILTIN_AGENTS: Always<bool> =
    switch("agents.builtin", false, "whether `result`, which has only agents from files, has the built-in ones too");
pub(super) static FINISH_BACKGROUND: Always<bool> = switch(
    "mcp.finish_background",
    true,
    "whether `sortie mcp` stays, when its client is gone, until background tasks have ended; else they can be resumed",
);
pub(super) static MODE: Key = Key {
    path: "permissions.mode",
    kind: Kind::Mode,
    default: Some(Value::Text(Cow::Borrowed(mode::USUAL))),
    variable: None,
    narrower: Narrower::StricterMode,
    doc: "what is allowed without a question: plan, default, accept-edits or bypass",
};
pub(super) static ALLOW: Key =
    optional("permissions.allow", Kind::Rules, None, "rules of what needs no question; all layers add up");
pub(super) static ASK: Key =
    only_narrowing(optional("permissions.ask", Kind::Rules, None, "rules of what is asked, whatever is allowed"));
pub(super) static DENY: Key =
    only_narrowing(optional("permissions.deny", Kind::Rules, None, "rules of what is refused, whatever else is said"));
pub(super) static ADD_DIRS: Key =
    optional("permissions.add_dirs", Kind::Directories, None, "directories beside the workspace that tools see, too");
pub(super) static ANSWER_SECONDS: Always<u64> = number(
    "permissions.answer_seconds",
    1..=MOST_SECONDS,
    300,
    "time after which an unanswered question of a sub-agent in the background is taken as a no",
);
pub(super) static PRIVATE: Key = optional(
    "web.private",
    Kind::Hosts,
    None,
    "hosts, addresses or networks on this machine or near it that WebFetch may reach",
);
pub(super) static OPEN_NETWORK: Always<bool> = switch(
    "shell.open_network",
    false,
    "whether commands of those who may fetch from every host get the network itself, not a proxy to the web",
);
pub(super) static RETENTION_DAYS: Always<u64> = never_narrower(number(
    "journal.retention_days",
    0..=MOST_DAYS,
    30,
    "days that tasks are kept after they ended; 0 keeps them until `sortie tasks prune`",
));
pub(super) static MAX_RETRIES: Always<u64> =
    number("llm.max_retries", 0..=100, 5, "tries after the first, never past the deadline");
pub(super) static RETRY_BASE_MS: Always<u64> =
    never_narrower(number("llm.retry_base_ms", 1..=600_000, 500, "first wait before a retry; it doubles"));
pub(super) static IDLE_TIMEOUT_SECONDS: Always<u64> = never_narrower(number(
    "llm.idle_timeout_seconds",
    1..=MOST_SECONDS,
    60,
    "a model call without content for so long has stalled",
));

pub(super) static MODEL: Key =
    optional("routes.*.model", Kind::Text, Some("LLM_MODEL_ID"), "the model's id at its provider");
pub(super) static API_KEY: Key = optional("routes.*.api_key", Kind::Secret, Some("LLM_API_KEY"), "the key itself");
pub(super) static API_KEY_ENV: Key =
    optional("routes.*.api_key_env", Kind::VariableName, None, "the variable that holds the key");
pub(super) static BASE_URL: Key =
    optional("routes.*.base_url", Kind::Url, Some("LLM_BASE_URL"), "the provider's or any compatible server's URL");
pub(super) static WIRE: Key =
    optional("routes.*.wire", Kind::Wire, Some("LLM_WIRE"), "the API it speaks; guessed from URL and model if not set");
pub(super) static WINDOW: Key = optional(
    "routes.*.window",
    at_least_one(u64::MAX),
    None,
    "tokens that the model can take in; a conversation is shortened before it has more",
);
pub(super) static MAX_OUTPUT: Key =
    optional("routes.*.max_output", at_least_one(MOST), None, "tokens of one reply at most");

pub(super) static REQUESTS_PER_MINUTE: Key =
    optional("routes.*.requests_per_minute", at_least_one(MOST), None, "requests that the endpoint takes; more wait");
pub(super) static TOKENS_PER_MINUTE: Key = optional(
    "routes.*.tokens_per_minute",
    at_least_one(u64::MAX),
    None,
    "tokens that the endpoint takes, input and output together; more wait",
);
pub(super) static MAX_CONNECTIONS: Key =
    optional("routes.*.max_connections", at_least_one(MOST), None, "model calls at once; more wait");

pub(super) static ALIAS: Key = optional("aliases.*", Kind::Text, None, "the model id or route that this name means");

pub(super) static SERVER: Key = optional(
    "mcp_servers.*",
    Kind::Server,
    None,
    "an MCP server, as a table in a file: `command`, `args`, `env`, or `url`, `headers`",
);

/// All of them, in the order in which they are listed. The members of a family stand together.
pub(super) static KEYS: [&Key; 49] = [
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

/// For numbers that have no harmless direction: a lower one would ask more of a provider, or stop every run.
const fn never_narrower(mut number: Always<u64>) -> Always<u64> {
    number.key.narrower = Narrower::Never;
    number
}

const fn optional(path: &'static str, kind: Kind, variable: Option<&'static str>, doc: &'static str) -> Key {
    Key { path, kind, default: None, variable, narrower: Narrower::Never, doc }
}

/// For limits that hold only where somebody sets one.
const fn bound(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { path, kind, default: None, variable: None, narrower: Narrower::Lower, doc }
}

/// For lists that can only take something away.
const fn only_narrowing(mut list: Key) -> Key {
    list.narrower = Narrower::Always;
    list
}

const fn at_least_one(most: u64) -> Kind {
    Kind::Number { least: 1, most }
}

impl Key {
    /// What stands before and behind the name, if this is a family.
    fn around_name(&self) -> Option<(&'static str, &'static str)> {
        self.path.split_once(ANY_NAME)
    }

    pub(super) fn is_family(&self) -> bool {
        self.around_name().is_some()
    }

    /// Whether it is a field of a route.
    pub(super) fn is_of_routes(&self) -> bool {
        self.path.starts_with("routes.")
    }

    /// Whether this value of it is refused to a project even when that is trusted.
    pub(super) fn is_never_a_projects(&self, value: &Value) -> bool {
        matches!((self.kind, value), (Kind::Mode, Value::Text(name)) if mode::named(name) == Some(Mode::Bypass))
    }

    /// The path of one setting. `name` counts in a family only.
    pub(super) fn path_of(&self, name: &str) -> String {
        self.path.replace(ANY_NAME, name)
    }
}
