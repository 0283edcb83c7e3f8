//! MCP servers as written in files, and their use in agent files.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use sortie_agents::{AgentFile, Dialect, Reading, Scope, ServerAccess, ServerDefinition, ServerUse, read};

use crate::tools;

fn access(definition: &Value) -> ServerAccess {
    ServerDefinition::read("db", definition).expect("a good definition").server.access
}

fn fault(name: &str, definition: &Value) -> String {
    ServerDefinition::read(name, definition).expect_err("a bad definition")
}

#[test]
fn a_server_is_a_program_or_an_address() {
    let program = access(&json!({ "command": "npx", "args": ["-y", "db"], "env": { "PORT": 1, "KEY": "${KEY}" } }));
    let ServerAccess::Program { command, arguments, environment, directory: None } = program else {
        panic!("a program")
    };
    assert_eq!((command.as_str(), &arguments[..]), ("npx", &["-y".to_owned(), "db".to_owned()][..]));
    assert_eq!(
        environment.into_iter().map(|(name, value)| name + "=" + &value).collect::<Vec<_>>(),
        ["KEY=${KEY}", "PORT=1"]
    );
    for transport in [json!(null), json!("http"), json!("streamable-http")] {
        let mut definition =
            json!({ "url": "https://db.example/mcp", "headers": { "Authorization": "Bearer ${KEY}" } });
        if !transport.is_null() {
            definition["type"] = transport;
        }
        let ServerAccess::Address { url, headers, .. } = access(&definition) else { panic!("an address") };
        assert_eq!((url.as_str(), headers.len()), ("https://db.example/mcp", 1));
    }
}

#[test]
fn invalid_servers_are_reported() {
    let faults = [
        fault("db", &json!("npx db")),
        fault("db", &json!({})),
        fault("db", &json!({ "command": "a", "url": "http://b" })),
        fault("db", &json!({ "command": "" })),
        fault("db", &json!({ "command": "a", "args": "b c" })),
        fault("db", &json!({ "command": "a", "env": { "A": [] } })),
        fault("db", &json!({ "command": "a", "env": { "A=B": "c" } })),
        fault("db", &json!({ "command": "a", "type": "http" })),
        fault("db", &json!({ "command": "a", "type": "sse" })),
        fault("db", &json!({ "url": "http://b", "headersHelper": "keys | head" })),
        fault("db", &json!({ "url": "http://b", "oauth": { "clientName": "a" } })),
        fault("db", &json!({ "url": "http://b", "oauth": { "callbackPort": 0 } })),
        fault("db", &json!({ "command": "a", "timeout": 0 })),
        fault("db", &json!({ "url": "ftp://b" })),
        fault("db", &json!({ "command": "a", "start_timeout_seconds": 0 })),
        fault("db", &json!({ "command": "a", "disabled": "yes" })),
        fault("a__b", &json!({ "command": "a" })),
    ];
    expect![[r#"
        it must be a table with `command` or `url`
        it has neither `command` nor `url`
        it has both `command` and `url`; keep one
        `command` must be a non-empty text
        `args` must be a list of at most 200 texts
        `env` must be at most 200 names, each with a text
        `env` must be at most 200 names, each with a text
        `type` "http" is unknown; use stdio or http
        `type` "sse" is unknown; use stdio or http
        `headersHelper` is run without a shell; write a list of its program and arguments
        `oauth` has no `clientName`; it has clientId, clientSecret, callbackPort, scopes
        `oauth.callbackPort` must be a number from 1 to 65535
        `timeout` must be a whole number of milliseconds from 1 to 86400000
        `url` must begin with http:// or https://
        `start_timeout_seconds` must be a whole number from 1 to 600
        `disabled` must be true or false
        a server's name has up to 40 letters, digits, `-` and single `_`, and neither begins nor ends with `_`"#]]
    .assert_eq(&faults.join("\n"));
    for name in ["", "a b", "ä", "_a", "a_", "mcp__a", "a.b", &"a".repeat(41)] {
        assert!(fault(name, &json!({ "command": "a" })).starts_with("a server's name has"), "{name}");
    }
}

#[test]
fn keys_without_a_meaning_are_reported() {
    let reading = ServerDefinition::read("db", &json!({ "command": "a", "arg": [], "headers": {}, "watch": 1 }));
    expect![[r#"
        there is no `arg`; did you mean `args`?
        `headers` has no meaning here
        there is no `watch`; it has command, args, env, cwd, type, enabled, disabled, start_timeout_seconds, call_timeout_seconds, timeout"#]]
    .assert_eq(&reading.unwrap().ignored.join("\n"));
}

#[test]
fn keys_of_other_programs_have_their_meaning() {
    let program = json!({ "command": "a", "cwd": "tools", "timeout": 90_500 });
    let read = ServerDefinition::read("db", &program).unwrap();
    assert_eq!((read.ignored, read.server.call_within), (Vec::new(), Duration::from_millis(90_500)));
    let ServerAccess::Program { directory, .. } = read.server.access else { panic!("a program") };
    assert_eq!(directory.as_deref(), Some("tools"));
    let both = json!({ "command": "a", "timeout": 90_500, "call_timeout_seconds": 7 });
    assert_eq!(ServerDefinition::read("db", &both).unwrap().server.call_within, Duration::from_secs(7));

    let ours = json!({ "client_id": "me", "callback_port": 8080, "scopes": ["a", "b"] });
    let theirs = json!({ "clientId": "me", "callbackPort": 8080, "scopes": "a b" });
    let helpers = [json!("/opt/keys --for ${NAME}"), json!(["/opt/keys", "--for", "${NAME}"])];
    for (oauth, helper) in [ours, theirs].into_iter().zip(helpers) {
        let definition = json!({ "url": "https://b", "oauth": oauth, "headersHelper": helper });
        let read = ServerDefinition::read("db", &definition).unwrap();
        assert_eq!(read.server.in_words(), "calls https://b with headers from `/opt/keys --for ${NAME}`");
        assert!(read.ignored.is_empty() && read.server.runs_something());
        let ServerAccess::Address { helper, oauth, .. } = read.server.access else { panic!("an address") };
        assert_eq!(helper, ["/opt/keys", "--for", "${NAME}"]);
        assert_eq!((oauth.client_id.as_deref(), oauth.callback_port), (Some("me"), Some(8080)));
        assert_eq!(oauth.scopes, ["a", "b"]);
    }
}

#[test]
fn a_server_of_the_old_transport_is_read_for_what_it_is() {
    let read = ServerDefinition::read("old", &json!({ "type": "sse", "url": "https://b/sse", "headers": {} })).unwrap();
    assert!(matches!(read.server.access, ServerAccess::OldAddress { .. }) && read.ignored.is_empty());
}

#[test]
fn a_server_can_be_switched_off_with_either_key() {
    for (switch, is_off) in [
        (json!({}), false),
        (json!({ "disabled": true }), true),
        (json!({ "disabled": false }), false),
        (json!({ "enabled": false }), true),
        (json!({ "enabled": true }), false),
        (json!({ "enabled": true, "disabled": true }), true),
    ] {
        let mut definition = json!({ "url": "http://h" });
        definition.as_object_mut().unwrap().extend(switch.as_object().unwrap().clone());
        let reading = ServerDefinition::read("db", &definition).unwrap();
        assert_eq!((reading.server.is_off, reading.ignored), (is_off, Vec::new()), "{switch}");
        let shown = [reading.server.to_string(), reading.server.in_words()];
        let off = ["{ url = \"http://h\", enabled = false }", "is switched off; it calls http://h"];
        let on = ["{ url = \"http://h\" }", "calls http://h"];
        assert_eq!(shown, if is_off { off } else { on });
    }
}

#[test]
fn secrets_stay_hidden_when_a_server_is_shown() {
    let shown = |definition: Value| ServerDefinition::read("db", &definition).unwrap().server.to_string();
    expect![[r#"{ command = "npx", args = ["-y", "db"], env = { KEY = "********" } }"#]]
        .assert_eq(&shown(json!({ "command": "npx", "args": ["-y", "db"], "env": { "KEY": "sk-1" } })));
    expect![[r#"{ url = "https://********@db.example/mcp", headers = { Authorization = "********" } }"#]].assert_eq(
        &shown(json!({ "url": "https://me:sk-1@db.example/mcp?key=sk-2", "headers": { "Authorization": "sk-3" } })),
    );
}

fn agent(front_matter: &str, trusted: bool) -> Reading {
    let text = format!("---\nname: keeper\ndescription: Keeps the books\n{front_matter}---\nKeep them.\n");
    let (scope, dialect) = (Scope::Project, Dialect::Ours);
    read(&AgentFile { path: "keeper.md".to_owned(), scope, dialect, trusted, bytes: text.into_bytes() }, &tools())
}

const OWN: &str = "tools: Read, mcp__files__list\nmcpServers:\n  - files\n  - db:\n      command: npx\n      args: [-y, db]\n  - name: web\n    url: https://web.example/mcp\n";

#[test]
fn an_agent_names_servers_and_defines_its_own_only_if_trusted() {
    let definition = agent(OWN, true).definition.unwrap();
    let names: Vec<&str> = definition.servers.iter().map(ServerUse::name).collect();
    assert_eq!(names, ["files", "db", "web"]);
    assert!(matches!(definition.servers[..], [ServerUse::Named(_), ServerUse::Own(_), ServerUse::Own(_)]));
    // An agent gets all tools of a server it asks for, unless the list names some of them.
    assert_eq!(definition.tools.unwrap(), ["Read", "mcp__files__list", "mcp__db", "mcp__web"]);
    let untrusted = agent(OWN, false);
    expect![[r#"
        keeper.md:7: warning: the MCP server `db` is left out: a project's agent may start none until trusted; review the file, then run `sortie trust`
        keeper.md:10: warning: the MCP server `web` is left out: a project's agent may start none until trusted; review the file, then run `sortie trust`"#]]
    .assert_eq(&untrusted.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    assert_eq!(untrusted.definition.unwrap().servers, [ServerUse::Named("files".to_owned())]);
}

#[test]
fn servers_can_be_written_as_a_text_a_list_or_a_mapping() {
    let names = |front_matter: &str| -> Vec<String> {
        let definition = agent(front_matter, true).definition.unwrap();
        assert_eq!(definition.tools, None, "everything that its parent has");
        definition.servers.iter().map(|server| server.name().to_owned()).collect()
    };
    assert_eq!(names("mcpServers: files, db\n"), ["files", "db"]);
    assert_eq!(names("mcpServers: [files, db]\n"), ["files", "db"]);
    assert_eq!(names("mcpServers:\n  files:\n  db:\n    command: db\n"), ["files", "db"]);
    assert_eq!(names("mcpServers: []\n"), Vec::<String>::new());
}
