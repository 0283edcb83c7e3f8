//! The command line as a person or a program meets it: the real binary, in a world of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod agents;
mod apart;
mod ask;
mod background;
mod bad_input;
mod cache;
mod config;
mod cost;
mod crowd;
mod doctor;
mod doctor_git;
mod doctor_walls;
mod environment;
mod explain;
mod explain_agents;
mod formats;
mod going_on;
mod help;
mod hooks;
mod hooks_at_work;
#[cfg(target_os = "linux")]
mod hostile;
mod instructions;
mod journal;
mod legs;
mod limits;
mod local;
mod lost_commands;
mod misfits;
mod models;
mod offline_answers;
mod own_commands;
mod own_files;
mod permissions;
mod project_files;
mod resume;
mod retention;
mod routes;
mod run;
mod self_trust;
mod settings;
mod show;
mod signals;
mod stopping;
mod structured;
mod task;
mod tasks;
mod templates;
mod terminal;
mod transcript;
mod trust;
mod wishes;
mod world;
