//! `sortie models`: lists routes and the names that lead to them, and checks that they answer.

mod check;
mod listing;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use sortie_llm::RouteTable;
use sortie_llm::local::LocalServer;
use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};

use super::args::ReportFormat;
use crate::environment::local_server;
use crate::error::CommandError;
use crate::render::print_json;
use crate::settings::Settings;
use crate::text::neutral;
use crate::wiring;

pub(crate) use check::{RouteAnswer, ask_all};

/// List model routes and aliases; --check calls them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ModelsArgs {
    /// Make one tiny call to these routes, aliases or model ids [default: every route]
    #[arg(long, value_name = "ROUTE", num_args = 0..)]
    check: Option<Vec<String>>,

    /// Format on stdout
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    output_format: ReportFormat,
}

const EXAMPLES: &str = "\
Routes come from
  LLM_MODEL_ID, LLM_BASE_URL, LLM_API_KEY and LLM_WIRE, for the route `main`
  LIGHT_LLM_MODEL_ID and so on, for the route `light`
  [routes.NAME] in the configuration
  a provider's own variables, such as ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL

Exit codes: 0; 1 if --check finds a route that does not work.

Examples:
  sortie models
  sortie models --check
  sortie models --check light haiku
  sortie models --output-format json | jq '.routes[].model'";

pub(crate) fn run(args: &ModelsArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let models = Arc::new(wiring::models(settings)?);
    let routes = models.listing();
    let servers = servers(&models, settings);
    let answers = match &args.check {
        Some(names) => Some(ask_all(&models, &asked(names, &models))?),
        None => None,
    };
    match (args.output_format, &answers) {
        (ReportFormat::Json, answers) => {
            let mut object = listing::object(&routes, &servers);
            if let Some(answers) = answers {
                object["checks"] = answers.iter().map(RouteAnswer::object).collect();
            }
            print_json(&object)?;
        }
        (ReportFormat::Text, Some(answers)) => print(&check::text(answers))?,
        (ReportFormat::Text, None) => print(&listing::text(&routes, &servers, settings))?,
    }
    let failed = answers.is_some_and(|answers| answers.iter().any(|answer| answer.reply.is_err()));
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Servers on this machine that could become the main route, if no route serves as it.
fn servers(models: &RouteTable, settings: &Settings) -> Vec<LocalServer> {
    let is_served = models.get(MAIN_ROUTE).or_else(|| models.get(LIGHT_ROUTE)).is_some();
    if is_served { Vec::new() } else { local_server::servers(&settings.environment) }
}

/// The given names without repeats; else every configured route; else the built-in model.
fn asked(names: &[String], models: &RouteTable) -> Vec<String> {
    let listing = models.listing();
    let set = || {
        listing.iter().filter(|route| route.wire.is_some() || route.problem.is_some()).map(|route| route.name.clone())
    };
    let mut asked: Vec<String> = if names.is_empty() { set().collect() } else { Vec::new() };
    for name in names {
        if !asked.contains(name) {
            asked.push(name.clone());
        }
    }
    if asked.is_empty() {
        asked.push(sortie_llm::offline::ROUTE.to_owned());
    }
    asked
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(neutral::block(text).as_bytes())
}
