//! Builtin commands that affect what the shell does next, or run their arguments.

use crate::findings::Word;
use crate::parse::{Command, Item, List, Shape};
use crate::program::obeyed::is_obeyed;

/// Effect of a builtin on the rest of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    /// Changes variables, which programs may obey.
    Unclear,
    /// Can run anything, or change how the rest is read.
    Anything,
    /// Changes the directory.
    Moves,
}

const ANYTHING: [&str; 26] = [
    ".",
    "alias",
    "bind",
    "compgen",
    "complete",
    "compopt",
    "coproc",
    "declare",
    "enable",
    "eval",
    "fc",
    "hash",
    "history",
    "jobs",
    "let",
    "local",
    "mapfile",
    "readarray",
    "set",
    "shopt",
    "source",
    "suspend",
    "trap",
    "typeset",
    "unalias",
    "wait",
];

/// Builtins that take names of variables. An index in such a name would be evaluated.
const NAMES: [&str; 7] = ["export", "getopts", "printf", "read", "readonly", "test", "unset"];

const MOVING: [&str; 3] = ["cd", "popd", "pushd"];

/// Returns the effect of a builtin with these words.
pub(crate) fn effect(name: &str, words: &[Word]) -> Effect {
    if MOVING.contains(&name) {
        return Effect::Moves;
    }
    // Without operands it only waits.
    if ANYTHING.contains(&name) && !(name == "wait" && words.len() == 1) {
        return Effect::Anything;
    }
    let name = if name == "[" { "test" } else { name };
    if !NAMES.contains(&name) {
        return Effect::None;
    }
    let behind = &words[1..];
    let sets = match name {
        "printf" => behind.first().is_some_and(|word| word.text().is_none_or(|text| text.starts_with("-v"))),
        "test" => behind.iter().any(|word| word.text().is_none_or(|text| text == "-v" || text == "-R")),
        _ => true,
    };
    let computes = behind.iter().any(|word| word.text().is_none_or(|text| text.contains('[')));
    match (sets, computes) {
        (false, _) => Effect::None,
        (true, false) => Effect::Unclear,
        (true, true) => Effect::Anything,
    }
}

/// True if a builtin that fills variables fills one that programs obey, or one that the shell computes.
pub(crate) fn sets_obeyed(name: &str, words: &[Word]) -> bool {
    const FILLING: [&str; 3] = ["getopts", "printf", "read"];
    let mut texts = words[1..].iter().filter_map(Word::text);
    FILLING.contains(&name) && texts.any(|text| is_obeyed(text.strip_prefix("-v").unwrap_or(text)))
}

/// True if a list may change the directory.
pub(crate) fn moves(list: &List) -> bool {
    list.iter().any(|item| {
        let Item { first, rest, .. } = item;
        let mut pipelines = [first].into_iter().chain(rest.iter().map(|(_, pipeline)| pipeline));
        pipelines.any(|pipeline| pipeline.commands.iter().any(command_moves))
    })
}

fn command_moves(command: &Command) -> bool {
    match &command.shape {
        Shape::Simple { words, .. } => words
            .iter()
            .any(|word| word.word.text().is_none_or(|text| MOVING.contains(&text) || ANYTHING.contains(&text))),
        Shape::Group(list) | Shape::Subshell(list) => moves(list),
        Shape::If { branches, otherwise } => {
            branches.iter().any(|(condition, body)| moves(condition) || moves(body))
                || otherwise.as_ref().is_some_and(moves)
        }
        Shape::While { condition, body } => moves(condition) || moves(body),
        Shape::For { body, .. } => moves(body),
        Shape::Case { arms, .. } => arms.iter().any(moves),
        Shape::Test(_) => false,
        Shape::Function(_) => true,
    }
}
