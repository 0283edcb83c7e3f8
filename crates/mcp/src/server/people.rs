//! People behind hosts, who approve calls: a question to a person becomes a form that the host shows (elicitation).
//!
//! The engine decides when to ask, one question at a time, and how long to wait. A host that cannot show forms has
//! nobody to ask. To hosts of the revision 2026-07-28 or later, a server sends no requests, so it asks nobody there
//! either.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Value, json};
use sortie_engine::{Approval, Approver, Question};
use sortie_policy::neutral;
use sortie_protocol::TaskId;
use sortie_tools::BoxFuture;

use crate::session::host_request::HostRequest;

/// Most characters of a diff or of arguments in a form.
const MAX_CHARS: usize = 12_000;

/// The fields of the form, and its two decisions.
const DECISION: &str = "decision";
const REASON: &str = "reason";
const ONCE: &str = "allow once";
const REFUSE: &str = "refuse";

/// The hosts to ask, by the root of the task tree that they started. Clones share one list.
#[derive(Clone, Default)]
pub struct People {
    hosts: Arc<Mutex<HashMap<TaskId, Peer<RoleServer>>>>,
}

/// Returns true if a host with these capabilities shows forms to its person.
pub(super) fn shows_forms(capabilities: &ClientCapabilities) -> bool {
    // Without any mode, it is the form: revisions that know no other have no modes.
    capabilities.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

impl People {
    /// Asks this host about the tree of this task from now on, if it can show forms.
    pub(super) fn attach(&self, root: TaskId, peer: &Peer<RoleServer>) {
        let can_ask = peer.peer_info().is_some_and(|client| {
            shows_forms(&client.capabilities) && client.protocol_version < ProtocolVersion::V_2026_07_28
        });
        if can_ask {
            let mut hosts = self.hosts();
            hosts.retain(|_, peer| !peer.is_transport_closed());
            hosts.insert(root, peer.clone());
        }
    }

    /// As [`attach`](Self::attach), for those of these tasks about which nobody can be asked.
    pub(super) fn attach_unreached(&self, tasks: Vec<TaskId>, peer: &Peer<RoleServer>) {
        for task in tasks.into_iter().filter(|task| self.find(*task).is_none()) {
            self.attach(task, peer);
        }
    }

    /// Asks nobody about this tree any more.
    pub(super) fn detach(&self, root: TaskId) {
        self.hosts().remove(&root);
    }

    fn find(&self, root: TaskId) -> Option<Peer<RoleServer>> {
        self.hosts().get(&root).filter(|peer| !peer.is_transport_closed()).cloned()
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<TaskId, Peer<RoleServer>>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for People {
    /// A host's person approves calls, and answers nothing else.
    fn is_present(&self) -> bool {
        false
    }

    fn reaches(&self, root: TaskId) -> bool {
        self.find(root).is_some()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            let Some(peer) = self.find(question.root) else { return Approval::Nobody };
            let Ok(form) = serde_json::from_value::<ElicitRequestParams>(form(question)) else {
                return Approval::Nobody;
            };
            let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
            let Ok(mut request) = HostRequest::send(&peer, request).await else { return Approval::Nobody };
            match request.answer().await {
                Ok(ClientResult::ElicitResult(answer)) => approval(&answer),
                // The host declared forms, and cannot show one after all.
                _ => Approval::Nobody,
            }
        })
    }
}

/// Reads an answer. Only an explicit yes allows anything.
fn approval(answer: &ElicitResult) -> Approval {
    let content = answer.content.as_ref().unwrap_or(&Value::Null);
    if answer.action == ElicitationAction::Accept && content[DECISION] == ONCE {
        return Approval::Once;
    }
    let reason = content[REASON].as_str().map(str::trim).filter(|reason| !reason.is_empty());
    Approval::No { reason: reason.map(str::to_owned) }
}

fn form(question: &Question) -> Value {
    json!({
        "mode": "form",
        "message": message(question),
        "requestedSchema": {
            "type": "object",
            "properties": {
                DECISION: {"type": "string", "title": "Decision", "enum": [ONCE, REFUSE]},
                REASON: {"type": "string", "title": "Reason for the sub-agent, if refused"},
            },
            "required": [DECISION],
        },
    })
}

/// Text of a form: the agent, the call, and the reason for asking. All of it comes from models and files, so nothing in
/// it may control a terminal.
fn message(question: &Question) -> String {
    let Question { task, title, within, chain, tool, arguments, preview, ground, .. } = question;
    let chain: Vec<String> = chain.iter().map(|agent| neutral::line(agent)).collect();
    let waits = within.map(|within| format!(", waits {} s for an answer", within.as_secs().max(1))).unwrap_or_default();
    let what = preview.clone().unwrap_or_else(|| readable(arguments));
    let what = neutral::block(&what).into_owned();
    let left_out = what.chars().count().saturating_sub(MAX_CHARS);
    let mut shown: String = what.chars().take(MAX_CHARS).collect();
    if left_out > 0 {
        shown += &format!("\n[{left_out} more characters are not shown: refuse if they matter]");
    }
    format!(
        "Sub-agent {} wants to use {}\n{task} \u{201c}{}\u{201d}{waits}\n\n{shown}\n\n{}",
        chain.join(" \u{203a} "),
        neutral::line(tool),
        neutral::line(title),
        neutral::line(ground)
    )
}

/// A command as one would type it, or the arguments in JSON, one value a line.
fn readable(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(mut fields)) if fields.get("command").is_some_and(Value::is_string) => {
            let command = fields.shift_remove("command").unwrap_or_default();
            let command = format!("$ {}", command.as_str().unwrap_or_default().replace('\n', "\n> "));
            if fields.is_empty() { command } else { format!("{command}\n{:#}", Value::Object(fields)) }
        }
        Ok(value) => format!("{value:#}"),
        Err(_) => arguments.to_owned(),
    }
}
