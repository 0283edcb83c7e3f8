//! A resumed run of another process: tasks keep their names.

use expect_test::expect;
use sortie_journal::{Durability, Entry, Journal as _, MemoryJournal};
use sortie_protocol::{Event, Fact, Timestamp, ToolOutput};

use super::tale::{Tale, id};
use super::terminal::Terminal;
use super::{CALM, LOG, check};
use crate::render::progress::earlier::EarlierTasks;
use crate::render::progress::{Happening, Progress};
use crate::render::progress_area::screen::Screen;
use crate::render::progress_style::plain::Plain;

/// Journal with the events of a tale.
fn journal_of(tale: &Tale) -> MemoryJournal {
    let journal = MemoryJournal::new();
    let entry = |Event { task_id, leg, time, fact, .. }: &Event| Entry {
        task_id: *task_id,
        leg: *leg,
        attempt: 1,
        time: *time,
        after: None,
        fact: fact.clone(),
    };
    let entries = tale.events.iter().map(entry).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(journal.append(entries, Durability::Ordered)).unwrap();
    journal
}

#[test]
fn an_open_call_of_an_interrupted_run_keeps_its_name_after_the_resume() {
    let before = Tale::default().started('m', "main", "x").started('a', "explore", "first").asked(
        'a',
        "Write",
        r#"{"file_path":"out1.txt"}"#,
    );
    let config = before.events.iter().find_map(|event| match &event.fact {
        Fact::TaskStarted { job } if job.task == id('a') => Some(Box::new(job.config.clone())),
        _ => None,
    });
    let goes_on =
        Fact::TaskResumed { prompt: None, title: None, config: config.unwrap(), notices: Vec::new(), alone: false };
    let after = Tale::default().fact('a', goes_on).refused(
        'a',
        "Write",
        ToolOutput::failure("Write was not run: nobody answered"),
    );
    let mut progress = Progress::new(CALM);
    progress.recall(EarlierTasks::read(&journal_of(&before), id('m')).unwrap());
    let happenings: Vec<Happening> = after.events.iter().flat_map(|event| progress.apply(event)).collect();
    let (mut screen, mut terminal) = (Screen::default(), Terminal::default());
    terminal.write(&screen.draw(&Plain, &happenings, &progress, Timestamp(after.now), LOG));
    check(
        &terminal.text(),
        &expect![[r#"
            explore agent-aaaaaaaaaaaa started: first · main (test-model)
            explore agent-aaaaaaaaaaaa: ✗ Write out1.txt refused: Write was not run: nobody answered
        "#]],
    );
}
