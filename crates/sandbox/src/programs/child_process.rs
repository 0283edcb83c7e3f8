//! A child process with bounded time and output, fed and read without threads.
//!
//! It has a process group of its own, which is killed at the end, for whatever reason.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// Most bytes kept of its standard error.
const MAX_ERRORS: usize = 16 << 10;

/// The usual capacity of a pipe.
const PIPE_SIZE: usize = 64 << 10;

/// The input and limits of a child process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildTerms<'a> {
    /// Its standard input. It may leave some of it unread.
    pub(crate) input: &'a [u8],
    pub(crate) time: Duration,
    /// Most output; `None` if nobody reads it.
    pub(crate) max_output: Option<usize>,
    /// The child is ended when this becomes readable.
    pub(crate) stop: Option<BorrowedFd<'a>>,
}

#[derive(Debug)]
pub(crate) struct ChildEnded {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    /// Standard error from the start, cut if long.
    pub(crate) errors: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum ChildFailure {
    Io(io::Error),
    TooLong,
    TooLate,
    Stopped,
}

impl From<io::Error> for ChildFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for ChildFailure {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// Runs it to its end. Processes that it left running are also ended.
pub(crate) fn run(mut command: Command, terms: ChildTerms<'_>) -> Result<ChildEnded, ChildFailure> {
    let deadline = Instant::now() + terms.time;
    let piped = |wanted: bool| if wanted { Stdio::piped() } else { Stdio::null() };
    command.stdin(piped(!terms.input.is_empty())).stdout(piped(terms.max_output.is_some())).stderr(Stdio::piped());
    let mut group = Group::of(command.process_group(0).spawn()?);
    let process = pidfd_open(Pid::from_child(&group.leader), PidfdFlags::empty())?;
    let mut pipes = Pipes {
        input: Input { pipe: open(group.leader.stdin.take())?, left: terms.input },
        output: Stream::new(group.leader.stdout.take())?,
        errors: Stream::new(group.leader.stderr.take())?,
    };
    let mut has_ended = false;
    while !has_ended {
        // Checked before the pipes, so that everything written before the end is already there.
        has_ended = wait(&process, &pipes, terms.stop, deadline)?;
        pipes.input.give();
        pipes.output.take()?;
        pipes.errors.take()?;
        pipes.errors.kept.truncate(MAX_ERRORS);
        if terms.max_output.is_some_and(|most| pipes.output.kept.len() > most) {
            return Err(ChildFailure::TooLong);
        }
    }
    Ok(ChildEnded { status: group.end()?, output: pipes.output.kept, errors: pipes.errors.kept })
}

/// Waits for its end, or for a pipe to become ready. True if it has ended.
fn wait(
    process: &OwnedFd,
    pipes: &Pipes<'_>,
    stop: Option<BorrowedFd<'_>>,
    deadline: Instant,
) -> Result<bool, ChildFailure> {
    loop {
        let mut waiting = vec![PollFd::new(process, PollFlags::IN)];
        waiting.extend(stop.iter().map(|stop| PollFd::new(stop, PollFlags::IN)));
        waiting.extend(pipes.input.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        waiting.extend(
            [&pipes.output, &pipes.errors]
                .into_iter()
                .filter_map(|stream| stream.pipe.as_ref())
                .map(|pipe| PollFd::new(pipe, PollFlags::IN)),
        );
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
        match poll(&mut waiting, left.as_ref()) {
            Ok(0) => return Err(ChildFailure::TooLate),
            Ok(_) if stop.is_some() && !waiting[1].revents().is_empty() => return Err(ChildFailure::Stopped),
            Ok(_) if Instant::now() >= deadline => return Err(ChildFailure::TooLate),
            Ok(_) => return Ok(!waiting[0].revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Makes one end of a pipe non-blocking.
fn open(pipe: Option<impl Into<OwnedFd>>) -> Result<Option<OwnedFd>, ChildFailure> {
    let pipe = pipe.map(Into::into);
    if let Some(pipe) = &pipe {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    Ok(pipe)
}

/// The pipes between it and this process.
struct Pipes<'a> {
    input: Input<'a>,
    output: Stream,
    errors: Stream,
}

/// Input not written yet.
struct Input<'a> {
    pipe: Option<OwnedFd>,
    left: &'a [u8],
}

impl Input<'_> {
    /// Writes as much as the pipe takes now. Closes the pipe at the end, or when the child stops reading.
    fn give(&mut self) {
        while let Some(pipe) = &self.pipe {
            match rustix::io::write(pipe, self.left) {
                Ok(length) => self.left = &self.left[length..],
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                // It has closed its end: reading is optional.
                Err(_) => self.left = &[],
            }
            if self.left.is_empty() {
                self.pipe = None;
            }
        }
    }
}

/// One of its pipes, until it is closed.
struct Stream {
    pipe: Option<OwnedFd>,
    kept: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<impl Into<OwnedFd>>) -> Result<Self, ChildFailure> {
        Ok(Self { pipe: open(pipe)?, kept: Vec::new() })
    }

    /// Reads what is available, but no more than a pipe holds: endless output must not keep others waiting.
    fn take(&mut self) -> Result<(), ChildFailure> {
        let mut buffer = [0; 16 << 10];
        let mut taken = 0;
        while let Some(pipe) = &self.pipe
            && taken < PIPE_SIZE
        {
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => {
                    self.kept.extend(&buffer[..length]);
                    taken += length;
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}

/// A process that leads a group. Until it has been waited for, the group's number is not reused, even if the process
/// has ended.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) leader: Child,
    is_over: bool,
}

impl Group {
    /// The group of a process that was started as its leader.
    pub(crate) fn of(leader: Child) -> Self {
        Self { leader, is_over: false }
    }

    /// Kills the rest of the group, and returns the leader's exit status.
    pub(crate) fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_over {
            // It can fail only if nobody is left.
            kill_process_group(Pid::from_child(&self.leader), Signal::KILL).ok();
            self.is_over = true;
        }
        self.leader.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end().ok();
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;
    use rustix::fs::{CWD, Mode, OFlags, mkfifoat, openat};

    const LONG: Duration = Duration::from_mins(1);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    fn terms(time: Duration, max_output: usize) -> ChildTerms<'static> {
        ChildTerms { input: &[], time, max_output: Some(max_output), stop: None }
    }

    #[test]
    fn output_errors_and_code_are_returned_and_there_is_no_input() {
        let ended = run(shell("cat; echo out; echo err >&2; exit 3"), terms(LONG, 100)).unwrap();
        assert_eq!((ended.status.code(), ended.output, ended.errors), (Some(3), b"out\n".to_vec(), b"err\n".to_vec()));
    }

    #[test]
    fn a_child_with_endless_output_is_ended() {
        assert!(matches!(run(shell("yes"), terms(LONG, 100_000)), Err(ChildFailure::TooLong)));
        let errors = run(shell("yes | head -c 100000 >&2"), terms(LONG, 10)).unwrap().errors;
        assert_eq!(errors.len(), MAX_ERRORS);
    }

    /// A named pipe that reports its end when no process has it open any more.
    struct Life {
        directory: tempfile::TempDir,
        reader: OwnedFd,
    }

    impl Life {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("life");
            mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
            let reader =
                openat(CWD, &path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap();
            Self { directory, reader }
        }

        /// A script whose processes all hold the pipe.
        fn script(&self, script: &str) -> Command {
            shell(&format!("exec 9> {}/life; {script}", self.directory.path().display()))
        }

        fn wait_for_end(self) {
            rustix::io::ioctl_fionbio(&self.reader, false).unwrap();
            assert_eq!(rustix::io::read(&self.reader, &mut [0; 1]).unwrap(), 0);
        }
    }

    #[test]
    fn a_child_that_never_ends_is_killed_with_its_group() {
        let life = Life::new();
        let script = life.script("sleep 1000 & yes >&2");
        assert!(matches!(run(script, terms(Duration::from_millis(300), 100)), Err(ChildFailure::TooLate)));
        life.wait_for_end();
    }

    #[test]
    fn processes_left_running_are_killed_even_after_too_much_output() {
        let life = Life::new();
        assert!(matches!(
            run(life.script("sleep 1000 & echo more than that"), terms(LONG, 5)),
            Err(ChildFailure::TooLong)
        ));
        life.wait_for_end();
    }

    #[test]
    fn processes_left_in_the_background_are_killed_not_waited_for() {
        let life = Life::new();
        let ended = run(life.script("sleep 1000 & echo done"), terms(LONG, 100)).unwrap();
        assert_eq!(ended.output, b"done\n");
        life.wait_for_end();
    }

    #[test]
    fn a_long_input_is_written_while_the_child_answers() {
        let input = vec![b'x'; 1 << 20];
        let ended = run(shell("cat"), ChildTerms { input: &input, ..terms(LONG, 2 << 20) }).unwrap();
        assert_eq!(ended.output, input);
    }

    #[test]
    fn unread_input_blocks_nobody() {
        let input = vec![b'x'; 1 << 20];
        let ended = run(shell("exec <&-; echo done"), ChildTerms { input: &input, ..terms(LONG, 100) }).unwrap();
        assert_eq!((ended.status.code(), ended.output), (Some(0), b"done\n".to_vec()));
    }

    #[test]
    fn output_that_nobody_reads_has_no_limit() {
        let silent = ChildTerms { max_output: None, ..terms(LONG, 0) };
        let ended = run(shell("yes | head -c 1000000; echo err >&2"), silent).unwrap();
        assert_eq!((ended.output, ended.errors), (Vec::new(), b"err\n".to_vec()));
    }

    #[test]
    fn a_stopped_child_is_killed_with_its_group() {
        let life = Life::new();
        let stop = life.directory.path().join("stop");
        mkfifoat(CWD, &stop, Mode::RUSR | Mode::WUSR).unwrap();
        // It stops itself, as soon as there is something to be ended with it.
        let script = life.script(&format!("sleep 1000 & echo > {}; sleep 1000", stop.display()));
        let stop = openat(CWD, &stop, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let terms = ChildTerms { stop: Some(stop.as_fd()), ..terms(LONG, 100) };
        assert!(matches!(run(script, terms), Err(ChildFailure::Stopped)));
        life.wait_for_end();
    }
}
