//! `Guard`: the addresses behind a target, and the decision if they may be reached.
//!
//! A name is looked up once, and the connection can use only the addresses that passed. Changing the name's address
//! after the check gains nothing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use sortie_mutant::is_out;

use super::address;
use super::lookup::{Lookup, SystemLookup};
use super::target::Target;
use super::web_rules::{WebRules, is_same_machine};

pub(crate) struct Guard {
    rules: WebRules,
    lookup: Arc<dyn Lookup>,
}

/// The reason why a target is not reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GuardError {
    #[error("`{host}` was not found ({source})")]
    NotFound { host: String, source: std::io::Error },
    #[error("`{host}` leads nowhere: it has no address")]
    NoAddress { host: String },
    #[error(
        "{} is {what}, and only the internet is fetched; the user can allow it with \
         `private = [\"{remedy}\"]` under [web] in the configuration",
        place(host, *address)
    )]
    Inside { host: String, address: IpAddr, what: &'static str, remedy: String },
    #[error("{} at port {} is a server that this program itself uses; it is never fetched", place(host, address.ip()), address.port())]
    Own { host: String, address: SocketAddr },
    #[error("`{host}` at port {port} is a server that this program itself uses; it is never fetched")]
    OwnName { host: String, port: u16 },
}

/// Returns the reason why a target is not reached, as far as its URL alone tells.
pub(super) fn refusal(rules: &WebRules, target: &Target) -> Option<GuardError> {
    let host = target.host();
    if rules.is_own_name(target) {
        return Some(GuardError::OwnName { host: host.to_owned(), port: target.port() });
    }
    let is_this_machine = host == "localhost" || host.ends_with(".localhost");
    let address = target.literal().or(is_this_machine.then_some(Ipv4Addr::LOCALHOST.into()))?;
    let is_own = rules.is_own_address(SocketAddr::new(address, target.port()));
    let own = || GuardError::Own { host: host.to_owned(), address: SocketAddr::new(address, target.port()) };
    inside(rules, target, address).or_else(|| is_own.then(own))
}

/// Returns the reason why an address is not reached for this target: it is not on the internet and nobody allowed it.
fn inside(rules: &WebRules, target: &Target, address: IpAddr) -> Option<GuardError> {
    let what = address::inside(address).filter(|_| !rules.allows(target, address))?;
    let remedy = SocketAddr::new(address::plain(address), target.port()).to_string();
    Some(GuardError::Inside { host: target.host().to_owned(), address, what, remedy })
}

impl Guard {
    pub(crate) fn new(rules: WebRules) -> Self {
        Self { rules, lookup: Arc::new(SystemLookup) }
    }

    pub(crate) fn with_lookup(self, lookup: Arc<dyn Lookup>) -> Self {
        Self { lookup, ..self }
    }

    /// Returns the addresses at which a target may be reached: at least one.
    pub(crate) async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, GuardError> {
        let host = target.host();
        if self.rules.is_own_name(target) {
            return Err(GuardError::OwnName { host: host.to_owned(), port: target.port() });
        }
        let candidates = match target.literal() {
            Some(address) => vec![address],
            None => self
                .lookup
                .addresses(host)
                .await
                .map_err(|source| GuardError::NotFound { host: host.to_owned(), source })?,
        };
        let mut passed = Vec::new();
        let mut refusal = GuardError::NoAddress { host: host.to_owned() };
        for address in candidates {
            match self.check(target, address).await {
                Ok(address) => passed.push(address),
                Err(error) => refusal = error,
            }
        }
        if passed.is_empty() { Err(refusal) } else { Ok(passed) }
    }

    /// Checks a target without any lookup.
    pub(super) async fn check_literal(&self, target: &Target) -> Result<(), GuardError> {
        match target.literal() {
            Some(address) => self.check(target, address).await.map(drop),
            None => Ok(()),
        }
    }

    async fn check(&self, target: &Target, address: IpAddr) -> Result<SocketAddr, GuardError> {
        let checked = SocketAddr::new(address, target.port());
        if let Some(error) = inside(&self.rules, target, address).filter(|_| !is_out("web-address")) {
            return Err(error);
        }
        // On the internet one address serves many hosts, so there only the name identifies a server.
        let is_own = self.rules.is_own_address(checked)
            || (address::inside(address).is_some() && self.leads_to_own(checked).await);
        if is_own && !is_out("own-servers") {
            return Err(GuardError::Own { host: target.host().to_owned(), address: checked });
        }
        Ok(checked)
    }

    /// True if a name of one of our own servers leads to this inner address. A name that cannot be looked up might.
    async fn leads_to_own(&self, address: SocketAddr) -> bool {
        for name in self.rules.own_names(address.port()) {
            match self.lookup.addresses(name).await {
                Ok(own) if !own.iter().any(|&own| is_same_machine(own, address.ip())) => {}
                _ => return true,
            }
        }
        false
    }
}

/// Formats a host, with its address if that differs.
fn place(host: &str, address: IpAddr) -> String {
    let is_same = host.trim_start_matches('[').trim_end_matches(']') == address.to_string();
    if is_same { format!("`{host}`") } else { format!("`{host}` leads to {address}, which") }
}
