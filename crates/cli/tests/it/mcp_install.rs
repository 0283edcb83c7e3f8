//! `sortie mcp install`: the lines for each host, and their way into its file.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use expect_test::expect;
use serde_json::Value;

use crate::world::{Ended, World};

const HOSTS: [(&str, &str); 8] = [
    ("claude", ".claude.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("opencode", ".config/opencode/opencode.json"),
    ("zed", ".config/zed/settings.json"),
    ("vscode", ".config/Code/User/mcp.json"),
    ("cursor", ".cursor/mcp.json"),
    ("goose", ".config/goose/config.yaml"),
];

/// Runs it with the program on the path, so that the lines are the same everywhere.
fn install(world: &World, args: &[&str]) -> Ended {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_sortie"));
    world.sortie(["mcp", "install"].iter().chain(args)).env("PATH", program.parent().unwrap()).run()
}

fn home(world: &World, file: &str) -> String {
    fs::read_to_string(world.path("home").join(file)).unwrap()
}

#[test]
fn the_lines_of_each_host_are_printed_and_nothing_is_written() {
    let world = World::new();
    let mut said = String::new();
    for (host, _) in HOSTS {
        let ended = install(&world, &[host]);
        assert_eq!(ended.code, 0, "{ended:#?}");
        said += &format!("== {host}\n{}", ended.stdout);
    }
    assert!(fs::read_dir(world.path("home")).unwrap().next().is_none() && world.kept_nothing());
    expect![[r#"
        == claude
        claude mcp add --scope user sortie -- sortie mcp
        == codex
        [mcp_servers.sortie]
        command = "sortie"
        args = ["mcp"]
        env_vars = ["LLM_MODEL_ID", "LLM_BASE_URL", "LLM_WIRE", "LLM_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "SORTIE_HOME"]
        tool_timeout_sec = 600
        default_tools_approval_mode = "approve"
        supports_parallel_tool_calls = true
        == gemini
        {
          "mcpServers": {
            "sortie": {
              "command": "sortie",
              "args": [
                "mcp"
              ],
              "timeout": 600000,
              "trust": true
            }
          }
        }
        == opencode
        {
          "mcp": {
            "sortie": {
              "type": "local",
              "command": [
                "sortie",
                "mcp"
              ],
              "enabled": true,
              "timeout": 600000
            }
          }
        }
        == zed
        {
          "context_servers": {
            "sortie": {
              "command": "sortie",
              "args": [
                "mcp"
              ],
              "env": {}
            }
          }
        }
        == vscode
        {
          "servers": {
            "sortie": {
              "type": "stdio",
              "command": "sortie",
              "args": [
                "mcp"
              ]
            }
          }
        }
        == cursor
        {
          "mcpServers": {
            "sortie": {
              "command": "sortie",
              "args": [
                "mcp"
              ]
            }
          }
        }
        == goose
        extensions:
          sortie:
            name: "sortie"
            type: "stdio"
            enabled: true
            cmd: "sortie"
            args: ["mcp"]
            timeout: 600
    "#]]
    .assert_eq(&said);
}

#[test]
fn a_program_off_the_path_is_named_by_its_path_and_arguments_follow() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_sortie");
    let ended = world.sortie(["mcp", "install", "claude", "--project", "--", "--allow", "Bash(cargo test:*)"]).run();
    let expected = format!("claude mcp add --scope project sortie -- {program} mcp --allow 'Bash(cargo test:*)'\n");
    assert_eq!(ended.stdout, expected);
    // Another program of that name is not this one.
    let other = world.write("bin/sortie", "#!/bin/sh\n");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let ended = world.sortie(["mcp", "install", "codex"]).env("PATH", other.parent().unwrap()).run();
    assert!(ended.stdout.contains(&format!("command = \"{program}\"\n")), "{}", ended.stdout);
}

#[test]
fn it_says_which_keys_reach_the_server() {
    let world = World::new();
    let said = |host: &str| install(&world, &[host]).stderr;
    assert!(said("codex").contains("Codex passes only these variables to it, where they are set: LLM_MODEL_ID, "));
    assert!(said("claude").contains("Claude Code passes its whole environment to it, keys such as LLM_API_KEY, "));
    assert!(said("zed").contains("must reach it through Zed's environment, or through Sortie's settings"));
}

#[test]
fn every_host_gets_its_file_once() {
    let world = World::new();
    for (host, file) in HOSTS {
        let ended = install(&world, &[host, "--write"]);
        assert!(ended.code == 0 && ended.stdout.is_empty(), "{ended:#?}");
        assert!(ended.stderr.contains(&format!("added `sortie` to {}", world.path("home").join(file).display())));
        let text = home(&world, file);
        assert!(text.contains("sortie"), "{text}");
        let again = install(&world, &[host, "--write"]);
        assert!(again.code == 0 && again.stderr.contains("has this entry already; nothing was written"), "{again:#?}");
        assert_eq!(home(&world, file), text);
        // Another entry of this name is somebody's own.
        let other = install(&world, &[host, "--write", "--", "--contract", "typed"]);
        assert!(other.code == 2 && other.stderr.contains("has another entry `sortie`"), "{other:#?}");
        assert_eq!(home(&world, file), text);
    }
}

#[test]
fn comments_other_entries_and_the_files_mode_stay() {
    let world = World::new();
    let gemini = "// Mine\n{\n    \"theme\": \"dark, {odd}\", // one, two\n    \"mcpServers\": { \"x\": {\"command\": \"y\",}, },\n    /* the end */\n}\n";
    let path = world.write("home/.gemini/settings.json", gemini);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    world.write("home/.codex/config.toml", "# Mine\nmodel = \"m\" # it\n\n[mcp_servers.other]\ncommand = \"o\"");
    world.write(
        "home/.config/goose/config.yaml",
        "GOOSE_MODEL: x\nextensions:\n    # mine\n    developer:\n        enabled: true\nother: 1\n",
    );
    for host in ["gemini", "codex", "goose"] {
        assert_eq!(install(&world, &[host, "--write"]).code, 0);
    }
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
    let texts = [".gemini/settings.json", ".codex/config.toml", ".config/goose/config.yaml"];
    let texts = texts.map(|file| home(&world, file)).join("========\n");
    expect![[r#"
        // Mine
        {
            "theme": "dark, {odd}", // one, two
            "mcpServers": {
              "sortie": {
                "command": "sortie",
                "args": [
                  "mcp"
                ],
                "timeout": 600000,
                "trust": true
              },
              "x": {"command": "y",}, },
            /* the end */
        }
        ========
        # Mine
        model = "m" # it

        [mcp_servers.other]
        command = "o"

        [mcp_servers.sortie]
        command = "sortie"
        args = ["mcp"]
        env_vars = ["LLM_MODEL_ID", "LLM_BASE_URL", "LLM_WIRE", "LLM_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "SORTIE_HOME"]
        tool_timeout_sec = 600
        default_tools_approval_mode = "approve"
        supports_parallel_tool_calls = true
        ========
        GOOSE_MODEL: x
        extensions:
            sortie:
              name: "sortie"
              type: "stdio"
              enabled: true
              cmd: "sortie"
              args: ["mcp"]
              timeout: 600
            # mine
            developer:
                enabled: true
        other: 1
    "#]]
    .assert_eq(&texts);
}

#[test]
fn a_section_on_one_line_and_an_empty_one_take_the_entry() {
    for text in
        ["{}", "{\"a\":[1,{\"mcpServers\":{}}]}", "{ \"mcpServers\": {} }", "{\"mcpServers\":{\"x\":{}}}", "\n{\n}"]
    {
        let world = World::new();
        world.write("home/.cursor/mcp.json", text);
        assert_eq!(install(&world, &["cursor", "--write"]).code, 0, "{text}");
        let mut merged: Value = serde_json::from_str(&home(&world, ".cursor/mcp.json")).unwrap();
        let entry = merged["mcpServers"].as_object_mut().unwrap().remove("sortie").unwrap();
        assert_eq!(entry["command"], "sortie");
        let mut before: Value = serde_json::from_str(text).unwrap();
        if before.get("mcpServers").is_none() {
            before["mcpServers"] = serde_json::json!({});
        }
        assert_eq!(merged, before, "{text}");
    }
}

#[test]
fn a_file_without_an_obvious_place_stays_as_it_is() {
    for (host, file, text, complaint) in [
        ("codex", ".codex/config.toml", "mcp_servers = { x = { command = \"y\" } }\n", "no table can be added"),
        ("codex", ".codex/config.toml", "a = \n", "is not TOML"),
        ("gemini", ".gemini/settings.json", "[1]", "is not a JSON object"),
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": 1}", "has a `mcpServers` that is not an object"),
        ("goose", ".config/goose/config.yaml", "extensions: {}\n", "has something after `extensions:`"),
        ("goose", ".config/goose/config.yaml", "a: 1\n---\nb: 2\n", "has several documents"),
    ] {
        let world = World::new();
        world.write(&format!("home/{file}"), text);
        let ended = install(&world, &[host, "--write"]);
        assert!(ended.code == 2 && ended.stderr.contains(complaint), "{ended:#?}");
        assert!(ended.stderr.contains(&format!("add the lines by hand: sortie mcp install {host}")), "{ended:#?}");
        assert_eq!(home(&world, file), text);
    }
}

#[test]
fn a_link_stays_a_link_and_a_projects_file_is_in_the_project() {
    let world = World::new();
    let real = world.write("dotfiles/codex.toml", "# Mine\n");
    fs::create_dir_all(world.path("home/.codex")).unwrap();
    symlink(&real, world.path("home/.codex/config.toml")).unwrap();
    assert_eq!(install(&world, &["codex", "--write"]).code, 0);
    assert!(world.path("home/.codex/config.toml").is_symlink());
    assert!(fs::read_to_string(&real).unwrap().starts_with("# Mine\n\n[mcp_servers.sortie]\n"));

    assert_eq!(install(&world, &["vscode", "--project", "--write"]).code, 0);
    assert!(world.path("workspace/.vscode/mcp.json").exists());
    let ended = install(&world, &["goose", "--project"]);
    assert!(ended.code == 2 && ended.stderr.contains("Goose has no file for one project"), "{ended:#?}");
}

#[test]
fn the_command_of_an_agent_writes_nothing() {
    let world = World::new();
    let ended = world.sortie(["mcp", "install", "cursor", "--write"]).env("SORTIE_TASK", "agent-aaaaaaaaaaaa").run();
    assert!(ended.code != 0 && ended.stderr.contains("only a person may add programs to a host"), "{ended:#?}");
    assert!(!world.path("home/.cursor").exists());
}
