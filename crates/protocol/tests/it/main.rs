//! Stored data stays readable: one golden file for each kind of event, and names that never change by accident.

mod commands;
mod events;
mod failures;
mod fruitless;
mod grant;
mod near;
mod nouns;
