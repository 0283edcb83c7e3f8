//! Usual ports of model servers, and the variables that move them.

use std::net::{IpAddr, Ipv4Addr};

use crate::environment::Environment;

const OLLAMA: u16 = 11434;
const LLAMA_CPP: u16 = 8080;

/// Ports without repeats, Ollama's first. A variable that names another machine means that there is no such server
/// here.
pub(super) fn usual(environment: &Environment) -> Vec<u16> {
    let ollama = environment.variable("OLLAMA_HOST").map_or(Some(OLLAMA), of_ollama_host);
    let llama_cpp = environment.variable("LLAMA_ARG_PORT").map_or(Some(LLAMA_CPP), |port| port.trim().parse().ok());
    let mut ports: Vec<u16> = ollama.into_iter().chain(llama_cpp).collect();
    ports.dedup();
    ports
}

/// Port in `OLLAMA_HOST`, which has many spellings; `None` if it names another machine.
fn of_ollama_host(value: &str) -> Option<u16> {
    let value = value.trim().trim_matches(['"', '\'']);
    let (rest, default) = match value.split_once("://") {
        None => (value, OLLAMA),
        Some(("http", rest)) => (rest, 80),
        Some(_) => return None,
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        // More than one colon means an address without brackets, and so without a port.
        None if authority.matches(':').count() > 1 => (authority, None),
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    if !is_here(host) {
        return None;
    }
    port.map_or(Some(default), |port| port.parse().ok())
}

fn is_here(host: &str) -> bool {
    let address = match host {
        "" | "localhost" => IpAddr::from(Ipv4Addr::LOCALHOST),
        host => match host.parse() {
            Ok(address) => address,
            Err(_) => return false,
        },
    };
    address.is_loopback() || address.is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_ollama_names_a_port_of_this_machine_or_none() {
        for (value, port) in [
            ("", Some(OLLAMA)),
            ("127.0.0.1", Some(OLLAMA)),
            ("localhost:1234", Some(1234)),
            ("0.0.0.0:1234", Some(1234)),
            (":1234", Some(1234)),
            ("http://localhost:1234/", Some(1234)),
            ("http://localhost", Some(80)),
            ("[::1]:1234", Some(1234)),
            ("::", Some(OLLAMA)),
            ("\"127.0.0.1:1234\"", Some(1234)),
            ("https://localhost:1234", None),
            ("10.0.0.7:11434", None),
            ("models.example:11434", None),
            ("localhost:many", None),
        ] {
            assert_eq!(of_ollama_host(value), port, "{value}");
        }
    }
}
