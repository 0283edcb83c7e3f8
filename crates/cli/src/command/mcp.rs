//! `sortie mcp`: serves this engine to other agents, over standard streams or over HTTP.
//!
//! Standard output carries the protocol and nothing else. Anything else that this process or its children would print
//! there goes to standard error.

mod background_process;
mod http_server;
mod token_file;

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use sortie_engine::{BackgroundProcess, NoApprover};
use sortie_mcp::{Hosts, Office, OfficeParts, Server, http, stdio};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::args::with_exit_codes;
use super::person_only::only_for_persons;
use crate::error::signal::{Signal, Signals};
use crate::error::{self, CommandError, ErrorKind};
use crate::session::tend_memory;
use crate::settings::Settings;
use crate::wiring::agent_warnings::complain;
use crate::wiring::{Plan, Wired};
use background_process::{OwnProcess, Stage};
use http_server::{Front, WebArgs};

/// Serve sub-agents to other agents over the Model Context Protocol
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct McpArgs {
    #[command(flatten)]
    web: WebArgs,

    /// Run background tasks for a server
    #[arg(long = background_process::FLAG, value_enum, hide = true)]
    background: Option<Stage>,
}

const EXAMPLES: &str = "\
A host starts this command itself and talks to it over stdin and stdout. The
server ends when the host has gone; background tasks go on in a process of their
own.

Examples:
  claude mcp add sortie -- sortie mcp
  sortie mcp --contract typed --allow 'Edit(docs/**)'
  sortie mcp --set mcp.finish_background=false
  sortie mcp --http 127.0.0.1:8808";

/// Refuses to serve the agents of another Sortie, unless the user wants that.
fn not_unasked_for(settings: &Settings) -> Result<(), CommandError> {
    if settings.environment.nesting_level() == 0 || settings.allows_nesting() {
        return Ok(());
    }
    let message = "another Sortie has started this server for its agents, which delegate by themselves";
    Err(CommandError::new(ErrorKind::Unready, message)
        .hint("take it out of the MCP servers that Sortie's agents have")
        .hint("if they are to use it: `mcp.nested = true` in your own configuration"))
}

/// Entrance for hosts.
enum Entrance {
    /// The host that started this program.
    Streams { output: File },
    /// Any host with the token.
    Web(Front),
}

pub(crate) fn run(args: &McpArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    only_for_persons(settings)?;
    not_unasked_for(settings)?;
    if args.background == Some(Stage::Begin) {
        return background_process::begin();
    }
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
    let plan = Plan::to_work(settings)?;
    if args.background == Some(Stage::Serve) {
        return background_process::serve(plan, settings, runtime);
    }
    let entrance = match args.web.http {
        Some(address) => Entrance::Web(runtime.block_on(args.web.listen(address, &settings.places.home))?),
        None => Entrance::Streams { output: take_stdout()? },
    };
    complain(&plan.agents());
    plan.rules_about_nobody().iter().for_each(|warning| error::warn(warning));
    let retention = plan.retention();
    // With a route configured, no host's model is borrowed.
    let hosts = plan.lacks_model().then(Hosts::default);
    let absence = match entrance {
        Entrance::Streams { .. } if hosts.is_some() => HostAbsence::InterruptsAll,
        _ if settings.finishes_background() => HostAbsence::LeavesBackground,
        _ => HostAbsence::InterruptsBackground,
    };
    let outlives = matches!((&entrance, absence), (Entrance::Streams { .. }, HostAbsence::LeavesBackground));
    let background = outlives.then(|| Arc::new(OwnProcess::new(settings)) as Arc<dyn BackgroundProcess>);
    let Wired { engine, journal, hooks, agents } = plan.borrowing(hosts.clone()).open(Arc::new(NoApprover))?;
    let office = Office::new(OfficeParts {
        engine: engine.clone(),
        journal: Arc::clone(&journal),
        agents,
        contract: settings.contract(),
        workspace: settings.places.workspace.display().to_string(),
        max_prompt_bytes: settings.max_prompt_bytes(),
        hosts,
        background,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    runtime.spawn(tend_memory());
    let ended_by = runtime.block_on(async {
        let signal = serve(&office, entrance, absence).await?;
        if signal.is_none() {
            let (complaints, ()) = tokio::join!(hooks.settled(), engine.close());
            for complaint in &complaints {
                error::warn(complaint);
            }
        }
        Ok::<_, CommandError>(signal)
    });
    // A read of standard input, or a search, that does not look up must not delay the end.
    runtime.shutdown_background();
    let ended_by = ended_by?;
    if ended_by.is_none() {
        retention.tend(&journal);
    }
    Ok(ended_by.map_or(ExitCode::SUCCESS, Signal::exit_code))
}

/// Fate of tasks when the host of standard streams has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostAbsence {
    /// Calls under way are interrupted; background tasks end by themselves.
    LeavesBackground,
    /// Background tasks are interrupted as well.
    InterruptsBackground,
    /// Tasks are interrupted before the model that the host lends is gone.
    InterruptsAll,
}

/// Serves until the host has gone and nothing is left to wait for, or a signal ends it. The first signal interrupts
/// all tasks, to be resumed, and answers the running calls; a second one waits for nothing.
async fn serve(office: &Arc<Office>, entrance: Entrance, absence: HostAbsence) -> Result<Option<Signal>, CommandError> {
    let mut signals = Signals::listen()
        .map_err(|error| CommandError::internal(format!("cannot install signal handlers: {error}")))?;
    let (gone, stop) = (CancellationToken::new(), CancellationToken::new());
    let (shared, without_host) = (Arc::clone(office), gone.clone());
    let new_server = move || Server::new(Arc::clone(&shared), without_host.clone());
    let mut session: Pin<Box<dyn Future<Output = ()>>> = match entrance {
        Entrance::Streams { output } => {
            let streams = stdio::HostStreams { input: tokio::io::stdin(), output: tokio::fs::File::from_std(output) };
            Box::pin(stdio::serve(new_server, streams, gone.clone(), stop.clone()))
        }
        Entrance::Web(front) => {
            front.announce();
            let Front { listener, token, .. } = front;
            Box::pin(http::serve(listener, token, http::Bounds::default(), new_server, stop.clone()))
        }
    };
    let interrupting = async {
        if absence == HostAbsence::InterruptsAll {
            gone.cancelled().await;
            office.interrupt().await;
        }
        std::future::pending::<Infallible>().await
    };
    let signal = tokio::select! {
        () = &mut session => None,
        signal = signals.next() => Some(signal),
        never = interrupting => match never {},
    };
    if let Some(signal) = signal {
        let mut ending = pin!(async {
            // Calls under way are answered, as far as their hosts still listen.
            tokio::join!(&mut session, async {
                office.interrupt().await;
                gone.cancel();
                stop.cancel();
            })
        });
        loop {
            tokio::select! {
                _ = &mut ending => return Ok(Some(signal)),
                another = signals.next() => if another.is_meant_after(Some(signal)) { return Ok(Some(another)) },
            }
        }
    }
    if absence == HostAbsence::LeavesBackground && !office.is_idle() {
        tokio::select! {
            () = office.idle() => {}
            signal = signals.next() => {
                interrupt(office, &mut signals, signal).await;
                return Ok(Some(signal));
            }
        }
    }
    // Only tasks that nobody is to finish are left.
    office.interrupt().await;
    Ok(None)
}

/// Interrupts all tasks. A second signal waits for nothing.
async fn interrupt(office: &Office, signals: &mut Signals, before: Signal) {
    let mut interrupting = pin!(office.interrupt());
    loop {
        tokio::select! {
            () = &mut interrupting => return,
            another = signals.next() => if another.is_meant_after(Some(before)) { return },
        }
    }
}

/// Keeps standard output for the protocol: later prints go to standard error.
fn take_stdout() -> Result<File, CommandError> {
    let kept = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3);
    let kept = kept.and_then(|kept| rustix::stdio::dup2_stdout(io::stderr()).map(|()| kept));
    kept.map(File::from).map_err(|error| CommandError::internal(format!("stdout cannot be kept: {error}")))
}
