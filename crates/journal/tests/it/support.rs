//! Entries to append, journals to append them to, and this binary as another process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sortie_journal::{Durability, Entry, Journal, JournalError, SqliteJournal};
use sortie_protocol::{
    AgentConfig, CallId, CallOutput, Event, Fact, Grant, Job, Limits, ModelChoice, Reach, ServerTools, Status, TaskId,
    TaskOutcome, Timestamp, ToolOutput, Usage,
};
use tempfile::TempDir;

/// A temporary directory with a journal in it.
pub(crate) struct Place {
    pub(crate) directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("journal.db")
    }

    pub(crate) fn open(&self) -> SqliteJournal {
        SqliteJournal::open(&self.path()).unwrap()
    }

    /// A plain connection to the file, as any other program could open.
    pub(crate) fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

/// The id `agent-` and twelve times the letter.
pub(crate) fn task(letter: char) -> TaskId {
    letter.to_string().repeat(12).parse().unwrap()
}

pub(crate) fn entry(task: TaskId, fact: Fact) -> Entry {
    Entry { task_id: task, leg: 1, attempt: 1, time: Timestamp(1_000), after: None, fact }
}

pub(crate) fn noticed(task: TaskId, text: &str) -> Entry {
    entry(task, Fact::Noticed { text: text.to_owned() })
}

pub(crate) fn started(task: TaskId) -> Entry {
    entry(task, Fact::TaskStarted { job: Box::new(job(task, None, task)) })
}

pub(crate) fn started_by(parent: TaskId, task: TaskId, root: TaskId) -> Entry {
    let fact = Fact::TaskStarted { job: Box::new(job(task, Some(parent), root)) };
    entry(task, fact)
}

/// Opens the next leg, or takes over the open one, under the attempt of the entry.
pub(crate) fn resumed(task: TaskId, leg: u32) -> Entry {
    let config = Box::new(job(task, None, task).config);
    Entry {
        leg,
        ..entry(task, Fact::TaskResumed { prompt: None, title: None, config, notices: Vec::new(), alone: false })
    }
}

pub(crate) fn child_started(parent: TaskId, child: TaskId) -> Entry {
    entry(parent, Fact::ChildStarted { call: CallId::from("call_1"), child, background: false })
}

pub(crate) fn child_ended(parent: TaskId, child: TaskId) -> Entry {
    entry(parent, Fact::ChildEnded { call: CallId::from("call_1"), child, child_leg: 1 })
}

/// The call that waits for a child returns its report.
pub(crate) fn call_finished(parent: TaskId) -> Entry {
    let output = CallOutput { call: CallId::from("call_1"), output: ToolOutput::done("done", "done") };
    entry(parent, Fact::CallFinished { output, refused: false })
}

pub(crate) fn ended(task: TaskId, status: Status) -> Entry {
    entry(task, Fact::TaskEnded { outcome: Box::new(outcome(task, status)) })
}

/// Ended with a report that was cut, and is kept in full in this file.
pub(crate) fn ended_with_report(task: TaskId, report: &str) -> Entry {
    let outcome = TaskOutcome { full_text_path: Some(report.to_owned()), ..outcome(task, Status::Completed) };
    entry(task, Fact::TaskEnded { outcome: Box::new(outcome) })
}

fn outcome(task: TaskId, status: Status) -> TaskOutcome {
    TaskOutcome {
        task_id: task,
        agent: "explore".to_owned(),
        status,
        reason: None,
        text: "done".to_owned(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: model(),
        usage: Usage::default(),
        truncated: false,
        full_text_path: None,
        truncation: None,
        deadline_ms: None,
        notices: Vec::new(),
        error: None,
        failed: Vec::new(),
        refused: Vec::new(),
        given_again: None,
    }
}

fn job(task: TaskId, parent: Option<TaskId>, root: TaskId) -> Job {
    Job {
        task,
        parent,
        root,
        title: format!("look at {}", task.letters()),
        prompt: "Where is it?".to_owned(),
        workspace: "/workspace".to_owned(),
        contract: "sortie".to_owned(),
        report_cap_bytes: None,
        report_cap_characters: None,
        report_cap_lines: None,
        report_cap_json_bytes: None,
        counted_percent: None,
        fork: None,
        context_files: Vec::new(),
        reach: Reach::default(),
        notices: Vec::new(),
        config: AgentConfig {
            agent: "explore".to_owned(),
            model: model(),
            system: "You explore.".to_owned(),
            tools: vec!["Read".to_owned()],
            grant: Grant::default(),
            limits: Limits::default(),
            depth: u32::from(parent.is_some()),
            chain: vec!["explore".to_owned()],
            output_schema: None,
            model_asked: None,
            server_tools: ServerTools::default(),
        },
    }
}

fn model() -> ModelChoice {
    ModelChoice { route: "main".to_owned(), id: "offline".to_owned() }
}

pub(crate) async fn append(journal: &dyn Journal, entries: impl Into<Vec<Entry>>) -> Result<(), JournalError> {
    journal.append(entries.into(), Durability::Synced).await
}

/// One line per event: `aaaa 1 task_started`, and the text if there is one.
pub(crate) fn render<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let lines = events.into_iter().map(|event| {
        let text = match &event.fact {
            Fact::Noticed { text } => format!(" {text}"),
            _ => String::new(),
        };
        format!("{} {} {}{text}\n", &event.task_id.letters()[..4], event.seq, event.fact.kind())
    });
    lines.collect()
}

/// Role of another process in a test, which runs the test of the same name.
const ROLE: &str = "SORTIE_JOURNAL_TEST_ROLE";

/// The role of this process in the test, if it was started by [`again`].
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// This binary again, running only `test`, in a role. Its input and output are pipes.
pub(crate) fn again(test: &str, role: &str) -> Command {
    again_from(&std::env::current_exe().unwrap(), test, role)
}

pub(crate) fn again_from(binary: &Path, test: &str, role: &str) -> Command {
    let mut command = Command::new(binary);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).current_dir("/");
    command.env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command
}

/// Runs to the end and checks that the test was found and passed.
pub(crate) fn passes(command: &mut Command) {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}
