//! The one table of settings: paths, kinds, defaults, variables. Files, the environment, flags and
//! `config show` are all driven by it; a setting that is not in it is not accepted.

use sortie_tools::nearest;

use super::value::{Kind, Value};

/// One setting.
#[derive(Debug)]
pub(super) struct Key {
    /// Section and name, as in the file: `task_tool.max_depth`.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// `None`: not set.
    pub(super) default: Option<Value>,
    /// A variable beside `SORTIE_SECTION__KEY`, for the names that other programs use too.
    pub(super) variable: Option<&'static str>,
    pub(super) doc: &'static str,
}

/// A key that always has a value, and the one that it has when nobody speaks.
#[derive(Debug)]
pub(super) struct Always<T> {
    pub(super) key: Key,
    pub(super) default: T,
}

/// Ten years: far beyond any run, and safe to add to a clock.
const MOST_SECONDS: u64 = 315_360_000;
/// More tasks, levels or tokens of one reply than anyone means.
const MOST: u64 = 1_000_000;
const MOST_PROMPT_BYTES: u64 = 1 << 30;

pub(super) static ENABLED: Always<bool> = switch("task_tool.enabled", true, "whether agents may start sub-agents");
pub(super) static MAX_DEPTH: Always<u64> =
    number("task_tool.max_depth", (0, MOST), 2, "levels of sub-agents below the main agent");
pub(super) static DEFAULT_TIMEOUT_SECONDS: Always<u64> =
    number("task_tool.default_timeout_seconds", (1, MOST_SECONDS), 300, "time of a sub-agent that asks for none");
pub(super) static MAX_TOKENS: Key =
    optional("task_tool.max_tokens", at_least_one(u64::MAX), None, "tokens of each task with its descendants");
pub(super) static MAX_CONCURRENT: Always<u64> =
    number("task_tool.max_concurrent", (1, MOST), 20, "sub-agents that run at once; more wait");
pub(super) static MAX_CHILDREN: Always<u64> =
    number("task_tool.max_children", (0, MOST), 200, "sub-agents that one run may start in all");
pub(super) static MAX_PROMPT_BYTES: Always<u64> =
    number("task_tool.max_prompt_bytes", (1, MOST_PROMPT_BYTES), 1 << 20, "longest prompt that is accepted");
pub(super) static MAX_RETRIES: Always<u64> =
    number("llm.max_retries", (0, 100), 5, "tries after the first, never past the deadline");
pub(super) static RETRY_BASE_MS: Always<u64> =
    number("llm.retry_base_ms", (1, 600_000), 500, "first wait before a retry; it doubles");
pub(super) static IDLE_TIMEOUT_SECONDS: Always<u64> =
    number("llm.idle_timeout_seconds", (1, MOST_SECONDS), 60, "a model call without content for so long has stalled");
pub(super) static MODEL: Key =
    optional("routes.main.model", Kind::Text, Some("LLM_MODEL_ID"), "the model's id at its provider");
pub(super) static API_KEY: Key = optional("routes.main.api_key", Kind::Secret, Some("LLM_API_KEY"), "the key itself");
pub(super) static API_KEY_ENV: Key =
    optional("routes.main.api_key_env", Kind::Text, None, "the variable that holds the key");
pub(super) static BASE_URL: Key =
    optional("routes.main.base_url", Kind::Url, Some("LLM_BASE_URL"), "the provider's or any compatible server's URL");
pub(super) static WIRE: Key = optional(
    "routes.main.wire",
    Kind::Wire,
    Some("LLM_WIRE"),
    "the API it speaks; guessed from URL and model if not set",
);
pub(super) static WINDOW: Key =
    optional("routes.main.window", at_least_one(u64::MAX), None, "tokens that the model can take in");
pub(super) static MAX_OUTPUT: Key =
    optional("routes.main.max_output", at_least_one(MOST), None, "tokens of one reply at most");

/// All of them, in the order in which they are listed.
pub(super) static KEYS: [&Key; 17] = [
    &ENABLED.key,
    &MAX_DEPTH.key,
    &DEFAULT_TIMEOUT_SECONDS.key,
    &MAX_TOKENS,
    &MAX_CONCURRENT.key,
    &MAX_CHILDREN.key,
    &MAX_PROMPT_BYTES.key,
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
];

const fn switch(path: &'static str, default: bool, doc: &'static str) -> Always<bool> {
    let value = Some(Value::Switch(default));
    Always { key: Key { path, kind: Kind::Switch, default: value, variable: None, doc }, default }
}

const fn number(path: &'static str, (least, most): (u64, u64), default: u64, doc: &'static str) -> Always<u64> {
    let value = Some(Value::Number(default));
    Always { key: Key { path, kind: Kind::Number { least, most }, default: value, variable: None, doc }, default }
}

const fn optional(path: &'static str, kind: Kind, variable: Option<&'static str>, doc: &'static str) -> Key {
    Key { path, kind, default: None, variable, doc }
}

const fn at_least_one(most: u64) -> Kind {
    Kind::Number { least: 1, most }
}

/// Settings that have a meaning, but not in this version; a path stands for all below it.
pub(super) const LATER: &[&str] = &[
    "agents",
    "aliases",
    "mcp_servers",
    "permissions",
    "routes",
    "task_tool.allow_model_override",
    "task_tool.background",
    "task_tool.context_file_bytes",
    "task_tool.delegations_per_minute",
    "task_tool.enable_verbose_logging",
    "task_tool.inherit_context_files",
    "task_tool.resume",
];

/// The tables that stand at the top of a file.
const SECTIONS: [&str; 3] = ["task_tool", "llm", "routes"];

/// Variables that have a meaning, but not in this version.
pub(super) const LATER_VARIABLES: &[&str] =
    &["LIGHT_LLM_MODEL_ID", "LIGHT_LLM_API_KEY", "LIGHT_LLM_BASE_URL", "LIGHT_LLM_WIRE"];

impl Key {
    /// `SORTIE_SECTION__KEY`.
    pub(super) fn own_variable(&self) -> String {
        format!("SORTIE_{}", self.path.replace('.', "__").to_uppercase())
    }

    /// What to say of a value that does not fit. It is `quoted` only where it cannot be a secret.
    pub(super) fn misfit(&self, found: &str, quoted: &str) -> String {
        let found = if self.kind.quotable() && !quoted.is_empty() { quoted } else { found };
        format!("`{}` must be {}, not {found}", self.path, self.kind.expected())
    }

    /// The same of a text, as variables and flags give it.
    pub(super) fn misfit_text(&self, text: &str) -> String {
        self.misfit("this text", &format!("{text:?}"))
    }
}

pub(super) fn find(path: &str) -> Option<&'static Key> {
    KEYS.into_iter().find(|key| key.path == path)
}

/// Whether `path` is a section that holds known keys.
pub(super) fn is_section(path: &str) -> bool {
    KEYS.iter().any(|key| is_below(key.path, path))
}

/// What to say of a path that no key has.
pub(super) fn unknown(path: &str) -> String {
    if LATER.iter().any(|later| path == *later || is_below(path, later)) && !is_misspelt_route(path) {
        return format!("`{path}` is not in this version");
    }
    let candidates = if path.contains('.') { KEYS.map(|key| key.path).to_vec() } else { SECTIONS.to_vec() };
    match nearest(path, candidates.into_iter()) {
        Some(near) => format!("unknown setting `{path}`; did you mean `{near}`?"),
        None => format!("unknown setting `{path}`; `sortie config show` lists all settings"),
    }
}

/// A wrong name below the one route that this version has is a mistake, not a feature to come.
fn is_misspelt_route(path: &str) -> bool {
    is_below(path, "routes.main")
}

fn is_below(path: &str, section: &str) -> bool {
    path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}
