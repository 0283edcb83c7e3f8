//! The command line as a person or a program meets it: the real binary, in a world of its own.

mod agents;
mod bad_input;
mod environment;
mod formats;
mod help;
mod routes;
mod run;
mod settings;
mod signals;
mod task;
mod tasks;
mod transcript;
mod world;
