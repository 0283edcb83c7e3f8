//! Agents that may not change files have a shell that cannot, not one byte by any means.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::{BYPASS, bash};
use crate::calls::{call, delegated, main_agent, task, with_agent};
use crate::world::{World, as_each_user};

/// Ways to change something in the workspace, each effective if allowed.
const CHANGES: [&str; 22] = [
    "echo new > new.txt",
    "touch src/main.rs",
    "echo more >> src/main.rs",
    "mkdir new",
    "rm src/main.rs",
    "mv src/main.rs new.rs",
    "ln src/main.rs new.rs",
    "ln -s src/main.rs new.rs",
    "mkfifo new",
    "truncate -s 0 src/main.rs",
    "chmod 777 src/main.rs",
    "chmod 777 src",
    "echo new > /proc/self/root$PWD/new.txt",
    "echo new > /proc/$$/cwd/new.txt",
    "exec 3< src/main.rs; echo new > /proc/self/fd/3",
    "exec 3< .; echo new > /proc/self/fd/3/new.txt",
    // Opened with O_PATH, then again through its number.
    "perl -e 'sysopen(F, \"src/main.rs\", 010000000) or die $!; open(G, \">>/proc/self/fd/\".fileno(F)) or die $!'",
    "perl -e 'sysopen(F, \"src/main.rs\", 2) or die $!'",
    "perl -e 'utime(1, 1, \"src/main.rs\") or die $!'",
    "mount -o remount,rw,bind $PWD $PWD",
    "unshare -rm mount -o remount,rw,bind $PWD $PWD",
    "mount --bind /tmp src",
];

/// Everything about files that can change.
fn fingerprint(world: &World) -> BTreeMap<PathBuf, (u32, u64, i64, i64, Vec<u8>)> {
    let of = |file: PathBuf| {
        let metadata = fs::metadata(&file).unwrap();
        let (mode, links) = (metadata.mode(), metadata.nlink());
        (file.clone(), (mode, links, metadata.mtime(), metadata.mtime_nsec(), fs::read(&file).unwrap()))
    };
    world.files("workspace").into_iter().map(of).collect()
}

/// Asserts that an agent's attempts at all these changes fail.
fn assert_changes_nothing(world: &World, flags: &[&str], agent: &str, script: sortie_testkit::Script) {
    let (before, names) = (fingerprint(world), world.listing("workspace"));
    let after = world.run(flags, script);
    for (line, answer) in CHANGES.iter().zip(after.assert_completed().answers_of(agent)) {
        assert!(answer.failed, "{agent}: {line}: {answer:#?}");
    }
    assert_eq!(fingerprint(world), before, "{agent}: {after:#?}");
    assert_eq!(world.listing("workspace"), names, "{agent}: {after:#?}");
}

#[test]
fn s60_the_shell_of_an_agent_that_only_reads_writes_nothing() {
    as_each_user(|world| {
        world.agent("reader", "tools: [Read, Grep, Bash]");
        world.agent("searcher", "tools: [Glob, Bash]\npermissionMode: bypassPermissions");
        world.agent("denied", "disallowedTools: [Write, Edit, MultiEdit]");
        for agent in ["reader", "searcher", "denied"] {
            assert_changes_nothing(world, BYPASS, agent, delegated(agent, CHANGES.map(bash)));
        }
        // Its shell works, and has a writable place of its own.
        let line = "cat src/main.rs && cp src/main.rs /tmp/copy && cat /tmp/copy";
        let answer = world.run(BYPASS, delegated("reader", [bash(line)])).answer_of("reader");
        answer.assert_done();
        assert_eq!(answer.text.matches("fn main").count(), 2, "{answer:#?}");
    });
}

#[test]
fn s60_a_shell_that_cannot_write_explains_why() {
    as_each_user(|world| {
        world.agent("reader", "tools: [Read, Grep, Bash]");
        let answer = world.run(BYPASS, delegated("reader", [bash("touch new.txt")])).answer_of("reader");
        answer.assert_failed("walls: commands of this task cannot write in the workspace (agent reader)");
    });
}

#[test]
fn s60_the_same_commands_work_where_files_may_be_changed() {
    as_each_user(|world| {
        // A separate world for each would take long; these do not interfere.
        let lines =
            ["echo new > new.txt", "mkdir new", "chmod 777 src/main.rs", "echo new > /proc/self/root$PWD/other.txt"];
        world.run(BYPASS, main_agent(lines.map(bash))).answers().iter().for_each(crate::aftermath::Answer::assert_done);
        assert!(world.path("workspace/new.txt").exists() && world.path("workspace/other.txt").exists());
    });
}

#[test]
fn s48_below_a_planning_parent_no_command_runs() {
    as_each_user(|world| {
        world.agent("writer", "permissionMode: bypassPermissions");
        for agent in ["general-purpose", "writer", "bash"] {
            let flags = ["--permission-mode", "plan", "--allow", "Bash", "--allow", "Edit"];
            assert_changes_nothing(world, &flags, agent, delegated(agent, CHANGES.map(bash)));
        }
    });
}

#[test]
fn s55_an_executor_below_a_reader_writes_nothing_either() {
    as_each_user(|world| {
        world.agent("reader", "tools: [Read, Grep, Bash, Task]");
        for executor in ["general-purpose", "bash"] {
            let script = with_agent(main_agent([task("reader", "LEVEL 1")]), "LEVEL 1", [task(executor, "LEVEL 2")]);
            let script = with_agent(script, "LEVEL 2", CHANGES.map(bash));
            assert_changes_nothing(world, BYPASS, executor, script);
        }
    });
}

#[test]
fn s49_commands_write_where_their_agent_may_and_nowhere_else() {
    as_each_user(|world| {
        world.agent("writer", "tools: [Read, \"Edit(docs/**)\", Bash]");
        world.write("workspace/docs/a.md", "first line\n");
        let lines = [
            "echo new > docs/new.md",
            "echo new > new.txt",
            "cd docs; echo new > ../src/new.rs",
            "ln -s ../src docs/out; echo new > docs/out/new.rs",
            "mv docs gone",
        ];
        let after = world.run(BYPASS, delegated("writer", lines.map(bash)));
        let answers = after.assert_completed().answers_of("writer");
        answers[0].assert_done();
        assert!(answers[1..].iter().all(|answer| answer.failed), "{answers:#?}");
        assert!(world.path("workspace/docs/new.md").exists(), "{after:#?}");
        assert!(!world.path("workspace/new.txt").exists() && !world.path("workspace/src/new.rs").exists());
    });
}

#[test]
fn s11_no_command_edits_a_file_that_a_rule_protects() {
    as_each_user(|world| {
        world.write("workspace/locked/a.txt", "first line\n");
        world.write("workspace/src/b.lock", "first line\n");
        let flags = [BYPASS, &["--deny", "Edit(locked/**)", "--deny", "Edit(*.lock)"]].concat();
        world.program(
            "workspace/change.sh",
            "echo more >> locked/a.txt; echo more >> src/b.lock; echo new > locked/new.txt",
        );
        // The gate cannot know what a script does.
        let after = world.run(
            &flags,
            main_agent([
                bash("./change.sh"),
                call("Bash", serde_json::json!({"command": "sh ../change.sh", "cwd": "src"})),
            ]),
        );
        after.assert_completed();
        assert_eq!(world.text("workspace/locked/a.txt"), "first line\n", "{after:#?}");
        assert_eq!(world.text("workspace/src/b.lock"), "first line\n", "{after:#?}");
        assert!(!world.path("workspace/locked/new.txt").exists());
        assert!(after.answers()[0].text.contains("Read-only file system"), "it ran: {after:#?}");
    });
}
