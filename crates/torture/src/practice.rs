//! `cargo xtask practice`: the five manual tests of delegation, played on a real model.
//!
//! A scenario is a small project, some `sortie` commands, and what must be true afterwards. A promise must hold with
//! any model, and decides the verdict of this command. A task is what the model was asked to achieve: the page says how
//! far it came. The model and the settings are those of the person who runs it; the journal is one of its own.

mod options;
mod page;
mod play;
mod project;
mod scenario;
mod transcript;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use sortie_workshop::page as pages;
use sortie_workshop::{Verdict, Workspace, cargo, process};

use self::options::Options;
use self::play::{Played, Stage};

const PAGE: &str = "docs/practice.md";
const MARKS: pages::Marks = pages::Marks {
    begin: "<!-- practice: written by `cargo xtask practice --write` -->",
    end: "<!-- end of practice -->",
};

/// `[--only N] [--minutes N] [--write]`.
pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let Some(options) = Options::parse(flags) else { return Ok(Verdict::WrongUsage) };
    let workspace = Workspace::load()?;
    if !process::succeeds(cargo().args(["build", "--quiet", "--package", "sortie", "--bin", "sortie"]))? {
        return Ok(Verdict::Bad);
    }
    let program = workspace.target.join("debug/sortie");
    let stage = Stage { model: model_of(&program)?, program, limit: options.limit() };
    let mut plays = Vec::new();
    for (number, scenario) in scenario::all().into_iter().enumerate().filter(|(index, _)| options.plays(index + 1)) {
        eprintln!("==> {}. {}", number + 1, scenario.title);
        let played = stage.play(scenario).with_context(|| format!("scenario {} cannot be played", number + 1))?;
        print!("{}", page::section(number + 1, &played));
        plays.push(played);
    }
    if options.write {
        pages::write(&workspace.root.join(PAGE), MARKS, &page::table(&stage.model, &plays))?;
    }
    Ok(Verdict::good_if(plays.iter().all(Played::keeps_its_promises)))
}

/// The id of the model that serves `main`. An error if none does: the built-in one is no language model.
fn model_of(program: &Path) -> Result<String> {
    let mut command = Command::new(program);
    command.args(["models", "--output-format", "json"]).stdin(Stdio::null());
    let listed: Value = serde_json::from_str(&process::stdout_of(&mut command)?)?;
    let routes = listed["routes"].as_array().context("`sortie models` lists no routes")?;
    let main = routes.iter().find(|route| route["name"] == "main");
    match main.and_then(|route| route["model"].as_str()) {
        Some(id) => Ok(id.to_owned()),
        None => bail!("no model is configured: set LLM_BASE_URL and LLM_MODEL_ID, or the key of a provider"),
    }
}
