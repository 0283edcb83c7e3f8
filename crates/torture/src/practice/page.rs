//! The page about practice: a verdict for each scenario, and its transcript.

use super::play::Played;
use super::scenario::Check;
use super::transcript;

/// The table of all scenarios, and the section of each.
pub(super) fn table(model: &str, plays: &[Played]) -> String {
    let mut page =
        format!("Model: `{model}`.\n\n| Scenario | Task | Promises | Tokens |\n| --- | --- | --- | ---: |\n");
    for (index, played) in plays.iter().enumerate() {
        let tokens: u64 = played.steps.iter().map(super::play::Step::tokens).sum();
        let (task, promises) =
            (verdict(&tasks(played)), if played.keeps_its_promises() { "kept" } else { "**broken**" });
        page += &format!("| {}. {} | {task} | {promises} | {tokens} |\n", index + 1, played.scenario.title);
    }
    for (index, played) in plays.iter().enumerate() {
        page += &section(index + 1, played);
    }
    page
}

pub(super) fn section(number: usize, played: &Played) -> String {
    let mut section = format!("\n### {number}. {}\n\n", played.scenario.title);
    for check in &played.checks {
        let (mark, subject) =
            (if check.holds { "yes" } else { "**no**" }, if check.is_promise() { "promise" } else { "task" });
        section += &format!("- {mark} ({subject}): {}\n", check.claim);
    }
    for step in &played.steps {
        section += &format!("\n````text\n{}````\n", transcript::of(step));
    }
    section
}

fn tasks(played: &Played) -> Vec<&Check> {
    played.checks.iter().filter(|check| !check.is_promise()).collect()
}

/// Share of its tasks that the model did.
fn verdict(tasks: &[&Check]) -> String {
    let done = tasks.iter().filter(|check| check.holds).count();
    match tasks.len() {
        0 => "–".to_owned(),
        all if done == all => "done".to_owned(),
        _ if done == 0 => "not done".to_owned(),
        all => format!("{done} of {all}"),
    }
}
