//! Tests of how much text is examined: they count steps, not time.

use std::cell::Cell;

use super::Redactor;

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Counts bytes examined after an anchor.
pub(super) fn count_steps(steps: usize) {
    STEPS.set(STEPS.get() + steps);
}

fn steps_for(redactor: &Redactor, unit: &str, length: usize) -> usize {
    STEPS.set(0);
    redactor.redact(&unit.repeat(length / unit.len()));
    STEPS.get()
}

#[test]
fn hostile_text_takes_a_linear_number_of_steps() {
    let redactor = Redactor::new(Vec::new());
    for unit in [
        "eyJ",
        "eyJa.",
        "eyJaaaaaaaaaaaa.",
        "sk-",
        "sk-proj-",
        "://",
        "://a:",
        "a://b:c@",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\naaaa\n",
        "ghp_",
        "Authorization: ",
        "authorization",
        "secret_access_key = ",
        "SG.",
        "hf_",
        "SecretAccessKey",
        "\\nghp_",
        "-sk-",
        "-eyJ",
        "-eyJaaaaaaaaaaaa.",
        "-sk-proj-",
        "_github_pat_",
        "-glpat-",
        "_hf_",
        "-SG.",
        "-AIza",
        "-xoxb-",
        "-ya29.",
        "-hvs.",
        "api-key=",
        "api-key: ",
        "AccountKey",
        "AccountKey=",
        "+MIIE",
        "+MIIEpAIBA",
        "MIIEpAIBAAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
        "MIIEaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n \n",
        "+MHcCAQEE",
        "-----END PRIVATE KEY-----",
        "-----END PRIVATE KEY-----\n",
        "aaaa\n-----END PRIVATE KEY-----\n",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
    ] {
        let (short, long) = (steps_for(&redactor, unit, 4_000), steps_for(&redactor, unit, 32_000));
        assert!(long <= short * 9 + 1_000, "{unit:?}: {short} steps, then {long}");
        assert!(long <= 32_000 * 8, "{unit:?}: {long} steps");
    }
}
