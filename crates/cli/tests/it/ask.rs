//! Approvals: a person at a terminal is asked before a call runs; elsewhere it is refused.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::resume::states;
use crate::terminal::terminal;
use crate::world::{Invocation, World};

const CHOICES: &str = "[y]es once  [t]his task tree  [a]lways  [n]o (and why) ";
/// Far more than any answer takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Program and person, each at one end of a terminal.
pub(crate) struct Session {
    pub(crate) child: Child,
    keyboard: File,
    shown: Arc<(Mutex<String>, Condvar)>,
    seen: usize,
}

impl Session {
    pub(crate) fn start(invocation: Invocation) -> Self {
        Self::start_after(invocation, "")
    }

    /// Starts it with this already typed.
    pub(crate) fn start_after(invocation: Invocation, typed: &str) -> Self {
        let (host, guest) = terminal();
        rustix::io::write(&host, typed.as_bytes()).unwrap();
        let mut command = invocation.env("TERM", "xterm").env("NO_COLOR", "1").into_command();
        command.stdin(Stdio::from(guest.try_clone().unwrap())).stdout(Stdio::piped()).stderr(Stdio::from(guest));
        let child = command.spawn().unwrap();
        // The command still holds the terminal's other end.
        drop(command);
        let shown = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let (keyboard, mut screen) = (File::from(host.try_clone().unwrap()), File::from(host));
        let collected = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal whose other end is closed returns EIO.
            while let Ok(count) = screen.read(&mut bytes) {
                collected.0.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
                collected.1.notify_all();
            }
        });
        Self { child, keyboard, shown, seen: 0 }
    }

    /// Waits until this text appears, and returns everything up to it since the last wait.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let (shown, changed) = &*self.shown;
        let missing = |shown: &mut String| !shown[self.seen..].contains(text);
        let (shown, _) = changed.wait_timeout_while(shown.lock().unwrap(), PATIENCE, missing).unwrap();
        let at = shown[self.seen..].find(text).unwrap_or_else(|| panic!("no {text:?} in {shown}"));
        let end = self.seen + at + text.len();
        let all = shown[self.seen..end].replace("\r\n", "\n");
        self.seen = end;
        all
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Exit code and stdout.
    pub(crate) fn ends(self) -> (i32, String) {
        let output = self.child.wait_with_output().unwrap();
        (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
    }
}

/// Main agent that writes these files in sequence, and then reports the last result.
fn writing(files: &[&str]) -> ScriptedServer {
    let write = |file: &&str| {
        let write = reply::call("Write", json!({"file_path": file, "content": "hello\u{1b}[2J\n"}));
        reply::calls([write])
    };
    let script = files.iter().enumerate().fold(Script::new(), |script, (turn, file)| {
        script.on(when::prompt_contains("WRITE").turn(u32::try_from(turn).unwrap()), write(file))
    });
    ScriptedServer::start(script.otherwise(reply::text("done"))).unwrap()
}

/// Results that the model received for its calls.
fn told(server: &ScriptedServer) -> String {
    serde_json::to_string(&server.requests().last().unwrap().body).unwrap()
}

#[test]
fn yes_runs_the_call_once_and_the_next_one_is_asked_again() {
    let (world, server) = (World::new(), writing(&["notes.md", "more.md"]));
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    let question = session.sees(CHOICES);
    assert!(question.contains("? main wants to use Write\n"), "{question}");
    assert!(question.contains("needs approval; `Edit(/notes.md)` under [permissions] allow"), "{question}");
    assert!(question.contains("hello␛[2J") && !question.contains("hello\u{1b}"), "{question:?}");
    assert!(!world.path("workspace/notes.md").exists(), "nothing happens before the answer");
    session.types("y\n");
    let after = session.sees("? main wants to use Write");
    assert!(!after.contains("asks"), "an answered question is not announced: {after}");
    session.sees(CHOICES);
    session.types("maybe\n");
    session.sees(CHOICES);
    session.types("n, put it elsewhere\n");
    assert_eq!(session.ends(), (0, "done\n".to_owned()));
    assert!(world.path("workspace/notes.md").exists());
    assert!(!world.path("workspace/more.md").exists());
    assert!(told(&server).contains("the user said no: put it elsewhere"), "{}", told(&server));
}

#[test]
fn a_long_command_is_seen_whole_before_it_is_answered() {
    let command = format!("echo {} > kept.txt; echo THE END OF IT", "x".repeat(3000));
    let script = Script::new().on(when::turn(0), reply::calls([reply::call("Bash", json!({"command": command}))]));
    let (world, server) = (World::new(), ScriptedServer::start(script.otherwise(reply::text("done"))).unwrap());
    let invocation = world.sortie(["run", "GO"]).on(&server, "anthropic").env("PAGER", "sed 's/^/| /'");
    let mut session = Session::start(invocation);
    let question = session.sees("[s]how all of it  [n]o (and why) ");
    assert!(question.contains(" more characters\n"), "{question}");
    session.types("s\n");
    let whole = session.sees("[n]o (and why) ");
    assert!(whole.contains("| $ echo xxx") && whole.contains("echo THE END OF IT\n"), "{whole}");
    session.types("n\n");
    assert_eq!(session.ends(), (0, "done\n".to_owned()));
    assert!(!world.path("workspace/kept.txt").exists());
}

#[test]
fn text_typed_before_the_question_is_not_an_answer_to_it() {
    let (world, server) = (World::new(), writing(&["notes.md"]));
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    session.types("y\ny\ny\n");
    session.sees(CHOICES);
    session.types("n\n");
    assert_eq!(session.ends().0, 0);
    assert!(!world.path("workspace/notes.md").exists());
}

#[test]
fn an_answer_for_the_task_tree_covers_what_the_rule_covers() {
    let (world, server) = (World::new(), writing(&["notes.md", "notes.md", "more.md"]));
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    session.sees(CHOICES);
    session.types("t\n");
    let question = session.sees(CHOICES);
    assert!(question.contains("more.md"), "the second call for the same file is not asked: {question}");
    session.types("y\n");
    assert_eq!(session.ends().0, 0);
    assert!(world.path("workspace/more.md").exists());
}

#[test]
fn always_is_written_into_the_users_configuration_and_holds_for_the_next_run() {
    let world = World::new();
    let config = world.config("# mine\n[permissions]\n# none yet\ndeny = [\"Edit(secret/**)\"]\n");
    let server = writing(&["notes.md"]);
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    session.sees(CHOICES);
    session.types("a\n");
    let said = session.sees("the rule was added to ");
    let rule = format!("Edit(/{})", world.path("workspace/notes.md").display());
    assert!(said.contains(&format!("`{rule}` is allowed from now on")), "{said}");
    assert_eq!(session.ends().0, 0);
    let text = format!("# mine\n[permissions]\nallow = [\"{rule}\"]\n# none yet\ndeny = [\"Edit(secret/**)\"]\n");
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    fs::remove_file(world.path("workspace/notes.md")).unwrap();
    let server = writing(&["notes.md"]);
    let ended = world.sortie(["run", "WRITE"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(world.path("workspace/notes.md").exists(), "without anybody to ask: {}", ended.stderr);
    world.write("other/.git/HEAD", "");
    let server = writing(&["notes.md"]);
    world.sortie(["run", "WRITE", "--cwd", "../other"]).on(&server, "anthropic").run();
    assert!(!world.path("other/notes.md").exists(), "what was allowed in one project says nothing of another");
}

#[test]
fn a_call_under_an_ask_rule_has_no_lasting_answer() {
    let (world, server) = (World::new(), writing(&["notes.md"]));
    let asking = ["run", "WRITE", "--ask", "Edit(notes.md)"];
    let mut session = Session::start(world.sortie(asking).on(&server, "anthropic"));
    let question = session.sees("[y]es once  [t]his task tree  [n]o (and why) ");
    assert!(question.contains("the rule `Edit(notes.md)` of the flag --ask asks for it"), "{question}");
    assert!(question.contains("no rule can allow it for good"), "{question}");
    session.types("a\n");
    session.sees("[n]o (and why) ");
    session.types("y\n");
    assert_eq!(session.ends().0, 0);
    assert!(world.path("workspace/notes.md").exists() && !world.path("home/.config/sortie/config.toml").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_is_asked_if_a_shell_runs_the_program_in_the_background() {
    let (world, server) = (World::new(), writing(&["notes.md"]));
    let script = "set -m; \"$@\" & wait $!";
    let in_shell = ["--ctty", "--wait", "/bin/sh", "-c", script, "sh"];
    let mut session =
        Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic").under("setsid", &in_shell));
    session.sees("completed");
    assert_eq!(session.ends(), (0, "done\n".to_owned()));
    assert!(told(&server).contains("Write was not run: nobody can be asked here"), "{}", told(&server));
    assert!(!world.path("workspace/notes.md").exists());
}

#[test]
fn an_answer_that_cannot_be_saved_lasts_for_the_task_tree_and_says_so() {
    let (world, server) = (World::new(), writing(&["notes.md"]));
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    session.sees(CHOICES);
    let config = world.config("permissions = 1\n");
    session.types("a\n");
    session.sees("config.toml has no obvious place for the rule");
    session.sees("notes.md)` is allowed for this task tree only");
    assert_eq!(fs::read_to_string(config).unwrap(), "permissions = 1\n");
    assert_eq!(session.ends().0, 0);
    assert!(world.path("workspace/notes.md").exists());
}

#[test]
fn ctrl_c_during_a_question_interrupts_the_run_and_it_is_asked_again() {
    let (world, server) = (World::new(), writing(&["notes.md"]));
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    session.sees(CHOICES);
    kill_process(Pid::from_child(&session.child), Signal::INT).unwrap();
    session.sees("interrupted");
    assert_eq!(session.ends(), (130, String::new()));
    assert!(!world.path("workspace/notes.md").exists());
    let mut session = Session::start(world.sortie(["resume"]).on(&server, "anthropic"));
    session.sees(CHOICES);
    session.types("y\n");
    assert_eq!(session.ends().0, 0);
    assert!(world.path("workspace/notes.md").exists());
}

#[test]
fn the_end_of_input_means_no() {
    let (world, server) = (World::new(), writing(&["notes.md"]));
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    session.sees(CHOICES);
    session.types("\u{4}");
    assert_eq!(session.ends().0, 0);
    assert!(!world.path("workspace/notes.md").exists());
    assert!(told(&server).contains("the user said no"), "{}", told(&server));
}

#[test]
fn a_question_names_the_agents_down_to_the_one_that_asks_and_progress_stands_aside() {
    let world = World::new();
    let task = reply::call("Task", json!({"description": "Write it", "prompt": "CHILD"}));
    let write = reply::call("Write", json!({"file_path": "notes.md", "content": "hello\n"}));
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([task]))
        .on(when::prompt_contains("QUESTION"), reply::text("done"))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([write]))
        .on(when::prompt_contains("CHILD"), reply::text("written"));
    let server = ScriptedServer::start(script).unwrap();
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    let question = session.sees(CHOICES);
    assert!(question.contains("? main › general-purpose wants to use Write\n"), "{question}");
    session.types("y\n");
    // Progress was erased first, and nothing is drawn over the question.
    let rest = session.sees("completed");
    assert!(!rest.split("y\n").next().unwrap().contains('\u{1b}'), "{rest:?}");
    assert_eq!(session.ends(), (0, "done\n".to_owned()));
}

/// Main agent whose sub-agent has a question for the person.
fn inquiring() -> ScriptedServer {
    let task = reply::call("Task", json!({"description": "Ask", "prompt": "CHILD"}));
    let ask = reply::call("Ask", json!({"question": "Which one?\n1. or 2.", "to": "person", "timeout_seconds": 120}));
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([task]))
        .on(when::prompt_contains("QUESTION"), reply::text("done"))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([ask]))
        .on(when::prompt_contains("CHILD"), reply::text("asked"));
    ScriptedServer::start(script).unwrap()
}

/// Last input of the sub-agent.
fn told_child(server: &ScriptedServer) -> String {
    let requests = server.requests();
    let asked = requests.iter().rev().find(|request| request.body["messages"][0].to_string().contains("CHILD"));
    asked.unwrap().body["messages"].to_string()
}

const ANSWER: &str = "answer (end a line with \\ to write another one; Ctrl-D: no answer) ";

#[test]
fn an_agent_asks_the_person_who_answers_in_any_words() {
    let (world, server) = (World::new(), inquiring());
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    let question = session.sees(ANSWER);
    let child = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    let asked = format!(
        "? main › general-purpose asks\n  {child} “Ask”, waits 2m00s for an answer\n  Which one?\n  1. or 2.\n"
    );
    assert!(question.contains(&asked), "{question}");
    session.types("\n");
    session.sees(ANSWER);
    session.types("the second, \\\n");
    session.sees("  … ");
    session.types("but not its tests\n");
    let may_ask = "what you can neither find out nor decide";
    let requests = server.requests();
    assert!(requests.iter().any(|request| request.body["tools"].to_string().contains(may_ask)), "{requests:#?}");
    assert_eq!(session.ends(), (0, "done\n".to_owned()));
    assert!(told_child(&server).contains("the second, \\nbut not its tests"), "{}", told_child(&server));
}

#[test]
fn an_unanswered_question_can_be_answered_from_elsewhere() {
    let (world, server) = (World::new(), inquiring());
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    session.sees(ANSWER);
    session.types("\u{4}");
    let child = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    session.sees(&format!("{child} waits for an answer for 2m00s in all: sortie tasks send {child} \"…\""));
    assert_eq!(world.sortie(["tasks", "send", &child, "The second one."]).run().code, 0);
    assert_eq!(session.ends(), (0, "done\n".to_owned()));
    assert!(told_child(&server).contains("The second one."), "{}", told_child(&server));
}

#[test]
fn half_an_answer_to_a_question_that_was_answered_elsewhere_reaches_no_shell() {
    let (world, server) = (World::new(), inquiring());
    let shell = ["-c", "\"$@\"; read line; echo \"[$line]\"", "sh"];
    let run = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").under("/bin/sh", &shell);
    let mut session = Session::start(run);
    session.sees(ANSWER);
    session.types("rm -rf .");
    session.sees("rm -rf .");
    let child = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(world.sortie(["tasks", "send", &child, "The second one."]).run().code, 0);
    session.sees("answered from elsewhere; anything typed here is dropped");
    session.types("\n");
    assert_eq!(session.ends(), (0, "done\n[]\n".to_owned()));
}

#[test]
fn half_an_answer_reaches_no_shell_if_the_run_is_left_during_a_question() {
    let world = World::new();
    let task = json!({"description": "Write it", "prompt": "CHILD", "run_in_background": true});
    let write = reply::call("Write", json!({"file_path": "notes.md", "content": "hello\n"}));
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("QUESTION"), reply::text("on its way").held_by("main"))
        .otherwise(reply::calls([write]));
    let server = ScriptedServer::start(script).unwrap();
    let shell = ["-c", "\"$@\"; echo over >&2; read line; echo \"[$line]\"", "sh"];
    let run = world.sortie(["run", "--detach", "QUESTION"]).on(&server, "anthropic").under("/bin/sh", &shell);
    let mut session = Session::start(run);
    session.sees(CHOICES);
    session.types("rm -rf .");
    session.sees("rm -rf .");
    server.gate("main").open();
    session.sees("\n  too late: the question has been withdrawn, and anything typed here is dropped\r\n");
    session.sees("over");
    session.types("\n");
    assert_eq!(session.ends(), (0, "on its way\n[]\n".to_owned()));
    assert_eq!(states(&world), ["interrupted", "interrupted"]);
}

#[test]
fn f55_a_background_sub_agent_asks_at_the_same_terminal_and_does_not_wait_forever() {
    let world = World::new();
    let task = json!({"description": "Write it", "prompt": "CHILD", "run_in_background": true});
    let write = reply::call("Write", json!({"file_path": "notes.md", "content": "hello\n"}));
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("QUESTION"), reply::text("done"))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([write]))
        .on(when::prompt_contains("CHILD"), reply::text("written"));
    let server = ScriptedServer::start(script).unwrap();
    let patience = ["run", "--set", "permissions.answer_seconds=1", "QUESTION"];
    let mut session = Session::start(world.sortie(patience).on(&server, "anthropic"));
    let question = session.sees(CHOICES);
    assert!(question.contains("? main › general-purpose wants to use Write\n"), "{question}");
    assert!(question.contains(" “Write it”, waits 1.0s for an answer\n"), "{question}");
    session.sees("too late: the question has been withdrawn, and anything typed here is dropped");
    let (code, said) = session.ends();
    assert!(code == 0 && said.ends_with("done\n"), "{code} {said}");
    assert!(!world.path("workspace/notes.md").exists());
    assert!(told_child(&server).contains("nobody answered within 1 s"), "{}", told_child(&server));
}

#[test]
fn nobody_is_asked_if_a_program_reads_the_output() {
    for args in [&["run", "--output-format", "json", "WRITE"][..], &["run", "--show", "json", "WRITE"]] {
        let (world, server) = (World::new(), writing(&["notes.md"]));
        let session = Session::start(world.sortie(args).on(&server, "anthropic"));
        assert_eq!(session.ends().0, 0, "{args:?}");
        assert!(!world.path("workspace/notes.md").exists());
        let expected = "Write was not run: nobody can be asked here, and it needs approval; `Edit(/notes.md)`";
        assert!(told(&server).contains(expected), "{}", told(&server));
    }
}

#[test]
fn calls_that_need_approval_are_refused_to_a_programs_delegated_task() {
    let (world, server) = (World::new(), writing(&["notes.md"]));
    let task = ["task", "--description", "x", "--prompt", "WRITE"];
    let session = Session::start(world.sortie(task).on(&server, "anthropic"));
    assert_eq!(session.ends().0, 0);
    assert!(told(&server).contains("nobody can be asked here"), "{}", told(&server));
    let offered = server.requests()[0].body["tools"].to_string();
    assert!(offered.contains(r#""name":"Write""#), "{offered}");
    assert!(!offered.contains(r#""name":"Ask""#), "neither a parent nor a person can answer: {offered}");
}
