//! Doors: acts that only some crates may do. A change that needs another door changes this table, so that its review
//! shows that a wall has moved.

use super::file::{CodeLine, File, has_word};
use super::finding::Finding;
use super::reserved;

struct Door {
    /// Names in code that go through the door.
    words: &'static [&'static str],
    /// Imports that are fine: types of a file that another crate has already opened.
    except: &'static [&'static str],
    /// Folders of crates, or longer path prefixes below `crates/`, that may.
    open_to: &'static [&'static str],
    /// True if tests, benches and examples of any crate may use the door.
    open_to_tests: bool,
    what: &'static str,
    mend: &'static str,
}

const DOORS: &[Door] = &[
    Door {
        words: &["unsafe"],
        except: &[],
        open_to: &["sandbox"],
        open_to_tests: false,
        what: "unsafe code outside the sandbox",
        mend: "use a safe interface (rustix has most system calls), or move it into crates/sandbox and say why it is sound",
    },
    Door {
        words: &["env::var", "env::var_os", "env::vars", "env::vars_os", "env::set_var", "env::remove_var"],
        except: &[],
        // The variables that `crash` and `mutant` read are compiled into the builds of `cargo xtask crash` and
        // `mutants` alone.
        open_to: &["cli", "crash", "mutant", "testkit", "torture", "workshop", "xtask"],
        open_to_tests: true,
        what: "the environment is read outside the command line",
        mend: "read it in the cli's settings and pass the value down",
    },
    Door {
        words: &["std::fs", "fs::", "File::", "OpenOptions"],
        except: &["use std::fs::File;", "use std::fs::Metadata;"],
        open_to: &["sandbox", "journal", "cli", "testkit", "bench", "torture", "workshop", "xtask"],
        open_to_tests: true,
        what: "files are touched outside the sandbox and the journal",
        mend: "go through sortie-sandbox, which keeps every path inside the workspace",
    },
    Door {
        words: &["process::Command"],
        except: &[],
        // `config edit` starts the editor that the user has chosen, `mcp login` the user's browser, and background work
        // this program once more; nothing of a project reaches them.
        open_to: &[
            "sandbox",
            "testkit",
            "bench",
            "torture",
            "workshop",
            "xtask",
            "cli/src/command/config/edit.rs",
            "cli/src/command/mcp/sign_in.rs",
            "cli/src/session/own_process.rs",
        ],
        open_to_tests: true,
        what: "a process is started outside the sandbox",
        mend: "start it through sortie-sandbox, which confines and ends it",
    },
    Door {
        words: &["TcpStream", "TcpListener", "UdpSocket", "UnixStream", "UnixListener"],
        except: &[],
        // A command's own network has one listener, which a proxy answers; the sandbox makes both, and hands it on.
        // Code that serves over HTTP listens, and so does a sign-in, for the browser; nothing there connects to
        // anybody.
        open_to: &[
            "testkit",
            "sandbox/src/process/",
            "sandbox/src/keeper/",
            "tools/src/proxy",
            "mcp/src/http/",
            "mcp/src/oauth/redirect.rs",
        ],
        open_to_tests: true,
        what: "a socket is opened by hand",
        mend: "ask a model through sortie-llm; the rest has no business on the network",
    },
    Door {
        words: &["println!", "eprintln!", "print!", "eprint!"],
        except: &[],
        open_to: &["cli", "bench", "torture", "workshop", "xtask", "testkit/src/bin"],
        open_to_tests: true,
        what: "a library prints",
        mend: "return the value, or record an event; the cli shows it",
    },
];

/// Line in the root of each crate without a door to files. Clippy then knows what this table can only guess by words.
const WALL: &str = "#![cfg_attr(not(test), deny(clippy::disallowed_methods))]";

pub(super) fn closed(file: &File) -> Vec<Finding> {
    let Some(owner) = file.owner() else { return Vec::new() };
    let shut: Vec<&Door> = DOORS.iter().filter(|door| !door.admits(file, owner)).collect();
    let through = |line: CodeLine<'_>| {
        let door = shut.iter().find(|door| door.is_used_by(line))?;
        Some(Finding::at(file, line.number, door.what, door.mend))
    };
    let without_wall = shut.iter().any(|door| door.words.contains(&"std::fs")) && is_wall_missing(file);
    let mend = format!("write `{WALL}` below its first comment");
    let unwalled = without_wall.then(|| Finding::at(file, 1, "clippy does not guard the door to files here", mend));
    file.lines().filter_map(through).chain(unwalled).collect()
}

const PAGE: &str = "xtask/src/tidy/door.rs";

/// Checks that every place with an open door exists. Otherwise the door would stand open to the next file of that name.
pub(super) fn lead_somewhere(files: &[File]) -> Vec<Finding> {
    let places = DOORS.iter().flat_map(|door| door.open_to).copied().chain(reserved::places());
    let lost = places.filter(|place| {
        let path = format!("crates/{place}");
        place.contains('/') && !files.iter().any(|file| file.path().starts_with(&path))
    });
    let mend = "name the place where it lies now, here or in reserved.rs, or shut the door";
    let report = |place| Finding::error(PAGE, format!("a door is open to `{place}`, which is not there"), mend);
    lost.map(report).collect()
}

fn is_wall_missing(file: &File) -> bool {
    file.path().ends_with("/src/lib.rs") && !file.lines().any(|line| line.code.trim() == WALL)
}

impl Door {
    fn is_used_by(&self, line: CodeLine<'_>) -> bool {
        let exempt = line.test && self.open_to_tests || self.except.contains(&line.code.trim());
        !exempt && self.words.iter().any(|word| has_word(line.code, word))
    }

    fn admits(&self, file: &File, owner: &str) -> bool {
        let example = file.path().contains("/examples/") && self.open_to_tests;
        let below = |place: &&str| file.path().strip_prefix("crates/").is_some_and(|path| path.starts_with(*place));
        example || self.open_to.contains(&owner) || self.open_to.iter().filter(|place| place.contains('/')).any(below)
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    fn check(path: &str, text: &str) -> String {
        render(&closed(&File::new(path, text)))
    }

    #[test]
    fn each_door_is_shut_to_the_engine() {
        for (code, what) in [
            ("unsafe { x() }", "unsafe code outside the sandbox"),
            ("std::env::var(\"HOME\")", "the environment is read outside the command line"),
            ("use std::fs;", "files are touched outside the sandbox and the journal"),
            ("let f = File::open(p)?;", "files are touched outside the sandbox and the journal"),
            ("std::process::Command::new(\"sh\")", "a process is started outside the sandbox"),
            ("TcpStream::connect(a)", "a socket is opened by hand"),
            ("println!(\"x\")", "a library prints"),
        ] {
            assert_eq!(check("crates/engine/src/a.rs", code), format!("crates/engine/src/a.rs:1: {what}\n"));
        }
    }

    #[test]
    fn doors_are_open_to_the_crates_that_may_use_them() {
        assert_eq!(check("crates/sandbox/src/a.rs", "unsafe { std::fs::read(p) }"), "");
        assert_eq!(check("crates/cli/src/a.rs", "println!(\"{}\", std::env::var(\"HOME\"))"), "");
        assert_eq!(check("crates/testkit/src/bin/a.rs", "println!(\"x\")"), "");
        assert_ne!(check("crates/testkit/src/a.rs", "println!(\"x\")"), "");
        assert_eq!(check("crates/engine/examples/a.rs", "println!(\"x\")"), "");
    }

    #[test]
    fn tests_may_touch_files_but_not_be_unsafe() {
        assert_eq!(check("crates/tools/tests/it/a.rs", "std::fs::write(p, b)"), "");
        assert_eq!(check("crates/tools/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"), "");
        assert_ne!(check("crates/tools/tests/it/a.rs", "unsafe { x() }"), "");
    }

    #[test]
    fn an_open_file_may_be_held_by_anyone() {
        assert_eq!(check("crates/tools/src/a.rs", "use std::fs::File;\nfn read(file: File) {}\n"), "");
        assert_ne!(check("crates/tools/src/a.rs", "use std::fs::{self, File};\n"), "");
    }

    #[test]
    fn a_crate_without_a_door_to_files_tells_clippy_so() {
        let what = "crates/engine/src/lib.rs:1: clippy does not guard the door to files here\n";
        assert_eq!(check("crates/engine/src/lib.rs", "//! The engine.\n\nmod run;\n"), what);
        assert_eq!(check("crates/engine/src/lib.rs", &format!("//! The engine.\n\n{WALL}\n\nmod run;\n")), "");
        assert_eq!(check("crates/sandbox/src/lib.rs", "//! The sandbox.\n"), "");
    }

    #[test]
    fn a_door_to_a_place_that_is_gone_is_found() {
        let places = DOORS.iter().flat_map(|door| door.open_to).copied().chain(reserved::places());
        let mut files: Vec<File> = places.map(|place| File::new(&format!("crates/{place}/a.rs"), "")).collect();
        assert_eq!(lead_somewhere(&files), []);
        files.retain(|file| !file.path().starts_with("crates/mcp/src/http/"));
        assert_eq!(
            render(&lead_somewhere(&files)),
            "xtask/src/tidy/door.rs: a door is open to `mcp/src/http/`, which is not there\n"
        );
    }

    #[test]
    fn prose_goes_through_no_door() {
        assert_eq!(check("crates/engine/src/a.rs", "// never println! here\nlet a = \"std::fs\";"), "");
    }
}
