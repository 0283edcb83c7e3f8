//! The rooms of a crate: folders in an order, of which each uses only those below it.
//!
//! The table says which crates have rooms. `ARCHITECTURE.md` shows newcomers what each room owns, in the words of the
//! room's own header.

mod home;
mod map;
mod one_way;
mod path;
mod shelf;

pub(super) use self::map::PAGE as MAP;

use super::file::File;
use super::finding::Finding;

/// The crates that have rooms.
const PLANS: &[Plan] = &[
    Plan {
        folder: "engine",
        rooms: "ports log budget messages conversation resolve gate run tasks engine",
        front: "",
        other_sizes: &[],
    },
    Plan { folder: "contract", rooms: "json port outcome dialect", front: "", other_sizes: &[] },
    Plan {
        folder: "llm",
        rooms: "model_data port route wire tokens transport call table",
        front: "",
        other_sizes: &[],
    },
    Plan {
        folder: "offline",
        rooms: "language source_code request question ranking answer",
        front: "",
        other_sizes: &[],
    },
    Plan { folder: "policy", rooms: "text rule protected matching judge redact", front: "", other_sizes: &[] },
    Plan { folder: "shell-reader", rooms: "findings parse program armed analyse", front: "", other_sizes: &[] },
    Plan {
        folder: "tools",
        rooms: "answer port files web proxy changes shell call edit tool",
        front: "registry",
        other_sizes: &[("tool", "one file for each tool")],
    },
    Plan {
        folder: "sandbox",
        rooms: "system paths spill files walls keeper process programs git",
        front: "",
        other_sizes: &[],
    },
    Plan { folder: "journal", rooms: "port tasks memory database sqlite", front: "", other_sizes: &[] },
    Plan {
        folder: "agents",
        rooms: "text definition front_matter agent_file templates registry matching resolve",
        front: "",
        other_sizes: &[],
    },
    Plan {
        folder: "mcp",
        rooms: "session host_model oauth transport client http_request http stdio resources server",
        front: "",
        other_sizes: &[("transport", "one file for each step between a server's definition and a bounded message")],
    },
    Plan {
        folder: "cli",
        rooms: "text error environment trust settings render wiring session command",
        front: "",
        other_sizes: &[("command", "one file for each subcommand")],
    },
];

/// Plan of one crate.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// The crate's folder below `crates/`.
    folder: &'static str,
    /// Its rooms, lowest first. A front file that lies below some rooms is also named here, at its place.
    rooms: &'static str,
    /// Modules beside `lib.rs` or `main.rs` that lie above all rooms.
    front: &'static str,
    /// Rooms that have fewer or more files than others, and why.
    other_sizes: &'static [(&'static str, &'static str)],
}

/// Checks every crate of the table.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    check_plans(PLANS, files)
}

/// `ARCHITECTURE.md` with its tables of rooms as the sources have them.
pub(super) fn map_from_sources(files: &[File]) -> Option<String> {
    map::rewritten(&houses(PLANS, files), map::page(files)?)
}

/// True if this crate is in the table.
pub(super) fn has_rooms(folder: &str) -> bool {
    PLANS.iter().any(|plan| plan.folder == folder)
}

fn check_plans(plans: &'static [Plan], files: &[File]) -> Vec<Finding> {
    let houses = houses(plans, files);
    let rules = [one_way::check, shelf::everything_in_a_room, shelf::sizes, home::check];
    let mut findings: Vec<Finding> =
        houses.iter().flat_map(|house| rules.iter().flat_map(|rule| rule(house))).collect();
    findings.extend(map::check(&houses, map::page(files)));
    findings
}

/// A crate of the table, with the files of its `src/`.
#[derive(Debug)]
struct House<'a> {
    plan: &'static Plan,
    rooms: Vec<&'static str>,
    files: Vec<Placed<'a>>,
}

/// A file, and where in the crate it lies.
#[derive(Debug)]
struct Placed<'a> {
    file: &'a File,
    /// Below `src/`.
    path: &'a str,
}

/// The rank above all rooms.
const TOP: usize = usize::MAX;

fn houses<'a>(plans: &'static [Plan], files: &'a [File]) -> Vec<House<'a>> {
    let house = |plan: &'static Plan| {
        let source = format!("crates/{}/src/", plan.folder);
        let below = |file: &'a File| file.path().strip_prefix(&source).map(|path| Placed { file, path });
        let rooms = plan.rooms.split_whitespace().filter(|room| !is_among(room, plan.front)).collect();
        House { plan, rooms, files: files.iter().filter_map(below).collect() }
    };
    plans.iter().map(house).collect()
}

fn is_among(name: &str, words: &str) -> bool {
    words.split_whitespace().any(|word| word == name)
}

impl House<'_> {
    /// Height of a room or a front file; `None` for anything else.
    fn rank(&self, name: &str) -> Option<usize> {
        let room = self.plan.rooms.split_whitespace().position(|room| room == name);
        let front = ["lib", "main"].contains(&name) || is_among(name, self.plan.front);
        room.or(front.then_some(TOP))
    }

    /// The file of the room itself.
    fn door(&self, room: &str) -> Option<&File> {
        let own = |placed: &&Placed<'_>| placed.path.strip_suffix(".rs") == Some(room);
        self.files.iter().find(own).map(|placed| placed.file)
    }
}

impl<'a> Placed<'a> {
    /// The room or the front file that it belongs to.
    fn shelf(&self) -> &'a str {
        let top = self.path.split('/').next().unwrap_or(self.path);
        top.strip_suffix(".rs").unwrap_or(top)
    }

    /// True if none of it is part of the program.
    fn is_all_tests(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("tests.rs")
    }

    fn module(&self) -> Vec<&'a str> {
        let path = self.path.strip_suffix(".rs").unwrap_or(self.path);
        if ["lib", "main"].contains(&path) { Vec::new() } else { path.split('/').collect() }
    }
}

#[cfg(test)]
mod tests;
