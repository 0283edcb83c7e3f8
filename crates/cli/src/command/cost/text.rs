//! A cost statement for people.

use std::fmt::Write as _;

use sortie_engine::CostStatement;
use sortie_protocol::Usage;

use super::statement::{Coverage, Line, Statement};
use crate::render::state;
use crate::text::{neutral, width, words};

/// Row of a table: a name and its figures.
type Row = [String; 7];

const FIGURES: [&str; 5] = ["calls", "input", "cached", "output", "cost"];

pub(super) fn of(statement: &Statement) -> String {
    let heading = match statement.lines.first() {
        Some(Line { header, .. }) if statement.coverage == Coverage::Branch => {
            let (agent, title) = (neutral::line(&header.agent), words::title(&header.title));
            format!("{agent} {} {} · {title}\n\n{}", header.task_id, state(header), tasks(&statement.lines))
        }
        _ => match statement.lines.len() {
            1 => "1 task\n".to_owned(),
            count => format!("{count} tasks\n"),
        },
    };
    format!("{heading}\n{}\n{}", models(&statement.total), remarks(&statement.total))
}

fn tasks(lines: &[Line]) -> String {
    let is_tree = lines.len() > 1;
    let mut rows = vec![head("task", if is_tree { "with all below" } else { "" })];
    rows.extend(lines.iter().map(|line| {
        let (indent, agent) = ("  ".repeat(line.level), neutral::line(&line.header.agent));
        let whole = if is_tree { cost(&line.whole.usage()) } else { String::new() };
        row(format!("{indent}{agent} {}", line.header.task_id), &line.own.usage(), whole)
    }));
    aligned(&rows)
}

fn models(total: &CostStatement) -> String {
    let mut rows = vec![head("model", "")];
    rows.extend(total.models.iter().map(|(model, usage)| row(words::model(model), usage, String::new())));
    if total.models.len() != 1 {
        rows.push(row("all".to_owned(), &total.usage(), String::new()));
    }
    aligned(&rows)
}

/// Remarks that explain the figures.
fn remarks(total: &CostStatement) -> String {
    let usage = total.usage();
    let cached = percent(usage.cache_read_tokens, usage.all_input_tokens());
    let repeated = percent(total.repeated_tokens, total.following_tokens);
    let off = percent(total.misjudged_tokens, total.measured_tokens);
    let unpriced = total.models.iter().filter(|(_, usage)| usage.unpriced_tokens() > 0).map(|(model, usage)| {
        let tokens = words::tokens(usage.unpriced_tokens());
        format!("the price of {} is unknown, so {tokens} are not in the cost; set it in models.toml", model.id)
    });
    let said = [
        cached.map(|share| format!("{share} of the input was read from a cache")),
        repeated.map(|share| {
            format!("{share} of the input after each task's first request repeats the request before it: a cache can serve that")
        }),
        off.map(|share| format!("estimates of the input were off by {share}")),
    ];
    said.into_iter().flatten().chain(unpriced).map(|line| neutral::line(&line) + "\n").collect()
}

fn head(what: &str, last: &str) -> Row {
    let [calls, input, cached, output, cost] = FIGURES.map(str::to_owned);
    [what.to_owned(), calls, input, cached, output, cost, last.to_owned()]
}

fn row(name: String, usage: &Usage, last: String) -> Row {
    let [input, cached, output] =
        [usage.all_input_tokens(), usage.cache_read_tokens, usage.output_tokens].map(words::short);
    [name, usage.turns.to_string(), input, cached, output, cost(usage), last]
}

fn cost(usage: &Usage) -> String {
    match words::cost(usage) {
        Some(cost) => cost,
        None if usage.total_tokens() == 0 => "-".to_owned(),
        None => "unknown".to_owned(),
    }
}

/// Aligns names to the left and figures to the right, two spaces apart.
fn aligned(rows: &[Row]) -> String {
    let columns: [usize; 7] = std::array::from_fn(|at| rows.iter().map(|row| width::of(&row[at])).max().unwrap_or(0));
    let mut text = String::new();
    for [name, figures @ ..] in rows {
        let mut line = width::pad(name, columns[0]);
        for (figure, columns) in figures.iter().zip(&columns[1..]) {
            let _infallible = write!(line, "  {figure:>columns$}");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// `93 %`; `None` if the whole is zero.
fn percent(part: u64, whole: u64) -> Option<String> {
    let share = u128::from(part) * 100 / u128::from(whole.max(1));
    (whole > 0).then(|| format!("{share} %"))
}
