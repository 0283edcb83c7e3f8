//! Acts that are reserved to a few files: each has one way in the program, and a second one would drift from it.

use super::file::File;
use super::finding::Finding;
use super::item::inherent_impls;
use super::token::{Token, closing, is_name, text, tokens};

/// The only places that hand a call to a tool.
const RUNS_TOOLS: &[&str] = &["engine/src/gate"];
/// The only places that make a task.
const BUILDS_TASKS: &[&str] = &["engine/src/tasks/start"];
/// The only places that make an outcome.
const BUILDS_OUTCOMES: &[&str] = &["engine/src/conversation/outcome", "protocol"];

struct Act {
    forms: &'static [Form],
    /// Crates in which the name means this; all, if none is named.
    within: &'static [&'static str],
    /// Below `crates/`: crates, or modules with all that lies in their folders. Tests, examples and the testkit may.
    open_to: &'static [&'static str],
    what: &'static str,
    mend: &'static str,
}

enum Form {
    /// `Name { … }` as an expression, or `Self { … }` among the methods of `Name`.
    Builds(&'static str),
    /// `x.method(…, with)`, or `Of::method(…)`.
    Calls { of: &'static str, method: &'static str, with: &'static str },
}

const ACTS: &[Act] = &[
    Act {
        forms: &[Form::Calls { of: "Tool", method: "run", with: "context" }, Form::Builds("CallContext")],
        // The crate of the tools has the trait, and commands that run with the same context.
        within: &["agents", "cli", "engine", "mcp"],
        open_to: RUNS_TOOLS,
        what: "a tool is run beside the gate",
        mend: "let the engine's gate run it: it asks for permission, records the call and redacts the output",
    },
    Act {
        forms: &[Form::Builds("Task")],
        within: &["engine"],
        open_to: BUILDS_TASKS,
        what: "a task is built by hand",
        mend: "let the engine's one recipe start it, with its origin",
    },
    Act {
        forms: &[Form::Builds("TaskOutcome")],
        within: &[],
        open_to: BUILDS_OUTCOMES,
        what: "an outcome is built by hand",
        mend: "let the engine's `outcome` build it, which knows all that belongs to an ending",
    },
];

/// Every place that one of the acts is open to.
pub(super) fn places() -> impl Iterator<Item = &'static str> {
    ACTS.iter().flat_map(|act| act.open_to).copied()
}

pub(super) fn acts(file: &File) -> Vec<Finding> {
    let Some((owner, path)) = file.owner().zip(file.path().strip_prefix("crates/")) else { return Vec::new() };
    if owner == "testkit" || path.contains("/examples/") || !file.is_rust() {
        return Vec::new();
    }
    let module = path.trim_end_matches(".rs");
    let is_below =
        |place: &&str| module.strip_prefix(*place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let shut = |act: &&Act| {
        let meant = act.within.is_empty() || act.within.contains(&owner);
        meant && !act.open_to.iter().any(is_below)
    };
    let tests: Vec<bool> = file.lines().map(|line| line.test).collect();
    let tokens = tokens(file.code());
    let mut findings = Vec::new();
    for act in ACTS.iter().filter(shut) {
        let lines = act.forms.iter().flat_map(|form| form.lines(&tokens));
        let found = lines.filter(|line| !tests[line - 1]).map(|line| Finding::at(file, line, act.what, act.mend));
        findings.extend(found);
    }
    findings
}

impl Form {
    fn lines(&self, tokens: &[Token<'_>]) -> Vec<usize> {
        let at: Vec<usize> = match *self {
            Self::Builds(name) => {
                let own = inherent_impls(tokens).into_iter().filter(|found| found.name == name);
                let methods: Vec<_> = own.map(|found| found.body).collect();
                let is_named = |at: usize| {
                    let word = text(tokens, at);
                    word == name || word == "Self" && methods.iter().any(|body| body.contains(&at))
                };
                (0..tokens.len()).filter(|&at| is_named(at) && builds(tokens, at)).collect()
            }
            Self::Calls { of, method, with } => {
                (0..tokens.len()).filter(|&at| text(tokens, at) == method && calls(tokens, at, of, with)).collect()
            }
        };
        at.into_iter().map(|at| tokens[at].line).collect()
    }
}

/// True if the name at `at` begins an expression that builds the type; false for a declaration and for a pattern.
fn builds(tokens: &[Token<'_>], at: usize) -> bool {
    if text(tokens, at + 1) != "{" {
        return false;
    }
    // Back over `module::`; `Enum::Name {` is a variant.
    let mut begin = at;
    while begin >= 2 && text(tokens, begin - 1) == "::" && is_name(text(tokens, begin - 2)) {
        begin -= 2;
    }
    let is_variant = begin < at && text(tokens, at - 2).starts_with(char::is_uppercase);
    let before = begin.checked_sub(1).map_or("", |before| text(tokens, before));
    let no_expression = ["struct", "enum", "union", "trait", "impl", "for", "->", "let", "dyn", "mod", ">", "+"];
    let behind = closing(tokens, at + 1) + 1;
    let pattern = ["=", "=>", "|", "if", ":"].contains(&text(tokens, behind))
        // Inside of another pattern: `Some(Name { a, .. })`.
        || text(tokens, behind.saturating_sub(2)) == "." && text(tokens, behind.saturating_sub(3)) == ".";
    !is_variant && !no_expression.contains(&before) && !pattern
}

fn calls(tokens: &[Token<'_>], at: usize, of: &str, with: &str) -> bool {
    let before = |steps: usize| at.checked_sub(steps).map_or("", |before| text(tokens, before));
    if text(tokens, at + 1) != "(" {
        return false;
    }
    let end = closing(tokens, at + 1);
    let last = if text(tokens, end - 1) == "," { end - 2 } else { end - 1 };
    before(1) == "." && text(tokens, last) == with || before(1) == "::" && before(2) == of
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<String> {
        acts(&File::new(path, text)).iter().map(ToString::to_string).collect()
    }

    const FINE: [&str; 0] = [];

    #[test]
    fn a_tool_that_is_run_beside_the_gate_is_found() {
        let found = "error: crates/engine/src/settle.rs:2: a tool is run beside the gate\n    mend: let the engine's gate run it: it asks for permission, records the call and redacts the output";
        for code in ["tool.run(&call.arguments, context).await", "Tool::run(&*tool, a, b)", "CallContext { a, ..b }"] {
            assert_eq!(check("crates/engine/src/settle.rs", &format!("fn f() {{\n{code} }}")), [found], "{code}");
            assert_eq!(check("crates/engine/src/gate.rs", code), FINE, "{code}");
            assert_eq!(check("crates/engine/tests/it/gate.rs", code), FINE, "{code}");
        }
        assert_eq!(
            check("crates/engine/src/run.rs", "self.run(call, tool, stop); task.run(); type A = CallContext;"),
            FINE
        );
    }

    #[test]
    fn a_task_that_is_built_by_hand_is_found() {
        let found = "error: crates/engine/src/gate.rs:1: a task is built by hand\n    mend: let the engine's one recipe start it, with its origin";
        for code in ["Ok(state::Task { id })", "impl Task { fn new() -> Self { Self { id } } }"] {
            assert_eq!(check("crates/engine/src/gate.rs", code), [found], "{code}");
            assert_eq!(check("crates/engine/src/tasks/start/build.rs", code), FINE, "{code}");
            assert_ne!(check("crates/engine/src/tasks/started.rs", code), FINE, "{code}");
            assert_eq!(check("crates/mcp/src/gate.rs", code), FINE, "{code}");
        }
        let other = "struct Task { id: Id }\nimpl Task { fn f(self) -> Self { self } }\nimpl A for Task {}\n\
                     let from = Sender::Task { task };\nimpl B { fn new() -> Self { Self {} } }\n";
        assert_eq!(check("crates/engine/src/gate.rs", other), FINE);
    }

    #[test]
    fn an_outcome_that_is_built_by_hand_is_found_and_one_taken_apart_is_not() {
        let found = "error: crates/cli/src/render.rs:1: an outcome is built by hand\n    mend: let the engine's `outcome` build it, which knows all that belongs to an ending";
        assert_eq!(check("crates/cli/src/render.rs", "TaskOutcome { id: x, ..outcome }"), [found]);
        assert_eq!(check("crates/protocol/src/outcome.rs", "TaskOutcome { id }"), FINE);
        let apart = "let TaskOutcome { id, .. } = outcome;\nmatch a { TaskOutcome { id } => b, Some(TaskOutcome { c, .. }) if d => e }\n\
                     fn f() -> TaskOutcome { g() }\nimpl From<A> for TaskOutcome {}\nimpl TaskOutcome {}\n";
        assert_eq!(check("crates/cli/src/render.rs", apart), FINE);
    }
}
