//! Diagnosis of the walls around commands. A real command tries each wall in a directory made for it.
//!
//! Versions and kernel switches only serve as advice, never as a verdict.

mod advice;
mod trial;
mod trial_directory;

use sortie_sandbox::process::{Probe, Program, SpawnError, Tier, probe};

use super::diagnosis::Diagnosis;
use crate::environment::Confinement;
use crate::error::long_wait::noting_long_wait;
use advice::Machine;
use trial::{Trial, Verdict};
use trial_directory::TrialDirectory;

/// Tries the walls that commands will have here, and warns if the user wants none.
pub(super) fn walls(wanted: Confinement) -> Vec<Diagnosis> {
    let mut diagnoses = noting_long_wait("trying the walls around commands", || match Program::this() {
        Ok(program) => tried(&program),
        Err(error) => vec![untried(&error.to_string())],
    });
    if wanted == Confinement::None {
        let text = "--unconfined: commands run without walls, with all your rights";
        diagnoses.insert(0, Diagnosis::warning("walls", text, "leave the flag out to keep the walls"));
    }
    diagnoses
}

fn tried(program: &Program) -> Vec<Diagnosis> {
    let yard = match TrialDirectory::new(program) {
        Ok(yard) => yard,
        Err(error) => return vec![untried(&error)],
    };
    // Without bash nothing can be tried, and the kernel is not to blame.
    if let Err(SpawnError::NoBash) = yard.start(Tier::Landlock, &yard.walls(), "true") {
        return vec![Diagnosis::error("bash", "there is none in the system's directories", "install bash")];
    }
    let probe = probe(program);
    let machine = Machine::look();
    let mut diagnoses = vec![tier(&probe, &machine)];
    diagnoses.push(landlock(&yard, &probe, &machine));
    if probe.tier != Tier::None {
        let tried = |trial: &Trial| diagnosis(trial.subject, &(trial.verdict)(&yard, probe.tier), probe.tier);
        diagnoses.extend(trial::ALL.iter().map(tried));
        diagnoses.push(bash(&yard, probe.tier));
    }
    diagnoses
}

/// Tier that commands run in.
fn tier(probe: &Probe, machine: &Machine) -> Diagnosis {
    let why: Vec<&str> = probe.missing.iter().map(|missing| missing.why.as_str()).collect();
    let why = why.join("; ");
    match probe.tier {
        Tier::Namespaces if probe.landlock == 0 => {
            Diagnosis::ok("walls", "commands run in the strongest tier: namespaces and a filter of system calls")
        }
        Tier::Namespaces => Diagnosis::ok(
            "walls",
            "commands run in the strongest tier: namespaces, Landlock and a filter of system calls",
        ),
        Tier::Landlock => Diagnosis::warning(
            "walls",
            format!(
                "commands run in the weaker tier, Landlock and a filter of system calls, without namespaces ({why})"
            ),
            machine.how_to_have_namespaces(),
        ),
        Tier::None => Diagnosis::error(
            "walls",
            format!("none can be built, so commands are refused ({why})"),
            format!(
                "{}; {}; as the last resort, `--unconfined` runs commands without walls",
                machine.how_to_have_namespaces(),
                machine.how_to_have_landlock()
            ),
        ),
    }
}

/// Diagnosis of Landlock itself, whether or not it is the only wall around files.
fn landlock(yard: &TrialDirectory<'_>, probe: &Probe, machine: &Machine) -> Diagnosis {
    const SUBJECT: &str = "wall landlock";
    let version = probe.landlock;
    match trial::files(yard, Tier::Landlock) {
        Verdict::Stands(_) => Diagnosis::ok(SUBJECT, format!("stands: version {version}")),
        verdict if version == 0 && probe.tier == Tier::Namespaces => {
            Diagnosis::warning(SUBJECT, verdict.text(), machine.how_to_have_landlock())
        }
        verdict => Diagnosis::error(SUBJECT, verdict.text(), machine.how_to_have_landlock()),
    }
}

/// Diagnosis of one wall. A missing wall is a hole, unless the tier is known to lack it.
fn diagnosis(subject: &str, verdict: &Verdict, tier: Tier) -> Diagnosis {
    match verdict {
        Verdict::Stands(_) => Diagnosis::ok(subject, verdict.text()),
        Verdict::Lacks(_) if tier == Tier::Landlock => Diagnosis::warning(subject, verdict.text(), ""),
        Verdict::Lacks(_) | Verdict::Falls(_) => {
            Diagnosis::error(subject, verdict.text(), "deny `Bash` here until this is fixed: it should not be possible")
        }
        Verdict::Untried(_) => Diagnosis::error(subject, verdict.text(), ""),
    }
}

/// Shell that runs commands.
fn bash(yard: &TrialDirectory<'_>, tier: Tier) -> Diagnosis {
    match yard.run(tier, &yard.walls(), r#"echo "$BASH_VERSION at $BASH""#) {
        Ok(output) => Diagnosis::ok("bash", output.trim()),
        Err(why) => Diagnosis::error("bash", why, ""),
    }
}

fn untried(why: &str) -> Diagnosis {
    Diagnosis::error("walls", format!("could not be tried: {why}"), "")
}
