//! Options of commands that show a run: `--output-format`, `--show` and `--verbose`.

use clap::{Args, ValueEnum};

use super::progress::Interest;
use super::progress_style::ProgressStyle;
use super::progress_style::blocks::Blocks;
use super::progress_style::boxes::Boxes;
use super::progress_style::launches::Launches;
use super::progress_style::one_line::OneLine;
use super::progress_style::plain::Plain;
use super::stderr_progress::StderrProgress;
use crate::environment::Confinement;
use crate::error::CommandError;
use crate::text::terminal::TerminalKind;

/// Format of a run on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer; progress goes to stderr
    Text,
    /// One JSON object: the outcome, with sub-agents' outcomes in `children`
    Json,
    /// One JSON object a line for each event, then one of type `outcome`
    StreamJson,
}

/// Flags about progress, shared by every command that starts or resumes a task.
#[derive(Debug, Args)]
#[command(next_help_heading = "Progress")]
pub(crate) struct ShowArgs {
    /// Progress style on stderr [default: set by the contract]
    #[arg(long, value_enum, value_name = "FORM")]
    show: Option<ProgressForm>,

    /// Show every call, not only each agent's last; in blocks, ten messages instead of two
    #[arg(long)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressForm {
    /// Status and last messages of each sub-agent; default of `result`
    Blocks,
    /// A line at each sub-agent's start and end; default of `delegate`
    Line,
    /// A box at each sub-agent's start and end; default of `typed` and `sortie`
    Boxes,
    /// One JSON object a line for each event, as in `stream-json`
    Json,
    /// Nothing but problems; default of `envelope` and `child`
    Quiet,
}

/// Mark after the name of an agent whose commands run without walls; empty for the others.
pub(crate) fn shell_mark(confinement: Confinement) -> &'static str {
    match confinement {
        Confinement::Walls => "",
        Confinement::None => " [unconfined]",
    }
}

/// Other circumstances that decide how progress is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShowContext {
    pub(crate) root: Root,
    /// Name of the contract in use.
    pub(crate) contract: &'static str,
    /// True if the settings want a line for every call.
    pub(crate) every_call: bool,
    pub(crate) terminal: TerminalKind,
    pub(crate) confinement: Confinement,
}

/// Root of the displayed tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// The root is a main agent, which needs no lines of its own.
    Main,
    /// The root is itself a sub-agent.
    SubAgent,
}

impl ShowArgs {
    /// True if a form was given explicitly.
    pub(crate) fn is_given(&self) -> bool {
        self.show.is_some()
    }

    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    /// Progress on stderr for these options.
    pub(crate) fn stderr_progress(&self, context: ShowContext) -> Result<StderrProgress, CommandError> {
        if self.verbose && matches!(self.show, Some(ProgressForm::Json | ProgressForm::Quiet)) {
            let message = "--verbose is for --show blocks, line or boxes; --show json has every call anyway";
            return Err(CommandError::usage(message));
        }
        let ShowContext { root, contract, every_call, terminal, confinement } = context;
        let verbose = self.verbose || every_call;
        let form = self.show.unwrap_or_else(|| by_contract(contract, verbose));
        let interest = Interest {
            root: root == Root::SubAgent,
            calls_of_main: self.verbose,
            // A block has its calls among its messages.
            calls_of_sub_agents: verbose && form != ProgressForm::Blocks,
            shell_mark: Some(shell_mark(confinement)).filter(|mark| !mark.is_empty()),
        };
        let asked_or_redrawn = self.is_given() || StderrProgress::redraws(terminal);
        let style: Box<dyn ProgressStyle> = match form {
            ProgressForm::Json => return Ok(StderrProgress::events()),
            ProgressForm::Quiet => return Ok(StderrProgress::Quiet),
            ProgressForm::Blocks => Box::new(Blocks { expanded: verbose }),
            ProgressForm::Line => Box::new(OneLine),
            // Drawn for a screen; a log is better served by lines, unless boxes are requested.
            ProgressForm::Boxes if !asked_or_redrawn => Box::new(Plain),
            ProgressForm::Boxes if contract == "typed" => Box::new(Launches),
            ProgressForm::Boxes => Box::new(Boxes),
        };
        Ok(StderrProgress::text(interest, style, terminal))
    }
}

/// Default form of each contract. If that shows nothing and calls are requested, they get lines.
fn by_contract(contract: &str, verbose: bool) -> ProgressForm {
    match contract {
        "result" => ProgressForm::Blocks,
        "delegate" => ProgressForm::Line,
        "typed" | "sortie" => ProgressForm::Boxes,
        _ if verbose => ProgressForm::Line,
        _ => ProgressForm::Quiet,
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
            ("envelope", ProgressForm::Quiet),
            ("result", ProgressForm::Blocks),
            ("delegate", ProgressForm::Line),
            ("typed", ProgressForm::Boxes),
            ("child", ProgressForm::Quiet),
            ("child-recipe", ProgressForm::Quiet),
            ("sortie", ProgressForm::Boxes),
        ];
        assert_eq!(shown, expected);
    }
}
