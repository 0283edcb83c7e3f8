//! Refuses repositories whose own configuration names programs under keys of its own choice.
//!
//! They cannot be pinned, since the keys are unknown. Reading the configuration runs nothing.

use std::path::Path;

use crate::git::error::GitError;

/// Number of settings in the message.
const MAX_NAMED: usize = 5;

/// The arguments that make git print the configuration of a repository.
pub(super) const QUESTION: [&str; 5] = ["config", "--list", "--includes", "--show-scope", "-z"];

/// Refuses a repository whose configuration names such programs, or may do so under a condition that can come true
/// while git works. `listed` is the output for [`QUESTION`], including included files and the working tree's
/// configuration.
pub(super) fn refuse_programs(top: &Path, listed: &[u8]) -> Result<(), GitError> {
    let listed = String::from_utf8_lossy(listed);
    let mut settings: Vec<&str> = programs(&listed).collect();
    settings.dedup();
    settings.truncate(MAX_NAMED);
    if settings.is_empty() {
        return Ok(());
    }
    Err(GitError::NamesPrograms { top: top.to_owned(), settings: settings.join("`, `") })
}

/// The settings that can make git run a program, from a list of alternating scopes and settings. Pinned settings have
/// the scope of the command line.
fn programs(listed: &str) -> impl Iterator<Item = &str> {
    let mut parts = listed.split_terminator('\0');
    std::iter::from_fn(move || Some((parts.next()?, parts.next().unwrap_or_default())))
        .filter(|(scope, _)| *scope != "command")
        .map(|(_, setting)| setting.split_once('\n').map_or(setting, |(name, _)| name))
        .filter(|name| can_run_a_program(name))
}

fn can_run_a_program(name: &str) -> bool {
    let section = name.split('.').next().unwrap_or_default();
    let variable = name.rsplit('.').next().unwrap_or_default();
    match section {
        "filter" => matches!(variable, "clean" | "smudge" | "process"),
        "diff" => matches!(variable, "command" | "textconv"),
        "merge" => variable == "driver",
        "hook" => variable == "command",
        // Its condition may become true only later, for instance in a working tree about to be created.
        "includeif" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_under_any_key_and_pins_are_ignored() {
        let listed = "local\0core.bare\nfalse\0local\0filter.a.b.clean\nx\0local\0filter.x.required\ntrue\0\
                      worktree\0merge.A.b.driver\n!x\0local\0includeif.onbranch:x.path\ny\0local\0filter.valueless.smudge\0\
                      command\0diff.x.textconv\ncat\0local\0hook.x.command\nx\0";
        let found: Vec<&str> = programs(listed).collect();
        assert_eq!(
            found,
            [
                "filter.a.b.clean",
                "merge.A.b.driver",
                "includeif.onbranch:x.path",
                "filter.valueless.smudge",
                "hook.x.command"
            ]
        );
    }
}
