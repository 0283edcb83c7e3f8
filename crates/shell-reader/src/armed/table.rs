//! The table of armed words, by program and subcommand.

mod build;
mod git;
mod interpreters;
mod network;
mod search;

use super::profile::{Profile, one_of};
use crate::findings::{Arming, Word};

/// Subcommands that arm a program by themselves.
const SUBCOMMANDS: &[(&str, Arming, &str)] = &[
    ("7z 7za 7zr", Arming::Spills, "a d e rn u x"),
    ("apt apt-get", Arming::Turns, "build-dep source"),
    ("bun deno", Arming::Runs, "eval exec repl x"),
    ("cargo", Arming::Runs, "flamegraph samply watch"),
    ("cargo", Arming::Turns, "install"),
    ("docker podman nerdctl", Arming::Runs, "compose exec run"),
    ("gh", Arming::Runs, "alias extension"),
    ("go", Arming::Turns, "generate tool"),
    ("kubectl oc", Arming::Runs, "debug exec run"),
    ("npm pnpm yarn", Arming::Runs, "dlx exec explore x"),
    ("npm pnpm yarn", Arming::Turns, "config create init set"),
    ("openssl", Arming::Runs, "engine"),
    ("pip pip3", Arming::Turns, "config"),
    (
        "tmux",
        Arming::Runs,
        "if if-shell new new-session new-window neww pipe-pane pipep respawn-pane respawn-window respawnp respawnw run \
         run-shell send send-keys source source-file split-window splitw",
    ),
    ("uv", Arming::Runs, "tool"),
];

/// The profiles of a program.
pub(super) fn profiles(name: &str) -> impl Iterator<Item = &'static Profile> {
    let tables = [search::PROFILES, git::PROFILES, build::PROFILES, interpreters::PROFILES, network::PROFILES];
    tables.into_iter().flatten().filter(move |profile| one_of(profile.names).any(|own| own == name))
}

/// The arming of a word that is a subcommand.
pub(super) fn subcommand(name: &str, word: &Word) -> Option<Arming> {
    if name == "git" {
        return git::subcommand(word.text());
    }
    let text = word.text()?;
    let of_program = SUBCOMMANDS.iter().filter(|(names, ..)| one_of(names).any(|own| own == name));
    of_program
        .filter(|(.., subcommands)| one_of(subcommands).any(|subcommand| subcommand == text))
        .map(|(_, arming, _)| *arming)
        .min()
}
