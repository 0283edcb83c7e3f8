//! Protected names, grouped by kind: in folded form, or in the usual letter case where that differs.
//!
//! The list has what a program obeys or runs of its own accord. That happens when a session, a shell, an editor, a
//! debugger or an agent program starts. It also happens when a directory is entered, or when git or a package manager
//! runs. It leaves out what runs because someone builds, tests or checks a project: build scripts, manifests, CI,
//! `.pre-commit-config.yaml`. Agents exist for that work. Texts that instruct agents (`AGENTS.md`) are not on the list
//! either.

const AGENT: &str = "the settings of an agent program";
const EDITOR: &str = "what an editor runs or obeys";
const SHELL: &str = "what a shell runs";
const SESSION: &str = "what starts with a session";
pub(super) const GIT: &str = "git's own files";
pub(super) const HOOK: &str = "a git hook";
const PACKAGES: &str = "the settings of a package manager";
const TOOLCHAIN: &str = "what chooses the programs of a toolchain";

/// Names of files and directories.
pub(super) const NAMES: &[(&str, &[&str])] = &[
    ("Sortie's own settings", &[".sortie"]),
    (
        AGENT,
        &[
            ".claude",
            ".claude.json",
            ".mcp.json",
            ".aider.conf.yml",
            ".amazonq",
            ".amp",
            ".augment",
            ".codex",
            ".continue",
            ".crush",
            ".crush.json",
            "crush.json",
            ".factory",
            ".gemini",
            ".goose",
            ".iflow",
            ".junie",
            ".kilocode",
            ".kiro",
            ".opencode",
            ".openhands",
            "opencode.json",
            "opencode.jsonc",
            ".qoder",
            ".qwen",
            ".roo",
            ".trae",
            ".windsurf",
        ],
    ),
    (GIT, &[".git", ".gitmodules", ".gitconfig"]),
    ("Mercurial's own files", &[".hg", ".hgrc"]),
    ("Jujutsu's own files", &[".jj"]),
    (HOOK, &[".husky", ".githooks"]),
    (
        EDITOR,
        &[
            ".vscode",
            ".idea",
            ".cursor",
            ".zed",
            ".fleet",
            ".theia",
            ".helix",
            ".devcontainer",
            ".devcontainer.json",
            ".vim",
            ".vimrc",
            "_vimrc",
            ".gvimrc",
            "_gvimrc",
            ".exrc",
            "_exrc",
            ".nvimrc",
            ".nvim.lua",
            ".emacs",
            ".emacs.d",
            ".dir-locals.el",
        ],
    ),
    (
        SHELL,
        &[
            ".envrc",
            ".direnvrc",
            ".profile",
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".oh-my-zsh",
            ".kshrc",
            ".mkshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".logout",
            ".inputrc",
            "config.fish",
            ".autoenv.zsh",
            ".shadowenv.d",
        ],
    ),
    (SESSION, &[".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment"]),
    ("what a debugger runs", &[".gdbinit", ".lldbinit", ".pdbrc", ".pryrc"]),
    (PACKAGES, &[".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs", ".yarnrc", ".yarnrc.yml", "bunfig.toml"]),
    (
        TOOLCHAIN,
        &[
            "rust-toolchain",
            "rust-toolchain.toml",
            ".tool-versions",
            ".mise",
            "mise.toml",
            ".mise.toml",
            "mise.local.toml",
            ".mise.local.toml",
        ],
    ),
    ("keys", &[".ssh"]),
];

/// Names protected only in a directory of a certain name, each with that directory.
pub(super) const INNER: &[(&str, &[(&str, &str)])] = &[
    (
        ".config",
        &[
            (AGENT, ".config/amp"),
            (AGENT, ".config/goose"),
            (AGENT, ".config/opencode"),
            (GIT, ".config/git"),
            (EDITOR, ".config/Code"),
            (EDITOR, ".config/Code - Insiders"),
            (EDITOR, ".config/Code - OSS"),
            (EDITOR, ".config/VSCodium"),
            (EDITOR, ".config/Cursor"),
            (EDITOR, ".config/emacs"),
            (EDITOR, ".config/helix"),
            (EDITOR, ".config/nvim"),
            (EDITOR, ".config/zed"),
            (SHELL, ".config/direnv"),
            (SHELL, ".config/fish"),
            (TOOLCHAIN, ".config/mise"),
            (TOOLCHAIN, ".config/mise.toml"),
            (SESSION, ".config/autostart"),
            (SESSION, ".config/environment.d"),
            (SESSION, ".config/systemd"),
        ],
    ),
    (".cargo", &[(PACKAGES, ".cargo/config"), (PACKAGES, ".cargo/config.toml")]),
    (".github", &[(AGENT, ".github/hooks")]),
    (".yarn", &[(PACKAGES, ".yarn/plugins"), (PACKAGES, ".yarn/releases")]),
    ("library", &[(SESSION, "Library/LaunchAgents")]),
];

/// Protected prefixes of names.
pub(super) const BEGINNINGS: &[(&str, &str)] =
    &[(SHELL, ".bashrc."), (SHELL, ".zshrc."), (SHELL, ".profile."), (SHELL, ".zshenv.")];

/// Protected suffixes of names.
pub(super) const ENDINGS: &[(&str, &str)] = &[(EDITOR, ".code-workspace"), (EDITOR, ".sublime-project")];
