//! Hooks with real programs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use serde_json::{Value, json};
use sortie_engine::{Asking, Hooks as _, Verdict};
use sortie_policy::Redactor;
use sortie_protocol::{Job, TaskOutcome};
use tempfile::TempDir;

use super::{HookGround, ProgramHooks};
use crate::settings::{Hook, HookProgram, Seam};

const LONG: Duration = Duration::from_mins(1);

/// Workspace, and a directory outside it that agents cannot change.
struct Yard {
    dir: TempDir,
}

impl Yard {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("workspace/.sortie/hooks")).unwrap();
        fs::create_dir(dir.path().join("beside")).unwrap();
        Self { dir }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(relative)
    }

    /// Writes a program in another process: a child forked meanwhile would keep the file open, so that it could not
    /// run.
    fn program(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        let script = r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#;
        let status = Command::new("/bin/sh").args(["-c", script, "sh", text]).arg(&path).status().unwrap();
        assert!(status.success());
        path
    }

    fn ground(&self, variables: &[(&str, &str)], trusts: bool) -> HookGround {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let (trust, redactor) = (Arc::new(move |_: &str, _: &[u8]| trusts), Arc::new(Redactor::new(Vec::new())));
        HookGround::new(self.path("workspace"), [], variables.collect::<Vec<_>>(), trust, redactor)
    }

    fn hooks(&self, hooks: Vec<Hook>) -> ProgramHooks {
        ProgramHooks::new(hooks, self.ground(&[], true))
    }

    fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    fn job(&self) -> Job {
        let job = json!({
            "task": "agent-bbbbbbbbbbbb", "parent": "agent-aaaaaaaaaaaa", "root": "agent-aaaaaaaaaaaa",
            "title": "Find it", "prompt": "Where is it?", "workspace": self.path("workspace"), "contract": "sortie",
            "config": {
                "agent": "explore", "model": {"route": "main", "id": "m"}, "system": "", "tools": [],
                "grant": [], "limits": {}, "depth": 1, "chain": ["main", "explore"],
            },
        });
        serde_json::from_value(job).unwrap()
    }
}

fn hook(on: Seam, program: impl Into<PathBuf>, arguments: &[&str]) -> Hook {
    let program = program.into();
    Hook {
        on,
        shown: format!("`{}`", program.file_name().unwrap().display()),
        program: HookProgram::At(program),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        time: LONG,
        agents: Vec::new(),
    }
}

fn shell(on: Seam, script: &str) -> Hook {
    hook(on, "/bin/sh", &["-c", script])
}

fn outcome() -> TaskOutcome {
    let outcome = json!({
        "task_id": "agent-bbbbbbbbbbbb", "agent": "explore", "status": "completed", "text": "Here.",
        "model": {"route": "main", "id": "m"}, "usage": sortie_protocol::Usage::default(),
    });
    serde_json::from_value(outcome).unwrap()
}

fn told(text: &str, yard: &Yard) -> String {
    let value: Value = serde_json::from_str(text).unwrap();
    format!("{value:#}").replace(&*yard.path("").to_string_lossy(), "<dir>/")
}

#[tokio::test]
async fn a_hook_gets_the_whole_start_and_runs_in_the_workspace() {
    let yard = Yard::new();
    let hooks = yard.hooks(vec![shell(Seam::Started, "cat > told; pwd > where")]);
    assert_eq!(hooks.before_start(&yard.job(), 1).await, Verdict::default());
    assert_eq!(yard.read("workspace/where").trim(), yard.path("workspace").to_str().unwrap());
    expect![[r#"
        {
          "v": 1,
          "event": "task_started",
          "task_id": "agent-bbbbbbbbbbbb",
          "depth": 1,
          "agent": "explore",
          "title": "Find it",
          "workspace": "<dir>/workspace",
          "parent_id": "agent-aaaaaaaaaaaa",
          "leg": 1,
          "prompt": "Where is it?"
        }"#]]
    .assert_eq(&told(&yard.read("workspace/told"), &yard));
}

#[tokio::test]
async fn a_start_is_vetoed_by_exit_code_2_and_the_reason_is_on_stderr() {
    let yard = Yard::new();
    let after = shell(Seam::Started, "touch after");
    let veto = shell(Seam::Started, "echo not on stdout; printf 'not\\ntoday\\n' >&2; exit 2");
    let hooks = yard.hooks(vec![veto, after]);
    let verdict = hooks.before_start(&yard.job(), 1).await;
    assert_eq!(verdict, Verdict { veto: Some("not today".to_owned()), notices: Vec::new() });
    let failure = verdict.failure().unwrap();
    assert_eq!((failure.code.as_str(), &*failure.message), ("vetoed", "a hook did not let the task start: not today"));
    assert!(!yard.path("workspace/after").exists(), "nobody else is asked");
    let silent = yard.hooks(vec![shell(Seam::Started, "exit 2")]).before_start(&yard.job(), 1).await;
    assert_eq!(silent.veto.as_deref(), Some("`sh` gave no reason"));
    let long = yard.hooks(vec![shell(Seam::Started, "yes no | head -c 100000 >&2; exit 2")]);
    assert!(long.before_start(&yard.job(), 1).await.veto.unwrap().len() < 1_100);
}

#[tokio::test]
async fn any_other_failure_is_a_notice_and_the_next_hook_runs() {
    let yard = Yard::new();
    let hooks = yard.hooks(vec![
        shell(Seam::Started, "echo broken >&2; exit 1"),
        shell(Seam::Started, "kill -9 $$"),
        hook(Seam::Started, "/nowhere/program", &[]),
        Hook { program: HookProgram::Named("no-such-program".to_owned()), ..shell(Seam::Started, "") },
        hook(Seam::Started, yard.path("beside"), &[]),
        shell(Seam::Started, "touch after"),
    ]);
    let Verdict { veto, notices } = hooks.before_start(&yard.job(), 1).await;
    assert_eq!(veto, None);
    expect![[r#"
        the hook `sh` for task_started failed with exit code 1
        the hook `sh` for task_started was killed by signal 9
        the hook `program` for task_started was not run: /nowhere/program: No such file or directory (os error 2)
        the hook `sh` for task_started was not run: there is no such program in your PATH
        the hook `beside` for task_started was not run: <dir>/beside cannot be run: Permission denied (os error 13)
    "#]]
    .assert_eq(&(notices.join("\n") + "\n").replace(&*yard.path("").to_string_lossy(), "<dir>/"));
    assert!(yard.path("workspace/after").exists());
    assert_eq!(hooks.settled().await, ["the hook `sh` for task_started failed with exit code 1: broken"]);
}

#[tokio::test]
async fn a_hooks_words_are_reported_without_secrets() {
    const SAYS_KEY: &str = "echo POST with ghp_abcdefghijklmnopqrstuvwxyz0123456789 failed >&2; ";
    let yard = Yard::new();
    let failing = [Seam::Started, Seam::Ended].map(|seam| shell(seam, &format!("{SAYS_KEY} exit 1")));
    let veto = shell(Seam::Started, &format!("{SAYS_KEY} exit 2"));
    let hooks = yard.hooks(failing.into_iter().chain([veto]).collect());
    let verdict = hooks.before_start(&yard.job(), 1).await;
    hooks.ended(&yard.job(), 1, &outcome());
    let told = [verdict.notices, verdict.veto.into_iter().collect(), hooks.settled().await].concat();
    expect![[r#"
        the hook `sh` for task_started failed with exit code 1
        POST with [redacted: GitHub token] failed
        the hook `sh` for task_started failed with exit code 1: POST with [redacted: GitHub token] failed
        the hook `sh` for task_ended failed with exit code 1: POST with [redacted: GitHub token] failed"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn the_hooks_that_are_waited_for_are_known() {
    let yard = Yard::new();
    let life = pipe(&yard, "life");
    let hooks = yard.hooks(vec![shell(Seam::Ended, "cat life")]);
    assert!(hooks.under_way().is_empty());
    hooks.ended(&yard.job(), 1, &outcome());
    assert_eq!(hooks.under_way(), ["the hook `sh` for task_ended"]);
    let opening = tokio::task::spawn_blocking(move || File::options().write(true).open(life).unwrap());
    let (opened, settled) = tokio::join!(async { drop(opening.await.unwrap()) }, hooks.settled());
    assert_eq!((opened, settled, hooks.under_way()), ((), Vec::new(), Vec::new()));
}

/// Named pipe in the workspace. It ends when its last writer closes it.
fn pipe(yard: &Yard, name: &str) -> PathBuf {
    let path = yard.path("workspace").join(name);
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    path
}

#[tokio::test]
async fn a_hook_that_does_not_end_is_ended_with_its_group() {
    let yard = Yard::new();
    let reader = open(pipe(&yard, "life"), OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let endless = shell(Seam::Started, "exec 9> life; sleep 1000 & sleep 1000");
    let hooks = yard.hooks(vec![Hook { time: Duration::from_secs(1), ..endless }]);
    let verdict = hooks.before_start(&yard.job(), 1).await;
    assert_eq!(verdict.notices, ["the hook `sh` for task_started was ended after 1s"]);
    rustix::io::ioctl_fionbio(&reader, false).unwrap();
    assert_eq!(rustix::io::read(&reader, &mut [0; 1]).unwrap(), 0);
}

#[tokio::test]
async fn an_abandoned_hook_is_ended() {
    let yard = Yard::new();
    let (job, life) = (yard.job(), pipe(&yard, "life"));
    let started = tokio::task::spawn_blocking(move || {
        let mut life = File::open(life).unwrap();
        life.read_exact(&mut [0; 2]).unwrap();
        life
    });
    let hooks = yard.hooks(vec![shell(Seam::Started, "exec 9> life; echo 1 >&9; sleep 1000")]);
    let mut life = tokio::select! {
        verdict = hooks.before_start(&job, 1) => panic!("it does not end by itself: {verdict:?}"),
        life = started => life.unwrap(),
    };
    assert_eq!(life.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[tokio::test]
async fn hooks_for_endings_and_questions_delay_nobody_and_all_run_before_the_end() {
    let yard = Yard::new();
    // Each waits for a writer that comes only after both have started.
    let pipes = ["life-1", "life-2"].map(|name| pipe(&yard, name));
    let ended = shell(Seam::Ended, "cat life-1; cat > ended");
    let asks = shell(Seam::Asks, "cat life-2; cat > asks");
    let hooks = yard.hooks(vec![ended, asks]);
    hooks.ended(&yard.job(), 2, &outcome());
    let rules = ["Edit(/a.rs)".to_owned()];
    let asking = Asking { tool: "Edit", arguments: r#"{"path": "a.rs"}"#, rules: &rules, ground: "needs approval" };
    hooks.asks(&yard.job(), &asking);
    for pipe in pipes {
        let opening = tokio::task::spawn_blocking(move || File::options().write(true).open(pipe).unwrap());
        drop(opening.await.unwrap());
    }
    assert_eq!(hooks.settled().await, Vec::<String>::new());
    expect![[r#"
        {
          "v": 1,
          "event": "task_ended",
          "task_id": "agent-bbbbbbbbbbbb",
          "depth": 1,
          "agent": "explore",
          "title": "Find it",
          "workspace": "<dir>/workspace",
          "parent_id": "agent-aaaaaaaaaaaa",
          "leg": 2,
          "resumed": true,
          "outcome": {
            "task_id": "agent-bbbbbbbbbbbb",
            "agent": "explore",
            "status": "completed",
            "text": "Here.",
            "model": {
              "route": "main",
              "id": "m"
            },
            "usage": {
              "input_tokens": 0,
              "output_tokens": 0,
              "cache_read_tokens": 0,
              "cache_write_tokens": 0,
              "total_tokens": 0,
              "turns": 0,
              "tool_calls": 0,
              "duration_ms": 0
            }
          }
        }"#]]
    .assert_eq(&told(&yard.read("workspace/ended"), &yard));
    expect![[r#"
        {
          "v": 1,
          "event": "task_asks",
          "task_id": "agent-bbbbbbbbbbbb",
          "depth": 1,
          "agent": "explore",
          "title": "Find it",
          "workspace": "<dir>/workspace",
          "parent_id": "agent-aaaaaaaaaaaa",
          "tool": "Edit",
          "arguments": {
            "path": "a.rs"
          },
          "rules": [
            "Edit(/a.rs)"
          ],
          "reason": "needs approval"
        }"#]]
    .assert_eq(&told(&yard.read("workspace/asks"), &yard));
}

#[tokio::test]
async fn failures_of_background_hooks_are_reported_once_at_the_end() {
    let yard = Yard::new();
    let hooks = yard.hooks(vec![shell(Seam::Ended, "echo no >&2; exit 2")]);
    for _ in 0..20 {
        hooks.ended(&yard.job(), 1, &outcome());
    }
    assert_eq!(hooks.settled().await, ["the hook `sh` for task_ended failed with exit code 2: no (20 times)"]);
    assert!(hooks.settled().await.is_empty());
}

#[tokio::test]
async fn a_hook_is_for_its_seam_and_its_agents() {
    let yard = Yard::new();
    let of = |agents: &[&str], name: &str| Hook {
        agents: agents.iter().map(|agent| (*agent).to_owned()).collect(),
        ..shell(Seam::Started, &format!("touch {name}"))
    };
    let hooks = yard.hooks(vec![
        of(&[], "all"),
        of(&["plan", "Explore"], "explore"),
        of(&["plan"], "plan"),
        shell(Seam::Ended, "touch ended"),
    ]);
    hooks.before_start(&yard.job(), 1).await;
    hooks.settled().await;
    let there: Vec<_> =
        ["all", "explore", "plan", "ended"].map(|name| yard.path("workspace").join(name).exists()).into();
    assert_eq!(there, [true, true, false, false]);
}

#[tokio::test]
async fn no_key_is_in_a_hooks_environment() {
    let yard = Yard::new();
    let variables = [
        ("LLM_API_KEY", "canary"),
        ("ANTHROPIC_API_KEY", "canary"),
        ("SORTIE_ROUTES__MAIN__API_KEY", "canary"),
        ("LD_PRELOAD", "canary"),
        ("HOME", "/own"),
        ("DISPLAY", ":7"),
        ("PATH", &*format!("{}:/usr/bin:/bin", yard.path("workspace").display())),
    ];
    let hooks = ProgramHooks::new(vec![shell(Seam::Started, "env > variables")], yard.ground(&variables, true));
    assert_eq!(hooks.before_start(&yard.job(), 1).await, Verdict::default());
    let variables = yard.read("workspace/variables");
    assert!(!variables.contains("canary") && !variables.contains("workspace:"), "{variables}");
    assert!(variables.contains("HOME=/own\n") && variables.contains("DISPLAY=:7\n"), "{variables}");
}

/// Message about a hook that names this program.
async fn said_of(yard: &Yard, program: HookProgram, trusts: bool) -> String {
    let path = [("PATH", &*format!("{}:/usr/bin:/bin", yard.path("beside").display()))];
    let hook = Hook { program, ..hook(Seam::Started, "/program", &[]) };
    let verdict = ProgramHooks::new(vec![hook], yard.ground(&path, trusts)).before_start(&yard.job(), 1).await;
    verdict.notices.join("\n")
}

#[tokio::test]
async fn a_program_that_agents_can_change_does_not_run() {
    let yard = Yard::new();
    let at = |relative: &str| HookProgram::At(yard.path(relative));
    let link = |from: &str, to: &str| symlink(yard.path(to), yard.path(from)).unwrap();
    yard.program("workspace/evil", "touch ran");
    yard.program("beside/good", "touch good");
    link("beside/to-evil", "workspace/evil");
    link("workspace/to-good", "beside/good");
    link("workspace/.sortie/hooks/to-good", "beside/good");
    link("workspace/.sortie/hooks/to-evil", "workspace/evil");
    for program in [
        at("workspace/evil"),
        at("workspace/.sortie/hooks/../../evil"),
        at("beside/to-evil"),
        HookProgram::Named("to-evil".to_owned()),
        at("workspace/to-good"),
        at("workspace/.sortie/hooks/to-good"),
        at("workspace/.sortie/hooks/to-evil"),
    ] {
        let said = said_of(&yard, program.clone(), true).await;
        assert!(said.contains("was not run: agents could change it there"), "{program:?}: {said}");
    }
    assert!(!yard.path("workspace/ran").exists() && !yard.path("workspace/good").exists());
    assert_eq!(said_of(&yard, HookProgram::Named("good".to_owned()), false).await, "");
    assert!(yard.path("workspace/good").exists());
}

#[tokio::test]
async fn a_projects_own_program_runs_only_if_trusted_unchanged() {
    let yard = Yard::new();
    yard.program("workspace/.sortie/hooks/own", "touch ran");
    let own = HookProgram::At(yard.path("workspace/.sortie/hooks/own"));
    let said = said_of(&yard, own.clone(), false).await;
    assert!(said.contains("was not run: .sortie/hooks/own is new or has changed; look at it"), "{said}");
    assert!(!yard.path("workspace/ran").exists());
    assert_eq!(said_of(&yard, own, true).await, "");
    assert!(yard.path("workspace/ran").exists());
}
