//! Prompts that no search can serve: commands for a shell, questions about git, and other languages.

use crate::language::lexicon::{is_foreign, is_stop_word};
use crate::language::words::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsearchable {
    /// A line to type into a shell.
    Command,
    /// About commits, branches or changed files, which are not in the text of any file.
    Git,
    /// In a language other than English.
    Foreign,
}

/// Programs that people type by habit, if arguments as in a shell follow.
const PROGRAMS: &[&str] = &[
    "awk", "bash", "cargo", "cat", "cd", "chmod", "cp", "curl", "docker", "echo", "find", "git", "go", "grep", "head",
    "less", "ls", "make", "mkdir", "mv", "node", "npm", "pip", "pwd", "python", "python3", "rg", "rm", "rustc", "sed",
    "sh", "sudo", "tail", "touch", "tree", "wc", "xargs",
];
/// Programs whose subcommands are ordinary words; `make a plan` is prose.
const WITH_SUBCOMMANDS: &[&str] = &["cargo", "docker", "git", "npm", "pip"];
const ALONE: &[&str] = &["ls", "pwd", "tree"];

const GIT: &[&str] = &[
    "last commit",
    "latest commit",
    "recent commits",
    "recent changes",
    "commit history",
    "git history",
    "git log",
    "git diff",
    "git status",
    "git blame",
    "uncommitted",
    "working tree",
    "staged changes",
    "files changed",
    "changed files",
    "this branch",
    "current branch",
    "pull request",
];
/// Openings of questions about code, which may well be about code for commits.
const PLACES: &[&str] = &["where", "how", "which function", "which code", "what calls", "who calls"];

impl Unsearchable {
    /// Judges a prompt of one line; longer ones are briefs or templates, which only mention such things.
    pub(crate) fn of(prompt: &str) -> Option<Self> {
        let lower = prompt.trim().to_lowercase();
        if lower.contains('\n') {
            return None;
        }
        let asks_for_a_place = PLACES.iter().any(|opening| lower.starts_with(opening));
        if is_command(&lower) {
            Some(Self::Command)
        } else if !asks_for_a_place && GIT.iter().any(|sign| lower.contains(sign)) {
            Some(Self::Git)
        } else {
            is_foreign_text(&lower).then_some(Self::Foreign)
        }
    }
}

fn is_command(lower: &str) -> bool {
    let mut tokens = lower.split_whitespace();
    let Some(program) = tokens.next().filter(|first| PROGRAMS.contains(first)) else { return false };
    let arguments: Vec<&str> = tokens.collect();
    let shell_like = |token: &&str| {
        (token.starts_with('-') && token.len() > 1) || ["|", "&&", ">", ".."].contains(token) || token.contains('/')
    };
    let subcommand = WITH_SUBCOMMANDS.contains(&program) && arguments.len() <= 3 && !lower.ends_with('?');
    (arguments.is_empty() && ALONE.contains(&program))
        || (!arguments.is_empty() && subcommand)
        || arguments.iter().any(shell_like)
}

/// True if its function words are those of another language, or most letters of another script.
fn is_foreign_text(lower: &str) -> bool {
    let count = |known: fn(&str) -> bool| words(lower).filter(|word| known(word)).count();
    let (foreign, english) = (count(is_foreign), count(is_stop_word));
    let letters = lower.chars().filter(|character| character.is_alphabetic());
    let (latin, other): (Vec<char>, Vec<char>) = letters.partition(|&letter| letter < '\u{370}');
    foreign > english.max(1) || other.len() > latin.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_search_can_serve_is_recognised() {
        for (prompt, expected) in [
            ("ls -la src", Some(Unsearchable::Command)),
            ("grep -rn TODO src | head", Some(Unsearchable::Command)),
            ("git status", Some(Unsearchable::Command)),
            ("cargo test", Some(Unsearchable::Command)),
            ("ls", Some(Unsearchable::Command)),
            ("find the tests", None),
            ("make a plan for the parser", None),
            ("go through the parser", None),
            ("Review the last commit", Some(Unsearchable::Git)),
            ("Which files changed in the last commit?", Some(Unsearchable::Git)),
            ("Where is the last commit read?", None),
            ("Wo werden versteckte Dateien übersprungen?", Some(Unsearchable::Foreign)),
            ("Où est lu le fichier de configuration ?", Some(Unsearchable::Foreign)),
            ("¿Dónde se lee la configuración?", Some(Unsearchable::Foreign)),
            ("設定はどこで読まれますか", Some(Unsearchable::Foreign)),
            ("Where is `über` used?", None),
            ("What does this project do?", None),
            ("hello", None),
        ] {
            assert_eq!(Unsearchable::of(prompt), expected, "{prompt}");
        }
    }
}
