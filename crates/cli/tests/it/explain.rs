//! `sortie explain`: the fate of a call, and who decides it.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::world::World;

fn check(world: &World, args: &[&str], expected: &Expect) {
    expected.assert_eq(&world.sortie(["explain"].iter().chain(args)).run().transcript());
}

#[test]
fn a_call_without_a_rule_needs_approval_and_the_rule_to_allow_it_is_named() {
    let world = World::new();
    check(
        &world,
        &["Edit(src/auth.rs)"],
        &expect![[r#"
        exit 1
        --- stdout
        Edit(src/auth.rs) by main: asks

          user settings  asks: no rule allows it               ← decides
          agent main     allows: nothing against it  built in

        It needs approval; `Edit(src/auth.rs)` under [permissions] allow, or --allow 'Edit(src/auth.rs)', would allow it.
    "#]],
    );
    check(
        &world,
        &["Edit(src/auth.rs)", "--allow", "Edit(src/**)"],
        &expect![[r#"
        exit 0
        --- stdout
        Edit(src/auth.rs) by main: allowed

          user settings  allows: rule `Edit(src/**)`  --allow
          agent main     allows: nothing against it   built in
    "#]],
    );
    check(
        &world,
        &["Read(src/auth.rs)"],
        &expect![[r#"
        exit 0
        --- stdout
        Read(src/auth.rs) by main: allowed

          user settings  allows: mode default
          agent main     allows: nothing against it  built in
    "#]],
    );
}

#[test]
fn every_layer_is_listed_and_the_deciding_one_is_marked() {
    let world = World::new();
    world.config("[permissions]\nmode = \"accept-edits\"\nask = [\"Edit(src/**)\"]\n");
    world.write("workspace/.sortie/config.toml", "[permissions]\ndeny = [\n  \"Read(src/main.rs)\",\n]\n");
    let agent =
        "---\nname: writer\ndescription: writes\ntools: Read, Edit(docs/**)\npermissionMode: dontAsk\n---\nWrite.\n";
    world.write("workspace/.sortie/agents/writer.md", agent);
    check(
        &world,
        &["Edit(src/main.rs)"],
        &expect![[r#"
        exit 1
        --- stdout
        Edit(src/main.rs) by main: denied

          user settings                           asks: rule `Edit(src/**)`         <dir>/home/.config/sortie/config.toml:3
          project settings (.sortie/config.toml)  denies: rule `Read(src/main.rs)`  .sortie/config.toml:3                              ← decides
          agent main                              allows: nothing against it        built in

        It is denied by project settings (.sortie/config.toml): its rule `Read(src/main.rs)`.
    "#]],
    );
    check(
        &world,
        &["Edit(docs/a.md)", "--agent", "writer"],
        &expect![[r#"
        exit 0
        --- stdout
        Edit(docs/a.md) by main › writer: allowed

          user settings                           allows: mode accept-edits   <dir>/home/.config/sortie/config.toml:2
          project settings (.sortie/config.toml)  allows: nothing against it
          agent main                              allows: nothing against it  built in
          agent writer                            allows: nothing against it  project: .sortie/agents/writer.md
    "#]],
    );
    check(
        &world,
        &["Edit(src/auth.rs)", "--agent", "writer"],
        &expect![[r#"
        exit 1
        --- stdout
        Edit(src/auth.rs) by main › writer: denied

          user settings                           asks: rule `Edit(src/**)`                  <dir>/home/.config/sortie/config.toml:3
          project settings (.sortie/config.toml)  allows: nothing against it
          agent main                              allows: nothing against it                 built in
          agent writer                            denies: its tools are Read, Edit(docs/**)  project: .sortie/agents/writer.md                  ← decides

        It is denied by agent writer: its tools are Read, Edit(docs/**).
    "#]],
    );
    check(
        &world,
        &["Read(src/auth.rs)", "--agent", "writer", "--ask", "Read"],
        &expect![[r#"
        exit 1
        --- stdout
        Read(src/auth.rs) by main › writer: denied

          user settings                           allows: mode accept-edits   <dir>/home/.config/sortie/config.toml:2
          project settings (.sortie/config.toml)  allows: nothing against it
          the flag --ask                          asks: rule `Read`           --ask
          agent main                              allows: nothing against it  built in
          agent writer                            denies: it never asks       project: .sortie/agents/writer.md                  ← decides

        It is denied by agent writer, which never asks: needs approval; the rule `Read` of the flag --ask asks for it.
    "#]],
    );
}

#[test]
fn s3_48_typed_explore_reads_unasked_but_not_what_is_denied() {
    let world = World::new();
    let typed = ["--contract", "typed", "--agent", "Explore", "--ask", "Read", "--deny", "Read(.env)"];
    check(
        &world,
        &[&["Read(src/auth.rs)"][..], &typed].concat(),
        &expect![[r#"
            exit 0
            --- stdout
            Read(src/auth.rs) by main › explore: allowed

              user settings    allows: mode default
              the flag --ask   asks: rule `Read`                        --ask
              the flag --deny  allows: nothing against it
              agent main       allows: nothing against it               built in
              agent Explore    approves: its reading needs no approval  built in  ← decides
        "#]],
    );
    check(
        &world,
        &[&["Read(.env)"][..], &typed].concat(),
        &expect![[r#"
            exit 1
            --- stdout
            Read(.env) by main › explore: denied

              user settings    allows: mode default
              the flag --ask   asks: rule `Read`           --ask
              the flag --deny  denies: rule `Read(.env)`   --deny    ← decides
              agent main       allows: nothing against it  built in
              agent Explore    allows: nothing against it  built in

            It is denied by the flag --deny: its rule `Read(.env)`.
        "#]],
    );
}

#[test]
fn protected_and_outside_paths_are_denied_whatever_is_allowed() {
    let world = World::new();
    let bypass = ["--permission-mode", "bypass"];
    check(
        &world,
        &[&["Edit(.git/config)"][..], &bypass].concat(),
        &expect![[r#"
        exit 1
        --- stdout
        Edit(.git/config) by main: denied

          Sortie  denies: it belongs to git's own files (`.git`), which no agent may change    ← decides

        It is denied: it belongs to git's own files (`.git`), which no agent may change.
    "#]],
    );
    check(
        &world,
        &[&["Read(/etc/passwd)"][..], &bypass].concat(),
        &expect![[r#"
        exit 1
        --- stdout
        Read(/etc/passwd) by main: denied

        It is denied: `/etc/passwd` is outside the workspace <dir>/workspace; only paths inside it can be used.
    "#]],
    );
    let own = format!("Write({})", world.path("home/.config/sortie/agents/mine.md").display());
    let ended = world.sortie(["explain", &own, "--add-dir", "../home", "--permission-mode", "bypass"]).run();
    assert!(ended.code == 1 && ended.stdout.contains("Sortie's own settings and state"), "{ended:#?}");
    let deepest = ["Task(explore)", "--contract", "typed", "--agent", "general-purpose"];
    check(
        &world,
        &[&deepest[..], &bypass].concat(),
        &expect![[r#"
        exit 1
        --- stdout
        Task(explore) by main › general-purpose: denied

          the flag --permission-mode  allows: mode bypass         --permission-mode
          agent main                  allows: nothing against it  built in
          agent general-purpose       allows: nothing against it  built in

        It is denied: general-purpose cannot delegate: it has depth 1, and `task_tool.max_depth` is 1.
    "#]],
    );
    check(
        &world,
        &["Read(src/auth.rs)", "--agent", "explore", "--deny", "Task(explore)"],
        &expect![[r#"
        exit 1
        --- stdout
        Read(src/auth.rs) by main › explore: denied

          user settings    allows: mode default
          the flag --deny  allows: nothing against it
          agent main       allows: nothing against it  built in
          agent explore    allows: nothing against it  built in

        main may not start explore by itself: denied by the flag --deny: its rule `Task(explore)`.
    "#]],
    );
}

#[test]
fn an_added_directory_is_in_reach() {
    let world = World::new();
    world.write("other/a.txt", "a");
    let path = format!("Read({})", world.path("other/a.txt").display());
    assert_eq!(world.sortie(["explain", &path]).run().code, 1);
    assert_eq!(world.sortie(["explain", &path, "--add-dir", "../other"]).run().code, 0);
    for relative in ["~/../other", "../../../other", "~/.."] {
        world.config(&format!("[permissions]\nadd_dirs = [\"{relative}\"]\n"));
        assert_eq!(world.sortie(["explain", &path]).run().code, 0, "to the file: {relative}");
    }
    world.config("");
    check(
        &world,
        &["Read(src/auth.rs)", "--add-dir", "../nowhere"],
        &expect![[r#"
        exit 2
        --- stderr
        error: --add-dir: the directory ../nowhere cannot be added: No such file or directory (os error 2)
    "#]],
    );
    world.write("workspace/.sortie/config.toml", "[permissions]\nadd_dirs = [\"../other\"]\n");
    assert_eq!(world.sortie(["explain", &path]).run().code, 1, "not before it is trusted");
    assert_eq!(world.sortie(["explain", &path, "--trust"]).run().code, 0, "to the project");
}

#[test]
fn programs_get_an_object() {
    let world = World::new();
    let ended = world.sortie(["explain", "Write(notes.md)", "--deny", "Edit(*.md)", "--json"]).run();
    let mut object = ended.stdout_json();
    let layers = object["layers"].take();
    assert_eq!(ended.code, 1);
    let expected = json!({
        "call": "Write(notes.md)",
        "agent": "main",
        "chain": ["main"],
        "decision": "deny",
        "ground": "denied by the flag --deny: its rule `Edit(*.md)`",
        "layers": null,
    });
    assert_eq!(object, expected);
    let deciding = json!({
        "owner": "the flag --deny",
        "verdict": "deny",
        "why": "rule `Edit(*.md)`",
        "rule": "Edit(*.md)",
        "place": "--deny",
        "decides": true,
    });
    assert_eq!(layers[1], deciding);
    assert_eq!(layers.as_array().unwrap().len(), 3);
}

#[test]
fn a_command_is_a_call_whatever_the_shell_would_make_of_it() {
    let world = World::new();
    let explain = |line: &str, more: &[&str]| {
        let call = format!("Bash({line})");
        world.sortie(["explain", call.as_str(), "--json"].into_iter().chain(more.iter().copied())).run()
    };
    let found = explain("find . -name '*.rs'", &["--allow", "Bash(find:*)"]);
    assert_eq!(found.code, 0, "{found:#?}");
    let listed = explain("ls *", &["--allow", "Bash(ls:*)"]);
    assert!(listed.code == 1 && listed.stdout.contains("known only when it runs"), "{listed:#?}");
    let several = explain("cargo build && cargo test > log", &[]);
    let remedies = json!(["Bash(cargo build)", "Bash(cargo test)", "Edit(/log)"]);
    assert_eq!((several.code, &several.stdout_json()["remedies"]), (1, &remedies), "{several:#?}");
}

#[test]
fn an_invalid_call_is_wrong_usage() {
    let world = World::new();
    for call in ["Raed(x)", "Edit(src/**)", "Edit(", "Edit()", "", "Bash(git diff:*)"] {
        let ended = world.sortie(["explain", call]).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{call}: {ended:#?}");
    }
    let ended = world.sortie(["explain", "Read(a)", "--agent", "nobody"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(world.kept_nothing());
}

#[test]
fn a_configured_servers_tool_is_judged_without_starting_the_server() {
    let world = World::new();
    world.config("[mcp_servers.db]\ncommand = \"/nowhere/at/all\"\n");
    check(
        &world,
        &["mcp__db__query"],
        &expect![[r#"
            exit 1
            --- stdout
            mcp__db__query by main: asks

              user settings  asks: no rule allows it               ← decides
              agent main     allows: nothing against it  built in

            It needs approval; `mcp__db__query` under [permissions] allow, or --allow 'mcp__db__query', would allow it.
        "#]],
    );
    assert_eq!(world.sortie(["explain", "mcp__db__query", "--allow", "mcp__db"]).run().code, 0);
    let unknown = world.sortie(["explain", "mcp__other__query", "--allow", "mcp__other"]).run();
    assert_eq!(unknown.code, 1);
    assert!(unknown.stdout.contains("main has no mcp__other__query here"), "{}", unknown.stdout);
}
