//! The first process inside the walls: builds the walls around itself, starts the command, and waits for it.
//!
//! In a process namespace it is process 1: orphans become its children, and when it ends, the kernel ends all others.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, fchdir, getpid, set_dumpable_behavior, set_parent_process_death_signal,
    wait,
};

use crate::keeper::broker::Handover;
use crate::keeper::placeholder::Hold;
use crate::keeper::{file_view, landlock, mount, privileges};
use crate::system;
use crate::walls::filter;
use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure, Report};
use crate::walls::{Network, Tier};

/// The parts of the outside that the first process inside has.
pub(super) struct Outside<'a> {
    pub(super) report: &'a OwnedFd,
    /// The keeper as a process.
    pub(super) keeper: &'a OwnedFd,
    /// Signalled when all others inside have ended.
    pub(super) alone: &'a OwnedFd,
    /// Signalled when there are placeholders that the keeper does not know of.
    pub(super) more_held: &'a OwnedFd,
}

/// A running command, and the placeholders created for it besides the keeper's.
struct Started {
    command: Pid,
    held: Vec<Hold>,
}

/// Main function of the keeper's child.
pub(super) fn run(plan: &Plan, output: OwnedFd, handover: Handover, outside: &Outside<'_>) -> ! {
    let code = match start(plan, output, handover, outside).and_then(|started| finish(started, outside)) {
        Ok(()) => 0,
        Err(failure) => {
            // If nobody listens any more, nobody needs to know.
            Report::Failed(failure).send(outside.report.as_fd()).ok();
            1
        }
    };
    system::exit(code)
}

fn start(plan: &Plan, output: OwnedFd, handover: Handover, outside: &Outside<'_>) -> Result<Started, KeeperFailure> {
    die_with(outside.keeper).during(|| "tying itself to the keeper".to_owned())?;
    let mut held = Vec::new();
    if plan.tier == Tier::Namespaces {
        let built = file_view::build(plan, &mut held);
        if !held.is_empty() {
            tell(outside.more_held).during(|| "handing over placeholders".to_owned())?;
        }
        built?;
    }
    let listener = match plan.network {
        Network::Proxy { port } => Some(listen(port).during(|| format!("listening on its own port {port}"))?),
        Network::None | Network::All => None,
    };
    fchdir(mount::place(&plan.directory)?).during(|| format!("entering {}", plan.directory.display()))?;
    privileges::limit(plan)?;
    if plan.tier != Tier::None {
        set_dumpable_behavior(DumpableBehavior::NotDumpable).during(|| "closing itself to others".to_owned())?;
        privileges::drop_privileges()?;
        landlock::restrict(plan)?;
    }
    if !plan.filter.is_empty() {
        let view = File::open("/proc/self/ns/mnt").during(|| "naming its own view of files".to_owned())?.into();
        filter_calls(plan, handover, &view).during(|| "installing the system-call filter".to_owned())?;
    }
    let command = command(plan, output).during(|| format!("starting {}", plan.bash.display()))?;
    let keeper = outside.keeper.try_clone().during(|| "naming the keeper".to_owned())?;
    let started = Report::Started { keeper, listener: listener.map(OwnedFd::from) };
    started.send(outside.report.as_fd()).during(|| "reporting".to_owned())?;
    Ok(Started { command, held })
}

/// Installs the filter, and hands its told calls over to the keeper, with the view of files. Where that is impossible,
/// because another program around this one is already told about calls, they are refused without a word.
fn filter_calls(plan: &Plan, handover: Handover, view: &OwnedFd) -> io::Result<()> {
    let program = filter::unpack(&plan.filter);
    match system::install_filter(&program) {
        Ok(listener) => handover.give(view, Some(&listener)),
        Err(error) if is_elsewhere(&error) => {
            handover.give(view, None)?;
            system::install_silent_filter(&filter::untold(&program))
        }
        Err(error) => Err(error),
    }
}

fn is_elsewhere(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::BUSY | Errno::INVAL))
}

/// Waits for the command, reports, and ends all it left running if that is in a namespace of its own.
fn finish(started: Started, outside: &Outside<'_>) -> Result<(), KeeperFailure> {
    let finishing = || "waiting for the command".to_owned();
    let status = wait_for(started.command).during(finishing)?;
    let report = outside.report.as_fd();
    Report::Exited { status }.send(report).during(finishing)?;
    // If this is not process 1, the signal would reach all processes of the machine.
    if getpid() == Pid::INIT {
        end_all_others().during(finishing)?;
        let (cpu, max_memory) = system::used_by_children().during(finishing)?;
        Report::Used { cpu, max_memory }.send(report).during(finishing)?;
        drop(started.held);
        tell(outside.alone).during(finishing)?;
    }
    Ok(())
}

/// Kills everything else in this process namespace, and waits until it is gone. A process being killed cannot fork, and
/// orphans become children of this one; so without children there is nothing left.
fn end_all_others() -> io::Result<()> {
    match system::kill_all_others() {
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => {}
        other => other?,
    }
    loop {
        match wait(WaitOptions::empty()) {
            Err(Errno::CHILD) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Makes this process end with the keeper, even if that has already ended.
fn die_with(keeper: &OwnedFd) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut waiting = [PollFd::new(keeper, PollFlags::IN)];
    if retry_on_intr(|| poll(&mut waiting, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })))? > 0 {
        return Err(Errno::SRCH.into());
    }
    Ok(())
}

fn tell(event: &OwnedFd) -> io::Result<()> {
    retry_on_intr(|| rustix::io::write(event, &1_u64.to_ne_bytes()))?;
    Ok(())
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let any = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    system::raise_loopback(any.as_fd())?;
    TcpListener::bind(("127.0.0.1", port))
}

fn command(plan: &Plan, output: OwnedFd) -> io::Result<Pid> {
    let mut command = Command::new(&plan.bash);
    command.args(["--noprofile", "--norc", "-c"]).arg(&plan.command);
    command.env_clear().envs(plan.environment.iter().map(|(name, value)| (name, value)));
    command.process_group(0).stdin(Stdio::null());
    command.stdout(Stdio::from(output.try_clone()?)).stderr(Stdio::from(output));
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}

/// Collects the status of every ended child, until it is the command's.
fn wait_for(command: Pid) -> io::Result<i32> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((process, status))) if process == command => return Ok(status.as_raw()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
