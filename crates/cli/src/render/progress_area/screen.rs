//! Working lines at the bottom of a terminal, redrawn in place.
//!
//! Makes text only; [`crate::render::stderr_progress`] writes it.

use std::fmt::Write as _;

use anstyle::Style;
use sortie_protocol::Timestamp;

use crate::render::progress::{Happening, Progress};
use crate::render::progress_style::{Extent, ProgressStyle};
use crate::text::{paint, width};

/// Lines on the screen now.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// Columns of each line.
    standing: Vec<usize>,
}

impl Screen {
    /// Text that puts `happenings` above and the working tasks below.
    pub(crate) fn draw(
        &mut self,
        look: &dyn ProgressStyle,
        happenings: &[Happening],
        progress: &Progress,
        now: Timestamp,
        extent: Extent,
    ) -> String {
        let mut text = self.erase(extent.columns);
        for happening in happenings {
            for row in look.lasting(happening, extent) {
                text.push_str(&row);
                text.push('\n');
            }
        }
        if !extent.redraws {
            return text;
        }
        let live = live(look, progress, now, extent);
        self.standing = live.iter().map(|line| width::of(line)).collect();
        for line in live {
            let _infallible = writeln!(text, "{}", paint(&line, Style::new().dimmed(), extent.colour));
        }
        text
    }

    /// Text that erases the lower part.
    pub(crate) fn erase(&mut self, columns: usize) -> String {
        // A terminal made narrower since then has wrapped the lines.
        let rows: usize = self.standing.drain(..).map(|line| line.div_ceil(columns.max(1)).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\r\x1b[J") }
    }
}

fn live(look: &dyn ProgressStyle, progress: &Progress, now: Timestamp, extent: Extent) -> Vec<String> {
    // One row for the cursor below; a region higher than the screen could not be erased again.
    let room = extent.rows.saturating_sub(1).max(1);
    // The last column stays free: some terminals wrap as soon as it is written.
    let columns = extent.columns.saturating_sub(1);
    let tasks = progress.working();
    let mut lines: Vec<String> = tasks.iter().flat_map(|task| look.working(task, now, columns)).collect();
    if lines.len() > room {
        lines = tasks.iter().filter_map(|task| look.working(task, now, columns).into_iter().next()).collect();
    }
    if lines.len() > room {
        lines.truncate(room - 1);
        lines.push(format!("  … and {} more working", tasks.len() - lines.len()));
    }
    lines.iter().map(|line| width::cut(line, columns)).collect()
}
