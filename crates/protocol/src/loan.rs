//! Limits that one Sortie lends another, for a task that works on behalf of its own.

use serde::{Deserialize, Serialize};

use crate::{Limits, Usage};

/// Limits of one call. They only ever narrow those of the process that takes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loan {
    /// Levels of tasks that may be below the caller; with 0, none.
    pub levels: u32,
    #[serde(default)]
    pub limits: Limits,
}

/// Use of a loan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repayment {
    /// Usage of the task with all below it.
    pub usage: Usage,
    /// Number of started tasks.
    #[serde(default)]
    pub started: u32,
}
