//! The key of a request: one digest of everything that its outcome can depend on.

use std::fmt;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use sortie_protocol::Job;
use sortie_tools::Snapshot;

use super::CacheQuery;

/// A digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key([u8; 32]);

impl Key {
    /// Digest of a task's request, tools and grant. Limits do not count: they only end tasks before completion.
    pub(super) fn of_request(job: &Job) -> Self {
        let config = &job.config;
        let request = json!({
            // Another version may have other tools under the same names.
            "version": env!("CARGO_PKG_VERSION"),
            "workspace": job.workspace,
            "contract": job.contract,
            "prompt": job.prompt,
            "agent": config.agent,
            "model": config.model,
            "system": config.system,
            "tools": config.tools,
            "grant": config.grant,
            "depth": config.depth,
            "report_caps": [
                job.report_cap_bytes,
                job.report_cap_characters,
                job.report_cap_lines,
                job.report_cap_json_bytes,
            ],
        });
        Self(Sha256::digest(request.to_string()).into())
    }

    /// Digest of a request on these files and its model's endpoint. If the task can delegate, it includes the delegable
    /// agents and all endpoints.
    pub(super) fn of_request_on(request: &Self, query: &CacheQuery<'_>, snapshot: &Snapshot) -> Self {
        let CacheQuery { job, agents, endpoints, .. } = query;
        let mut whole = Sha256::new();
        whole.update(request.0);
        whole.update(snapshot.digest());
        let delegates = task_tool(job).is_some_and(|tool| job.config.tools.iter().any(|offered| offered == tool));
        for endpoint in endpoints.iter().filter(|endpoint| delegates || endpoint.route == job.config.model.route) {
            whole.update(format!("{endpoint:?}\n"));
        }
        if delegates {
            for agent in agents.delegable() {
                whole.update(format!("{agent:?}\n"));
            }
        }
        Self(whole.finalize().into())
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() || !text.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// Returns the name of the delegation tool.
pub(super) fn task_tool(job: &Job) -> Option<&'static str> {
    sortie_contract::contract(&job.contract).map(|contract| contract.tool_name())
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
