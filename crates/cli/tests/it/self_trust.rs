//! The list of trusted projects: ignored where a project, or anybody else, could have written it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use expect_test::expect;

use crate::transcript::normalised;
use crate::world::{Ended, Invocation, World};

const OWN_MODEL: &str = "[routes.main]\nmodel = \"project-model\"\nbase_url = \"http://127.0.0.1:1\"\n";
const OFFLINE: &str = "offline, the built-in rule-based model (no model is set)";

/// Trusted project, whose list can be placed anywhere.
fn trusted() -> World {
    let world = World::new();
    world.write("workspace/.sortie/config.toml", OWN_MODEL);
    assert_eq!(world.sortie(["trust", "--yes"]).run().code, 0);
    world
}

fn lay_list(world: &World, directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    let list = directory.join("trust.json");
    fs::copy(world.path("state/trust.json"), &list).unwrap();
    fs::set_permissions(list, fs::Permissions::from_mode(0o600)).unwrap();
}

fn show(world: &World, home: &str) -> Invocation {
    world.sortie(["config", "show"]).env("SORTIE_HOME", home)
}

fn model(ended: &Ended) -> &str {
    let line = ended.stdout.lines().find(|line| line.starts_with("model "));
    line.unwrap_or_else(|| panic!("{ended:#?}")).trim_start_matches("model").trim()
}

#[test]
fn a_trust_list_in_a_project_is_ignored_however_its_path_is_spelt() {
    let world = trusted();
    lay_list(&world, &world.path("workspace/.state"));
    lay_list(&world, &world.path("elsewhere"));
    symlink(world.path("elsewhere"), world.path("workspace/out")).unwrap();
    symlink(world.path("workspace"), world.path("alias")).unwrap();
    let elsewhere = world.path("elsewhere").display().to_string();
    assert!(model(&show(&world, &elsewhere).run()).starts_with("project-model"), "the list itself is good");
    for home in
        [".state", "out", "../workspace/out", "../elsewhere/../workspace/out", "../alias/out", "../alias/.state"]
    {
        let ended = show(&world, home).run();
        assert_eq!(model(&ended), OFFLINE, "{home}");
        assert!(ended.stderr.contains("is ignored, because"), "{home}: {}", ended.stderr);
    }
}

#[test]
fn a_trust_list_in_an_outer_project_is_ignored_too() {
    let world = trusted();
    let (outer, inner) = (world.path("outer"), world.path("outer/vendor/inner"));
    fs::create_dir_all(outer.join(".git")).unwrap();
    world.write("outer/vendor/inner/.sortie/config.toml", OWN_MODEL);
    assert_eq!(world.sortie(["trust", "--yes"]).cwd(&inner).run().code, 0);
    assert!(model(&world.sortie(["config", "show"]).cwd(&inner).run()).starts_with("project-model"));
    lay_list(&world, &outer.join("state"));
    let home = outer.join("state").display().to_string();
    let ended = show(&world, &home).cwd(&inner).run();
    assert_eq!(model(&ended), OFFLINE);
    let warning = ended.stderr.lines().next().unwrap();
    expect!["warning: the list of trusted projects in <dir>/outer/state is ignored, because <dir>/outer could have written it; set SORTIE_HOME to a directory outside of any project"]
        .assert_eq(&normalised(warning, &world.path("")));
    let refused = world.sortie(["trust", "--yes"]).env("SORTIE_HOME", &home).cwd(&inner).run();
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.stderr.contains("cannot be trusted"), "{refused:#?}");
}

#[test]
fn a_trust_list_open_to_others_is_ignored_until_it_is_closed() {
    let world = trusted();
    let list = world.path("state/trust.json");
    let set = |mode| fs::set_permissions(&list, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o622, 0o644, 0o640, 0o601] {
        set(mode);
        let ended = world.sortie(["config", "show"]).run();
        assert_eq!((ended.code, model(&ended)), (0, OFFLINE), "{mode:o}");
        let chmod = format!("chmod 600 {}", list.display());
        assert!(ended.stderr.starts_with("warning: ") && ended.stderr.contains(&chmod), "{}", ended.stderr);
        assert_eq!(world.sortie(["trust", "--yes"]).run().code, 2, "it is not written over");
    }
    set(0o600);
    assert!(model(&world.sortie(["config", "show"]).run()).starts_with("project-model"));
}

#[test]
fn a_home_directory_under_version_control_does_no_harm() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.git")).unwrap();
    world.write("home/src/project/.sortie/config.toml", OWN_MODEL);
    let project = world.path("home/src/project");
    let at = |args: &[&str]| world.sortie(args).without_env("SORTIE_HOME").cwd(&project).run();
    assert_eq!(at(&["trust", "--yes"]).code, 0);
    assert!(model(&at(&["config", "show"])).starts_with("project-model"));
}
