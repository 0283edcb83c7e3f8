//! Which words arm which program.

mod build;
mod git;
mod interpreters;
mod network;
mod search;

use super::sheet::{Sheet, one_of};
use crate::analysis::{Arming, Word};

/// Verbs that arm a program by themselves.
const VERBS: &[(&str, Arming, &str)] = &[
    ("7z 7za 7zr", Arming::Spills, "a d e rn u x"),
    ("apt apt-get", Arming::Turns, "build-dep source"),
    ("bun deno", Arming::Runs, "eval exec repl x"),
    ("cargo", Arming::Turns, "install"),
    ("docker podman nerdctl", Arming::Runs, "compose exec run"),
    ("gh", Arming::Runs, "alias extension"),
    ("go", Arming::Turns, "generate tool"),
    ("kubectl oc", Arming::Runs, "debug exec run"),
    ("npm pnpm yarn", Arming::Runs, "dlx exec explore x"),
    ("npm pnpm yarn", Arming::Turns, "config create init set"),
    ("pip pip3", Arming::Turns, "config"),
    (
        "tmux",
        Arming::Runs,
        "if if-shell new new-session new-window neww pipe-pane pipep respawn-pane respawn-window respawnp respawnw run \
         run-shell send send-keys source source-file split-window splitw",
    ),
    ("uv", Arming::Runs, "tool"),
];

/// The sheets of a program.
pub(super) fn sheets(name: &str) -> impl Iterator<Item = &'static Sheet> {
    let tables = [search::SHEETS, git::SHEETS, build::SHEETS, interpreters::SHEETS, network::SHEETS];
    tables.into_iter().flatten().filter(move |sheet| one_of(sheet.names).any(|own| own == name))
}

/// What a word does as the verb of a program.
pub(super) fn verb(name: &str, word: &Word) -> Option<Arming> {
    if name == "git" {
        return git::verb(word.text());
    }
    let text = word.text()?;
    let of_program = VERBS.iter().filter(|(names, ..)| one_of(names).any(|own| own == name));
    of_program.filter(|(.., verbs)| one_of(verbs).any(|verb| verb == text)).map(|(_, arming, _)| *arming).min()
}
