use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use sortie_sandbox::process::{Environment, Tier};

use super::cell::{Cell, WALLED};

/// The environment of a command, given this program's variables.
fn seen(cell: &mut Cell, variables: &[(&str, &str)], untrusted: &[&Path]) -> BTreeMap<String, String> {
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    cell.environment = Environment::scrubbed(variables, untrusted);
    let text = cell.run("env -0 | tr '\\0\\n' '\\n '");
    text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn only_listed_variables_reach_a_command() {
    const HOSTILE: [&str; 23] = [
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
        "CDPATH",
        "EDITOR",
        "ENV",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_SSH_COMMAND",
        "IFS",
        "LC_SECRET",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "LESSOPEN",
        "NODE_OPTIONS",
        "PERL5OPT",
        "PROMPT_COMMAND",
        "PS4",
        "PYTHONSTARTUP",
        "RIPGREP_CONFIG_PATH",
        "RUSTC_WRAPPER",
        "SSH_AUTH_SOCK",
    ];
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        let mut variables: Vec<(&str, &str)> = HOSTILE.iter().map(|name| (*name, "canary")).collect();
        variables.extend([("HOME", "/nowhere/someone"), ("LANG", "C.UTF-8"), ("LC_ALL", "C"), ("PAGER", "canary")]);
        let seen = seen(&mut cell, &variables, &[]);
        assert!(!seen.values().any(|value| value.contains("canary")), "{seen:?}");
        for (name, value) in [("HOME", "/nowhere/someone"), ("LANG", "C.UTF-8"), ("LC_ALL", "C"), ("TERM", "dumb")] {
            assert_eq!(seen.get(name).map(String::as_str), Some(value), "{name}");
        }
        for name in HOSTILE {
            assert!(!seen.contains_key(name), "{name}");
        }
    }
}

const PLACES: [&str; 15] = [
    "CARGO_HOME",
    "CONDA_PREFIX",
    "GOCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

#[test]
fn tools_get_the_users_directories() {
    let mut cell = Cell::new(Tier::Namespaces);
    let (root, outside) = (cell.root.clone(), cell.outside.display().to_string());
    for value in ["/nowhere/tools".to_owned(), format!("{outside}/absent"), format!("{outside}:/nowhere")] {
        let variables = PLACES.map(|name| (name, value.as_str()));
        let seen = seen(&mut cell, &variables, &[&root]);
        for name in PLACES {
            assert_eq!(seen.get(name), Some(&value), "{name}");
        }
    }
}

#[test]
fn no_tool_is_directed_into_the_workspace() {
    let mut cell = Cell::new(Tier::Namespaces);
    let (root, outside) = (cell.root.clone(), cell.outside.clone());
    symlink(&root, outside.join("alias")).unwrap();
    symlink(root.join("absent"), outside.join("dangling")).unwrap();
    let inside = [
        root.clone(),
        root.join("tools"),
        root.parent().unwrap().to_owned(),
        outside.join("alias/tools"),
        outside.join("dangling"),
        outside.join("absent/../../root"),
        Path::new("tools").to_owned(),
        Path::new("").to_owned(),
    ];
    let several = format!("{}:{}", outside.display(), root.display());
    for value in inside.iter().map(|path| path.to_str().unwrap()).chain([several.as_str()]) {
        let seen = seen(&mut cell, &PLACES.map(|name| (name, value)), &[&root]);
        for name in PLACES {
            assert_eq!(seen.get(name), None, "{name} {value}");
        }
    }
}

#[test]
fn gopath_may_contain_the_workspace_only_under_src() {
    let mut cell = Cell::new(Tier::Namespaces);
    let variables = [("GOPATH", "/nowhere/go"), ("GOROOT", "/nowhere/go")];
    let seen_at = |cell: &mut Cell, root: &str| seen(cell, &variables, &[Path::new(root)]);
    let within = seen_at(&mut cell, "/nowhere/go/src/work");
    assert_eq!((within.get("GOPATH").map(String::as_str), within.get("GOROOT")), (Some("/nowhere/go"), None));
    assert_eq!(seen_at(&mut cell, "/nowhere/go/pkg/work").get("GOPATH"), None);
}

#[test]
fn programs_are_found_on_the_users_path_but_never_in_the_workspace() {
    let mut cell = Cell::new(Tier::Namespaces);
    for place in ["bin", "tools"] {
        cell.put(&format!("{place}/ls"), "#!/bin/sh\necho hijacked\n");
        fs::set_permissions(cell.path(&format!("{place}/ls")), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let alias = cell.outside.join("alias");
    symlink(cell.path("tools"), &alias).unwrap();
    let root = cell.root.clone();
    let path = format!(".:bin::{}:{}:{}:/bin", root.join("bin").display(), alias.display(), cell.outside.display());
    let seen = seen(&mut cell, &[("PATH", &path)], &[&root]);
    let system = "/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin";
    assert_eq!(seen["PATH"], format!("{}:{system}", cell.outside.display()));
    assert!(!cell.run("ls").contains("hijacked"));
}

#[test]
fn startup_files_of_the_shell_are_not_read() {
    let mut cell = Cell::new(Tier::Namespaces);
    for file in [".bashrc", ".profile", ".bash_profile", ".bash_login"] {
        cell.put(file, "echo hijacked");
    }
    cell.environment.set("HOME", cell.root.as_os_str());
    assert_eq!(cell.run("echo clean"), "clean\n");
}

#[test]
fn added_variables_are_set() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.environment.set("HTTPS_PROXY", "http://127.0.0.1:3128");
    assert_eq!(cell.run("echo $HTTPS_PROXY"), "http://127.0.0.1:3128\n");
}

#[test]
fn no_state_is_kept_between_calls() {
    let cell = Cell::new(Tier::Namespaces);
    cell.run("export PAGER=canary; alias ls=canary; cd /; f() { :; }; export -f f; echo x > /tmp/left");
    assert_eq!(cell.run("echo $PAGER; pwd; ls /tmp; type -t f; true"), format!("cat\n{}\n", cell.root.display()));
}
