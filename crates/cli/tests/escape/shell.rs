//! A model with a shell: what its command lines may run, and what the walls keep from whatever they run.
//!
//! Where the gate can see what a line would do, it refuses it; where it cannot, because the line hides it or because no
//! rule is about it, the kernel does. Effects are looked for in the world, not in what a command says of itself.

mod directory;
mod environment;
mod lines;
mod network;
mod output;
mod processes;
mod protected;
mod proxy;
mod readers;
mod repository;
mod secrets;
mod sockets;
mod unconfined;

use std::collections::BTreeSet;

use serde_json::json;
use sortie_testkit::ScriptedPart;

use crate::calls::{call, main_agent};
use crate::world::World;

/// Every command may run, and reaches hosts through the proxy.
const BYPASS: &[&str] = &["--permission-mode", "bypass"];
/// Every command may run, and reaches nobody.
const ANY_COMMAND: &[&str] = &["--allow", "Bash"];
/// What a refusal says where a person would have to be asked.
const NOBODY: &str = "nobody can be asked here";
/// What is said of protected names.
const NO_AGENT: &str = "which no agent may";

/// Stands in a line for the name of a file that it leaves behind, if it runs.
const TRACE: &str = "RAN";

fn bash(line: &str) -> ScriptedPart {
    call("Bash", json!({"command": line}))
}

fn background(line: &str) -> ScriptedPart {
    call("Bash", json!({"command": line, "run_in_background": true}))
}

/// The traces of lines that have run, by name.
fn traces(world: &World) -> BTreeSet<String> {
    let names =
        world.listing("workspace").into_iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name.starts_with(TRACE)).collect()
}

/// Lines of which each leaves a trace of its own where it is let through.
struct Lines(Vec<String>);

impl Lines {
    fn new<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Self {
        let numbered = (0..).zip(lines);
        Self(numbered.map(|(number, line)| line.as_ref().replace(TRACE, &trace(number))).collect())
    }

    fn calls(&self) -> impl Iterator<Item = ScriptedPart> {
        self.0.iter().map(|line| bash(line))
    }

    /// Each is refused by the gate, with these words, and has done nothing.
    fn assert_refused(&self, world: &World, flags: &[&str], words: &str) {
        let after = world.run(flags, main_agent(self.calls()));
        let answers = after.assert_completed().answers();
        assert_eq!(answers.len(), self.0.len());
        for (line, answer) in self.0.iter().zip(&answers) {
            assert!(answer.refused && answer.text.contains(words), "{line:?} under {flags:?}: {answer:#?}");
        }
        assert_eq!(traces(world), BTreeSet::new(), "{flags:?}");
    }

    /// Each has its effect where nobody refuses it; otherwise its refusal would prove nothing.
    fn assert_live(&self, world: &World) {
        let after = world.run(BYPASS, main_agent(self.calls()));
        let expected: BTreeSet<String> = (0..self.0.len()).map(trace).collect();
        assert_eq!(traces(world), expected, "{:#?}", after.assert_completed());
    }
}

fn trace(number: usize) -> String {
    format!("{TRACE}-{number}")
}

/// Allow rules for these commands, as flags.
fn allowing<'a>(commands: &[&'a str]) -> Vec<&'a str> {
    commands.iter().flat_map(|command| ["--allow", command]).collect()
}
