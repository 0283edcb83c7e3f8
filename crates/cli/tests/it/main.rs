//! The command line as a person or a program meets it: the real binary, in a world of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod agents;
mod bad_input;
mod environment;
mod formats;
mod help;
mod journal;
mod offline_answers;
mod routes;
mod run;
mod settings;
mod signals;
mod task;
mod tasks;
mod terminal;
mod transcript;
mod world;
