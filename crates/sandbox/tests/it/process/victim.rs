//! This program in other roles, which begin before its `main`: as a keeper, and as a program that starts a command and
//! is killed. The test harness has a `main` of its own, which cannot call ours first.

#![expect(unsafe_code, reason = "there is no other place before the harness")]

use std::io::Write;
use std::path::{Path, PathBuf};

use sortie_sandbox::process::{Environment, OutputCaps, Program, Shell, Tier, Walls, enter, spawn};

pub(crate) const NAME: &str = "sandbox-test-victim";

// SAFETY: the loader calls the functions in this section, with the C convention and before any thread is started.
#[unsafe(link_section = ".init_array")]
#[used]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    enter();
    let mut arguments = std::env::args_os();
    if arguments.next().is_some_and(|name| name == NAME) {
        let root = PathBuf::from(arguments.next().unwrap());
        let tier = arguments.next().unwrap();
        let command = arguments.next().unwrap().into_string().unwrap();
        let tier = [Tier::Namespaces, Tier::Landlock, Tier::None].into_iter().find(|one| tier == *format!("{one:?}"));
        be_killed(&root, tier.unwrap(), &command);
    }
}

/// Passes on the output of a command, until this process is killed.
fn be_killed(root: &Path, tier: Tier, command: &str) {
    let walls = Walls::writing(root.to_owned());
    let environment = Environment::scrubbed([], &[]);
    let output = OutputCaps { unspilled: 1000, spill: None };
    let shell = Shell { command, directory: root, environment: &environment, deadline: None };
    let running = spawn(&Program::this().unwrap(), tier, &walls, &shell).unwrap();
    running.finish(output, &mut |bytes| std::io::stdout().write_all(bytes).unwrap()).unwrap();
    std::process::abort();
}
