//! A process that delegates for long: the thousandth delegation finds the same as the hundredth.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{Clock as _, Engine, EngineParts, EngineSettings, Permissions, RandomIds, SystemClock};
use sortie_journal::{Journal as _, SqliteJournal};
use sortie_protocol::{Status, TaskRequest, Timestamp};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, reply, when};

use crate::support::ask;

/// Set in the process that does nothing but this test.
const ALONE: &str = "SORTIE_ENGINE_TEST_ALONE";
/// Memory that the allocator may keep for itself. A leak of a delegation's history alone would be more.
const SLACK_KIB: u64 = 4096;

/// Background children of one main agent.
const BESIDE: usize = 9;

/// Resources of a process.
#[derive(Debug, Clone, Copy)]
struct Held {
    memory_kib: u64,
    descriptors: usize,
    threads: usize,
    files: usize,
}

impl Held {
    fn now(folder: &Path) -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("the system tells");
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("memory is told");
        let count = |directory: &Path| fs::read_dir(directory).expect("a directory").count();
        Self {
            memory_kib: memory.trim().trim_end_matches(" kB").parse().expect("a number"),
            descriptors: count(Path::new("/proc/self/fd")),
            threads: count(Path::new("/proc/self/task")),
            // The workspace, its one directory, the reports, and temporary files.
            files: ["workspace", "workspace/made", "reports", "temporary"]
                .map(|name| count(&folder.join(name)))
                .iter()
                .sum(),
        }
    }
}

impl Held {
    /// Checks that the process still has about as much.
    fn is_still_so(self, folder: &Path) {
        let (early, late) = (self, Self::now(folder));
        assert_eq!(late.files, early.files, "{early:?} {late:?}");
        // Files that others look through at this instant are not a leak; one for each delegation would be hundreds.
        assert!(late.descriptors <= early.descriptors + 8 && late.threads <= early.threads + 2, "{early:?} {late:?}");
        assert!(late.memory_kib <= early.memory_kib + SLACK_KIB, "{early:?} {late:?}");
    }
}

fn engine(folder: &Path, journal: Arc<SqliteJournal>) -> Engine {
    let big = "a line of a file that is read\n".repeat(300);
    fs::write(folder.join("workspace/big.txt"), &big).expect("a fresh file");
    let beside = json!({"description": "Part", "prompt": "Read it.", "subagent_type": "general-purpose",
        "run_in_background": true});
    let script = Script::new()
        .on(
            when::prompt_contains("MAIN").turn(0),
            reply::calls((0..BESIDE).map(|_| reply::call("Task", beside.clone()))),
        )
        .on(when::prompt_contains("MAIN"), reply::text("All is read."))
        .on(
            when::turn(0),
            reply::calls([
                reply::call("Read", json!({"file_path": "big.txt"})),
                reply::call("Write", json!({"file_path": "made/new.txt", "content": big})),
            ]),
        )
        .otherwise(reply::text("It was read."));
    let model = ScriptedModel::new(script).without_recording();
    Engine::new(EngineParts {
        journal,
        models: Arc::new(ScriptedModels::of(Arc::new(model))),
        workspace: Arc::new(Workspace::open(&folder.join("workspace")).expect("the workspace is there")),
        agents: Registry::builtin().fixed(),
        contract: Arc::new(Sortie),
        more_tools: Vec::new(),
        remote_tools: Arc::new(sortie_engine::NoRemoteTools),
        shell: None,
        reports: Arc::new(SpillDir::open(&folder.join("reports")).expect("a fresh directory")),
        cache: None,
        hooks: Arc::new(sortie_engine::NoHooks),
        rules: EngineSettings::default(),
        permissions: Permissions::unrestricted(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    })
}

/// Delegates again and again, and compares the process's resources early and late.
async fn delegate(folder: &Path) {
    let journal = Arc::new(SqliteJournal::open(&folder.join("journal.db")).expect("a fresh journal"));
    let engine = engine(folder, Arc::clone(&journal));
    let mut early = None;
    for number in 1..=1000 {
        let request = TaskRequest { agent: "general-purpose".to_owned(), ..ask("Read it.") };
        let running = engine.task(request).await.expect("it starts");
        let outcome = running.outcome().await.expect("the journal works");
        assert_eq!((outcome.status, outcome.usage.tool_calls), (Status::Completed, 2), "{number}: {outcome:?}");
        // The journal caches its entries up to a limit; the cache is kept small here.
        if number % 50 == 0 {
            let soon = Timestamp(SystemClock.now().0 + 60_000);
            let pruned = journal.prune(soon, &mut |_| ()).expect("the journal works");
            assert_eq!(pruned.tasks.len(), 50, "all have ended");
        }
        // The first delegations open resources that all of them share.
        if number == 100 {
            early = Some(Held::now(folder));
        }
    }
    early.expect("there were more than a hundred").is_still_so(folder);
}

/// Repeats this with background children of main agents, which are parked meanwhile.
async fn delegate_beside(folder: &Path) {
    let journal = Arc::new(SqliteJournal::open(&folder.join("journal.db")).expect("a fresh journal"));
    let engine = engine(folder, Arc::clone(&journal));
    let reports = SpillDir::open(&folder.join("reports")).expect("it is there");
    let mut early = None;
    for number in 1..=110 {
        let running = engine.run(ask("MAIN")).await.expect("it starts");
        let outcome = running.outcome().await.expect("the journal works");
        let n_calls = 3 * BESIDE as u64;
        assert_eq!((outcome.status, outcome.usage.tool_calls), (Status::Completed, n_calls), "{number}: {outcome:?}");
        if number % 5 == 0 {
            let soon = Timestamp(SystemClock.now().0 + 60_000);
            let pruned = journal.prune(soon, &mut |_| ()).expect("the journal works");
            assert_eq!(pruned.tasks.len(), 5 * (1 + BESIDE), "all have ended");
            // Progress files for people, removed together with their tasks.
            reports
                .names()
                .expect("it can be read")
                .iter()
                .for_each(|name| reports.discard(name).expect("it is there"));
        }
        if number == 20 {
            early = Some(Held::now(folder));
        }
    }
    early.expect("there were more").is_still_so(folder);
}

#[test]
fn a_thousand_delegations_in_a_row_leave_memory_descriptors_and_files_as_they_were() {
    alone("a_thousand_delegations_in_a_row_leave_memory_descriptors_and_files_as_they_were", async |folder| {
        delegate(folder).await;
    });
}

#[test]
fn a_thousand_background_children_leave_memory_descriptors_and_files_as_they_were() {
    alone("a_thousand_background_children_leave_memory_descriptors_and_files_as_they_were", async |folder| {
        delegate_beside(folder).await;
    });
}

/// Runs a test in a process of its own: other tests share this one.
fn alone(test: &str, work: impl AsyncFnOnce(&Path)) {
    if let Some(folder) = std::env::var_os(ALONE) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build();
        return runtime.expect("a runtime").block_on(work(Path::new(&folder)));
    }
    let folder = tempfile::tempdir().expect("a temp directory");
    for name in ["workspace/made", "temporary"] {
        fs::create_dir_all(folder.path().join(name)).expect("a fresh directory");
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", &format!("endurance::{test}"), "--nocapture"])
        .env(ALONE, folder.path())
        .env("TMPDIR", folder.path().join("temporary"))
        .output()
        .expect("it can be started");
    let (told, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && told.contains("1 passed"), "{told}{complaint}");
}
