//! Models lent by hosts, for the tasks that they request.
//!
//! If no route is set, a host that offers its own model (sampling with tools) serves its own tasks as the route `host`.
//! It comes before `offline`, which answers only on request.
//!
//! [`Hosts`] lists the connected hosts, and [`HostModels`] adds them to the routes of the process. A host's model never
//! serves a task that another client program requested. The protocol deprecates sampling from 2026-07-28 on; hosts that
//! speak older revisions and offer it are served.

mod lent_model;
mod sampling_answer;
mod sampling_request;

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ProtocolVersion;
use rmcp::service::{Peer, RoleServer};
use sortie_llm::{BoxFuture, Chosen, Endpoint, ErrorKind, Model, ModelError, Models, Terms, UnknownModel, offline};
use sortie_protocol::ModelChoice;

use self::lent_model::HostModel;
use self::sampling_request::OUTPUT_CAP;

/// Route name of a host's model.
pub const ROUTE: &str = "host";

/// Either name means the rule-based model and no other.
const OFFLINE_NAMES: [&str; 2] = [offline::ROUTE, offline::MODEL_ID];

/// Longest part of a client's own name that is kept.
const MAX_NAME_CHARS: usize = 40;

/// Hosts that lend their models, in order of arrival. Clones share one list.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    connected: Arc<Mutex<Connected>>,
}

#[derive(Debug, Default)]
struct Connected {
    /// Number of hosts so far.
    n_ever: u64,
    hosts: Vec<Host>,
}

#[derive(Debug)]
struct Host {
    /// The client's name, a `#` and the number of its connection.
    id: String,
    peer: Peer<RoleServer>,
}

/// A host's model for the length of its session. Dropping it withdraws the model.
#[derive(Debug)]
pub struct Loan {
    id: String,
    hosts: Hosts,
}

impl Hosts {
    /// Borrows a host's model, if it offers one that can use tools and accepts requests: from the revision 2026-07-28
    /// on a server sends none.
    pub fn lend(&self, peer: &Peer<RoleServer>) -> Option<Loan> {
        let client = peer.peer_info()?;
        if !peer.supports_sampling_tools() || client.protocol_version >= ProtocolVersion::V_2026_07_28 {
            return None;
        }
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        connected.n_ever += 1;
        let id = format!("{}#{}", known_as(&client.client_info.name), connected.n_ever);
        connected.hosts.push(Host { id: id.clone(), peer: peer.clone() });
        Some(Loan { id, hosts: self.clone() })
    }

    /// Returns the connection of this id. If it is gone, the newest one of the same client. A client that restarted, or
    /// whose task works in the background, has a new connection.
    fn find(&self, id: &str) -> Option<Peer<RoleServer>> {
        let connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        let hosts = || connected.hosts.iter().rev().filter(|host| !host.peer.is_transport_closed());
        let is_same_client = |host: &&Host| client_of(&host.id) == client_of(id);
        let host = hosts().find(|host| host.id == id).or_else(|| hosts().find(is_same_client))?;
        Some(host.peer.clone())
    }
}

impl Loan {
    /// Returns the model as a task inherits it from the requesting host.
    pub fn choice(&self) -> ModelChoice {
        ModelChoice { route: ROUTE.to_owned(), id: self.id.clone() }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let mut connected = self.hosts.connected.lock().unwrap_or_else(PoisonError::into_inner);
        connected.hosts.retain(|host| host.id != self.id);
    }
}

fn client_of(id: &str) -> &str {
    id.rsplit_once('#').map_or(id, |(client, _)| client)
}

/// Returns a client's name in a form fit for a model's id.
fn known_as(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String =
        name.chars().take(MAX_NAME_CHARS).map(|c| if is_plain(c) { c.to_ascii_lowercase() } else { '-' }).collect();
    if name.is_empty() { "client".to_owned() } else { name }
}

/// Use of the rule-based model for requests of hosts that name no other, if no model is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offline {
    /// It answers, and the outcome says so.
    Answers,
    /// Such a request is refused: its host could not tell the answer of fixed rules from that of a model.
    Refuses,
}

/// Notice in every outcome of the rule-based model.
const BY_RULES: &str = "answered by fixed rules (`offline`), not by a language model";

/// Routes of a process that serves hosts, with their models ahead of `offline`.
pub struct HostModels {
    routes: Arc<dyn Models>,
    hosts: Hosts,
    offline: Offline,
}

impl HostModels {
    pub fn new(routes: Arc<dyn Models>, hosts: Hosts, offline: Offline) -> Self {
        Self { routes, hosts, offline }
    }

    /// Refuses the rule-based model unless it was requested, and marks its use.
    fn admit(
        &self,
        chosen: Chosen,
        asked: Option<&str>,
        inherited: Option<&ModelChoice>,
    ) -> Result<Chosen, UnknownModel> {
        if chosen.choice.route != offline::ROUTE {
            return Ok(chosen);
        }
        let is_inherited = inherited.is_some_and(|parents| parents.route == offline::ROUTE);
        if !is_named(asked) && !is_inherited && self.offline == Offline::Refuses {
            return Err(UnknownModel::NotSet);
        }
        let notice = chosen.notice.map_or_else(|| BY_RULES.to_owned(), |notice| format!("{BY_RULES}; {notice}"));
        Ok(Chosen { notice: Some(notice), ..chosen })
    }
}

/// True if a request names the rule-based model.
fn is_named(asked: Option<&str>) -> bool {
    asked.is_some_and(|asked| OFFLINE_NAMES.iter().any(|name| name.eq_ignore_ascii_case(asked)))
}

impl Models for HostModels {
    /// Chooses the host's model in place of the rule-based one, with a notice if another was requested. `offline` by
    /// its own name stays what it is. The inherited model identifies a task's host.
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        let is_host = asked.is_some_and(|asked| asked.eq_ignore_ascii_case(ROUTE));
        let Some(host) = inherited.filter(|choice| choice.route == ROUTE) else {
            let hint = "a host's model serves only requests of a host that offers it (sampling with tools)";
            return match asked {
                Some(asked) if is_host => Err(UnknownModel::Nobody { asked: asked.to_owned(), hint: hint.to_owned() }),
                _ => self.admit(self.routes.choose(asked, inherited)?, asked, inherited),
            };
        };
        if is_host {
            return Ok(host.clone().into());
        }
        // An unusable route is reported, not passed over.
        let chosen = self.routes.choose(asked, None)?;
        if is_named(asked) || chosen.choice.route != offline::ROUTE {
            return self.admit(chosen, asked, None);
        }
        let notice = asked.map(|asked| {
            format!("`{asked}` is served by the model of {} (route {ROUTE}): no main route is set", host.id)
        });
        Ok(Chosen { choice: host.clone(), notice })
    }

    fn confirm<'a>(&'a self, choice: &'a ModelChoice) -> BoxFuture<'a, Result<(), UnknownModel>> {
        // A host lends its model whatever the id, and no route has this name.
        self.routes.confirm(choice)
    }

    fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        if choice.route != ROUTE {
            return self.routes.open(choice);
        }
        let client = client_of(&choice.id);
        let gone = || {
            let message = format!(
                "the host `{client}`, whose model this task uses, is not connected; connect it again, or set a model \
                 of your own (`sortie models --help`) and start the task anew"
            );
            ModelError::new(ErrorKind::Setup, message)
        };
        let peer = self.hosts.find(&choice.id).ok_or_else(gone)?;
        Ok(Arc::new(HostModel::new(client.to_owned(), peer)))
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        self.routes.endpoints()
    }

    fn terms(&self, choice: &ModelChoice) -> Terms {
        if choice.route != ROUTE {
            return self.routes.terms(choice);
        }
        Terms { output_cap: Some(OUTPUT_CAP), max_output: Some(OUTPUT_CAP), ..Terms::default() }
    }
}
