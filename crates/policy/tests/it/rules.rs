//! Rules as text: valid ones, and the reasons why others are not.

use expect_test::expect;
use sortie_policy::Rule;

fn error(text: &str) -> String {
    text.parse::<Rule>().map_or_else(|error| error.to_string(), |_| "a rule".to_owned())
}

#[test]
fn a_rule_is_shown_as_written() {
    for text in [
        "Read",
        "Read(src/**)",
        "Edit(docs/**)",
        "Bash(git diff:*)",
        "WebFetch(domain:example.com)",
        "Task(explore)",
        "Agent(explore)",
        "task",
        "mcp__server__tool",
        "mcp__server",
        "mcp__server__*",
        "mcp__*",
        "Read(a (copy).txt)",
        "Read(naïve/**)",
    ] {
        let rule: Rule = text.parse().unwrap();
        assert_eq!(rule.to_string(), text);
        assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
    }
    assert_eq!("  Read \n".parse::<Rule>().unwrap().to_string(), "Read");
}

#[test]
fn an_invalid_rule_says_why() {
    let texts = [
        "",
        "   ",
        "(src/**)",
        "Read(src/**",
        "Read(src/**) and more",
        "Read()",
        "Read( src/** )",
        "Read Write",
        "Rea\u{7}d",
        "*",
        "Re*",
        "mcp__*__query",
        "mcp__",
        "Read(!src/**)",
        "Read(../other/**)",
        "Read(src/**.rs)",
        "Read(src/{a,b}/**)",
        "Read(src/[ab)",
        "Read(src/[z-a])",
        "Read(src\\)",
        "Read(~other/x)",
        "Bash(git * main)",
        "Bash(:* x)",
        "WebFetch(example.com)",
        "WebFetch(domain:)",
        "WebFetch(domain:exam ple.com)",
        "WebFetch(domain:example.com/path)",
        "WebFetch(domain:*example.com)",
        "TodoWrite(x)",
        "TaskOutput(x)",
        "mcp__db__query(select)",
    ];
    let said: String = texts.iter().map(|text| error(text) + "\n").collect();
    expect![[r#"
        `` is not a rule: it is empty; write `Tool` or `Tool(pattern)`
        `` is not a rule: it is empty; write `Tool` or `Tool(pattern)`
        `(src/**)` is not a rule: it should begin with a tool's name; write `Tool` or `Tool(pattern)`
        `Read(src/**` is not a rule: its last character should be the `)` that closes the pattern
        `Read(src/**) and more` is not a rule: its last character should be the `)` that closes the pattern
        `Read()` is not a rule: its pattern is empty; leave out the parentheses to mean every call
        `Read( src/** )` is not a rule: its pattern begins or ends with a blank
        `Read Write` is not a rule: it should begin with a tool's name; write `Tool` or `Tool(pattern)`
        `Rea\u{7}d` is not a rule: it has a control character
        `*` is not a rule: `*` in a tool's name is supported only for MCP tools, at the end: `mcp__server__*`
        `Re*` is not a rule: `*` in a tool's name is supported only for MCP tools, at the end: `mcp__server__*`
        `mcp__*__query` is not a rule: `*` in a tool's name is supported only for MCP tools, at the end: `mcp__server__*`
        `mcp__` is not a rule: it should begin with a tool's name; write `Tool` or `Tool(pattern)`
        `Read(!src/**)` is not a rule: `!` is not supported; write another rule for the exception
        `Read(../other/**)` is not a rule: `..` leads nowhere in a pattern; write `//` and the path from the file system's root
        `Read(src/**.rs)` is not a rule: `**` must stand alone between slashes
        `Read(src/{a,b}/**)` is not a rule: `{a,b}` is not supported; write one rule for each, or `\{` for a brace
        `Read(src/[ab)` is not a rule: a `[` is not closed; write `\[` for a bracket
        `Read(src/[z-a])` is not a rule: a range in `[…]` runs backwards
        `Read(src\)` is not a rule: it ends in a lone `\`
        `Read(~other/x)` is not a rule: only your own `~/` is supported; write `\~` for a name that begins with `~`
        `Bash(git * main)` is not a rule: `*` is supported only at the end, for further words: `git diff:*`
        `Bash(:* x)` is not a rule: `*` is supported only at the end, for further words: `git diff:*`
        `WebFetch(example.com)` is not a rule: write a host as `domain:example.com`, or `domain:*.example.com` for its subdomains
        `WebFetch(domain:)` is not a rule: write a host as `domain:example.com`, or `domain:*.example.com` for its subdomains
        `WebFetch(domain:exam ple.com)` is not a rule: write a host as `domain:example.com`, or `domain:*.example.com` for its subdomains
        `WebFetch(domain:example.com/path)` is not a rule: write a host as `domain:example.com`, or `domain:*.example.com` for its subdomains
        `WebFetch(domain:*example.com)` is not a rule: write a host as `domain:example.com`, or `domain:*.example.com` for its subdomains
        `TodoWrite(x)` is not a rule: TodoWrite takes no pattern
        `TaskOutput(x)` is not a rule: TaskOutput takes no pattern
        `mcp__db__query(select)` is not a rule: mcp__db__query takes no pattern
    "#]].assert_eq(&said);
    assert!(
        error(&format!("Read({})", "a".repeat(10_000))).ends_with("aaa…` is not a rule: it is longer than 8192 bytes")
    );
}

#[test]
fn letters_that_only_look_plain_are_an_error() {
    for text in ["Rеad", "Вash", "Ｒead", "Re\u{200B}ad", "Reаd(src/**)", "mcp__sеrver"] {
        assert!(error(text).contains("not allowed in a tool's name"), "{text}: {}", error(text));
    }
}

#[test]
fn an_unknown_tool_is_reported_with_the_nearest_known_one() {
    let unknown = |text: &str| text.parse::<Rule>().unwrap().unknown_tool().map(|unknown| unknown.to_string());
    assert_eq!(unknown("Raed(src/**)").unwrap(), "there is no tool `Raed`; did you mean Read?");
    assert_eq!(unknown("bash").unwrap(), "there is no tool `bash`; did you mean Bash?");
    assert_eq!(unknown("Quux").unwrap(), "there is no tool `Quux`");
    assert_eq!(unknown("MCP__db").unwrap(), "there is no tool `MCP__db__`");
    for known in
        ["Read", "Task", "task", "Agent", "spawn_agent", "create_todo", "mcp__any__thing", "mcp__any", "mcp__*"]
    {
        assert_eq!(unknown(known), None, "{known}");
    }
}

#[test]
fn ask_and_deny_rules_know_a_tool_in_any_letter_case() {
    let unknown = |text: &str| text.parse::<Rule>().unwrap().unknown_tool_in_any_case().map(|unknown| unknown.name);
    for known in ["bash", "write", "TODOWRITE", "CREATE_TODO", "read(src/**)", "SPAWN_AGENT"] {
        assert_eq!(unknown(known), None, "{known}");
    }
    assert_eq!(unknown("Quux").unwrap(), "Quux");
    assert_eq!(unknown("MCP__db").unwrap(), "MCP__db__");
}

#[test]
fn every_contract_name_of_a_tool_denies_it() {
    for (rule, tool) in [("create_todo", "TodoWrite"), ("Create_Todo", "TodoWrite"), ("spawn_agent", "Task")] {
        let judge = super::support::judge([super::support::deny(&[rule])]);
        assert!(!judge.admits_some(tool), "{rule}");
        assert!(judge.admits_some("Read"), "{rule}");
    }
}

#[test]
fn pathological_patterns_are_parsed_and_matched_quickly() {
    let stars = format!("Read({}b)", "*a".repeat(2000));
    let depths = format!("Read({}b)", "**/a/".repeat(1000));
    let judge = super::support::judge([super::support::deny(&[&stars, &depths])]);
    let long = "a".repeat(255);
    let deep = vec![long.as_str(); 100].join("/");
    assert!(judge.decide("Read", &super::support::path(&deep)).is_allowed());
}

#[test]
fn a_rule_knows_whether_it_is_about_an_agent() {
    let about = |rule: &str, names: &[&str]| rule.parse::<Rule>().unwrap().is_about_agent(names.iter().copied());
    assert_eq!(about("Task(general)", &["general-purpose", "General"]), Some(true));
    assert_eq!(about("Agent(gen*)", &["general-purpose"]), Some(true));
    assert_eq!(about("Task(nosuch)", &["explore"]), Some(false));
    assert_eq!(about("Task", &["explore"]), None, "it is about all of them");
    assert_eq!(about("Read(explore)", &["explore"]), None);
    assert_eq!("task(x)".parse::<Rule>().unwrap().tool(), "Task");
}
