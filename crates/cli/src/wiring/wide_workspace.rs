//! Consent to a workspace that is far more than a project: agents read it, and their model's provider sees what they
//! read.

use crate::environment::Places;
use crate::error::CommandError;
use crate::error::consent::{self, Consent};

/// Asks the person before anything in such a workspace is read, or refuses if nobody can be asked. A workspace that
/// `--cwd` names needs no answer.
pub(crate) fn ask(places: &Places) -> Result<(), CommandError> {
    let Some(breadth) = places.breadth else { return Ok(()) };
    let (folder, what) = (places.workspace.display(), breadth.in_words());
    let subject = format!(
        "The workspace is {folder}, {what}. Agents can read everything in it but the usual places of keys and passwords, \
         and their model's provider sees what they read.\n"
    );
    match consent::ask(&subject, "Work there?") {
        Consent::Yes => Ok(()),
        answer => {
            let why = if answer == Consent::No { "the answer was no" } else { "nobody could be asked" };
            Err(CommandError::usage(format!("the workspace is {folder}, {what}, and {why}; nothing was read"))
                .hint("run it in a project's directory, or name one with --cwd DIR")
                .hint(format!("if this one is meant: --cwd {folder}")))
        }
    }
}
