//! `WallsHint`: explains the walls when a command fails because of them; programs only report that an operation failed.

use sortie_protocol::file_name::spelled;
use std::path::{Path, PathBuf};

use sortie_sandbox::process::{Network, Tier, Walls};

/// Error texts of programs whose changes the walls refuse.
const ABOUT_FILES: [&str; 4] =
    ["Read-only file system", "Device or resource busy", "Permission denied", "Operation not permitted"];
/// Error texts of programs whose connections the walls refuse, and of any socket without a network.
const ABOUT_NETWORK: [&str; 3] =
    ["Network is unreachable", "Could not resolve host", "Temporary failure in name resolution"];
const NO_SOCKET: &str = "Operation not permitted";

/// Maximum number of paths named.
const MAX_NAMED: usize = 8;

/// A description of the walls around one command.
#[derive(Debug)]
pub(crate) struct WallsHint {
    files: String,
    network: Network,
}

impl WallsHint {
    /// `None` without walls. `owner` is the layer that forbids writing.
    pub(super) fn new(tier: Tier, walls: &Walls, owner: Option<String>) -> Option<Self> {
        if tier == Tier::None {
            return None;
        }
        let named = |path: &Path| spelled(path.strip_prefix(&walls.root).unwrap_or(path));
        let mut parts = vec![match (&walls.writable[..], owner) {
            ([], Some(owner)) => format!("commands of this task cannot write in the workspace ({owner})"),
            ([], None) => "commands of this task cannot write in the workspace".to_owned(),
            (places, _) if places.contains(&walls.root) => "this task can write only in the workspace".to_owned(),
            (places, _) => format!("this task can write only in {}", listed(places.iter().map(|place| named(place)))),
        }];
        let exposed = |path: &&PathBuf| walls.writable.iter().any(|place| path.starts_with(place));
        let mut kept: Vec<String> = walls.protected.iter().filter(exposed).map(|path| named(path)).collect();
        kept.sort_unstable();
        kept.dedup();
        if !kept.is_empty() {
            parts.push(format!("protected: {}", listed(kept.into_iter())));
        }
        if !walls.hidden.is_empty() {
            parts.push("secret places and what rules deny cannot be read".to_owned());
        }
        Some(Self { files: parts.join("; "), network: walls.network })
    }

    /// Returns the hint if an output suggests that the walls are the cause, or if they refused system calls.
    pub(super) fn words(&self, said: &str, refused_calls: &[String]) -> Option<String> {
        let has = |words: &[&str]| words.iter().any(|words| said.contains(words));
        let files = has(&ABOUT_FILES).then_some(self.files.as_str());
        let network = match self.network {
            Network::None if has(&ABOUT_NETWORK) || has(&[NO_SOCKET]) => Some("no network"),
            Network::Proxy { .. } if has(&ABOUT_NETWORK) => Some("hosts are reached through a proxy, by rule"),
            _ => None,
        };
        let calls = (!refused_calls.is_empty())
            .then(|| format!("no command may make these system calls: {}", listed(refused_calls.iter().cloned())));
        let parts: Vec<&str> = files.into_iter().chain(network).chain(calls.as_deref()).collect();
        (!parts.is_empty()).then(|| format!("walls: {}", parts.join("; ")))
    }
}

fn listed(mut names: impl Iterator<Item = String>) -> String {
    let shown: Vec<String> = names.by_ref().take(MAX_NAMED).collect();
    let more = if names.next().is_some() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walls(writable: &[&str], protected: &[&str], network: Network) -> Walls {
        let within = |names: &[&str]| names.iter().map(|name| Path::new("/w").join(name)).collect();
        Walls { writable: within(writable), protected: within(protected), network, ..Walls::reading("/w".into()) }
    }

    fn words(walls: &Walls, said: &str) -> Option<String> {
        WallsHint::new(Tier::Namespaces, walls, Some("agent reader".to_owned())).unwrap().words(said, &[])
    }

    #[test]
    fn only_walls_that_may_be_the_cause_are_mentioned() {
        let walls = walls(&["docs"], &["docs/.npmrc", ".git/hooks"], Network::None);
        let files = "walls: this task can write only in docs; protected: docs/.npmrc";
        assert_eq!(words(&walls, "error: no such test"), None);
        assert_eq!(words(&walls, "rm: x: Device or resource busy").as_deref(), Some(files));
        assert_eq!(words(&walls, "curl: Network is unreachable").as_deref(), Some("walls: no network"));
        let both = format!("{files}; no network");
        assert_eq!(words(&walls, "Operation not permitted"), Some(both));
    }

    #[test]
    fn refused_system_calls_are_named_whatever_the_program_says() {
        let hint = WallsHint::new(Tier::Namespaces, &walls(&[""], &[], Network::All), None).unwrap();
        let calls = ["ptrace", "unshare"].map(str::to_owned);
        let expected = "walls: no command may make these system calls: ptrace, unshare";
        assert_eq!(hint.words("strace: it did not work", &calls).as_deref(), Some(expected));
    }

    #[test]
    fn the_list_of_protected_paths_is_bounded() {
        let names: Vec<String> = (0..30).map(|number| format!("{number:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let words = words(&walls(&[""], &names, Network::All), "Read-only file system").unwrap();
        let kept = "this task can write only in the workspace; protected: 00, 01, 02, 03, 04, 05, 06, 07, …";
        assert_eq!(words, format!("walls: {kept}"));
    }

    #[test]
    fn a_read_only_command_is_told_the_owner_and_missing_walls_give_no_hint() {
        let reading = walls(&[], &[], Network::All);
        let told = "walls: commands of this task cannot write in the workspace (agent reader)";
        assert_eq!(words(&reading, "Read-only file system").as_deref(), Some(told));
        assert!(WallsHint::new(Tier::None, &reading, None).is_none());
    }
}
