//! Commands cannot read secrets either: paths that rules deny, keys of the user, Sortie's own state.

use super::{BYPASS, background, bash};
use crate::aftermath::{assert_all_failed, holds};
use crate::calls::{call, delegated, main_agent, main_agent_in_turns};
use crate::world::{CANARY, World, as_each_user};

const DENYING: &[&str] = &["--permission-mode", "bypass", "--deny", "Read(secrets/**)"];

/// Reads a file in every way of a shell, from the workspace; `$f` is its path.
const LOOKS: [&str; 11] = [
    "cat $f",
    "cat < $f",
    "cat /proc/self/root$(realpath $f)",
    "cp $f /tmp/copy && cat /tmp/copy",
    "ln $f copy; cat copy",
    "ln -s $f link; cat link",
    "mv $f moved; cat moved",
    "perl -pe 1 $f",
    "tar -cf - $f | tr -d '\\0'",
    "chmod 644 $f; cat $f",
    "cd $(dirname $f) && grep -r . .",
];

fn looking_at(path: &str) -> Vec<String> {
    // In two halves, so that no rule sees which file it is.
    let (head, tail) = path.split_at(path.len() / 2);
    LOOKS.iter().map(|look| format!("h={head}; f=${{h}}{tail}; {look}")).collect()
}

#[test]
fn s11_a_denied_file_is_read_by_no_command() {
    as_each_user(|world| {
        world.canary("workspace/secrets/canary.txt");
        world.link("secrets", "workspace/alias");
        let after = world.run(DENYING, main_agent([bash("cat < secrets/canary.txt")]));
        after.assert_completed().answer_of("main").assert_refused("its rule `Read(secrets/**)`");
        let lines = ["cat secrets/canary.txt", "cat alias/canary.txt", "grep -r . secrets", "ls secrets"];
        let after = world.run(DENYING, main_agent(lines.map(bash)));
        assert_all_failed(&after.assert_completed().answers(), "Permission denied");
        // The world checks their canary.
        let hidden = looking_at("secrets/canary.txt");
        world.run(DENYING, main_agent(hidden.iter().map(|line| bash(line)))).assert_completed();
        let script = "cat secrets/canary.txt alias/canary.txt; grep -rs . .; cat */canary.txt; tail -n 2 src/main.rs\n";
        world.write("workspace/look.sh", script);
        for agent in ["main", "general-purpose", "bash"] {
            let calls = [bash("sh look.sh"), bash("sh -x ./look.sh")];
            let script = if agent == "main" { main_agent(calls) } else { delegated(agent, calls) };
            let after = world.run(DENYING, script);
            let answers = after.assert_completed().answers_of(agent);
            assert!(answers.iter().any(|answer| answer.text.contains("fn main")), "it ran: {answers:#?}");
        }
    });
}

#[test]
fn s11_a_file_that_a_pattern_denies_is_read_by_no_command() {
    as_each_user(|world| {
        world.canary("workspace/deep/er/key.pem");
        world.write("workspace/look.sh", "cat deep/er/*; grep -rs . deep; tail -n 2 src/main.rs\n");
        let flags = ["--permission-mode", "bypass", "--deny", "Read(*.pem)"];
        let answer = world.run(&flags, main_agent([bash("sh look.sh")])).assert_completed().answer_of("main");
        assert!(answer.text.contains("fn main"), "it ran: {answer:#?}");
    });
}

#[test]
fn s83_keys_that_people_keep_at_home_are_read_by_no_command() {
    as_each_user(|world| {
        let places = [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".bash_history"];
        for place in places {
            world.canary(&format!("home/{place}"));
        }
        // The world checks their canary.
        let mut lines: Vec<String> = places[..2].iter().flat_map(|place| looking_at(&format!("~/{place}"))).collect();
        lines.extend(places.map(|place| format!("cat ~/{place}; cd ~/$(dirname {place}) && cat $(basename {place})")));
        lines.push("grep -rs . ~; find ~ -type f -exec cat {} +".to_owned());
        let calls = lines.iter().map(|line| bash(line)).chain(lines[..3].iter().map(|line| background(line)));
        for script in [main_agent(calls.clone()), delegated("bash", calls)] {
            world.run(BYPASS, script).assert_completed();
        }
    });
}

#[test]
fn s83_their_neighbours_can_be_read() {
    as_each_user(|world| {
        world.canary("home/.ssh/id_ed25519");
        world.write("home/.config/tool/settings", "PLAIN SETTINGS\n");
        let after = world.run(BYPASS, main_agent([bash("cat ~/.config/tool/settings; cat ~/.ssh/id_ed25519")]));
        let answer = after.assert_completed().answer_of("main");
        answer.assert_failed("PLAIN SETTINGS");
        answer.assert_failed("Permission denied");
    });
}

#[test]
fn s83_sorties_own_state_and_settings_are_read_by_no_command() {
    as_each_user(|world| {
        world.canary("state/earlier.txt");
        world.write(
            "home/.config/sortie/config.toml",
            format!("[routes.light]\nbase_url = \"http://127.0.0.1:6\"\nmodel = \"m\"\napi_key = \"{CANARY}\"\n"),
        );
        let (state, config) = (world.name("state"), world.name("home/.config/sortie/config.toml"));
        let mut lines = looking_at(&config);
        lines.extend(looking_at(&format!("{state}/earlier.txt")));
        lines.extend([format!("ls -R {state}; cat {state}/*"), format!("grep -rs . {state} $HOME")]);
        let server = run_unsafely(world, &lines);
        assert!(!holds(&server, CANARY), "{}", String::from_utf8_lossy(&server));
        assert_eq!(world.text("state/earlier.txt").lines().count(), 2);
    });
}

#[test]
fn s83_secrets_stay_unreadable_if_the_home_is_the_workspace() {
    as_each_user(|world| {
        world.write("home/.config/other", "PLAIN\n");
        world.write("home/.mcp.json", "{}\n");
        world.write(
            "home/.config/sortie/config.toml",
            format!("[routes.light]\nbase_url = \"http://127.0.0.1:6\"\nmodel = \"m\"\napi_key = \"{CANARY}\"\n"),
        );
        world.write("home/keys.env", format!("LIGHT_LLM_API_KEY={CANARY}\n"));
        let env_file = world.name("home/keys.env");
        let mut lines = looking_at("~/.config/sortie/config.toml");
        lines.extend(looking_at("~/keys.env"));
        lines.push(
            "mv .config c2; cat c2/sortie/config.toml; mv .config/sortie s2; cp -r .config c3; cat c3/*/*".to_owned(),
        );
        lines.push("cat .config/other .mcp.json && echo new > new.txt".to_owned());
        let said = run_unsafely_with(world, &["--cwd", "../home", "--env-file", &env_file], &lines);
        assert!(!holds(&said, CANARY), "{}", String::from_utf8_lossy(&said));
        assert!(holds(&said, "PLAIN") && world.path("home/new.txt").exists(), "{}", String::from_utf8_lossy(&said));
        assert!(world.text("home/.config/sortie/config.toml").contains(CANARY));
    });
}

/// All output of a run of these lines. The world itself would find the canary in the settings that hold it.
fn run_unsafely(world: &World, lines: &[String]) -> Vec<u8> {
    run_unsafely_with(world, &[], lines)
}

fn run_unsafely_with(world: &World, flags: &[&str], lines: &[String]) -> Vec<u8> {
    use sortie_testkit::ScriptedServer;
    let server = ScriptedServer::start(main_agent(lines.iter().map(|line| bash(line)))).unwrap();
    let args = ["run", "--output-format", "stream-json", "--permission-mode", "bypass"];
    let args = [&args, flags, &[crate::world::PROMPT]].concat();
    let output = world.command(&[], &args, &server).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said: Vec<u8> = server.requests().iter().flat_map(|request| request.raw.clone()).collect();
    // The redactor knows the key: its mark shows where it was read.
    assert!(!holds(&said, "[redacted: "), "{}", String::from_utf8_lossy(&said));
    [said, output.stdout, output.stderr].concat()
}

#[test]
fn s84_keys_that_a_command_prints_are_redacted_everywhere() {
    as_each_user(|world| {
        let key = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC".repeat(2).get(..36).unwrap());
        world.write("workspace/keys.txt", format!("token = {key}\n"));
        let turns = [
            vec![bash("cat keys.txt"), bash("cat keys.txt >&2; false"), background("cat keys.txt; sleep 0.1")],
            vec![call("BashOutput", serde_json::json!({"bash_id": "bash_1"}))],
            vec![bash("cat keys.txt; sleep 1.5; echo \"over $(cat keys.txt)\"")],
        ];
        let after = world.run(BYPASS, main_agent_in_turns(turns));
        after.assert_completed();
        after.assert_unseen(&key);
        for file in world.files("state") {
            assert!(!holds(&std::fs::read(&file).unwrap(), &key), "{}", file.display());
        }
        let long = "for n in $(seq 9999); do echo $n; done; cat keys.txt; seq 9999";
        let after = world.run(BYPASS, main_agent([bash(long)]));
        assert!(after.assert_completed().answer_of("main").text.contains("for people: "), "{after:#?}");
        for file in world.files("state/reports") {
            assert!(!holds(&std::fs::read(&file).unwrap(), &key), "{}", file.display());
        }
        let after = world.run(BYPASS, main_agent([bash("cat keys.txt")]));
        assert!(after.answers()[0].text.contains("[redacted: "), "{after:#?}");
    });
}
