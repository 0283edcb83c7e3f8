//! Paths that no agent may change, however they are spelled.

use std::path::Path;

use sortie_policy::protected;
use sortie_protocol::{GrantLayer, Mode};

use super::support::{EDITING, READING, Verdict, in_mode, path, texts, verdict};

const NAMES: &[&str] = &[
    ".sortie/config.toml",
    ".sortie/agents/x.md",
    ".claude/settings.json",
    ".claude/agents/x.md",
    ".mcp.json",
    ".git/hooks/pre-commit",
    ".git/config",
    ".git",
    ".gitmodules",
    ".gitconfig",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".cursor/rules",
    ".zed/tasks.json",
    "project.code-workspace",
    ".devcontainer/devcontainer.json",
    ".envrc",
    ".husky/pre-commit",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".bash_profile",
    ".zshenv",
    ".npmrc",
    ".ssh/authorized_keys",
    ".config/fish/config.fish",
    ".config/fish/conf.d/a.fish",
    ".zshrc.local",
    ".bashrc.local",
    ".bashrc.d/10-path",
    ".oh-my-zsh/custom/a.zsh",
    ".direnvrc",
    ".config/direnv/direnvrc",
    ".config/git/config",
    ".githooks/pre-push",
    ".vim/plugin/a.vim",
    ".vimrc",
    "_vimrc",
    ".config/nvim/init.lua",
    ".config/zed/settings.json",
    ".config/Code/User/settings.json",
    ".config/Code - Insiders/User/tasks.json",
    ".config/helix/config.toml",
    ".theia/tasks.json",
    "a.sublime-project",
    ".helix/languages.toml",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/agent/a.md",
    ".config/opencode/opencode.json",
    ".config/goose/config.yaml",
    ".continue/config.yaml",
    ".roo/mcp.json",
    ".kiro/settings/mcp.json",
    ".qwen/settings.json",
    ".amp/settings.json",
    ".trae/mcp.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".windsurf/hooks.json",
    ".aider.conf.yml",
    ".config/autostart/a.desktop",
    ".config/systemd/user/a.service",
    ".config/environment.d/a.conf",
    "Library/LaunchAgents/a.plist",
    ".cargo/config",
    ".cargo/config.toml",
    ".yarnrc",
    ".yarnrc.yml",
    ".gdbinit",
    ".lldbinit",
];

#[test]
fn no_editing_tool_may_touch_protected_names_whatever_is_allowed() {
    // S35, S40, S42
    let everything = GrantLayer { allow: texts(&["Edit", "Write", "Read"]), ..in_mode(Mode::Bypass) };
    for name in NAMES {
        for prefix in ["", "a/", "vendor/module/", "/srv/added/"] {
            let file = path(&format!("{prefix}{name}"));
            for tool in EDITING {
                assert_eq!(verdict(everything.clone(), tool, &file), Verdict::Deny, "{tool} {prefix}{name}");
            }
            for tool in READING {
                assert_eq!(verdict(everything.clone(), tool, &file), Verdict::Allow, "{tool} {prefix}{name}");
            }
        }
    }
}

#[test]
fn every_spelling_of_a_protected_name_is_found() {
    for spelling in [
        ".GIT/config",
        ".Git/config",
        ".g\u{200c}it/config",
        ".\u{200d}git/config",
        "\u{feff}.git/config",
        ".git\u{200b}/config",
        ".gi\u{ad}t/config",
        ".g\u{131}t/config",
        ".G\u{130}T/config",
        "\u{ff0e}\u{ff47}\u{ff49}\u{ff54}/config",
        "\u{2024}git/config",
        ".git./config",
        ".git /config",
        ".git. . ./config",
        ".git::$INDEX_ALLOCATION/config",
        ".git\\config",
        "GIT~1/config",
        "git~1/config",
        "git~2",
        "GI7EBA~1",
        "GITMOD~1",
        "SORTIE~1/config.toml",
        "CLAUDE~1/x",
        "MCP~1.JSO",
        "MCP~1.JSON",
        "VSCODE~1/tasks.json",
        "PROJEC~1.COD",
        "BASH_P~1",
        ".\u{17f}ortie/config.toml",
        ".\u{df}h/authorized_keys",
        ".\u{1e9e}H/authorized_keys",
        ".CLAUDE/Settings.json",
        ".mcp.JSON",
        ".Bashrc",
        ".zſhrc",
        "A.CODE-WORKSPACE",
        ".CONFIG/Git/config",
        ".config/FISH./config",
        "CONFIG~1/autost~1/x",
        ".config\\nvim\\init.lua",
        ".Bashrc.D/x",
        "BASHRC~1.D/x",
        "X.Sublime-Project",
        ".cargo/CONFIG.toml",
        "sub/.\u{24d6}\u{24d8}\u{24e3}/hooks",
    ] {
        assert!(protected(Path::new(spelling)).is_some(), "{spelling:?}");
    }
}

#[test]
fn names_that_only_resemble_protected_ones_are_not_protected() {
    for name in [
        "src/git/config.rs",
        ".github/workflows/ci.yml",
        ".gitignore",
        ".gitattributes",
        "git",
        "sortie/main.rs",
        "claude.md",
        "CLAUDE.md",
        "mcp.json",
        "bashrc",
        "docs/ssh.md",
        ".env",
        "vscode/x",
        "code-workspace",
        "a~1",
        "README~2.md",
        "gitar~1",
        "x.git",
        "my.git/config",
        ".gít/config",
        "profile",
        "",
        ".config/nextest.toml",
        ".config/fisher.toml",
        ".config/code.toml",
        ".config",
        "config/fish/a",
        ".config/a/git/b",
        "fish/config",
        ".cargo/audit.toml",
        ".cargo",
        "library/agents/a",
        ".bashrc_notes",
        ".vimrc.md",
        "AGENTS.md",
        "Cargo.toml",
        "package.json",
        "build.rs",
        ".pre-commit-config.yaml",
        ".gitlab-ci.yml",
        ".yarn/cache/a.zip",
        ".editorconfig",
    ] {
        assert_eq!(protected(Path::new(name)), None, "{name:?}");
    }
}

#[test]
fn sorties_own_directories_are_protected_wherever_they_are() {
    // Set by the caller: /people/me/.config/sortie and /var/lib/sortie; the workspace is /people/me/project.
    for file in
        ["/var/lib/sortie", "/var/lib/sortie/trust.json", "/VAR/lib/Sortie/x", "/people/me/.config/sortie/config.toml"]
    {
        assert_eq!(verdict(in_mode(Mode::Bypass), "Write", &path(file)), Verdict::Deny, "{file}");
    }
    assert_eq!(verdict(in_mode(Mode::Bypass), "Write", &path("/var/lib/sortie2/x")), Verdict::Allow);
    assert_eq!(verdict(in_mode(Mode::Bypass), "Write", &path("var/lib/sortie")), Verdict::Allow);
    let judge = sortie_policy::Judge::new(
        &super::support::grant([in_mode(Mode::Bypass)]),
        sortie_policy::Places { root: Some("/var/lib".into()), ..super::support::places() },
    )
    .unwrap();
    assert!(judge.decide("Write", &path("sortie/trust.json")).is_denied(), "a workspace around them changes nothing");
}

#[test]
fn the_kind_of_a_protected_path_is_given_in_words() {
    let said = |name: &str| protected(Path::new(name)).unwrap().to_string();
    assert_eq!(said("a/.git/hooks/x"), "git's own files (`.git`)");
    assert_eq!(said("SORTIE~1"), "Sortie's own settings (`.sortie`)");
    assert_eq!(said("x.code-workspace"), "what an editor runs or obeys (`.code-workspace`)");
    assert_eq!(said("home/.config/fish/x"), "what a shell runs (`.config/fish`)");
}
