//! Signals interrupt system calls. `strace` interrupts every second call of a kind: each is made again, and no tool, no
//! command and no file notices.

use std::fs;

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::World;

/// Kinds of calls that wait, or that a network or user-space file system can make wait.
const KINDS: [&str; 8] = ["flock", "recvmsg", "sendmsg", "openat2", "openat", "poll", "wait4", "waitid"];

/// Calls of every tool for files, and a command that starts no other program: how those handle signals is their own
/// business.
fn script() -> Script {
    let calls = [
        ("Write", json!({"file_path": "notes/new.txt", "content": "one\n"})),
        ("Read", json!({"file_path": "notes/new.txt"})),
        ("Edit", json!({"file_path": "notes/new.txt", "old_string": "one", "new_string": "two"})),
        ("Glob", json!({"pattern": "**/*.txt"})),
        ("Grep", json!({"pattern": "two"})),
        ("Bash", json!({"command": "echo three"})),
    ];
    let script = (0..).zip(calls).fold(Script::new(), |script, (turn, (tool, arguments))| {
        script.on(when::prompt_contains("EVERYTHING").turn(turn), reply::calls([reply::call(tool, arguments)]))
    });
    script.on(when::prompt_contains("EVERYTHING"), reply::text("All done."))
}

#[test]
fn an_interrupted_call_is_made_again() {
    for kind in KINDS {
        let world = World::new();
        let server = ScriptedServer::start(script()).unwrap();
        fs::create_dir(world.path("workspace/notes")).unwrap();
        let path = |name: &str| world.path(name).to_str().unwrap().to_owned();
        let (log, workspace, notes) = (path("trace"), path("workspace"), path("workspace/notes"));
        let (traced, injected) = (format!("trace={kind}"), format!("inject={kind}:error=EINTR:when=1+2"));
        let mut words = vec!["-f", "-qq", "-e", &traced, "-e", &injected, "-o", &log];
        if kind == "openat" {
            // Elsewhere it is the loader's, which starts nothing when it is interrupted.
            words.extend(["-P", &workspace, "-P", &notes]);
        }
        words.push("--");
        let arguments = ["run", "--permission-mode", "bypass", "EVERYTHING"];
        let ended = world.sortie(arguments).on(&server, "anthropic").under("strace", &words).run();
        assert_eq!(ended.code, 0, "{kind}: {ended:#?}");
        assert_eq!(fs::read_to_string(world.path("workspace/notes/new.txt")).unwrap(), "two\n", "{kind}");
        let last = server.requests().last().unwrap().body.to_string();
        assert!(!last.contains("\"is_error\":true") && last.contains("three"), "{kind}: {last}");
        let interrupted = fs::read_to_string(&log).unwrap().matches("(INJECTED)").count();
        assert!(interrupted > 0, "no {kind} was interrupted");
    }
}
