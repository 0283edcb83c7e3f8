//! The hosts: how each is called, pointed at the scripted model, and asked something.

use std::path::PathBuf;

use serde_json::json;

/// Model of every host. Its requests go beyond what the scripted server knows, so it does not check them.
pub(super) const MODEL: &str = "host";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Host {
    pub(super) const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// Name for `sortie mcp install`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "gemini-cli",
            Self::Opencode => "opencode",
        }
    }

    /// Its program among the packages; the first that exists.
    pub(super) fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Claude => {
                &["@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"]
            }
            Self::Codex => &[
                "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
                "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
            ],
            Self::Gemini => &["@google/gemini-cli/bundle/gemini.js"],
            Self::Opencode => &["opencode-linux-x64-baseline/bin/opencode"],
        }
    }

    /// Name of one of Sortie's tools, as this host gives it to its model.
    pub(super) fn tool(self, name: &str) -> String {
        match self {
            Self::Claude => format!("mcp__sortie__{name}"),
            Self::Codex => format!("mcp__sortie/{name}"),
            Self::Gemini => format!("mcp_sortie_{name}"),
            Self::Opencode => format!("sortie_{name}"),
        }
    }

    /// Files in its home before Sortie is added, as a person might have them.
    pub(super) fn files(self, model: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::Claude => vec![],
            Self::Codex => vec![(
                ".codex/config.toml",
                format!(
                    "# My own settings\nmodel = \"{MODEL}\"\nmodel_provider = \"scripted\"\n\n\
                     [model_providers.scripted]\nname = \"Scripted\"\nbase_url = \"{model}/v1\" # on this machine\n\
                     wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n"
                ),
            )],
            Self::Gemini => vec![(
                ".gemini/settings.json",
                "{\n  // My own settings\n  \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } },\n  \
                 \"privacy\": { \"usageStatisticsEnabled\": false }\n}\n"
                    .to_owned(),
            )],
            Self::Opencode => {
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Scripted",
                    "options": { "baseURL": format!("{model}/v1"), "apiKey": "none" },
                    "models": { MODEL: { "name": "Host" } },
                });
                let settings = format!(
                    "{{\n  // My own settings\n  \"model\": \"scripted/{MODEL}\",\n  \"provider\": {{ \"scripted\": \
                     {provider} }},\n}}\n"
                );
                vec![(".config/opencode/opencode.json", settings)]
            }
        }
    }

    /// The file that `sortie mcp install` writes.
    pub(super) fn settings_file(self) -> PathBuf {
        PathBuf::from(match self {
            Self::Claude => ".claude.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => ".config/opencode/opencode.json",
        })
    }

    /// Variables in which the person has a model for the host and for Sortie: the provider's own, where the host reads
    /// them too.
    pub(super) fn variables(self, model: &str) -> Vec<(&'static str, String)> {
        let openai = [("OPENAI_API_KEY", "none".to_owned()), ("OPENAI_BASE_URL", format!("{model}/v1"))];
        match self {
            Self::Claude => vec![
                ("ANTHROPIC_API_KEY", "none".to_owned()),
                ("ANTHROPIC_BASE_URL", model.to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                // Otherwise the first request of a busy machine is made before there are tools.
                ("MCP_CONNECTION_NONBLOCKING", "0".to_owned()),
            ],
            Self::Codex => [("SCRIPTED_KEY", "none".to_owned())].into_iter().chain(openai).collect(),
            Self::Gemini => vec![
                ("GEMINI_API_KEY", "none".to_owned()),
                ("GOOGLE_GEMINI_BASE_URL", model.to_owned()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ],
            Self::Opencode => {
                let quiet = ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH"];
                quiet.map(|name| (name, "1".to_owned())).into_iter().chain(openai).collect()
            }
        }
    }

    /// Words with which it does one turn of a conversation and ends.
    pub(super) fn words(self, prompt: &str) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Claude => &["--model", MODEL, "-p", prompt, "--allowedTools", "mcp__sortie"],
            Self::Codex => &["exec", "--skip-git-repo-check", prompt],
            Self::Gemini => &["--model", MODEL, "-p", prompt],
            Self::Opencode => &["run", prompt],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}
