//! Authority tested through the crate's public API.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a failing test may panic")]

mod armed;
mod cases;
mod commands;
mod confinement;
mod delegation;
mod draw;
mod grounds;
mod hostile;
mod hosts;
mod layers;
mod lines;
mod offering;
mod oracle;
mod paths;
mod property;
mod protected;
mod redact;
mod resume;
mod rules;
mod secrets;
mod secrets_at_home;
mod support;
mod variables;
mod walls;
