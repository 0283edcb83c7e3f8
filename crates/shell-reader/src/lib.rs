//! A reader of `bash` command lines: it finds every command that a line could run and every file that it names.
//!
//! It fails closed. It reads a part of the language and knows where that part ends. A line beyond it counts as able to
//! run anything and write any file. It never guesses and never recovers from an error
//! (`docs/adr/0014-an-own-reader-for-command-lines.md`).
//!
//! It makes no decisions and knows no rules or grants. It expands no variable, follows no link, looks up no program and
//! touches no file. A program may still do more than its words say; the walls around commands are for that.
//!
//! Its rooms, lowest first: `findings`, `parse`, `program`, `armed`, `analyse`.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod analyse;
mod armed;
mod findings;
mod parse;
mod program;

pub use analyse::{after_cd, analyse};
pub use findings::{Analysis, Armed, Arming, Part, Target, WhyNot, Word, printable};
pub use parse::known_words;
