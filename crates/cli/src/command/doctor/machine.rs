//! Diagnosis of the machine: how its kernel opens files, and how its terminal shows progress.

use std::io::{self, IsTerminal as _};

use super::diagnosis::Diagnosis;
use crate::settings::Settings;
use crate::text::terminal::TerminalKind;

#[cfg(target_os = "linux")]
pub(super) fn file_opens() -> Diagnosis {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let opened =
        rustix::io::retry_on_intr(|| openat2(CWD, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve));
    let opens = match opened {
        Ok(_) => "openat2 works: the kernel keeps every open inside the workspace".to_owned(),
        Err(errno) => format!("openat2 is refused ({errno}): paths are opened one name at a time, without links"),
    };
    Diagnosis::ok("file opens", opens)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn file_opens() -> Diagnosis {
    Diagnosis::ok("file opens", "paths are opened one name at a time, without links: this is not Linux")
}

pub(super) fn terminal(settings: Option<&Settings>) -> Diagnosis {
    let shown = |is_terminal: bool| if is_terminal { "a terminal" } else { "not a terminal" };
    let (input, output, progress) = (io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal());
    let kind = settings.map_or(TerminalKind::Dumb, |settings| settings.environment.terminal());
    let display = match (progress, kind) {
        (true, TerminalKind::Smart) => "progress is redrawn in place",
        (true, TerminalKind::Dumb) => "progress is plain lines, since TERM names no terminal that can redraw",
        (false, _) => "progress is plain lines",
    };
    let text = format!("stdin is {}, stdout {}, stderr {}: {display}", shown(input), shown(output), shown(progress));
    Diagnosis::ok("terminal", text)
}
