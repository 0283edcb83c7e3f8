//! The engine at its public door: scripted models, a real workspace, real tools, the journal's facts as transcripts.

#![expect(clippy::expect_used, clippy::panic, reason = "a test says what it relies on")]

mod adopted;
mod agent_files;
mod assistant;
mod background;
mod broken_tries;
mod context;
mod contracts;
mod delegation;
mod endings;
mod endurance;
mod every_event;
mod files_changed;
mod follow_up;
mod gate;
mod hooks;
mod instructions;
mod kin;
mod last_words;
mod left_over;
mod mail_at_every_event;
mod mail_races;
mod many_reports;
mod models;
mod permissions;
mod questions;
mod refusals;
mod relic;
mod remains;
mod renewal;
mod resume;
mod siblings;
mod subagents;
mod support;
mod taken_over;
mod told;
mod turns;
mod unanswered;
mod word_order;
mod wording;
mod working_time;
