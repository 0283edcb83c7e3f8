//! A cost statement as JSON.

use serde_json::{Value, json};
use sortie_engine::CostStatement;
use sortie_protocol::Usage;

use super::statement::{Coverage, Line, Statement};
use crate::render::state;

pub(super) fn of(statement: &Statement) -> Value {
    let mut object = whole(&statement.total);
    if statement.coverage == Coverage::Everything {
        object["tasks"] = statement.lines.len().into();
    } else if let Some(first) = nested(&mut statement.lines.iter().peekable(), 0).into_iter().next() {
        object["task"] = first;
    }
    object
}

/// Takes the tasks of one level from `lines`, each with its descendants.
fn nested<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a Line>>, level: usize) -> Vec<Value> {
    let mut tasks = Vec::new();
    while let Some(line) = lines.next_if(|line| line.level >= level) {
        let header = &line.header;
        let mut task = json!({
            "task_id": header.task_id,
            "agent": header.agent,
            "title": header.title,
            "status": state(header),
            "own": figures(&line.own.usage()),
            "with_all_below": figures(&line.whole.usage()),
        });
        task["children"] = nested(lines, line.level + 1).into();
        tasks.push(task);
    }
    tasks
}

fn whole(total: &CostStatement) -> Value {
    let by_model = total.models.iter().map(|(model, usage)| {
        let mut object = figures(usage);
        object["model"] = json!(model);
        object
    });
    let usage = total.usage();
    json!({
        "total": figures(&usage),
        "models": by_model.collect::<Vec<_>>(),
        "input": {
            "from_cache": share(usage.cache_read_tokens, usage.all_input_tokens()),
            "repeated": share(total.repeated_tokens, total.following_tokens),
            "estimates_off_by": share(total.misjudged_tokens, total.measured_tokens),
        },
    })
}

/// Figures of a usage. The cost is absent if no price is known, and excludes `unpriced_tokens`.
fn figures(usage: &Usage) -> Value {
    let mut figures = json!({
        "calls": usage.turns,
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
        "unpriced_tokens": usage.unpriced_tokens(),
    });
    if let Some(cost) = usage.known_cost() {
        figures["cost_usd"] = json!(cost);
    }
    figures
}

/// Share of a part, `None` if the whole is zero.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
