//! Rule-based model `offline`: useful on a machine with no key and no network.
//!
//! One pure function, [`reply`]: it derives everything from the [`Request`], remembers nothing and reads no file. The
//! main agent plans angles and merges reports; an explorer counts, outlines, reads and ranks. Its text never claims to
//! be more than rules. `sortie-llm` puts it behind the port to models.
//!
//! Rooms, lowest first; each uses only those before it: `language`, `source_code`, `request`, `question`, `ranking`,
//! `answer`.

// Files and processes are reached only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod language;
mod question;
mod ranking;
mod request;
mod source_code;

pub use answer::{MODEL_ID, reply};
pub use request::{Calls, Request};
