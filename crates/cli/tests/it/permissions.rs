//! Permissions as settings: lists that add up over files, variables and flags, and a project's influence.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::World;

/// List setting, with an item for it from each place.
pub(crate) struct List {
    pub(crate) key: &'static str,
    /// Flag of its own.
    flag: Option<&'static str>,
    /// Items of the user's file, the project's, the environment, `--set` and the flag.
    items: [&'static str; 5],
    /// True if it counts from an untrusted project.
    only_narrows: bool,
}

const RULES: [&str; 5] = ["Edit(a/**)", "Edit(b/**)", "Edit(c,d/**)", "Edit(e/**)", "Edit(f/**)"];

pub(crate) static LISTS: [List; 5] = [
    List { key: "permissions.allow", flag: Some("--allow"), items: RULES, only_narrows: false },
    List { key: "permissions.ask", flag: Some("--ask"), items: RULES, only_narrows: true },
    List { key: "permissions.deny", flag: Some("--deny"), items: RULES, only_narrows: true },
    List {
        key: "permissions.add_dirs",
        flag: Some("--add-dir"),
        items: ["../a", "../b", "../c", "../d", "../e, f"],
        only_narrows: false,
    },
    List {
        key: "web.private",
        flag: None,
        items: ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4", "-"],
        only_narrows: false,
    },
];

/// Items and origins of a list in `config show`.
fn listed(text: &str, key: &str) -> Vec<(String, String)> {
    let rows = text.lines().filter(|line| line.starts_with(&format!("{key} ")));
    let columns =
        rows.map(|row| row.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect::<Vec<_>>());
    columns.map(|columns| (columns[1].trim_matches('"').to_owned(), columns[2].to_owned())).collect()
}

fn in_file(key: &str, item: &str) -> String {
    let (section, name) = key.split_once('.').unwrap();
    format!("[{section}]\n{name} = [\n  # why\n  {item:?},\n]\n")
}

#[test]
fn every_list_adds_up_over_both_files_the_environment_and_flags() {
    for List { key, flag, items, .. } in &LISTS {
        let world = World::new();
        let show = |args: &[&str], env: &[(&str, &str)]| {
            let ended = world.sortie(args).envs(env.iter().copied()).run();
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{key}");
            listed(&ended.stdout, key)
        };
        assert_eq!(show(&["config", "show"], &[]), [("(not set)".to_owned(), "default".to_owned())]);
        let [own, project, variable, set, by_flag] = items;
        let path = world.config(&in_file(key, own));
        world.write("workspace/.sortie/config.toml", &in_file(key, project));
        let name = format!("SORTIE_{}", key.replace('.', "__").to_uppercase());
        let set = format!("{key}={set}");
        let mut args = vec!["config", "show", "--trust", "--set", &set];
        args.extend(flag.iter().flat_map(|flag| [*flag, *by_flag]));
        let places =
            [&format!("{}:4", path.display()), ".sortie/config.toml:4", &name, "--set", flag.unwrap_or_default()];
        let expected: Vec<(String, String)> =
            items.iter().zip(places).map(|(item, place)| ((*item).to_owned(), place.to_owned())).collect();
        let count = if flag.is_some() { 5 } else { 4 };
        assert_eq!(show(&args, &[(&name, variable)]), expected[..count], "{key}");
    }
}

#[test]
fn only_forbidding_lists_of_an_untrusted_project_count() {
    for List { key, items: [item, ..], only_narrows, .. } in &LISTS {
        let world = World::new();
        world.write("workspace/.sortie/config.toml", &in_file(key, item));
        let ended = world.sortie(["config", "show"]).run();
        let origin = listed(&ended.stdout, key).remove(0).1;
        if *only_narrows {
            assert_eq!((origin.as_str(), ended.stderr.as_str()), (".sortie/config.toml:4", ""), "{key}");
        } else {
            assert_eq!(origin, "default", "{key}");
            let warning = format!("warning: ignored: `{key}` (.sortie/config.toml:4): this project is not trusted;");
            assert!(ended.stderr.contains(&warning), "{}", ended.stderr);
            let aside = format!("  {key} = {item:?}  (.sortie/config.toml:4, does not count from a project until");
            assert!(ended.stdout.contains(&aside), "{}", ended.stdout);
        }
    }
}

#[test]
fn a_list_in_a_variable_is_an_array_or_its_only_item() {
    let world = World::new();
    let rules = |value: &str| {
        let ended = world.sortie(["config", "show"]).env("SORTIE_PERMISSIONS__DENY", value).run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        listed(&ended.stdout, "permissions.deny").into_iter().map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    assert_eq!(
        rules(r#"["Edit(a,b/**)", 'Write(x), Bash(y)', "Write"]"#),
        ["Edit(a,b/**)", "Write(x), Bash(y)", "Write"]
    );
    assert_eq!(rules("[\n  \"Write\",\n]"), ["Write"]);
    assert_eq!(rules("Edit(a,b/**)"), ["Edit(a,b/**)"]);
    assert_eq!(rules("[]"), ["(not set)"]);
}

#[test]
fn a_variable_that_may_hold_several_rules_is_refused_with_the_array_to_write() {
    let world = World::new();
    let said = |value: &str| {
        let ended = world.sortie(["config", "show"]).env("SORTIE_PERMISSIONS__DENY", value).run();
        assert_eq!(ended.code, 2, "{ended:#?}");
        ended.stderr
    };
    expect![[r#"
        error: the variable SORTIE_PERMISSIONS__DENY: `permissions.deny`: this may be one item or several; write an array, perhaps ["Edit(a)", "Write(b)"]
    "#]]
    .assert_eq(&said("Edit(a), Write(b)"));
    assert!(said(r#"["Write", 1]"#).contains("an item is not a string"));
    assert!(said(r#"["Write""#).contains("`permissions.deny` must be a list of rules"));
}

#[test]
fn one_flag_is_one_rule_so_a_name_cannot_bring_another() {
    let world = World::new();
    for (flag, key) in [("--allow", "permissions.allow"), ("--ask", "permissions.ask"), ("--deny", "permissions.deny")]
    {
        let ended = world.sortie(["config", "show", flag, "Edit(a), Bash(b)", flag, "Write"]).run();
        let rules: Vec<String> = listed(&ended.stdout, key).into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(rules, ["Edit(a), Bash(b)", "Write"], "{flag}");
        let warning =
            format!("warning: {flag}: `Edit(a), Bash(b)` is one rule; for several, give {flag} several times");
        assert!(ended.stderr.contains(&warning), "{}", ended.stderr);
    }
    // `--set` speaks the language of the file.
    let ended = world.sortie(["config", "show", "--set", r#"permissions.deny=["Edit(a)", "Write"]"#]).run();
    let rules: Vec<String> = listed(&ended.stdout, "permissions.deny").into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(rules, ["Edit(a)", "Write"]);
}

#[test]
fn the_mode_has_a_flag_of_its_own() {
    let world = World::new();
    let shown = |args: &[&str]| listed(&world.sortie(args).run().stdout, "permissions.mode").remove(0);
    let mode = |args: &[&str]| {
        let (mode, origin) = shown(args);
        format!("{mode} {origin}")
    };
    assert_eq!(mode(&["config", "show", "--permission-mode", "plan"]), "plan --permission-mode");
    let both = ["--permission-mode", "plan", "--set", "permissions.mode=bypass", "config", "show"];
    assert_eq!(mode(&both), "plan --permission-mode");
}

#[test]
fn bypass_never_comes_from_a_project_trusted_or_not() {
    let world = World::new();
    let show = |args: &[&str]| world.sortie(["config", "show"].iter().chain(args)).run();
    let mode = |stdout: &str| listed(stdout, "permissions.mode").remove(0);
    world.write("workspace/.sortie/config.toml", "[permissions]\nmode = \"bypass\"\n");
    for args in [&[][..], &["--trust"]] {
        let ended = show(args);
        assert_eq!(mode(&ended.stdout), ("default".to_owned(), "default".to_owned()));
        assert!(ended.stderr.starts_with("warning: ignored: `permissions.mode"), "{}", ended.stderr);
    }
    expect![[r#"
        warning: ignored: `permissions.mode = "bypass"` (.sortie/config.toml:2): a project cannot set it, trusted or not
    "#]]
    .assert_eq(&show(&["--trust"]).stderr);
    world.write("workspace/.sortie/config.toml", "");
    world.write("workspace/.env", "SORTIE_PERMISSIONS__MODE=bypass\n");
    let ended = show(&["--trust"]);
    assert_eq!(mode(&ended.stdout).0, "default");
    assert!(ended.stderr.contains("(SORTIE_PERMISSIONS__MODE (.env:1)): a project cannot set it"), "{}", ended.stderr);
    let dry = world.sortie(["trust", "--dry-run"]).run();
    assert!(dry.stdout.contains("which never counts from a project"), "{}", dry.stdout);
}

#[test]
fn trust_shows_what_a_project_would_allow_itself() {
    let world = World::new();
    let text = "[permissions]\nmode = \"accept-edits\"\ndeny = [\"Read(.env)\"]\nallow = [\n  \"WebFetch\",\n  \"Edit\",\n]\n\
        add_dirs = [\"..\"]\n[web]\nprivate = [\"127.0.0.1:22\"]\n";
    world.write("workspace/.sortie/config.toml", text);
    let dry = world.sortie(["trust", "--dry-run"]).run().transcript();
    let lines: Vec<&str> = dry.lines().filter(|line| line.contains("line ")).map(str::trim).collect();
    expect![[r#"
        line 10: adds "127.0.0.1:<port>" to web.private
        line 2: sets permissions.mode = "accept-edits"
        line 5: adds "WebFetch" to permissions.allow
        line 6: adds "Edit" to permissions.allow
        line 8: adds ".." to permissions.add_dirs"#]]
    .assert_eq(&lines.join("\n"));
}

fn check(config: &str, args: &[&str], expected: &Expect) {
    let world = World::new();
    world.config(config);
    let ended = world.sortie(["config", "show"].iter().chain(args)).run();
    let said = ended.transcript();
    let stderr = said.split_once("--- stderr\n").map_or("", |(_, stderr)| stderr);
    expected.assert_eq(&format!("exit {}\n{stderr}", ended.code));
}

#[test]
fn an_invalid_rule_is_an_error_with_its_line() {
    check(
        "[permissions]\nallow = [\n  \"Read\",\n  \"Edit(\",\n]\n",
        &[],
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:4: `permissions.allow`: `Edit(` is not a rule: its last character should be the `)` that closes the pattern
    "#]],
    );
    check(
        "[permissions]\ndeny = \"Edit\"\n",
        &[],
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:2: `permissions.deny` must be a list of rules like ["WebFetch", "Edit(docs/**)"], not "Edit"
    "#]],
    );
    check(
        "[permissions]\nask = [7]\n",
        &[],
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:2: `permissions.ask` must be a list of rules like ["WebFetch", "Edit(docs/**)"], not a number
    "#]],
    );
    check(
        "[permissions]\nmode = \"yolo\"\n",
        &[],
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:2: `permissions.mode` must be one of plan, default, accept-edits, bypass, not "yolo"
    "#]],
    );
    check(
        "",
        &["--deny", "Еdit"],
        &expect![[r#"
        exit 2
        error: --deny: `permissions.deny`: `Еdit` is not a rule: `Е` is not allowed in a tool's name, even if it looks like a plain letter
    "#]],
    );
    check(
        "",
        &["--permission-mode", "yolo"],
        &expect![[r#"
        exit 2
        error: --permission-mode: `permissions.mode` must be one of plan, default, accept-edits, bypass, not "yolo"
    "#]],
    );
}

#[test]
fn a_broken_rule_of_an_untrusted_project_stops_nobody() {
    let world = World::new();
    world.write("workspace/.sortie/config.toml", "[permissions]\ndeny = [\"Edit(\", \"Write\"]\n");
    let ended = world.sortie(["config", "show"]).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(listed(&ended.stdout, "permissions.deny").remove(0).0, "Write");
    assert!(
        ended.stderr.starts_with("warning: .sortie/config.toml:2 is ignored: `permissions.deny`: "),
        "{}",
        ended.stderr
    );
    assert_eq!(world.sortie(["config", "show", "--trust"]).run().code, 2);
}

#[test]
fn a_broken_rule_in_the_environment_is_not_replaced_by_a_flag() {
    let world = World::new();
    let ended = world.sortie(["config", "show", "--deny", "Write"]).env("SORTIE_PERMISSIONS__DENY", "Edit(").run();
    assert_eq!(ended.code, 2, "{ended:#?}");
}

#[test]
fn a_rule_for_an_unknown_tool_is_a_warning() {
    check(
        "[permissions]\nallow = [\"Raed\", \"Bash(git diff:*)\", \"mcp__files\"]\n",
        &["--deny", "Wriet"],
        &expect![[r#"
            exit 0
            warning: <dir>/home/.config/sortie/config.toml:2: `permissions.allow`: there is no tool `Raed`; did you mean Read?
            warning: --deny: `permissions.deny`: there is no tool `Wriet`; did you mean Write?
        "#]],
    );
}

/// Result of a main agent's only call.
fn told_of(world: &World, args: &[&str], call: (&str, Value)) -> String {
    let script = Script::new()
        .on(when::prompt_contains("CALL").turn(0), reply::calls([reply::call(call.0, call.1)]))
        .otherwise(reply::text("done"));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "CALL"].iter().chain(args)).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    serde_json::to_string(&server.requests().last().unwrap().body).unwrap()
}

#[test]
fn configured_permissions_reach_the_gate() {
    let world = World::new();
    world.write("other/secret.txt", "CANARY");
    let write = || ("Write", json!({"file_path": "docs/a.md", "content": "a"}));
    let read = |path: &str| ("Read", json!({"file_path": path}));
    let is_written = || std::fs::remove_file(world.path("workspace/docs/a.md")).is_ok();
    let told = told_of(&world, &[], write());
    assert!(told.contains("nobody can be asked here") && !is_written(), "{told}");
    for args in [&["--allow", "Edit(docs/**)"][..], &["--permission-mode", "accept-edits"], &["--allow", "Write"]] {
        let told = told_of(&world, args, write());
        assert!(is_written(), "{args:?}: {told}");
    }
    for args in [
        &["--permission-mode", "accept-edits", "--deny", "Write(docs/**)"][..],
        &["--permission-mode", "plan", "--allow", "Edit"],
        &["--allow", "Edit", "--ask", "Edit(docs/**)"],
    ] {
        let told = told_of(&world, args, write());
        let is_refused = told.contains("Write was not run: ") || told.contains("Write is not granted to this task");
        assert!(is_refused && !is_written(), "{args:?}: {told}");
    }
    assert!(told_of(&world, &[], read("src/auth.rs")).contains("AuthError"));
    world.write("workspace/.sortie/config.toml", "[permissions]\ndeny = [\"Read(src/auth.rs)\"]\n");
    let told = told_of(&world, &[], read("src/auth.rs"));
    let expected = "Read was not run: denied by project settings (.sortie/config.toml): its rule `Read(src/auth.rs)`";
    assert!(told.contains(expected) && !told.contains("AuthError"), "{told}");
    world.write("workspace/.sortie/config.toml", "[permissions]\nallow = [\"Edit(docs/**)\"]\n");
    told_of(&world, &[], write());
    assert!(!is_written(), "a project allows nothing before it is trusted");
    told_of(&world, &["--trust"], write());
    assert!(is_written());
    let outside = world.path("other/secret.txt").display().to_string();
    assert!(!told_of(&world, &[], read(&outside)).contains("CANARY"));
    assert!(told_of(&world, &["--add-dir", "../other"], read(&outside)).contains("CANARY"));
}

#[test]
fn a_rule_about_the_home_directory_takes_no_tool_away() {
    let world = World::new();
    let told = told_of(&world, &["--deny", "Read(~/.ssh/**)"], ("Read", json!({"file_path": "src/auth.rs"})));
    assert!(told.contains("AuthError"), "{told}");
}

#[test]
fn a_private_server_is_fetched_from_only_if_configured() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|count| count > 2) {}
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 6\r\nconnection: close\r\n\r\n";
            stream.get_mut().write_all(format!("{head}CANARY").as_bytes()).unwrap();
        }
    });
    let fetch = || ("WebFetch", json!({"url": format!("http://{place}/")}));
    let refused = told_of(&world, &["--allow", "WebFetch"], fetch());
    assert!(!refused.contains("CANARY"), "{refused}");
    let private = format!("web.private={place}");
    let fetched = told_of(&world, &["--allow", "WebFetch", "--set", &private], fetch());
    assert!(fetched.contains("CANARY"), "{fetched}");
    world.config(&format!("[web]\nprivate = [\"{place}\"]\n"));
    assert!(told_of(&world, &["--allow", "WebFetch"], fetch()).contains("CANARY"));
    check(
        "[web]\nprivate = [\"not a host\"]\n",
        &[],
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:2: `web.private`: `not a host` is not a place on the network (invalid international domain name); write a host (`wiki.internal`), an address (`127.0.0.1:<port>`, `[::1]:8080`) or a network (`10.0.0.0/8`)
    "#]],
    );
}
