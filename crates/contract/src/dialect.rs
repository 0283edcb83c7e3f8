//! Dialects of the Task tool, one file each, and the table of their names.
//!
//! To add one, implement `Contract` (`port.rs`) in a new file here, and add a row at the end of the table.

pub(crate) mod child;
pub(crate) mod delegate;
pub(crate) mod envelope;
pub(crate) mod result;
pub(crate) mod sortie;
pub(crate) mod typed;

use std::sync::Arc;

use crate::{Child, Contract, Delegate, Envelope, Sortie, ToolResult, Typed};

/// The contracts by name. In addition, `s0` to `s4` mean the first five in this order, `default` the last.
pub const CONTRACTS: [&str; 7] = ["envelope", "result", "delegate", "typed", "child", "child-recipe", "sortie"];

/// Returns the contract of this name or short name.
pub fn contract(name: &str) -> Option<Arc<dyn Contract>> {
    Some(match name {
        "envelope" | "s0" => Arc::new(Envelope),
        "result" | "s1" => Arc::new(ToolResult),
        "delegate" | "s2" => Arc::new(Delegate),
        "typed" | "s3" => Arc::new(Typed),
        "child" | "s4" => Arc::new(Child::Session),
        "child-recipe" => Arc::new(Child::Recipe),
        "sortie" | "default" => Arc::new(Sortie),
        _ => return None,
    })
}
