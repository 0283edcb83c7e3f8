//! The machine: what its kernel could confine, and what its terminal can show. Facts only; nothing depends on them yet.

use std::io::{self, IsTerminal as _};

use super::diagnosis::Diagnosis;
use crate::settings::Settings;

/// The kernels with which each version of Landlock's interface came, newest first.
#[cfg(target_os = "linux")]
const LANDLOCK: [((u32, u32), u32); 7] =
    [((6, 15), 7), ((6, 12), 6), ((6, 10), 5), ((6, 7), 4), ((6, 2), 3), ((5, 19), 2), ((5, 13), 1)];

#[cfg(target_os = "linux")]
pub(super) fn kernel() -> Vec<Diagnosis> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let opened = openat2(CWD, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve);
    let opens = match opened {
        Ok(_) => "openat2 works: the kernel keeps every open inside the workspace".to_owned(),
        Err(errno) => format!("openat2 is refused ({errno}): paths are opened one name at a time, without links"),
    };
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let modules = std::fs::read_to_string("/sys/kernel/security/lsm").ok();
    let landlock = landlock(release.trim(), modules.as_deref());
    vec![Diagnosis::ok("file opens", opens), Diagnosis::ok("landlock", format!("{landlock}; not used yet"))]
}

#[cfg(not(target_os = "linux"))]
pub(super) fn kernel() -> Vec<Diagnosis> {
    vec![Diagnosis::ok("file opens", "paths are opened one name at a time, without links: this is not Linux")]
}

/// What the kernel's release and its list of security modules say about Landlock.
#[cfg(target_os = "linux")]
fn landlock(release: &str, modules: Option<&str>) -> String {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().ok());
    let version: Option<(u32, u32)> = numbers.next().flatten().zip(numbers.next().flatten());
    let abi = version.and_then(|version| LANDLOCK.iter().find(|(since, _)| version >= *since));
    match (abi, modules) {
        (None, _) => format!("the kernel {release} is too old for it"),
        (Some((_, abi)), Some(modules)) if modules.trim().split(',').any(|module| module == "landlock") => {
            format!("active, ABI {abi} or later by the kernel's release {release}")
        }
        (Some(_), Some(_)) => "the kernel has it, but it is not switched on".to_owned(),
        (Some((_, abi)), None) => format!(
            "ABI {abi} or later by the kernel's release {release}; whether it is switched on cannot be seen here"
        ),
    }
}

pub(super) fn terminal(settings: Option<&Settings>) -> Diagnosis {
    let shown = |is_terminal: bool| if is_terminal { "a terminal" } else { "not a terminal" };
    let (input, output, progress) = (io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal());
    let smart = settings.is_some_and(|settings| settings.environment.has_smart_terminal());
    let display = match (progress, smart) {
        (true, true) => "progress is redrawn in place",
        (true, false) => "progress is plain lines, since TERM names no terminal that can redraw",
        (false, _) => "progress is plain lines",
    };
    let text = format!("stdin is {}, stdout {}, stderr {}: {display}", shown(input), shown(output), shown(progress));
    Diagnosis::ok("terminal", text)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn landlock_is_told_from_the_release_and_the_list_of_modules() {
        let active = Some("capability,landlock,yama\n");
        assert_eq!(landlock("6.12.3-x", active), "active, ABI 6 or later by the kernel's release 6.12.3-x");
        assert_eq!(landlock("5.15.0", active), "active, ABI 1 or later by the kernel's release 5.15.0");
        assert_eq!(landlock("5.4.0", active), "the kernel 5.4.0 is too old for it");
        assert_eq!(landlock("6.12.3", Some("yama")), "the kernel has it, but it is not switched on");
        assert!(landlock("6.12.3", None).ends_with("whether it is switched on cannot be seen here"));
    }
}
