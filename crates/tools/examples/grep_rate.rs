//! Time of one Grep over a tree, without a model: `grep_rate TREE ARGUMENTS`.
//!
//! The tool is called once, as the engine calls it, with ARGUMENTS, a JSON object. Prints the milliseconds of the call
//! and its findings as one line of JSON; `cargo xtask bench` reads it.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use sortie_protocol::{CallId, Failure, FailureCode, Resource, TaskId, TaskRequest};
use sortie_sandbox::Workspace;
use sortie_tools::{Alone, AnswerParts, BoxFuture, CallContext, Commands, Delegated, Delegation, Registry, Seen};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(tree), Some(arguments)) = (arguments.next(), arguments.next()) else {
        return Err("usage: grep_rate TREE ARGUMENTS".into());
    };
    let workspace = Arc::new(Workspace::open(Path::new(&tree))?);
    let registry = Registry::standard(None, Commands::Offered);
    let grep = registry.get("Grep").ok_or("there is no Grep")?;
    let (call, cancel, seen) = (CallId("call-1".to_owned()), CancellationToken::new(), Seen::default());
    let context = CallContext {
        call: &call,
        // Lives as long as the program: each call has its own.
        decoded: Box::leak(Box::default()),
        workspace: &workspace,
        cancel: &cancel,
        delegation: &NoDelegation,
        kin: &Alone,
        structured: false,
        seen: &seen,
        assistant: None,
        lender: None,
        shells: None,
        progress: None,
    };

    let began = Instant::now();
    let output = grep.run(&arguments, context).await;
    let milliseconds = began.elapsed().as_secs_f64() * 1000.0;
    if output.failed {
        return Err(output.for_model.into());
    }
    println!("{}", json!({ "milliseconds": milliseconds, "found": output.for_people }));
    Ok(())
}

/// Nothing here delegates.
struct NoDelegation;

impl Delegation for NoDelegation {
    fn delegate<'a>(&'a self, _: &'a CallId, _: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        Box::pin(async { Err(Failure::new(FailureCode::read("unavailable"), "there are no other tasks")) })
    }

    fn agent_for(&self, _request: &TaskRequest) -> Resource {
        Resource::Nothing
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        AnswerParts { cwd: ".", spare_id: TaskId::from_random([0; 12]), mark: String::new() }
    }
}
