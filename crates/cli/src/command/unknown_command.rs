//! Advice about a word that is no command: a question without `run`, a slip, or another program's word for it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use sortie_protocol::nearest_few;

use crate::error::CommandError;
use crate::text::words::shell_word;

/// Words of other programs, and what to use here.
const ELSEWHERE: [(&[&str], &str); 7] = [
    (&["ask", "exec", "chat", "prompt", "query"], "`sortie run \"…\"` answers a request"),
    (&["continue", "retry"], "`sortie resume` continues the last interrupted task"),
    (&["init", "setup"], "nothing has to be set up; `sortie config edit` opens the settings"),
    (&["login", "auth"], "there is no login: export ANTHROPIC_API_KEY=…, then run `sortie models --check`"),
    (&["serve", "server"], "`sortie mcp` serves other agents"),
    (&["update", "upgrade"], "there is no updater: build the new version with `cargo build --release`"),
    (&["history", "sessions", "list", "ls", "ps"], "`sortie tasks list` lists tasks"),
];

/// Error for a first word that is no command; `None` for any other error of the command line.
pub(super) fn explain(error: &clap::Error, root: &clap::Command, args: &[OsString]) -> Option<CommandError> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let at = args.iter().position(|arg| arg == &**word).filter(|_| error.kind() == ErrorKind::InvalidSubcommand)?;
    let commands: Vec<&str> = root.get_subcommands().map(clap::Command::get_name).collect();
    let is_of_a_command = args[..at].iter().any(|arg| commands.iter().any(|command| arg == command));
    (!is_of_a_command).then(|| advice(word, &args[at..], &commands))
}

fn advice(word: &str, said: &[OsString], commands: &[&str]) -> CommandError {
    let said: Vec<_> = said.iter().map(|word| word.to_string_lossy()).collect();
    let is_question = word.contains(char::is_whitespace) || said.len() > 2;
    if let Some((_, here)) = ELSEWHERE.iter().find(|(words, _)| words.contains(&word)) {
        return unknown(word).hint(*here);
    }
    if is_question {
        return unknown(word).hint(format!("did you mean: sortie run {}", shell_word(&said.join(" "))));
    }
    let swapped = commands.iter().copied().find(|command| is_swapped(word, command));
    let near = swapped.map_or_else(|| nearest_few(word, commands.iter().copied(), 2), |command| vec![command]);
    match &near[..] {
        [] => unknown(word).hint("`sortie --help` lists the commands; a request is: sortie run \"…\""),
        near => unknown(word).hint(format!("did you mean: sortie {}", near.join(", or sortie "))),
    }
}

fn unknown(word: &str) -> CommandError {
    CommandError::usage(format!("there is no command `{word}`"))
}

/// True if both have the same letters in another order, as after hasty typing.
fn is_swapped(word: &str, command: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(word) == sorted(command)
}
