//! Examples of README.md and of the help texts, run as a person would type them, without a key or a server.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Invocation, World};

/// Ending of an example that does not end with exit code 0.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Code(i32),
    /// It is not run here, for the reason beside it.
    NotRun,
}
use Ending::{Code, NotRun};

const OTHERWISE: &[(&str, Ending)] = &[
    ("ANTHROPIC_API_KEY=… sortie run \"Explain how requests are retried\"", NotRun), // needs a key
    ("sortie mcp --http 127.0.0.1:8808", NotRun),                                    // never ends
    ("sortie mcp login docs", NotRun),                                               // needs a server
    ("sortie mcp logout docs", NotRun),
    ("sortie config edit", NotRun), // opens an editor
    ("EDITOR=nano sortie config edit", NotRun),
    // The built-in model has no answer: this is work for a language model.
    ("git diff | sortie run - --agent summary", Code(1)),
    ("sortie run --template test-file path=src/a.rs", Code(1)),
    ("sortie run --template test-file path=src/a.rs \"only the public functions\"", Code(1)),
    ("sortie run \"/test-file path=src/a.rs only the public functions\"", Code(1)),
    ("sortie run --max-cost-usd 0.50 --max-tokens 200k \"Review the last commit\"", Code(1)),
    ("sortie run --output-format json --timeout 5m \"List the modules\" | jq -r .text", Code(1)),
    ("sortie resume kvbq \"Now write the tests\"", Code(1)),
    ("sortie resume", Code(1)),                     // nothing was interrupted
    ("sortie resume kvbq --max-turns 80", Code(2)), // a completed task needs a prompt
    ("sortie resume kvbq --max-tokens 100k --max-cost-usd 1", Code(2)),
    ("sortie tasks send kvbq \"Leave the tests alone\"", Code(1)), // the task has ended
    ("git diff | sortie tasks send kvbq -", Code(1)),
    ("sortie tasks release kvbq", Code(1)),
    ("cat \"$(sortie config path --project)\"", Code(1)), // the project has no such file
    ("sortie explain \"Edit(src/a.rs)\"", Code(1)),       // 1 says that it is not simply allowed
    ("sortie explain \"Edit(src/a.rs)\" --agent explore", Code(1)),
    ("sortie explain \"Bash(cargo build && cargo test)\"", Code(1)),
    ("sortie --permission-mode plan explain \"Write(notes.md)\" --json", Code(1)),
    ("sortie trust", Code(2)), // no terminal to ask on
];

/// Workspace that the examples speak of: a program with its history, a change, and a task that has ended.
fn world() -> World {
    let world = World::new();
    fs::remove_dir(world.path("workspace/.git")).unwrap();
    world.write("workspace/README.md", "# Example\n\nA small program that reads its config.\n");
    let config = "/// Parses the config.\npub fn parse_config(text: &str) -> Config {\n    Config::from(text)\n}\n";
    world.write("workspace/src/config.rs", config);
    world.write("workspace/src/a.rs", "pub fn a() {}\n");
    world.write(
        "workspace/request.json",
        &json!({"description": "d", "prompt": "Where is the config parsed?"}).to_string(),
    );
    let retry = "/// The second retry has to wait longer than the first.\npub fn wait_before_retry(n: u32) {}\n";
    world.write("workspace/src/retry.rs", retry);
    world.write("workspace/other.toml", "");
    world.write("workspace/.sortie/agents/reader.md", "---\nname: reader\ndescription: Reads files\n---\nRead.\n");
    world.write("other/src/config.rs", config);
    for directory in ["other/.git", "home/.zfunc", "home/.config/fish/completions"] {
        fs::create_dir_all(world.path(directory)).unwrap();
    }
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "Begin"]] {
        let named = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        let git = Command::new("git").args(named).args(args).current_dir(world.path("workspace")).status();
        assert!(git.unwrap().success());
    }
    world.write("workspace/src/a.rs", "pub fn a(config: Config) {}\n");
    world
}

/// Ids that examples name, the longest first.
const IDS: [&str; 3] = ["agent-kvbqxmzrtyua", "kvbq", "kvb"];

/// Id of a task of this world that has ended.
fn ended_task(world: &World) -> String {
    if world.kept_nothing() {
        world.sortie(["run", "Where is the config parsed?"]).run();
    }
    world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned()
}

/// Line of a shell in which `sortie` is the program.
fn typed(world: &World, line: &str) -> Invocation {
    let own = Path::new(env!("CARGO_BIN_EXE_sortie")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(own.to_owned()).chain(std::env::split_paths(&others));
    let path = std::env::join_paths(folders).unwrap();
    world.sortie([""; 0]).env("PATH", path).under("bash", &["-c", &format!("set -o pipefail; {line}")])
}

/// Runs an example, and checks that it ends as it should; its JSON has the places that it is filtered for.
fn check(world: &World, example: &str) -> Result<(), String> {
    let ending = OTHERWISE.iter().find(|(known, _)| *known == example).map_or(Code(0), |(_, ending)| *ending);
    let Code(code) = ending else { return Ok(()) };
    if example == "sortie cost" {
        ended_task(world);
    }
    let mut line = example.to_owned();
    if let Some(named) = IDS.into_iter().find(|id| line.split_whitespace().any(|word| word == *id)) {
        line = line.replace(named, &ended_task(world));
    }
    let (command, filter) = match line.split_once("| jq ") {
        Some((command, filter)) => (command.to_owned(), Some(filter.to_owned())),
        None => (line, None),
    };
    let ended = typed(world, &command).run();
    if ended.code != code {
        return Err(format!("`{example}` should end with {code}: {ended:#?}"));
    }
    if let Some(name) = command.strip_prefix("sortie agents new ").filter(|name| !name.contains(' ')) {
        // A person then describes the agent, as the file asks.
        let path = format!("workspace/.sortie/agents/{name}.md");
        let text = fs::read_to_string(world.path(&path)).unwrap();
        world.write(&path, &text.replace("Use for … (one sentence), not for … (one more).", "Reviews the API"));
    }
    let Some(filter) = filter else { return Ok(()) };
    let filter = filter.trim_start_matches("-r ").trim_matches('\'').split(" | ").next().unwrap_or_default().to_owned();
    let value: Value =
        serde_json::from_str(&ended.stdout).map_err(|error| format!("`{example}`: {error}: {ended:#?}"))?;
    if has(&value, &filter) { Ok(()) } else { Err(format!("`{example}`: nothing is at {filter}: {value:#}")) }
}

/// True if the value has something at a path like `.routes[].model`.
fn has(value: &Value, path: &str) -> bool {
    let path = path.trim_start_matches('.');
    if path.is_empty() {
        return true;
    }
    if let Some(rest) = path.strip_prefix("[]") {
        return value.as_array().is_some_and(|items| items.iter().all(|item| has(item, rest)));
    }
    let (name, rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
    value.get(name).is_some_and(|value| has(value, rest))
}

/// Help of a command, and of all commands below it.
fn helps(world: &World, command: &[String], found: &mut Vec<String>) {
    let help = world.sortie(command.iter().map(String::as_str).chain(["--help"])).run().stdout;
    let below =
        help.split_once("Commands:\n").map(|(_, rest)| rest.split("\n\n").next().unwrap_or_default().to_owned());
    found.push(help);
    // A description that needs a second line is indented further.
    let begins = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    for line in below.iter().flat_map(|below| below.lines()).filter(begins) {
        let name = line.split_whitespace().next().unwrap_or_default().to_owned();
        if name != "help" {
            helps(world, &[command, &[name]].concat(), found);
        }
    }
}

/// Examples of a help text, one line each.
fn examples(help: &str) -> Vec<String> {
    let begin = ["\nExamples:\n", "\nExample:\n"].into_iter().find_map(|title| help.split_once(title));
    let (_, rest) = begin.unwrap_or_else(|| panic!("no examples: {help}"));
    let block = rest.split("\n\n").next().unwrap_or_default().replace("\\\n", " ");
    block.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// File of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Lines of the code blocks that a person is to type.
fn typed_in_readme() -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme.split("\n```").filter_map(|block| block.strip_prefix("sh\n"));
    let lines = blocks.flat_map(str::lines).filter(|line| line.starts_with("sortie "));
    lines.map(|line| line.split("  #").next().unwrap_or_default().trim().to_owned()).collect()
}

fn all_help() -> Vec<String> {
    let mut found = Vec::new();
    helps(&World::new(), &[], &mut found);
    found
}

#[test]
fn s2_62_every_example_of_the_help_texts_works_as_written() {
    let helps = all_help();
    assert!(helps.len() > 30, "{} commands", helps.len());
    let faults: Vec<String> = helps
        .iter()
        .flat_map(|help| {
            let world = world();
            examples(help).into_iter().filter_map(move |example| check(&world, &example).err())
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn s2_62_s2_80_every_command_of_the_readme_works_as_written() {
    let (world, lines) = (world(), typed_in_readme());
    assert!(lines.len() > 10, "{lines:#?}");
    let faults: Vec<String> = lines.iter().filter_map(|line| check(&world, line).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn s2_62_every_example_that_ends_otherwise_is_still_there() {
    let there: Vec<String> = all_help().iter().flat_map(|help| examples(help)).chain(typed_in_readme()).collect();
    for (example, ending) in OTHERWISE {
        assert!(there.iter().any(|line| line == example), "{example}: {ending:?}");
    }
}

#[test]
fn s2_62_the_built_in_model_names_the_place_in_every_contract() {
    for contract in ["envelope", "result", "delegate", "typed", "child", "child-recipe", "sortie"] {
        let world = world();
        let explorer = "---\nname: explore\ndescription: Finds things\ntools: [Read, LS, Glob, Grep]\n---\nLook.\n";
        if contract == "result" {
            world.write("home/.config/sortie/agents/explore.md", explorer);
        }
        let ended =
            world.sortie(["run", "--contract", contract, "--show", "line", "Where is the config parsed?"]).run();
        assert_eq!(ended.code, 0, "{contract}: {ended:#?}");
        assert!(
            ended.stdout.starts_with("Most likely at src/config.rs:2 (`fn parse_config`)"),
            "{contract}: {ended:#?}"
        );
        let sub_agents = world.tasks(4).iter().filter(|task| task["depth"] == 1).count();
        assert_eq!((sub_agents, world.tasks(4).len()), (3, 4), "{contract}: it delegates, and only once");
    }
}

/// Questions that the README and CONTRIBUTING ask of this repository, each with the files of right places.
const ASKED_OF_THIS_REPOSITORY: [(&str, &[&str]); 3] = [
    // Of models, and of MCP servers.
    (
        "Where are authentication errors handled?",
        &["crates/llm/src/wire/fault.rs", "crates/mcp/src/transport/credentials.rs"],
    ),
    ("Where is a tool call refused?", &["crates/engine/src/gate/refusal.rs"]),
    ("Where does a task give its slot back while it waits for children?", &["crates/engine/src/budget/slots.rs"]),
];

#[test]
fn s2_62_the_built_in_model_answers_the_questions_that_the_documents_ask_of_this_repository() {
    let documents =
        ["README.md", "CONTRIBUTING.md"].map(|name| fs::read_to_string(root().join(name)).unwrap()).concat();
    for (question, right) in ASKED_OF_THIS_REPOSITORY {
        assert!(documents.contains(question), "{question}");
        let ended = World::new().sortie(["run", question]).cwd(root()).run();
        assert_eq!(ended.code, 0, "{question}: {ended:#?}");
        let is_first = |right: &&str| ended.stdout.starts_with(&format!("Most likely at {right}:"));
        assert!(right.iter().any(is_first), "{question}: {}", ended.stdout);
    }
}
