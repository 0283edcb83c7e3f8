//! `sortie mcp login` and `logout`: a person signs in at an MCP server, or out again.

use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use sortie_agents::{OAuthSettings, ServerAccess};
use sortie_mcp::{Login, expanded, login};
use tokio::runtime::Builder;

use crate::command::person_only::only_for_persons;
use crate::error::{self, CommandError, ErrorKind};
use crate::settings::Settings;
use crate::text::neutral;

/// Programs that show an address in the person's browser.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Sign in at an MCP server that agents use, in a browser
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sortie mcp login docs")]
pub(super) struct LoginArgs {
    /// Name of the server in the settings
    name: String,

    /// Only print the address to open
    #[arg(long)]
    no_browser: bool,
}

/// Delete the tokens of an MCP server
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sortie mcp logout docs")]
pub(super) struct LogoutArgs {
    /// Name of the server in the settings
    name: String,
}

pub(super) fn log_in(args: &LoginArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    only_for_persons(settings)?;
    let Remote { url, oauth } = remote(settings, &args.name)?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
    let show = |address: &str| show(address, args.no_browser);
    let wanted = Login { name: &args.name, url: &url, settings: &oauth };
    let issuer = runtime.block_on(login(&settings.places.sign_ins(), wanted, show)).map_err(|error| failed(&error))?;
    writeln!(io::stdout().lock(), "Signed in at {} for {}.", neutral::line(&issuer), args.name)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn log_out(args: &LogoutArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    only_for_persons(settings)?;
    let Remote { url, .. } = remote(settings, &args.name)?;
    let was_in = settings.places.sign_ins().forget(&args.name, &url).map_err(|error| failed(&error))?;
    let done = if was_in { "Deleted the tokens of" } else { "There are no tokens of" };
    writeln!(io::stdout().lock(), "{done} {}.", args.name)?;
    Ok(ExitCode::SUCCESS)
}

struct Remote {
    url: String,
    oauth: OAuthSettings,
}

/// Finds a server at an address, with its variables replaced.
fn remote(settings: &Settings, name: &str) -> Result<Remote, CommandError> {
    let servers = settings.servers();
    let Some(server) = servers.iter().find(|server| server.name == name) else {
        let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
        let known = if names.is_empty() { "none is".to_owned() } else { format!("{} are", names.join(", ")) };
        let message = format!("no MCP server `{}` is configured; {known}", neutral::line(name));
        return Err(CommandError::new(ErrorKind::NotFound, message));
    };
    let unusable = |why: String| CommandError::config(format!("the MCP server `{name}`: {why}"));
    match expanded(server, &settings.server_variables()).map_err(unusable)? {
        ServerAccess::Address { url, oauth, .. } => Ok(Remote { url, oauth }),
        ServerAccess::Program { .. } => {
            Err(unusable("it is a program on this machine, which has its own ways to sign in".to_owned()))
        }
        ServerAccess::OldAddress { .. } => Err(unusable("its transport `sse` is not supported".to_owned())),
    }
}

fn failed(error: &sortie_mcp::OAuthError) -> CommandError {
    CommandError::new(ErrorKind::Unready, neutral::line(&error::with_causes(error)))
}

/// Prints the address, and opens it if a browser can be had.
fn show(address: &str, only_print: bool) {
    let mut stdout = io::stdout().lock();
    // Without a reader, the browser may still do.
    writeln!(stdout, "Open this address to sign in:\n\n  {}\n", neutral::line(address)).ok();
    stdout.flush().ok();
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if only_print || !(has_screen || cfg!(target_os = "macos")) {
        return;
    }
    for opener in OPENERS {
        let silent =
            Command::new(opener).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if silent.is_ok() {
            return;
        }
    }
}
