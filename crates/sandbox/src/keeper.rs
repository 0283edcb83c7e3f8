//! The keeper: a process that builds the walls around a command and makes sure that nothing outlives it.
//!
//! It is a process of its own with one thread, forked anew for each command. It stays outside the walls; the [`init`]
//! that it forks goes inside and starts the command. When the program that started it goes away, for whatever reason,
//! its lifeline ends, and so does everything that the command started.

mod broker;
mod file_view;
mod init;
mod landlock;
mod mount;
mod namespace;
mod placeholder;
mod privileges;
mod temporary_directory;
mod wall_watch;

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, pidfd_open, pidfd_send_signal, setsid, waitid,
    waitpid,
};
use sortie_mutant::is_out;

use self::broker::Broker;
use self::init::Outside;
pub(crate) use self::namespace::EmptyNetwork;
use self::temporary_directory::TemporaryDirectory;
use self::wall_watch::WallWatch;
use crate::system::{self, Descendants};
use crate::walls::Tier;
use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure, Report};

/// The three descriptors that a keeper starts with.
#[derive(Debug)]
pub(crate) struct KeeperEnds {
    /// Delivers the plan, then nothing, until everything must end.
    pub(crate) lifeline: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) report: OwnedFd,
}

/// Main function of a keeper after the fork.
pub(crate) fn keep(ends: KeeperEnds, empty_network: Result<EmptyNetwork, KeeperFailure>) -> ! {
    let KeeperEnds { lifeline, output, report } = ends;
    let code = match run(lifeline, output, &report, empty_network) {
        Ok(()) => 0,
        Err(failure) => {
            // If nobody listens any more, nobody needs to know.
            Report::Failed(failure).send(report.as_fd()).ok();
            1
        }
    };
    system::exit(code)
}

fn run(
    lifeline: OwnedFd,
    output: OwnedFd,
    report: &OwnedFd,
    empty_network: Result<EmptyNetwork, KeeperFailure>,
) -> Result<(), KeeperFailure> {
    let mut lifeline = File::from(lifeline);
    let mut plan = read_plan(&mut lifeline)?;
    // The scheduler shares processors among sessions, so one command cannot starve others, however many processes it
    // starts.
    setsid().during(|| "starting a session".to_owned())?;
    // When memory runs out, the command is killed first.
    fs::write("/proc/self/oom_score_adj", "1000").during(|| "raising its out-of-memory score".to_owned())?;
    let mut placeholders = None;
    let mut descendants = None;
    let mut scratch = None;
    if plan.tier == Tier::Namespaces {
        placeholders = Some(placeholder::hold_all(&mut plan)?);
        namespace::enter(plan.network, empty_network)?;
    } else {
        drop(empty_network);
        descendants = Some(Descendants::adopt().during(|| "adopting orphaned processes".to_owned())?);
    }
    if plan.tier == Tier::Landlock {
        scratch = Some(TemporaryDirectory::make(&mut plan)?);
    }
    let keeper = pidfd_open(getpid(), PidfdFlags::empty()).during(|| "naming the keeper".to_owned())?;
    let event =
        || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).during(|| "preparing for the end".to_owned());
    let (alone, more_held) = (event()?, event()?);
    let (mut broker, handover) = Broker::new().during(|| "preparing for refused calls".to_owned())?;
    let Some(child) = system::fork().during(|| "starting the first process inside".to_owned())? else {
        drop(broker);
        let outside = Outside { report, keeper: &keeper, alone: &alone, more_held: &more_held };
        init::run(&plan, output, handover, &outside)
    };
    drop((output, handover));
    let inside = Inside::new(child)?;
    let mut walls = None;
    let watched = inside.watch(&lifeline, &alone, &mut broker, &mut walls, &plan);
    broker.close();
    let left_alone = matches!(watched, Ok(true));
    if !left_alone {
        inside.end(report.as_fd())?;
        if let Some(descendants) = descendants {
            descendants.end_all().during(|| "ending what the command started".to_owned())?;
        }
        let (cpu, max_memory) = system::used_by_children().during(|| "reading resource usage".to_owned())?;
        Report::Used { cpu, max_memory }.send(report.as_fd()).ok();
    }
    drop((placeholders, scratch));
    if retry_on_intr(|| rustix::io::read(&more_held, &mut [0; 8])).is_ok() {
        placeholder::take_away_all(&plan);
    }
    let calls: Vec<String> = broker.refused().map(str::to_owned).collect();
    if !calls.is_empty() {
        Report::Refused { calls }.send(report.as_fd()).ok();
    }
    for path in walls.iter().flat_map(WallWatch::replaced) {
        Report::Replaced { path }.send(report.as_fd()).ok();
    }
    Report::Over.send(report.as_fd()).ok();
    if left_alone {
        // Nobody waits for this any more: taking down a namespace takes a while.
        inside.end(report.as_fd())?;
    }
    watched.map(drop)
}

fn read_plan(lifeline: &mut File) -> Result<Plan, KeeperFailure> {
    let reading = || "reading the plan".to_owned();
    let mut length = [0; 8];
    lifeline.read_exact(&mut length).during(reading)?;
    let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| Errno::FBIG).during(reading)?;
    let mut bytes = vec![0; length];
    lifeline.read_exact(&mut bytes).during(reading)?;
    Plan::decode(&bytes).ok_or(KeeperFailure { step: reading(), errno: Errno::INVAL })
}

/// The first process inside, as seen by the keeper.
struct Inside {
    child: Pid,
    process: OwnedFd,
}

impl Inside {
    fn new(child: Pid) -> Result<Self, KeeperFailure> {
        let process = pidfd_open(child, PidfdFlags::empty()).during(watching)?;
        Ok(Self { child, process })
    }

    /// Waits for an event; until then answers the command's calls, and mends its `walls` from the moment they stand.
    /// True if all other processes inside have ended, which the child has then reported. False if the child has ended,
    /// or must end because the lifeline has, or because a wall cannot be mended.
    fn watch(
        &self,
        lifeline: &File,
        alone: &OwnedFd,
        broker: &mut Broker,
        walls: &mut Option<WallWatch>,
        plan: &Plan,
    ) -> Result<bool, KeeperFailure> {
        loop {
            let ends = [alone.as_fd(), self.process.as_fd(), lifeline.as_fd()];
            let mut waiting: Vec<PollFd<'_>> = ends
                .into_iter()
                .chain(broker.as_fd())
                .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
                .chain(walls.iter().flat_map(WallWatch::poll_fds))
                .collect();
            match poll(&mut waiting, None) {
                Err(Errno::INTR) => continue,
                other => drop(other.during(watching)?),
            }
            let has_happened: Vec<PollFlags> = waiting.iter().map(PollFd::revents).collect();
            let (ends, others) = has_happened.split_at(ends.len());
            if ends.iter().any(|end| !end.is_empty()) {
                return Ok(ends.first().is_some_and(|alone| !alone.is_empty()));
            }
            let (calls, changes) = others.split_at(broker.as_fd().iter().len());
            if let Some(walls) = walls
                && walls.mend(plan, changes).is_err()
            {
                return Ok(false);
            }
            match calls.first() {
                Some(calls) if calls.contains(PollFlags::IN) => broker.work(plan),
                // The filter has no process left.
                Some(calls) if !calls.is_empty() => broker.close(),
                _ => {}
            }
            let view = broker.take_view().filter(|_| plan.tier == Tier::Namespaces && !is_out("watched-walls"));
            if let Some(view) = view {
                *walls = Some(WallWatch::new(plan, self.child, view).during(|| "watching the walls".to_owned())?);
            }
        }
    }

    /// Kills the child if it is still running, and with it its namespace. If another process killed the child, reports
    /// how the command ended, which the child could not do.
    fn end(&self, report: BorrowedFd<'_>) -> Result<(), KeeperFailure> {
        // Queried by its number: at its descriptor limit, a process cannot even wait on its own descriptors.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let has_ended = waitid(WaitId::Pid(self.child), ended).during(watching)?.is_some();
        // A process that has ended meanwhile has not been waited for yet, so this cannot fail.
        pidfd_send_signal(&self.process, Signal::KILL).during(watching)?;
        let status = loop {
            match waitpid(Some(self.child), WaitOptions::empty()) {
                Ok(Some((_, status))) => break status,
                Ok(None) | Err(Errno::INTR) => {}
                Err(errno) => return Err(KeeperFailure { step: watching(), errno }),
            }
        };
        if has_ended && status.signaled() {
            Report::Exited { status: status.as_raw() }.send(report).ok();
        }
        Ok(())
    }
}

fn watching() -> String {
    "watching over the command".to_owned()
}
