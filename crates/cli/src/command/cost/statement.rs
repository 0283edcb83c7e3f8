//! Costs of some tasks in tree order, each by itself and with its descendants.

use sortie_engine::CostStatement;
use sortie_journal::{Journal, JournalError, TaskHeader};

use crate::command::task_view::as_tree;

/// Tasks that a statement covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// One task and its descendants.
    Branch,
    /// All tasks of all projects.
    Everything,
}

/// Costs of some tasks.
pub(super) struct Statement {
    pub(super) coverage: Coverage,
    pub(super) lines: Vec<Line>,
    pub(super) total: CostStatement,
    /// Logs that could not be read, and so are not counted.
    pub(super) damages: Vec<String>,
}

/// One task.
pub(super) struct Line {
    /// Depth below the first task.
    pub(super) level: usize,
    pub(super) header: TaskHeader,
    pub(super) own: CostStatement,
    /// Costs with those of its listed descendants.
    pub(super) whole: CostStatement,
}

impl Statement {
    pub(super) fn of(coverage: Coverage, journal: &dyn Journal, headers: &[TaskHeader]) -> Result<Self, JournalError> {
        let (mut lines, mut total, mut damages) = (Vec::new(), CostStatement::default(), Vec::new());
        for (level, header) in as_tree(headers.iter().rev()) {
            let (own, read) = CostStatement::read(journal, header.task_id);
            match read {
                Ok(()) => {}
                Err(damage @ (JournalError::DamagedTask { .. } | JournalError::Damaged { .. })) => {
                    damages.push(damage.to_string());
                }
                Err(error) => return Err(error),
            }
            total += &own;
            lines.push(Line { level, header: header.clone(), whole: own.clone(), own });
        }
        add_below(&mut lines);
        Ok(Self { coverage, lines, total, damages })
    }
}

/// Adds to each task the costs of its descendants, which follow it at deeper levels.
fn add_below(lines: &mut [Line]) {
    // From the last line up, so that children already include theirs.
    for at in (0..lines.len()).rev() {
        let (above, behind) = lines.split_at_mut(at + 1);
        let line = &mut above[at];
        for below in behind.iter().take_while(|below| below.level > line.level) {
            if below.level == line.level + 1 {
                line.whole += &below.whole;
            }
        }
    }
}
