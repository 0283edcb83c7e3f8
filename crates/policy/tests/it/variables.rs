//! Variables that programs obey: what they name is judged like any command.

use sortie_protocol::{GrantLayer, Mode};

use super::support::Verdict::{self, Allow, Deny};
use super::support::{command, in_mode, texts, verdict};

/// The verdict under these deny rules, with everything else allowed.
fn denied(rules: &[&str], line: &str) -> Verdict {
    verdict(GrantLayer { deny: texts(rules), ..in_mode(Mode::Bypass) }, "Bash", &command(line))
}

#[test]
fn s22_a_denied_command_is_found_in_a_variable_that_a_program_obeys() {
    let pushing = &["Bash(git push:*)"];
    for line in [
        "GIT_EXTERNAL_DIFF='git push' git diff",
        "GIT_SSH_COMMAND='git push;ssh' git fetch",
        "GIT_SSH=$x git fetch",
        "PAGER='less; git push' git log",
        "EDITOR=git sh x",
        "env GIT_EDITOR='git push #' git commit",
        "export GIT_PAGER='git push'; git log",
        "GIT_PAGER='git push'; export GIT_PAGER; git log",
        "readonly BROWSER='git push'",
        "PS4='$(git push)' bash -x a.sh",
        "BASH_ENV=a.sh bash b.sh",
        "ENV=a.sh sh b.sh",
        "LD_PRELOAD=./a.so ls",
        "PATH=.:/bin ls",
        "NODE_OPTIONS='-r ./a.js' node b.js",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='git push' git log",
        "git_config_parameters=x git log",
        "RUSTC_WRAPPER='git push' cargo check",
        "PYTHONSTARTUP=a.py python3 b.py",
        "HOME=. git log",
    ] {
        assert_eq!(denied(pushing, line), Deny, "{line}");
        assert_eq!(denied(&[], line), Allow, "{line}");
    }
    for line in [
        "PAGER=cat git log",
        "EDITOR=true git commit --amend",
        "GIT_SSH_COMMAND='ssh -i key' git fetch",
        "GIT_PAGER= git log",
        "CC=clang make",
        "RUST_LOG=debug cargo test",
        "MY_OWN=1 ./run.sh",
        "export MY_OWN=1",
    ] {
        assert_eq!(denied(pushing, line), Allow, "{line}");
    }
}

/// Ways to a denied command by the shell alone, found by running 1,785 lines and comparing with what they executed.
#[test]
fn s22_a_denied_command_is_found_in_what_the_shell_computes_or_passes_on() {
    for line in [
        "RANDOM='a[$(id)]'",
        "x='a[$(id)]'; RANDOM=x",
        "OPTIND='a[$(id)]' true",
        "export SECONDS='a[$(id)]'",
        "read BASH_ENV <<< '$(id)'; bash x",
        "read -r a OPTIND < f",
        "printf -v BASH_ENV '$(id)'; bash x",
        "printf -vGIT_PAGER id; git log",
        "for BASH_ENV in '$(id)'; do export BASH_ENV; bash x; done",
        "for RANDOM in 'a[$(id)]'; do :; done",
        "bash /dev/stdin <<< id",
        "sh /dev/fd/3 3<<< id",
        "bash -x /proc/self/fd/0 <<< id",
        "/proc/self/exe -c id",
        "//proc/./self/exe -c id",
        "bash //dev/stdin <<< id",
    ] {
        assert_eq!(denied(&["Bash(id:*)"], line), Deny, "{line}");
    }
    for line in [
        "RANDOM=42",
        "OPTIND=1",
        "read x < f",
        "printf -v x %s y",
        "for x in a b; do ls; done",
        "bash x.sh",
        "for path in src/*; do wc -l \"$path\"; done",
        "find . | while read -r path; do wc -l \"$path\"; done",
        "for env in dev prod; do echo \"$env\"; done",
    ] {
        assert_eq!(denied(&["Bash(id:*)"], line), Allow, "{line}");
    }
}
