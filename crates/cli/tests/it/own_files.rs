//! Files that steer Sortie cannot be changed by an agent, wherever they really are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::World;

/// True if a write there is refused as a change of Sortie's own files; everything else is allowed.
fn is_own(world: &World, path: &str, more: &[&str]) -> bool {
    let call = format!("Write({path})");
    let ended = world.sortie(["explain", &call, "--permission-mode", "bypass"].iter().chain(more)).run();
    let own = ended.stdout.contains("Sortie's own settings and state");
    assert_eq!(ended.code, i32::from(own), "{path}: {ended:#?}");
    own
}

fn link(target: impl AsRef<Path>, at: &Path) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(target, at).unwrap();
}

#[test]
fn linked_folders_of_the_user_in_the_project_are_protected() {
    let world = World::new();
    let own = world.path("home/.config/sortie");
    fs::create_dir_all(world.path("workspace/mine/deep")).unwrap();
    fs::create_dir_all(world.path("workspace/linked")).unwrap();
    link(world.path("workspace/mine"), &own.join("agents"));
    link(world.path("workspace/linked"), &world.path("workspace/mine/deep/more"));
    link(world.path("workspace/role.md"), &own.join("prompts/main_prompt.md"));
    link("../../../workspace/models.txt", &own.join("models.toml"));
    link(world.path("workspace/foreign"), &world.path("home/.claude/agents"));
    let paths = ["mine/explore.md", "MINE/x.md", "linked/explore.md", "role.md", "models.txt", "foreign/a.md"];
    for path in paths {
        assert!(is_own(&world, path, &[]), "{path}");
    }
    for path in ["minex/a.md", "role.mdx", "src/main.rs"] {
        assert!(!is_own(&world, path, &[]), "{path}");
    }
}

#[test]
fn linked_folders_and_files_within_the_project_are_protected() {
    let world = World::new();
    fs::create_dir_all(world.path("workspace/tools/agents")).unwrap();
    link("../tools/agents", &world.path("workspace/.sortie/agents"));
    link("../conf/sortie.toml", &world.path("workspace/.sortie/config.toml"));
    link("../absent/../prompts", &world.path("workspace/.sortie/prompts"));
    link("conf/servers.json", &world.path("workspace/.mcp.json"));
    link("dot", &world.path("workspace/.claude"));
    for path in
        ["tools/agents/a.md", "conf/sortie.toml", "prompts/main_prompt.md", "conf/servers.json", "dot/agents/a.md"]
    {
        assert!(is_own(&world, path, &[]), "{path}");
    }
    for path in ["tools/a.md", "conf/other.toml", "src/main.rs"] {
        assert!(!is_own(&world, path, &[]), "{path}");
    }
}

#[test]
fn a_link_of_the_project_that_leads_out_of_it_protects_nothing() {
    let world = World::new();
    link("/", &world.path("workspace/.sortie/agents"));
    assert!(!is_own(&world, "src/main.rs", &[]));
}

#[test]
fn the_env_file_of_this_run_is_protected() {
    let world = World::new();
    world.write("workspace/my.env", "SORTIE_PERMISSIONS__ALLOW=Edit\n");
    assert!(is_own(&world, "my.env", &["--env-file", "my.env"]));
    assert!(!is_own(&world, "my.env", &[]));
    let write = json!({"file_path": "my.env", "content": "SORTIE_PERMISSIONS__MODE=bypass\n"});
    let read = reply::call("Read", json!({"file_path": "my.env"}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([read]))
        .on(when::turn(1), reply::calls([reply::call("Write", write)]))
        .otherwise(reply::text("done"));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "WRITE", "--env-file", "my.env"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let kept = fs::read_to_string(world.path("workspace/my.env")).unwrap();
    assert_eq!(kept, "SORTIE_PERMISSIONS__ALLOW=Edit\n");
}
