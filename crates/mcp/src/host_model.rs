//! The models that hosts lend, for the tasks that they ask for.
//!
//! Where nobody has set a route, a host that offers its own model by sampling with tools serves the tasks that it asks
//! for, as the route `host`, before `offline`.
//!
//! [`Hosts`] knows who is connected, [`HostModels`] puts them beside the routes of the process. No host's model is ever
//! chosen for a task that another client program asked for.
//! The protocol deprecates sampling from 2026-07-28 on; hosts that speak older revisions and offer it are served.

mod lent_model;
mod sampling_answer;
mod sampling_request;

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ProtocolVersion;
use rmcp::service::{Peer, RoleServer};
use sortie_llm::{Chosen, Endpoint, ErrorKind, Model, ModelError, Models, Terms, UnknownModel, offline};
use sortie_protocol::ModelChoice;

use self::lent_model::HostModel;
use self::sampling_request::OUTPUT_CAP;

/// The route under which the model of a host is known.
pub const ROUTE: &str = "host";

/// By either of them the rules are meant, and nobody else.
const OFFLINE_NAMES: [&str; 2] = [offline::ROUTE, offline::MODEL_ID];

/// What is kept of a client's own name.
const MAX_NAME_CHARS: usize = 40;

/// The hosts that lend their models, in the order in which they came. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    connected: Arc<Mutex<Connected>>,
}

#[derive(Debug, Default)]
struct Connected {
    /// How many there have been.
    n_ever: u64,
    hosts: Vec<Host>,
}

#[derive(Debug)]
struct Host {
    /// The client's name, a `#` and the number of its connection.
    id: String,
    peer: Peer<RoleServer>,
}

/// A host's model as long as its session lasts. Dropping it takes the model away.
#[derive(Debug)]
pub struct Loan {
    id: String,
    hosts: Hosts,
}

impl Hosts {
    /// Takes the model of a host, if it offers one that can use tools and may be asked: from the revision 2026-07-28 on
    /// a server sends no requests of its own.
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

    /// The connection of this id. Where it is gone, the newest one of the same client: whoever goes on with a task
    /// after a restart, or has work in the background, is connected anew.
    fn find(&self, id: &str) -> Option<Peer<RoleServer>> {
        let connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        let hosts = || connected.hosts.iter().rev().filter(|host| !host.peer.is_transport_closed());
        let is_same_client = |host: &&Host| client_of(&host.id) == client_of(id);
        let host = hosts().find(|host| host.id == id).or_else(|| hosts().find(is_same_client))?;
        Some(host.peer.clone())
    }
}

impl Loan {
    /// The model, as what a task inherits from the one who asks for it.
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

/// A client's name as it can stand in a model's id.
fn known_as(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String =
        name.chars().take(MAX_NAME_CHARS).map(|c| if is_plain(c) { c.to_ascii_lowercase() } else { '-' }).collect();
    if name.is_empty() { "client".to_owned() } else { name }
}

/// The routes of a process in which nobody set a model, and those of its hosts before `offline`.
pub struct HostModels {
    routes: Arc<dyn Models>,
    hosts: Hosts,
}

impl HostModels {
    pub fn new(routes: Arc<dyn Models>, hosts: Hosts) -> Self {
        Self { routes, hosts }
    }
}

impl Models for HostModels {
    /// A task knows its host by what it inherits. What the rules would serve in its place is served by the host, and
    /// said where something else was asked for; `offline` by its own name stays what it is.
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        let is_host = asked.is_some_and(|asked| asked.eq_ignore_ascii_case(ROUTE));
        let Some(host) = inherited.filter(|choice| choice.route == ROUTE) else {
            let hint = "the model of the host serves only what a host asks for that offers it (sampling with tools)";
            return match asked {
                Some(asked) if is_host => Err(UnknownModel::Nobody { asked: asked.to_owned(), hint: hint.to_owned() }),
                _ => self.routes.choose(asked, inherited),
            };
        };
        if is_host {
            return Ok(host.clone().into());
        }
        // A route that somebody set up in vain is told of, and not passed over.
        let chosen = self.routes.choose(asked, None)?;
        let is_named = asked.is_some_and(|asked| OFFLINE_NAMES.iter().any(|name| name.eq_ignore_ascii_case(asked)));
        if is_named || chosen.choice.route != offline::ROUTE {
            return Ok(chosen);
        }
        let notice = asked.map(|asked| {
            format!("`{asked}` is served by the model of {} (route {ROUTE}): no main route is set", host.id)
        });
        Ok(Chosen { choice: host.clone(), notice })
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
