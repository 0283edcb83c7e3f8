//! A running command seen from outside: its output, its end, and the way to end it.
//!
//! There is no thread and no runtime here: the caller of [`Running::finish`] drives it.

use std::fs::File;
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, pidfd_send_signal};

use crate::keeper::KeeperEnds;
use crate::process::ending::{Ended, How};
use crate::process::keeper_mark::KeeperMark;
use crate::process::launch::Program;
use crate::process::output::{Output, OutputCaps};
use crate::walls::Shell;
use crate::walls::SpawnError;
use crate::walls::plan::Plan;
use crate::walls::report::{KeeperFailure, Report};
use crate::walls::{Tier, Walls};

/// Time limit for building the walls.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time for a keeper that was told to end before it is killed with its command.
const GRACE: Duration = Duration::from_secs(1);

/// A command within its walls. Dropping it unfinished ends it.
#[derive(Debug)]
pub struct Running {
    /// The keeper's process, once it has reported.
    keeper: Option<OwnedFd>,
    /// The keeper ends everything when nobody holds this any more, for whatever reason.
    lifeline: Option<OwnedFd>,
    output: File,
    reports: OwnedFd,
    listener: Option<TcpListener>,
    stop: Stopper,
    deadline: Option<Instant>,
}

/// Ends a command from elsewhere. Can be used at any time, any number of times.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<OwnedFd>);

impl Stopper {
    /// A stopper for something about to start.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Readable from the first stop on.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub fn stop(&self) {
        // The counter of an event descriptor is full only after 2⁶⁴ stops.
        retry_on_intr(|| rustix::io::write(&self.0, &1_u64.to_ne_bytes())).ok();
    }
}

/// Starts a command. When this returns, its walls stand; if any could not be built, it fails and nothing runs.
/// [`Tier::None`] builds none: only on the user's explicit request.
pub fn spawn(program: &Program, tier: Tier, walls: &Walls, shell: &Shell<'_>) -> Result<Running, SpawnError> {
    let plan = Plan::new(tier, walls, shell)?.encode();
    let mut running = start(program, shell).map_err(|source| SpawnError::Keeper { source })?;
    let told = running.tell(&plan);
    if !running.has_report_within(PATIENCE).map_err(|source| SpawnError::Keeper { source })? {
        return Err(SpawnError::Stuck { seconds: PATIENCE.as_secs() });
    }
    match Report::receive(running.reports.as_fd()) {
        Ok(Some(Report::Started { keeper, listener })) => {
            running.keeper = Some(keeper);
            running.listener = listener.map(TcpListener::from);
            Ok(running)
        }
        Ok(Some(Report::Failed(KeeperFailure { step, errno }))) => {
            Err(SpawnError::Walls { step, source: errno.into() })
        }
        Err(source) => Err(SpawnError::Keeper { source }),
        Ok(_) => Err(told.err().map_or(SpawnError::Died, |source| SpawnError::Keeper { source })),
    }
}

fn start(program: &Program, shell: &Shell<'_>) -> io::Result<Running> {
    let (lifeline_end, lifeline) = pipe_with(PipeFlags::CLOEXEC)?;
    let (output, output_end) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&output, true)?;
    let (reports, reports_end) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let stop = Stopper::new()?;
    program.keeper(&KeeperEnds { lifeline: lifeline_end, output: output_end, report: reports_end })?;
    Ok(Running {
        keeper: None,
        lifeline: Some(lifeline),
        output: output.into(),
        reports,
        listener: None,
        stop,
        deadline: shell.deadline,
    })
}

impl Running {
    pub fn stopper(&self) -> Stopper {
        self.stop.clone()
    }

    /// Its keeper's mark, for other processes; `None` if it has ended.
    pub fn keeper(&self) -> Option<KeeperMark> {
        KeeperMark::of(self.keeper.as_ref()?.as_fd())
    }

    /// The listener of the port in [`Network::Proxy`](crate::process::Network::Proxy), inside the command's network.
    pub fn listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// Waits until the command and everything that it started has ended. `show` gets all of its output and errors, in
    /// the order written. If nobody reads its output, the command blocks.
    pub fn finish(mut self, caps: OutputCaps<'_>, show: &mut dyn FnMut(&[u8])) -> io::Result<Ended> {
        let mut output = Output::new(caps);
        let mut ending = Ending::default();
        let mut killed_at = None;
        while !ending.over {
            let woken = self.wait(killed_at, &ending)?;
            if woken.output {
                ending.silent = self.drain(&mut output, show, false)?;
            }
            if woken.report {
                ending.take(Report::receive(self.reports.as_fd())?.as_ref());
            }
            if let Some(how) = woken.end
                && killed_at.is_none()
            {
                ending.forced = Some(how);
                self.lifeline = None;
                killed_at = Some(Instant::now());
            } else if killed_at.is_some_and(|since| since.elapsed() >= GRACE) {
                self.kill_keeper();
            }
        }
        // The keeper has sent its last report; nobody needs to wait for the rest of its cleanup.
        self.lifeline = None;
        self.drain(&mut output, show, true)?;
        Ok(ending.ended(output))
    }

    /// Kills the keeper, and the command with it.
    fn kill_keeper(&self) {
        if let Some(keeper) = &self.keeper {
            // It can fail only if it has ended.
            pidfd_send_signal(keeper, Signal::KILL).ok();
        }
    }

    /// Waits at most this long; true if everything is gone.
    fn is_over_within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while self.has_report_within(until.saturating_duration_since(Instant::now())).unwrap_or(false) {
            match Report::receive(self.reports.as_fd()) {
                Ok(Some(Report::Over) | None) | Err(_) => return true,
                Ok(Some(_)) => {}
            }
        }
        false
    }

    /// Waits at most this long; true if there is a report, or the end of all reports.
    fn has_report_within(&self, time: Duration) -> io::Result<bool> {
        let until = Instant::now() + time;
        loop {
            let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
            match poll(&mut [PollFd::new(&self.reports, PollFlags::IN)], left.as_ref()) {
                Err(Errno::INTR) => {}
                other => return Ok(other? > 0),
            }
        }
    }

    fn tell(&self, plan: &[u8]) -> io::Result<()> {
        let Some(lifeline) = &self.lifeline else { return Ok(()) };
        let mut lifeline = File::from(lifeline.try_clone()?);
        lifeline.write_all(&(plan.len() as u64).to_le_bytes())?;
        lifeline.write_all(plan)
    }

    /// Waits for the next event.
    fn wait(&self, killed_at: Option<Instant>, ending: &Ending) -> io::Result<Woken> {
        let until = match killed_at {
            Some(since) => Some(since + GRACE),
            None => self.deadline,
        };
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut sources = vec![Source::Report];
        if killed_at.is_none() {
            sources.push(Source::Stop);
        }
        if !ending.silent {
            sources.push(Source::Output);
        }
        let descriptor = |source: &Source| match source {
            Source::Report => PollFd::new(&self.reports, PollFlags::IN),
            Source::Stop => PollFd::new(&self.stop.0, PollFlags::IN),
            Source::Output => PollFd::new(&self.output, PollFlags::IN),
        };
        let mut waiting: Vec<PollFd<'_>> = sources.iter().map(descriptor).collect();
        match poll(&mut waiting, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let has_happened = |which: Source| {
            sources.iter().zip(&waiting).any(|(source, waited)| *source == which && !waited.revents().is_empty())
        };
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(Woken {
            report: has_happened(Source::Report),
            output: has_happened(Source::Output),
            end: if has_happened(Source::Stop) { Some(How::Cancelled) } else { late.then_some(How::TimedOut) },
        })
    }

    /// Reads some of the available output, or all of it. True at its end.
    fn drain(&mut self, output: &mut Output<'_>, show: &mut dyn FnMut(&[u8]), all: bool) -> io::Result<bool> {
        let mut buffer = [0; 16 << 10];
        loop {
            match rustix::io::read(&self.output, &mut buffer) {
                Ok(0) => return Ok(true),
                Ok(length) => {
                    output.take(&buffer[..length]);
                    show(&buffer[..length]);
                }
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if !all {
                return Ok(false);
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without its lifeline the keeper ends everything, and then itself. Waits for it, so that nothing runs after
        // the drop, and kills it if it takes too long.
        if self.lifeline.take().is_some() && !self.is_over_within(GRACE) {
            self.kill_keeper();
            self.is_over_within(GRACE);
        }
    }
}

/// Source of a wakeup.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Report,
    Stop,
    Output,
}

struct Woken {
    report: bool,
    output: bool,
    /// Reason why it must end now.
    end: Option<How>,
}

/// Facts collected so far.
#[derive(Default)]
struct Ending {
    status: Option<i32>,
    forced: Option<How>,
    cpu: Duration,
    max_memory: u64,
    refused_calls: Vec<String>,
    replaced: Vec<PathBuf>,
    /// The output has ended.
    silent: bool,
    /// Everything is gone.
    over: bool,
}

impl Ending {
    fn take(&mut self, report: Option<&Report>) {
        match report {
            Some(Report::Exited { status }) => self.status = self.status.or(Some(*status)),
            Some(Report::Used { cpu, max_memory }) => (self.cpu, self.max_memory) = (*cpu, *max_memory),
            Some(Report::Refused { calls }) => self.refused_calls.clone_from(calls),
            Some(Report::Replaced { path }) => self.replaced.push(path.clone()),
            Some(Report::Started { .. } | Report::Failed(_)) => {}
            Some(Report::Over) | None => self.over = true,
        }
    }

    fn ended(self, output: Output<'_>) -> Ended {
        use std::os::unix::process::ExitStatusExt;
        // A command that ended by itself counts as such, even if a stop came a moment later.
        let how = match self.status.map(std::process::ExitStatus::from_raw) {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => How::Exited { code },
                (None, Some(signal)) => How::Signalled { signal },
                (None, None) => How::Lost,
            },
            None => self.forced.unwrap_or(How::Lost),
        };
        let Self { cpu, max_memory, refused_calls, replaced, .. } = self;
        Ended { how, cpu, max_memory, refused_calls, replaced, output: output.finish() }
    }
}
