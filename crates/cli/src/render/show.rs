//! `--show`: the form in which progress is shown on stderr, and what it is where nobody says.

use clap::{Args, ValueEnum};

use super::aside::Aside;
use super::look::Look;
use super::progress::Interest;
use super::{blocks::Blocks, boxes::Boxes, launches::Launches, one_line::OneLine, plain::Plain};
use crate::error::CommandError;
use crate::settings::Settings;

/// How a run is shown while it goes on; `run` and `task` take these.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// How to show progress on stderr; if not given, as the contract has it
    #[arg(long, value_enum, value_name = "FORM")]
    show: Option<Show>,

    /// Show every call, not only the last one of each agent; in blocks ten messages instead of two
    #[arg(long)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// A block for each sub-agent: its status and its last messages (`result`)
    Blocks,
    /// A line when a sub-agent starts and one when it ends (`delegate`)
    Line,
    /// A box when a sub-agent starts and one when it ends (`typed`, `sortie`)
    Boxes,
    /// One object a line for each event, then one of type `outcome`, as `stream-json` has them
    Json,
    /// No progress and no figures; what went wrong is still said (`envelope`, `child`)
    Quiet,
}

/// Said behind the name of whoever runs commands without walls.
pub(crate) const UNCONFINED: &str = " [unconfined]";

/// Who is shown where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// The root is a main agent, which needs no lines of its own.
    Main,
    /// The root is itself a sub-agent.
    SubAgent,
}

impl ShowArgs {
    /// Whether someone asked for a form in so many words.
    pub(crate) fn is_given(&self) -> bool {
        self.show.is_some()
    }

    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    /// What stderr gets. `unconfined`: whether commands of the run have no walls.
    pub(crate) fn aside(&self, settings: &Settings, root: Root, unconfined: bool) -> Result<Aside, CommandError> {
        if self.verbose && matches!(self.show, Some(Show::Json | Show::Quiet)) {
            let message = "--verbose is for --show blocks, line or boxes; --show json has every call anyway";
            return Err(CommandError::usage(message));
        }
        let verbose = self.verbose || settings.verbose_logging();
        let contract = settings.contract().name();
        let by_contract = || by_contract(contract, verbose);
        let smart_terminal = settings.environment.has_smart_terminal();
        let show = self.show.unwrap_or_else(by_contract);
        let interest = Interest {
            root: root == Root::SubAgent,
            calls_of_main: self.verbose,
            // A block has its calls among its messages.
            calls_of_sub_agents: verbose && show != Show::Blocks,
            shell_mark: unconfined.then_some(UNCONFINED),
        };
        let asked_or_redrawn = self.is_given() || Aside::redraws(smart_terminal);
        let look: Box<dyn Look> = match show {
            Show::Json => return Ok(Aside::events()),
            Show::Quiet => return Ok(Aside::Quiet),
            Show::Blocks => Box::new(Blocks { expanded: verbose }),
            Show::Line => Box::new(OneLine),
            // Drawn for a screen; a log is better served by lines, unless someone wants boxes there.
            Show::Boxes if !asked_or_redrawn => Box::new(Plain),
            Show::Boxes if contract == "typed" => Box::new(Launches),
            Show::Boxes => Box::new(Boxes),
        };
        Ok(Aside::text(interest, look, smart_terminal))
    }
}

/// What each contract's host would show. Where that is nothing and calls are asked for, they get lines.
fn by_contract(contract: &str, verbose: bool) -> Show {
    match contract {
        "result" => Show::Blocks,
        "delegate" => Show::Line,
        "typed" | "sortie" => Show::Boxes,
        _ if verbose => Show::Line,
        _ => Show::Quiet,
    }
}

#[cfg(test)]
mod tests {
    use sortie_contract::CONTRACTS;

    use super::*;

    #[test]
    fn each_contract_has_its_form_c_26() {
        let shown = CONTRACTS.map(|name| (name, by_contract(name, false)));
        let expected = [
            ("envelope", Show::Quiet),
            ("result", Show::Blocks),
            ("delegate", Show::Line),
            ("typed", Show::Boxes),
            ("child", Show::Quiet),
            ("child-recipe", Show::Quiet),
            ("sortie", Show::Boxes),
        ];
        assert_eq!(shown, expected);
    }
}
