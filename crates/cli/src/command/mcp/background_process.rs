//! Background tasks of `sortie mcp`, in a process of their own. Hosts end the server a moment after they leave, often
//! with its whole process group or with everything that it has started.
//!
//! The process is this program with the same command line, environment and directory, plus a hidden flag. The server
//! starts it for the first background task. It takes orders on its stdin, one line each, and answers each with one
//! line. Once its stdin has ended, it finishes its tasks. It shares no stream with the host.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use sortie_engine::{BackgroundProcess, Host, NoApprover};
use sortie_protocol::{BackgroundOrder, Failure, FailureCode, Launched};
use sortie_tools::BoxFuture;
use tokio::io::AsyncBufReadExt as _;
use tokio::runtime::Runtime;

use crate::error::signal::{Signal, Signals};
use crate::error::{self, CommandError};
use crate::session::{own_process, tend_memory};
use crate::settings::Settings;
use crate::wiring::retention::open_reports;
use crate::wiring::{Plan, Wired};

/// Flag of the process.
pub(super) const FLAG: &str = "background-process";

/// Flag of a host's root.
pub(super) const ROOT_FLAG: &str = "root";

/// Line with which the process says that it takes orders.
const READY: &str = "ready";

/// File with the warnings of the process, besides the reports.
const WARNINGS: &str = "background-process";

/// Stage of the process. The first one only starts the second and ends, so that the server is no ancestor of the
/// second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Stage {
    Begin,
    Serve,
}

/// Answer to an order, one line of JSON.
type Answer = Result<Launched, Failure>;

/// The process, as the server sees it.
pub(super) struct OwnProcess {
    /// Files that the command line names.
    named: Vec<PathBuf>,
    /// Roots of the host that the server works in.
    roots: Vec<PathBuf>,
    pipes: Arc<Mutex<Option<Pipes>>>,
}

struct Pipes {
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl OwnProcess {
    /// Nothing starts before the first order.
    pub(super) fn new(settings: &Settings, roots: &[PathBuf]) -> Self {
        let named = settings.places.named().into_iter().map(PathBuf::from).collect();
        Self { named, roots: roots.to_vec(), pipes: Arc::default() }
    }
}

impl BackgroundProcess for OwnProcess {
    fn carry_out(&self, order: BackgroundOrder) -> BoxFuture<'_, Result<Launched, Failure>> {
        let (pipes, named, roots) = (Arc::clone(&self.pipes), self.named.clone(), self.roots.clone());
        // Handed over whole, even if nobody waits for the answer any more.
        let handing_over = tokio::task::spawn_blocking(move || {
            let mut pipes = pipes.lock().unwrap_or_else(PoisonError::into_inner);
            hand_over(&mut pipes, || start(&named, &roots), &order)
        });
        Box::pin(async move { handing_over.await.unwrap_or_else(|error| Err(internal(&error.to_string()))) })
    }
}

fn hand_over(
    pipes: &mut Option<Pipes>,
    start: impl FnOnce() -> Result<Pipes, Failure>,
    order: &BackgroundOrder,
) -> Result<Launched, Failure> {
    let mut line = serde_json::to_string(order).map_err(|error| internal(&error.to_string()))?;
    line.push('\n');
    let mut told = pipes.as_mut().is_some_and(|pipes| pipes.orders.write_all(line.as_bytes()).is_ok());
    if !told {
        // There is no process, or it is gone and has not read the order.
        let pipes = pipes.insert(start()?);
        told = pipes.orders.write_all(line.as_bytes()).is_ok();
    }
    let mut answer = String::new();
    let is_read = told && pipes.as_mut().is_some_and(|pipes| pipes.answers.read_line(&mut answer).is_ok());
    if !is_read || answer.is_empty() {
        *pipes = None;
        return Err(internal(
            "the process of background tasks has ended; list the sub-agents to see whether the task has begun",
        ));
    }
    serde_json::from_str::<Answer>(&answer).unwrap_or_else(|error| Err(internal(&error.to_string())))
}

fn internal(message: &str) -> Failure {
    Failure::new(FailureCode::Internal, message)
}

/// Starts the process, and waits until it takes orders.
fn start(named: &[PathBuf], roots: &[PathBuf]) -> Result<Pipes, Failure> {
    let fail = |error: io::Error| internal(&format!("the process of background tasks could not be started: {error}"));
    let named: Vec<_> = named.iter().map(PathBuf::as_path).collect();
    own_process::check_files(&named)
        .map_err(|error| Failure::new(FailureCode::InvalidArguments, error.in_one_line()))?;
    let roots = roots.iter().flat_map(|root| [format!("--{ROOT_FLAG}").into(), root.clone().into_os_string()]);
    let mut child = own_process::this_program(own_process::own_arguments().chain(roots).chain(flag(Stage::Begin)))
        .map_err(fail)?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    let lost = || fail(io::ErrorKind::BrokenPipe.into());
    let (orders, answers) = (child.stdin.take().ok_or_else(lost)?, child.stdout.take().ok_or_else(lost)?);
    let mut answers = BufReader::new(answers);
    let mut said = String::new();
    answers.read_line(&mut said).map_err(fail)?;
    if said.trim_end() == READY {
        child.wait().map_err(fail)?;
        return Ok(Pipes { orders, answers });
    }
    let mut why = String::new();
    child.stderr.take().ok_or_else(lost)?.read_to_string(&mut why).map_err(fail)?;
    child.wait().map_err(fail)?;
    Err(internal(&format!("the process of background tasks did not start: {}", why.trim())))
}

fn flag(stage: Stage) -> [OsString; 2] {
    let stage = match stage {
        Stage::Begin => "begin",
        Stage::Serve => "serve",
    };
    [format!("--{FLAG}").into(), stage.into()]
}

/// First stage: leaves the session of the server, and starts the second one with the same streams.
pub(super) fn begin() -> Result<ExitCode, CommandError> {
    own_process::leave_session();
    let mut arguments: Vec<OsString> = own_process::own_arguments().collect();
    arguments.truncate(arguments.len().saturating_sub(flag(Stage::Begin).len()));
    arguments.extend(flag(Stage::Serve));
    let started = own_process::this_program(arguments).and_then(|mut command| command.spawn());
    let fail = |error| CommandError::internal(format!("the process of background tasks could not be started: {error}"));
    started.map(|_| ExitCode::SUCCESS).map_err(fail)
}

/// Second stage: carries out orders until stdin ends, and then finishes its tasks. A signal interrupts them.
pub(super) fn serve(plan: Plan<'_>, settings: &Settings, runtime: Runtime) -> Result<ExitCode, CommandError> {
    let retention = plan.retention();
    let Wired { engine, journal, hooks, .. } = plan.open(Arc::new(NoApprover))?;
    let reports = open_reports(&settings.places.reports())?;
    runtime.spawn(tend_memory());
    let host = engine.host();
    let ended_by = runtime.block_on(async {
        let mut signals = Signals::listen()
            .map_err(|error| CommandError::internal(format!("cannot install signal handlers: {error}")))?;
        say(READY)?;
        // Nobody reads these streams for long.
        reports.growing(WARNINGS).map(error::say_in).unwrap_or_default();
        File::options().write(true).open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stderr(null)?))?;
        let working = async {
            take_orders(&host).await;
            host.idle().await;
        };
        let signal = tokio::select! {
            () = working => None,
            signal = signals.next() => Some(signal),
        };
        if signal.is_some() {
            tokio::select! {
                () = engine.interrupt() => {}
                _ = signals.next() => {}
            }
        } else {
            let (complaints, ()) = tokio::join!(hooks.settled(), engine.close());
            for complaint in &complaints {
                error::warn(complaint);
            }
        }
        Ok::<_, CommandError>(signal)
    });
    runtime.shutdown_background();
    let ended_by = ended_by?;
    if ended_by.is_none() {
        retention.tend(&journal);
    }
    Ok(ended_by.map_or(ExitCode::SUCCESS, Signal::exit_code))
}

/// Carries out orders one after the other, in their order, until there are no more.
async fn take_orders(host: &Host) {
    let mut orders = tokio::io::BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(order)) = orders.next_line().await {
        let answer: Answer = match serde_json::from_str(&order) {
            Ok(order) => host.carry_out(order).await,
            Err(error) => Err(internal(&error.to_string())),
        };
        // A server that has gone needs no answer, and the task works on.
        serde_json::to_string(&answer).map(|answer| say(&answer).ok()).ok();
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}
