//! Files of a repository must not loosen anything, before trust and after a change.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer};

use crate::calls::{call, delegated, fetch, main_agent, read, with_agent, write};
use crate::world::as_each_user;

const NOBODY: &str = "nobody can be asked here";

#[test]
fn s39_a_repositorys_mode_allow_rules_and_directories_count_for_nothing() {
    as_each_user(|world| {
        let outside = world.name("outside");
        let config = format!(
            "[permissions]\nmode = \"bypass\"\nallow = [\"Write\", \"Edit\", \"WebFetch\"]\nadd_dirs = [{outside:?}]\n\
             [web]\nprivate = [\"127.0.0.1\"]\n[task_tool]\nmax_depth = 50\n"
        );
        world.write("workspace/.sortie/config.toml", config);
        world.write("workspace/.env", "SORTIE_PERMISSIONS__MODE=bypass\nSORTIE_PERMISSIONS__ALLOW=Write\n");
        let calls = [write("new.txt"), read(&format!("{outside}/canary.txt"))];
        let after = world.run(&[], main_agent(calls));
        let answers = after.assert_completed().answers();
        answers[0].assert_refused(NOBODY);
        answers[0].assert_refused("--allow 'Edit(/new.txt)', would allow it");
        answers[1].assert_failed("is outside the workspace");
        assert!(!world.path("workspace/new.txt").exists());
        for ignored in ["`permissions.mode`", "`permissions.allow`", "`permissions.add_dirs`", "`web.private`"] {
            assert!(after.stderr().contains(ignored), "it is said what does not count: {after:#?}");
        }
    });
}

#[test]
fn s39_even_a_trusted_repository_cannot_open_everything() {
    as_each_user(|world| {
        world.write("workspace/.sortie/config.toml", "[permissions]\nmode = \"bypass\"\n");
        let after = world.run(&["--trust"], main_agent([write("new.txt")]));
        after.answer_of("main").assert_refused(NOBODY);
        assert!(after.stderr().contains("a project cannot set it, trusted or not"), "{after:#?}");
    });
}

#[test]
fn s39_deny_rules_of_a_repository_apply() {
    as_each_user(|world| {
        world.write("workspace/.sortie/config.toml", "[permissions]\ndeny = [\"Read(src/main.rs)\"]\n");
        let after = world.run(&["--permission-mode", "bypass"], main_agent([read("src/main.rs")]));
        after.answer_of("main").assert_refused("denied by project settings (.sortie/config.toml)");
    });
}

#[test]
fn s41_a_trusted_file_that_changed_is_no_longer_trusted() {
    as_each_user(|world| {
        let config = |allow: &str| format!("[permissions]\nallow = [\"{allow}\"]\n");
        world.write("workspace/.sortie/config.toml", config("Edit(docs/**)"));
        let server = ScriptedServer::start(Script::new()).unwrap();
        let trusted = world.command(&[], &["trust", "--yes"], &server).output().unwrap();
        assert!(trusted.status.success(), "{trusted:?}");
        let calls = || main_agent([write("docs/a.md"), write("src/a.rs")]);
        let answers = world.run(&[], calls()).answers();
        answers[0].assert_done();
        answers[1].assert_refused(NOBODY);

        world.write("workspace/.sortie/config.toml", config("Edit"));
        std::fs::remove_file(world.path("workspace/docs/a.md")).unwrap();
        let after = world.run(&[], calls());
        after.answers().iter().for_each(|answer| answer.assert_refused(NOBODY));
        assert!(after.stderr().contains("has changed since"), "{after:#?}");
    });
}

#[test]
fn s43_a_model_does_not_choose_where_it_works() {
    as_each_user(|world| {
        let arguments = json!({
            "description": "Do it", "prompt": "CHILD", "subagent_type": "general-purpose",
            "cwd": "/", "workspace": "..", "root": "/", "directory": world.name("outside"), "add_dirs": ["/"],
        });
        let calls = [
            read("outside/canary.txt"),
            read(&world.name("outside/canary.txt")),
            call("Read", json!({"file_path": "canary.txt", "cwd": world.name("outside")})),
            call("LS", json!({"path": ".", "cwd": "/"})),
        ];
        let script = with_agent(main_agent([call("Task", arguments)]), "CHILD", calls);
        let after = world.run(&["--permission-mode", "bypass"], script);
        let answers = after.assert_completed().answers_of("general-purpose");
        answers[0].assert_failed("does not exist");
        answers[1].assert_failed("is outside the workspace");
        answers[2].assert_failed("does not exist");
        assert!(answers[3].text.contains("src"), "it is still the workspace: {:#?}", answers[3]);
        assert!(after.told_to_main_agent().contains("`cwd`"), "that it was not heeded is said: {after:#?}");
    });
}

#[test]
fn s44_empty_lists_mean_none() {
    as_each_user(|world| {
        world.agent("toolless", "tools: []");
        let calls = || [read("src/main.rs"), write("new.txt"), call("TodoWrite", json!({"todos": []}))];
        let after = world.run(&["--permission-mode", "bypass"], delegated("toolless", calls()));
        for answer in after.answers_of("toolless") {
            answer.assert_refused("is not granted to this task (by agent toolless)");
        }
        assert!(!world.path("workspace/new.txt").exists());

        world.write("home/.config/sortie/config.toml", "[permissions]\nallow = []\n[web]\nprivate = []\n");
        let calls = [write("new.txt"), fetch("http://127.0.0.1:9/")];
        for answer in world.run(&[], main_agent(calls)).answers() {
            answer.assert_refused(NOBODY);
        }
    });
}

#[test]
fn s44_nobody_to_ask_means_no() {
    as_each_user(|world| {
        let after = world.run(&["--ask", "Read(src/**)"], main_agent([read("src/main.rs"), write("new.txt")]));
        let answers = after.assert_completed().answers();
        answers[0].assert_refused("the rule `Read(src/**)` of the flag --ask asks for it");
        answers[1].assert_refused(NOBODY);
        after.assert_unseen("fn main");
        assert!(!world.path("workspace/new.txt").exists());
    });
}
