//! A cache over a workspace and a journal: what is reused, what is kept, and its index.

mod kept;
mod reused;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use sortie_journal::{Durability, Entry, MemoryJournal};
use sortie_policy::Places;
use sortie_protocol::{
    AgentConfig, ApprovalAnswer, CallOutput, Fact, Grant, GrantLayer, Limits, ModelChoice, Sender, ServerTools, Status,
    Timestamp, ToolCall, ToolOutput, Usage,
};
use tempfile::TempDir;

use super::*;

/// Enough for the slowest machine.
const BOUNDS: SnapshotBounds = SnapshotBounds { files: 100, bytes: 100_000, time: Duration::from_hours(1) };

/// A workspace, a journal, and a cache.
struct World {
    home: TempDir,
    workspace: Workspace,
    journal: MemoryJournal,
    agents: Registry,
    endpoints: Vec<Endpoint>,
    cache: ResultCache,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("workspace");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join(".gitignore"), "*.tmp\n").unwrap();
        fs::write(root.join("a.txt"), "one").unwrap();
        fs::write(root.join("src/main.rs"), "fn main() {}").unwrap();
        fs::write(root.join("ignored.tmp"), "x").unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let cache = ResultCache::within(SpillDir::open(&home.path().join("cache")).unwrap(), BOUNDS);
        let endpoints = ["main", "light"].map(endpoint).to_vec();
        Self { workspace, journal: MemoryJournal::new(), agents: Registry::builtin(), endpoints, cache, home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("workspace").join(name)
    }

    fn look_up(&self, job: &Job) -> CacheAnswer {
        let query = CacheQuery { job, agents: &self.agents, endpoints: &self.endpoints, has_approvals: false };
        self.cache.look_up(&self.journal, &self.workspace, &query)
    }

    fn hit(&self, job: &Job) -> Option<TaskOutcome> {
        match self.look_up(job) {
            CacheAnswer::Hit(outcome) => Some(*outcome),
            CacheAnswer::Miss(_) => None,
            CacheAnswer::Unable(notice) => panic!("nothing can be kept: {notice:?}"),
        }
    }

    fn ticket(&self, job: &Job) -> CacheTicket {
        match self.look_up(job) {
            CacheAnswer::Miss(ticket) => *ticket,
            other => panic!("there should be nothing yet: {other:?}"),
        }
    }

    fn remember(&self, ticket: &CacheTicket) {
        let approvals = Approvals::default();
        assert_eq!(self.cache.remember(&self.journal, &self.workspace, ticket, &approvals), None);
    }

    /// Runs a task that records these facts between its start and its completion.
    async fn work(&self, job: &Job, facts: Vec<Fact>) {
        self.end(job, facts, outcome(job, "It is in src/main.rs.")).await;
    }

    async fn end(&self, job: &Job, facts: Vec<Fact>, outcome: TaskOutcome) {
        let start = Fact::TaskStarted { job: Box::new(job.clone()) };
        let end = Fact::TaskEnded { outcome: Box::new(outcome) };
        self.append(job, 1, [vec![start], facts, vec![end]].concat()).await;
    }

    async fn append(&self, job: &Job, leg: u32, facts: Vec<Fact>) {
        let entry =
            |fact| Entry { task_id: job.task, leg, attempt: 1, time: Timestamp(1_700_000_000_000), after: None, fact };
        self.journal.append(facts.into_iter().map(entry).collect(), Durability::Synced).await.unwrap();
    }

    /// True if the outcome of a task with these facts is reused.
    async fn is_kept_after(&self, facts: Vec<Fact>) -> bool {
        let job = job(0);
        let ticket = self.ticket(&job);
        self.work(&job, facts).await;
        self.remember(&ticket);
        self.hit(&again(&job)).is_some()
    }
}

fn endpoint(route: &str) -> Endpoint {
    Endpoint {
        route: route.to_owned(),
        wire: "anthropic".to_owned(),
        base_url: "https://models.example/v1".to_owned(),
        model: "scripted".to_owned(),
    }
}

fn task(letter: u8) -> TaskId {
    TaskId::from_random([letter; 12])
}

fn job(letter: u8) -> Job {
    let config = AgentConfig {
        agent: "explore".to_owned(),
        model: ModelChoice { route: "main".to_owned(), id: "scripted".to_owned() },
        system: "You explore.".to_owned(),
        tools: ["Read", "LS", "Glob", "Grep", "Task"].map(str::to_owned).to_vec(),
        grant: Grant { layers: vec![GrantLayer::new("agent explore")] },
        limits: Limits::default(),
        depth: 1,
        chain: vec!["main".to_owned(), "explore".to_owned()],
        output_schema: None,
        model_asked: None,
        server_tools: ServerTools::default(),
    };
    Job {
        reach: sortie_protocol::Reach::default(),
        task: task(letter),
        parent: None,
        root: task(letter),
        title: "Find it".to_owned(),
        prompt: "Where is main?".to_owned(),
        workspace: "/w".to_owned(),
        contract: "sortie".to_owned(),
        report_cap_bytes: Some(8000),
        report_cap_characters: None,
        report_cap_lines: None,
        report_cap_json_bytes: None,
        counted_percent: None,
        fork: None,
        context_files: Vec::new(),
        notices: Vec::new(),
        config,
    }
}

/// Returns this request as another task would make it.
fn again(job: &Job) -> Job {
    Job { task: task(25), root: task(24), parent: Some(task(24)), title: "Once more".to_owned(), ..job.clone() }
}

fn outcome(job: &Job, text: &str) -> TaskOutcome {
    TaskOutcome {
        task_id: job.task,
        agent: job.config.agent.clone(),
        status: Status::Completed,
        reason: None,
        text: text.to_owned(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: job.config.model.clone(),
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

fn called(tool: &str, arguments: &str) -> Fact {
    let call = ToolCall { id: "1".into(), tool: tool.to_owned(), arguments: arguments.to_owned() };
    Fact::CallStarted { call, idempotent: true }
}

fn returned(output: ToolOutput) -> Fact {
    Fact::CallFinished { output: CallOutput { call: "1".into(), output }, refused: false }
}

fn reading() -> Vec<Fact> {
    vec![
        Fact::TaskAdmitted,
        Fact::ModelCalled { turn: 1, input_tokens: 0, reserved: Usage::default() },
        called("Grep", r#"{"pattern":"main"}"#),
        returned(ToolOutput::done("src/main.rs", "1 file")),
        called("Read", r#"{"file_path":"src/main.rs"}"#),
        returned(ToolOutput::done("1\tfn main() {}", "1 line")),
    ]
}

#[tokio::test]
async fn a_damaged_or_wrong_index_is_only_a_miss() {
    let (world, first) = (World::new(), job(0));
    assert!(world.is_kept_after(reading()).await);
    let index = world.home.path().join("cache/results");
    let sound = fs::read_to_string(&index).unwrap();
    assert_eq!(fs::metadata(&index).unwrap().permissions().mode() & 0o777, 0o600);

    let other = Job { prompt: "Something else?".to_owned(), ..job(1) };
    world.work(&other, Vec::new()).await;
    let to_other = sound.replace(&first.task.to_string(), &other.task.to_string());
    let too_long = sound.repeat(1000);
    for damaged in ["", "no index", &sound[..70], &sound[1..], &to_other, &too_long, "\u{fffd} \n\n é é\n"] {
        fs::write(&index, damaged).unwrap();
        assert!(world.hit(&again(&first)).is_none(), "{damaged:.100}");
    }
    fs::write(&index, format!("no index\n{sound}{{}}\n")).unwrap();
    assert!(world.hit(&again(&first)).is_some(), "what is sound of it counts");

    fs::write(&index, [0xff; 100]).unwrap();
    world.remember(&world.ticket(&first));
    assert!(world.hit(&again(&first)).is_some(), "it is written anew");
}

#[test]
fn the_index_keeps_one_newest_entry_for_each_request() {
    let (world, first) = (World::new(), job(0));
    let key = |number: u32| Key::of_request(&Job { prompt: number.to_string(), ..job(0) });
    let index = world.home.path().join("cache/results");
    world.cache.index.put(&key(0), first.task).unwrap();
    let full: Vec<String> = (0..500).map(|number| format!("{} {}\n", key(number), first.task)).collect();
    fs::write(&index, full.concat()).unwrap();
    world.cache.index.put(&key(500), first.task).unwrap();
    world.cache.index.put(&key(499), task(2)).unwrap();
    assert_eq!(fs::read_to_string(&index).unwrap().lines().count(), 500);
    assert_eq!(world.cache.index.find(&key(0)), None);
    assert_eq!(world.cache.index.find(&key(1)), Some(first.task));
    assert_eq!(world.cache.index.find(&key(500)), Some(first.task));
    assert_eq!(world.cache.index.find(&key(499)), Some(task(2)));
}

#[tokio::test]
async fn nothing_is_reused_or_kept_after_an_approval_for_the_tree() {
    let (world, job) = (World::new(), job(0));
    let ticket = world.ticket(&job);
    world.work(&job, reading()).await;
    let approvals = Approvals::default();
    approvals.add(&["Read".to_owned()], &Places::default());
    assert_eq!(world.cache.remember(&world.journal, &world.workspace, &ticket, &approvals), None);
    assert!(world.hit(&again(&job)).is_none());
    world.remember(&ticket);
    let query =
        CacheQuery { job: &again(&job), agents: &world.agents, endpoints: &world.endpoints, has_approvals: true };
    let looked = world.cache.look_up(&world.journal, &world.workspace, &query);
    assert!(matches!(looked, CacheAnswer::Unable(None)), "{looked:?}");
}

#[test]
fn a_workspace_beyond_the_bounds_is_reported_once() {
    let world = World::new();
    let bounds = SnapshotBounds { files: 2, ..BOUNDS };
    let cache = ResultCache::within(SpillDir::open(&world.home.path().join("cache")).unwrap(), bounds);
    let job = job(0);
    let query = CacheQuery { job: &job, agents: &world.agents, endpoints: &world.endpoints, has_approvals: false };
    let looked = || match cache.look_up(&world.journal, &world.workspace, &query) {
        CacheAnswer::Unable(notice) => notice,
        other => panic!("{other:?}"),
    };
    assert_eq!(looked().as_deref(), Some("results are not cached: the workspace has more than 2 files"));
    assert_eq!(looked(), None);
}
