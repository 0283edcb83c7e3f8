//! The one table of settings: paths, kinds, defaults, variables. Files, the environment, flags and
//! `config show` are all driven by it; a setting that is not in it is not accepted.

use super::value::Kind;

/// One setting.
#[derive(Debug)]
pub(super) struct Key {
    /// Section and name, as in the file: `task_tool.max_depth`.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// As a variable would say it. `None`: not set.
    pub(super) default: Option<&'static str>,
    /// A variable beside `SORTIE_SECTION__KEY`, for the names that other programs use too.
    pub(super) variable: Option<&'static str>,
    pub(super) doc: &'static str,
}

/// Ten years: far beyond any run, and safe to add to a clock.
const MOST_SECONDS: u64 = 315_360_000;
/// More tasks, levels or tokens of one reply than anyone means.
const MOST: u64 = 1_000_000;
const MOST_PROMPT_BYTES: u64 = 1 << 30;

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    Key { path: "task_tool.enabled", kind: Kind::Switch, default: Some("true"), variable: None,
        doc: "whether agents may start sub-agents" },
    Key { path: "task_tool.max_depth", kind: Kind::Number { least: 0, most: MOST }, default: Some("2"), variable: None,
        doc: "levels of sub-agents below the main agent" },
    Key { path: "task_tool.default_timeout_seconds", kind: Kind::Number { least: 1, most: MOST_SECONDS }, default: Some("300"), variable: None,
        doc: "time of a sub-agent that asks for none" },
    Key { path: "task_tool.max_tokens", kind: Kind::Number { least: 1, most: u64::MAX }, default: None, variable: None,
        doc: "tokens of each task with its descendants" },
    Key { path: "task_tool.max_concurrent", kind: Kind::Number { least: 1, most: MOST }, default: Some("20"), variable: None,
        doc: "sub-agents that run at once; more wait" },
    Key { path: "task_tool.max_children", kind: Kind::Number { least: 0, most: MOST }, default: Some("200"), variable: None,
        doc: "sub-agents that one run may start in all" },
    Key { path: "task_tool.max_prompt_bytes", kind: Kind::Number { least: 1, most: MOST_PROMPT_BYTES }, default: Some("1048576"), variable: None,
        doc: "longest prompt that is accepted" },
    Key { path: "llm.max_retries", kind: Kind::Number { least: 0, most: 100 }, default: Some("5"), variable: None,
        doc: "tries after the first, never past the deadline" },
    Key { path: "llm.retry_base_ms", kind: Kind::Number { least: 1, most: 600_000 }, default: Some("500"), variable: None,
        doc: "first wait before a retry; it doubles" },
    Key { path: "llm.idle_timeout_seconds", kind: Kind::Number { least: 1, most: MOST_SECONDS }, default: Some("60"), variable: None,
        doc: "a model call without content for so long has stalled" },
    Key { path: "routes.main.model", kind: Kind::Text, default: None, variable: Some("LLM_MODEL_ID"),
        doc: "the model's id at its provider" },
    Key { path: "routes.main.api_key", kind: Kind::Secret, default: None, variable: Some("LLM_API_KEY"),
        doc: "the key itself" },
    Key { path: "routes.main.api_key_env", kind: Kind::Text, default: None, variable: None,
        doc: "the variable that holds the key" },
    Key { path: "routes.main.base_url", kind: Kind::Url, default: None, variable: Some("LLM_BASE_URL"),
        doc: "the provider's or any compatible server's URL" },
    Key { path: "routes.main.wire", kind: Kind::Wire, default: None, variable: Some("LLM_WIRE"),
        doc: "the API it speaks; guessed from URL and model if not set" },
    Key { path: "routes.main.window", kind: Kind::Number { least: 1, most: u64::MAX }, default: None, variable: None,
        doc: "tokens that the model can take in" },
    Key { path: "routes.main.max_output", kind: Kind::Number { least: 1, most: MOST }, default: None, variable: None,
        doc: "tokens of one reply at most" },
];

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
    KEYS.iter().find(|key| key.path == path)
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
    let sections = KEYS.iter().filter_map(|key| key.path.rsplit_once('.')).map(|(section, _)| section);
    match crate::suggest::nearest(path, KEYS.iter().map(|key| key.path).chain(sections).chain(["routes"])) {
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
