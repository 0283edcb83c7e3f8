//! The test kit's own tests: a wrong kit makes every other test wrong.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failing test may panic")]

mod binary;
mod checker;
mod checker_mail;
mod client;
mod edit;
mod fault;
mod guests;
mod model;
mod model_fault;
mod relics;
mod render;
mod script;
mod sdk;
mod server;
mod strict_anthropic;
mod strict_gemini;
mod strict_openai;
mod strict_openai_responses;
mod tempdir;
mod wire;
mod wire_openai_responses;
