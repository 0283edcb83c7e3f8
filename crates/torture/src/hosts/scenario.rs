//! The scenarios, each played with every host.

mod background;
mod cancellation;
mod chain;
mod parallel;
mod questions;
mod roots;

use anyhow::Result;

use super::host::Host;
use super::outcome::Outcome;
use super::stage::Stage;

/// Word that only a report has.
pub(super) const REPORT: &str = "The notes say \"little\".";

pub(super) struct Scenario {
    /// Name on the screen.
    pub(super) name: &'static str,
    /// Row in the documentation.
    pub(super) title: &'static str,
    /// An error is a scenario that does not hold.
    pub(super) play: fn(&Stage, Host) -> Result<Outcome>,
}

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "chain", title: "a report reaches the host's model, as", play: chain::play },
    Scenario { name: "parallel Explore", title: "three `Explore` calls of one turn", play: parallel::of_explore },
    Scenario {
        name: "parallel Task",
        title: "three `Task` calls of one turn, in plan mode",
        play: parallel::of_task_in_plan_mode,
    },
    Scenario { name: "background", title: "background work when the host quits", play: background::play },
    Scenario { name: "questions", title: "a sub-agent wants to write a file", play: questions::play },
    Scenario { name: "roots", title: "a server started in `/` works in", play: roots::play },
    Scenario { name: "cancellation", title: "a call that the host gives up", play: cancellation::play },
];
