//! Variables that programs obey by running something.
//!
//! For a rule that allows, any variable that is not known to be harmless is too much. This list is for rules that
//! forbid: they would refuse every line with a variable of its own otherwise.

use sortie_mutant::is_out;

/// The meaning of a variable for the programs that read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obeyed {
    /// Its value is a command line, which gets more words at its end.
    Command,
    /// It can make some program run anything.
    Anything,
    /// No program is known to run something because of it.
    Nothing,
}

/// Names of variables with a command line, separated by blanks; a star stands for any text.
const COMMANDS: &str = "*ASKPASS *BROWSER *EDITOR *PAGER *VISUAL *_CMD *_COMMAND *_COMPILER *_EXEC *_EXTERNAL_DIFF \
    *_LAUNCHER *_LINKER *_PROGRAM *_RSH *_RUNNER *_SSH *_WRAPPER AR AS CC CPP CXX FC LD LEX NM OBJCOPY RANLIB RUSTC \
    RUSTDOC RUSTFMT STRIP TERMINAL YACC";

/// Names of variables that load code, name settings with commands in them, or carry options.
const ANYTHING: &str = "ANSIBLE_* BASHOPTS BASH_ENV BASH_FUNC_* CARGO_ALIAS_* CARGO_HOME CLASSPATH CURL_HOME DYLD_* \
    EMACSLOADPATH ENV EXINIT FPATH GCONV_PATH GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ATTR_* GIT_COMMON_DIR GIT_CONFIG* \
    GIT_DIR GIT_EXEC_PATH GIT_TEMPLATE_DIR GNUMAKEFLAGS GNUPGHOME GOFLAGS GUILE_* HELM_PLUGINS HOME IFS INPUTRC \
    KUBECONFIG LD_* LESS LESSCLOSE LESSKEY* LESSOPEN LUA_* MAKEFILES MAKEFLAGS MANOPT MFLAGS MORE NIX_* NODE_OPTIONS \
    NODE_PATH NPM_CONFIG_* OPENSSL_* PATH PERL5* PERLLIB PROMPT_COMMAND PS0 PS1 PS2 PS4 PSQLRC PYTHONBREAKPOINT \
    PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONPLATLIBDIR PYTHONSTARTUP PYTHONUSERBASE RIPGREP_CONFIG_PATH RUBYLIB \
    RUBYOPT RUSTDOCFLAGS RUSTFLAGS R_* SCREENRC SHELL SHELLOPTS TF_CLI_* VIMINIT WGETRC XDG_CONFIG_DIRS \
    XDG_CONFIG_HOME YARN_* ZDOTDIR *_HOOK* *_OPTIONS *_OPTS *_PRELOAD *_RUSTFLAGS";

/// Variables of the shell whose new values it computes. An index in such a value runs commands, and so does one in a
/// variable that the value names.
const COMPUTED: [&str; 5] = ["HISTCMD", "OPTIND", "RANDOM", "SECONDS", "SRANDOM"];

pub(crate) fn is_computed(name: &str) -> bool {
    COMPUTED.contains(&name)
}

/// True if a value that nobody knows, in a variable of this name, could run something.
pub(crate) fn is_obeyed(name: &str) -> bool {
    !is_out("obeyed-variables") && (is_computed(name) || obeyed(name) != Obeyed::Nothing)
}

/// Returns the meaning of a variable with this name.
pub(crate) fn obeyed(name: &str) -> Obeyed {
    // Programs that read settings from variables may take either case. Other names in lower case are the line's own.
    let in_either_case = ["git_config", "npm_", "yarn_", "pnpm_"].iter().any(|start| name.starts_with(start));
    let name = if in_either_case { &name.to_ascii_uppercase() } else { name };
    let among = |list: &str| list.split_ascii_whitespace().any(|pattern| matches(pattern, name));
    match (among(ANYTHING), among(COMMANDS)) {
        (true, _) => Obeyed::Anything,
        (false, true) => Obeyed::Command,
        (false, false) => Obeyed::Nothing,
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let (start, open) = pattern.strip_suffix('*').map_or((pattern, false), |start| (start, true));
    match (start.strip_prefix('*'), open) {
        (Some(within), true) => name.contains(within),
        (Some(end), false) => name.ends_with(end),
        (None, true) => name.starts_with(start),
        (None, false) => name == start,
    }
}
