//! A program of the user's own that runs in the background for as long as needed, connected by pipes.
//!
//! As with [`OwnProgram`](crate::OwnProgram), nothing that an agent or an untrusted project can influence may be
//! started here. Everything it starts ends with it, on drop, and with this process, however that ends; even processes
//! that left its group. The caller reads its output, within the caller's limits.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::process::How;
use crate::system::{Lifeline, keep_service};
use crate::walls::Environment;

/// A program, and how it is started.
#[derive(Debug, Clone)]
pub struct OwnService {
    /// A path relative to the working directory, or a name to look up in the `PATH` of its environment.
    pub program: String,
    pub arguments: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: Environment,
    /// Directories that agents can write to. A program in one is not started: agents could choose what runs. Canonical.
    pub changeable: Vec<PathBuf>,
}

/// Reason why it was not started.
#[derive(Debug, thiserror::Error)]
pub enum OwnServiceError {
    #[error("there is no program `{name}` in your PATH")]
    NotFound { name: String },
    #[error("{} lies where agents can write, so it is not started; install it elsewhere", path.display())]
    Changeable { path: PathBuf },
    #[error("{} cannot be run: {source}", path.display())]
    Unstartable { path: PathBuf, source: io::Error },
}

/// The pipes of a running service.
#[derive(Debug)]
pub struct ServicePipes {
    /// Its standard input.
    pub input: OwnedFd,
    /// Its standard output.
    pub output: OwnedFd,
    /// Its standard error.
    pub errors: OwnedFd,
}

/// A running service. Dropping it kills it, with everything it has started.
#[derive(Debug)]
pub struct RunningService {
    /// The process between this one and the service. It ends as the service does, when nothing is left.
    keeper: Child,
    /// The service lives as long as this is held.
    lifeline: Option<OwnedFd>,
}

impl OwnService {
    /// Starts it. Blocks as long as that takes.
    pub fn start(&self) -> Result<(RunningService, ServicePipes), OwnServiceError> {
        let program = self.found()?;
        let failed = |source| OwnServiceError::Unstartable { path: program.clone(), source };
        let mut command = Command::new(&program);
        command.args(&self.arguments).current_dir(&self.directory).env_clear().envs(self.environment.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let lifeline = Lifeline::new().map_err(failed)?;
        keep_service(&mut command, lifeline.watched);
        let mut keeper = command.spawn().map_err(failed)?;
        let pipes = (keeper.stdin.take(), keeper.stdout.take(), keeper.stderr.take());
        let service = RunningService { keeper, lifeline: Some(lifeline.held) };
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(failed(io::Error::other("it has no pipes")));
        };
        Ok((service, ServicePipes { input: input.into(), output: output.into(), errors: errors.into() }))
    }

    /// Returns true if this file is the program.
    pub fn is_program(&self, file: &Path) -> bool {
        let own = file.canonicalize();
        own.is_ok_and(|own| self.looked_up().and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == own))
    }

    /// Returns true if the program has the name of this file, under whatever name it is called.
    pub fn is_named_like(&self, file: &Path) -> bool {
        let path = self.looked_up().and_then(|path| path.canonicalize().ok());
        path.is_some_and(|path| path.file_name() == file.file_name())
    }

    fn looked_up(&self) -> Option<PathBuf> {
        let name = &self.program;
        if name.contains('/') { Some(self.directory.join(name)) } else { self.environment.program(name) }
    }

    fn found(&self) -> Result<PathBuf, OwnServiceError> {
        let name = &self.program;
        let path = self.looked_up().ok_or_else(|| OwnServiceError::NotFound { name: name.clone() })?;
        let real = path.canonicalize().map_err(|source| OwnServiceError::Unstartable { path: path.clone(), source })?;
        let is_changeable = |path: &Path| self.changeable.iter().any(|root| path.starts_with(root));
        if is_changeable(&path) || is_changeable(&real) {
            return Err(OwnServiceError::Changeable { path });
        }
        // Started by its name: some programs look at the name they are called by.
        Ok(path)
    }
}

impl RunningService {
    /// Waits `by_itself` for it to end, then asks it to and waits `when_asked`, then kills it with everything it left
    /// running. Returns how it ended. Blocks.
    pub fn end(mut self, by_itself: Duration, when_asked: Duration) -> How {
        if let Some(lifeline) = &self.lifeline
            && !self.ends_within(by_itself)
        {
            // It can fail only if it has ended.
            retry_on_intr(|| rustix::io::write(lifeline, b"?")).ok();
            self.ends_within(when_asked);
        }
        match self.kill() {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => How::Exited { code },
                (None, Some(signal)) => How::Signalled { signal },
                (None, None) => How::Lost,
            },
            Err(_) => How::Lost,
        }
    }

    /// Makes its keeper kill the rest, and waits for that.
    fn kill(&mut self) -> io::Result<ExitStatus> {
        self.lifeline = None;
        self.keeper.wait()
    }

    fn ends_within(&self, time: Duration) -> bool {
        let Ok(process) = pidfd_open(Pid::from_child(&self.keeper), PidfdFlags::empty()) else { return true };
        let deadline = Instant::now() + time;
        loop {
            let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
            match poll(&mut [PollFd::new(&process, PollFlags::IN)], left.as_ref()) {
                Ok(ended) => return ended > 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        self.kill().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> OwnService {
        let mut environment = Environment::default();
        environment.set("WHO", "me");
        OwnService {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), text.to_owned()],
            directory: "/".into(),
            environment,
            changeable: Vec::new(),
        }
    }

    fn script(text: &str) -> (RunningService, ServicePipes) {
        shell(text).start().unwrap()
    }

    /// Reads everything until no writer is left.
    fn all_of(pipe: &OwnedFd) -> String {
        let (mut said, mut buffer) = (Vec::new(), [0; 1024]);
        loop {
            match rustix::io::read(pipe, &mut buffer).unwrap() {
                0 => return String::from_utf8(said).unwrap(),
                length => said.extend(&buffer[..length]),
            }
        }
    }

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn a_service_talks_over_pipes_and_ends_when_its_input_ends() {
        let (service, pipes) = script("cat; echo done by $WHO >&2; exit 3");
        rustix::io::write(&pipes.input, b"hello\n").unwrap();
        drop(pipes.input);
        assert_eq!(all_of(&pipes.output), "hello\n");
        assert_eq!(all_of(&pipes.errors), "done by me\n");
        assert_eq!(service.end(LONG, LONG), How::Exited { code: 3 });
    }

    #[test]
    fn a_service_that_does_not_end_is_asked_and_then_killed_with_its_group() {
        let (service, pipes) = script("sleep 1000 & trap 'exit 7' TERM; echo up; while :; do wait; done");
        let mut up = [0; 3];
        rustix::io::read(&pipes.output, &mut up).unwrap();
        assert_eq!(service.end(Duration::ZERO, LONG), How::Exited { code: 7 });
        assert_eq!(all_of(&pipes.output), "", "the sleeper, which holds the pipe, is gone");
        let (service, pipes) = script("trap '' TERM; echo up; while :; do sleep 1000; done");
        rustix::io::read(&pipes.output, &mut up).unwrap();
        assert_eq!(service.end(Duration::ZERO, Duration::ZERO), How::Signalled { signal: 9 });
    }

    #[test]
    fn a_program_that_agents_can_change_is_not_started_under_any_name() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::copy("/bin/sh", root.join("own")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", root.join("link")).unwrap();
        let service = |program: &str| OwnService {
            program: program.to_owned(),
            directory: root.clone(),
            changeable: vec![root.clone()],
            ..shell("exit 0")
        };
        for inside in ["./own", "./link", root.join("own").to_str().unwrap()] {
            let refused = service(inside).start().unwrap_err();
            assert!(matches!(refused, OwnServiceError::Changeable { .. }), "{inside}: {refused}");
        }
        let mut named = service("own");
        named.environment.set("PATH", root.as_os_str());
        assert!(matches!(named.start().unwrap_err(), OwnServiceError::Changeable { .. }));
        assert!(matches!(service("nobody-has-it").start().unwrap_err(), OwnServiceError::NotFound { .. }));
        assert!(matches!(service("./nowhere").start().unwrap_err(), OwnServiceError::Unstartable { .. }));
        assert_eq!(service("/bin/sh").start().unwrap().0.end(LONG, LONG), How::Exited { code: 0 });
    }

    #[test]
    fn dropping_a_service_kills_its_group() {
        let (service, pipes) = script("sleep 1000 & sleep 1000");
        drop(service);
        assert_eq!(all_of(&pipes.output), "");
    }

    #[test]
    fn processes_that_left_the_group_end_with_the_service_however_it_ends() {
        let (service, pipes) = script("setsid sh -c 'sleep 1000 & echo up; sleep 1000' & read line; exit 5");
        let mut up = [0; 3];
        rustix::io::read(&pipes.output, &mut up).unwrap();
        rustix::io::write(&pipes.input, b"\n").unwrap();
        assert_eq!(all_of(&pipes.output), "", "the sleepers, which hold the pipe, are gone by themselves");
        assert_eq!(service.end(LONG, LONG), How::Exited { code: 5 });
        let (service, pipes) = script("setsid sh -c 'echo up; sleep 1000' & wait");
        rustix::io::read(&pipes.output, &mut up).unwrap();
        drop(service);
        assert_eq!(all_of(&pipes.output), "");
    }

    #[test]
    fn abandoned_processes_that_ended_are_collected() {
        let children = "/proc/$PPID/task/$PPID/children";
        let alone = format!("(sleep 0.01 &); until [ \"$(cat {children})\" = \"$$ \" ]; do :; done; echo alone");
        let (service, pipes) = script(&alone);
        assert_eq!(all_of(&pipes.output), "alone\n");
        assert_eq!(service.end(LONG, LONG), How::Exited { code: 0 });
    }

    #[test]
    fn a_signal_that_ends_a_service_is_reported_as_such() {
        let (service, _pipes) = script("kill -SEGV $$");
        assert_eq!(service.end(LONG, LONG), How::Signalled { signal: 11 });
        let missing = OwnService { program: "/bin".to_owned(), ..shell("") };
        assert!(matches!(missing.start().unwrap_err(), OwnServiceError::Unstartable { .. }));
    }
}
