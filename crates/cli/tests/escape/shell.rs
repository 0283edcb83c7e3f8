//! A model with a shell: which command lines run, and what the walls keep from them.
//!
//! The gate refuses a line whose effect it can see. If the line hides its effect, or no rule covers it, the kernel
//! stops it. Tests look for effects in the world, not in a command's own output.

mod directory;
mod environment;
mod landlock;
mod lines;
mod meanwhile;
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
/// Words of a refusal where a person would have to be asked.
const NOBODY: &str = "nobody can be asked here";
/// Words about protected names.
const NO_AGENT: &str = "which no agent may";

/// Placeholder in a line for a file that it leaves behind if it runs.
const TRACE: &str = "RAN";

fn bash(line: &str) -> ScriptedPart {
    call("Bash", json!({"command": line}))
}

fn background(line: &str) -> ScriptedPart {
    call("Bash", json!({"command": line, "run_in_background": true}))
}

/// Traces of lines that have run, by name.
fn traces(world: &World) -> BTreeSet<String> {
    let names =
        world.listing("workspace").into_iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name.starts_with(TRACE)).collect()
}

/// Lines that each leave a trace if they run.
struct Lines(Vec<String>);

impl Lines {
    fn new<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Self {
        let numbered = (0..).zip(lines);
        Self(numbered.map(|(number, line)| line.as_ref().replace(TRACE, &trace(number))).collect())
    }

    fn calls(&self) -> impl Iterator<Item = ScriptedPart> {
        self.0.iter().map(|line| bash(line))
    }

    /// Asserts that the gate refuses each with these words, and that none has an effect.
    fn assert_refused(&self, world: &World, flags: &[&str], words: &str) {
        let after = world.run(flags, main_agent(self.calls()));
        let answers = after.assert_completed().answers();
        assert_eq!(answers.len(), self.0.len());
        for (line, answer) in self.0.iter().zip(&answers) {
            assert!(answer.refused && answer.text.contains(words), "{line:?} under {flags:?}: {answer:#?}");
        }
        assert_eq!(traces(world), BTreeSet::new(), "{flags:?}");
    }

    /// Asserts that each has its effect if nobody refuses it; otherwise its refusal would prove nothing.
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
