//! `sortie mcp`: serves this engine to other agents, over standard streams or over HTTP.
//!
//! Standard output carries the protocol and nothing else. Anything else that this process or its children would print
//! there goes to standard error.

mod background_process;
mod http_server;
mod install;
mod sign_in;
mod sites;
mod token_file;

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use sortie_mcp::{Hosts, Office, Offices, Offline, Server, http, stdio};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::args::with_exit_codes;
use super::person_only::only_for_persons;
use crate::environment::Sources;
use crate::error::signal::{Signal, Signals};
use crate::error::{CommandError, ErrorKind};
use crate::session::tend_memory;
use crate::settings::Settings;
use crate::wiring::{Plan, wide_workspace};
use background_process::Stage;
use http_server::{Front, WebArgs};
use sites::{Reached, Sites};

/// Serve sub-agents to other agents over the Model Context Protocol
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES), args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    web: WebArgs,

    /// If no model is set, answer by fixed rules instead of refusing; results say so
    #[arg(long)]
    offline: bool,

    /// Run background tasks for a server
    #[arg(long = background_process::FLAG, value_enum, hide = true)]
    background: Option<Stage>,

    /// Work in this root of a host; the first one is the workspace
    #[arg(long = background_process::ROOT_FLAG, hide = true)]
    root: Vec<PathBuf>,

    #[command(subcommand)]
    command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Login(sign_in::LoginArgs),
    Logout(sign_in::LogoutArgs),
    Install(install::InstallArgs),
}

const EXAMPLES: &str = "\
A host starts this command itself and talks to it over stdin and stdout. The
server ends when the host has gone; background tasks go on in a process of their
own.

Examples:
  sortie mcp install codex
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

pub(crate) fn run(args: &McpArgs, sources: Sources) -> Result<ExitCode, CommandError> {
    // The process of background tasks works in the roots of the server's host.
    let sources = if args.root.is_empty() { sources } else { sources.at_roots(&args.root) };
    let settings = super::load(&sources)?;
    match &args.command {
        Some(McpCommand::Login(args)) => sign_in::log_in(args, &settings),
        Some(McpCommand::Logout(args)) => sign_in::log_out(args, &settings),
        Some(McpCommand::Install(args)) => install::run(args, &sources),
        None => serve_hosts(args, &settings, &sources),
    }
}

fn serve_hosts(args: &McpArgs, settings: &Settings, sources: &Sources) -> Result<ExitCode, CommandError> {
    only_for_persons(settings)?;
    not_unasked_for(settings)?;
    if args.background == Some(Stage::Begin) {
        return background_process::begin();
    }
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
    let offline = if args.offline { Offline::Answers } else { Offline::Refuses };
    if args.background == Some(Stage::Serve) {
        let plan = Plan::to_work(settings)?.for_hosts(Hosts::default(), offline);
        return background_process::serve(plan, settings, runtime);
    }
    let (entrance, reached) = match args.web.http {
        Some(address) => {
            wide_workspace::ask(&settings.places)?;
            (Entrance::Web(runtime.block_on(args.web.listen(address, &settings.places.home))?), Reached::ByHttp)
        }
        None => (Entrance::Streams { output: take_stdout()? }, Reached::ByStreams),
    };
    let (sites, office) = Sites::open(sources.clone(), settings, reached, offline)?;
    runtime.spawn(tend_memory());
    let ended_by = runtime.block_on(async {
        let signal = serve(&sites, &office, entrance).await?;
        if signal.is_none() {
            sites.close().await;
        }
        Ok::<_, CommandError>(signal)
    });
    // A read of standard input, or a search, that does not look up must not delay the end.
    runtime.shutdown_background();
    let ended_by = ended_by?;
    if ended_by.is_none() {
        sites.tend();
    }
    Ok(ended_by.map_or(ExitCode::SUCCESS, Signal::exit_code))
}

/// Serves until the host has gone and nothing is left to wait for, or a signal ends it. The first signal interrupts
/// all tasks, to be resumed, and answers the running calls; a second one waits for nothing.
async fn serve(sites: &Arc<Sites>, office: &Arc<Office>, entrance: Entrance) -> Result<Option<Signal>, CommandError> {
    let mut signals = Signals::listen()
        .map_err(|error| CommandError::internal(format!("cannot install signal handlers: {error}")))?;
    let (gone, stop) = (CancellationToken::new(), CancellationToken::new());
    let (shared, without_host, offices) = (Arc::clone(office), gone.clone(), Arc::clone(sites));
    let new_server = move || {
        let server = Server::new(Arc::clone(&shared), without_host.clone());
        if offices.ask_for_roots() { server.with_offices(Arc::clone(&offices) as Arc<dyn Offices>) } else { server }
    };
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
        gone.cancelled().await;
        sites.interrupt_borrowers().await;
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
                sites.interrupt().await;
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
    if !sites.are_settled() {
        tokio::select! {
            () = sites.settled() => {}
            signal = signals.next() => {
                interrupt(sites, &mut signals, signal).await;
                return Ok(Some(signal));
            }
        }
    }
    // Only tasks that nobody is to finish are left.
    sites.interrupt().await;
    Ok(None)
}

/// Interrupts all tasks. A second signal waits for nothing.
async fn interrupt(sites: &Sites, signals: &mut Signals, before: Signal) {
    let mut interrupting = pin!(sites.interrupt());
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
