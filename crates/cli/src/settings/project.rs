//! A project's own files: `.sortie/config.toml`, `.env` and `.mcp.json`. Until trusted, they can only narrow settings.
//!
//! A repository must not be able to widen anything or to stop anyone, so a mistake in an untrusted file is a warning.
//! In a trusted file it is an error, as in the user's own. A mistake in one server of `.mcp.json`, which other programs
//! read too, only disables that server.

pub(crate) mod effect;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sortie_agents::ServerReading;
use sortie_sandbox::Workspace;

use super::config_file::{self, FileLayer, Remark};
use super::key::meaning::{Entry, Meaning};
use super::key::{self, Key, variable};
use super::layers::{LayerText, Layers, SetAside};
use super::{route, servers_in};
use crate::environment::origin::{Origin, Owner};
use crate::environment::{Environment, PROJECT_CONFIG, PROJECT_VARIABLES, env_file};
use crate::error::CommandError;
use crate::text::{neutral, width};
use crate::trust::project_files::SERVERS;
use crate::trust::{self, Trust, Unread, Verdict};

/// Warnings of one kind that a project's file can cause, lest it drown out the others.
const MOST_WARNINGS: usize = 5;
/// Most members of one family of settings, such as routes, that a warning names.
const MOST_OF_A_FAMILY: usize = 8;

/// Project, and the user's trust in it.
pub(super) struct Project<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) trust: &'a Trust,
}

impl Project<'_> {
    /// Adds the project's configuration: all of it if trusted, otherwise what is narrower. Returns what is ignored.
    pub(super) fn add_config(&self, said: &mut Layers) -> Result<Vec<SetAside>, CommandError> {
        let bytes = match trust::project_files::read(self.workspace, PROJECT_CONFIG) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Vec::new()),
            Err(Unread(why)) => {
                said.warnings.push(format!("{PROJECT_CONFIG} of the project is ignored: {why}"));
                return Ok(Vec::new());
            }
        };
        // Paths inside the project are shown relative to it.
        let path = Path::new(PROJECT_CONFIG);
        let verdict = self.trust.judge(PROJECT_CONFIG, &bytes);
        if verdict == Verdict::Covered {
            let text = String::from_utf8(bytes)
                .map_err(|_| CommandError::config(format!("{PROJECT_CONFIG} is not valid UTF-8")))?;
            said.add_file(config_file::flawless(path, &text)?, Owner::Project);
            return Ok(Vec::new());
        }
        let layer = config_file::parse(path, &String::from_utf8_lossy(&bytes));
        said.warnings.extend(complaints(&layer));
        let mut set_aside = said.add_narrower(layer);
        set_aside.sort_by_key(|aside| (aside.value.entry.key.kind.urgency(), aside.value.line));
        said.warnings.extend(warning(verdict, &set_aside));
        Ok(set_aside)
    }

    /// Adds the project's `.env` if trusted; otherwise names its variables that would have counted.
    pub(super) fn add_variables(&self, said: &mut Layers, environment: &mut Environment) {
        let bytes = match trust::project_files::read(self.workspace, PROJECT_VARIABLES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(Unread(why)) => {
                return said.warnings.push(format!("{PROJECT_VARIABLES} of the project is ignored: {why}"));
            }
        };
        let (assignments, faults) = env_file::parse(&String::from_utf8_lossy(&bytes));
        let Some(complaint) = self.trust.judge(PROJECT_VARIABLES, &bytes).complaint(PROJECT_VARIABLES) else {
            // The file was written for other programs; a faulty line matters only if it would have counted here.
            let names: Vec<&str> = faults.iter().filter_map(|fault| fault.name.as_deref()).collect();
            let used = used_variables(&names, said, environment);
            let is_used = |fault: &&env_file::Fault| fault.name.as_deref().is_some_and(|name| used.contains(&name));
            let told = faults.iter().filter(is_used);
            let told = told.map(|fault| format!("{PROJECT_VARIABLES}:{} is ignored: {}", fault.line, fault.what));
            said.warnings.extend(bounded(told.collect()));
            return environment.add_project(Path::new(PROJECT_VARIABLES), assignments);
        };
        let names: Vec<&str> = assignments.iter().map(|assignment| assignment.name.as_str()).collect();
        let used = used_variables(&names, said, environment);
        if !used.is_empty() {
            let named =
                each_once(used.into_iter().map(|name| Named { name: name.to_owned(), family: family_of(name) }));
            said.warnings.push(format!("{PROJECT_VARIABLES}, which sets {named}, is ignored: {complaint}"));
        }
    }

    /// Adds the project's MCP servers, if trusted.
    pub(super) fn add_servers(&self, said: &mut Layers) -> Result<(), CommandError> {
        let bytes = match trust::project_files::read(self.workspace, SERVERS) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(()),
            Err(Unread(why)) => {
                said.warnings.push(format!("{SERVERS} of the project is ignored: {why}"));
                return Ok(());
            }
        };
        let servers = servers_in(&bytes);
        if servers.as_ref().is_ok_and(Vec::is_empty) {
            return Ok(());
        }
        if let Some(complaint) = self.trust.judge(SERVERS, &bytes).complaint(SERVERS) {
            let names =
                servers.iter().flatten().map(|(name, _)| Named { name: brief(name), family: Some(&key::SERVER) });
            let named = servers.as_ref().map(|_| format!(", which sets up {},", each_once(names))).unwrap_or_default();
            said.warnings.push(format!("{SERVERS}{named} is ignored: {complaint}"));
            return Ok(());
        }
        let fault = |what: String| CommandError::config(format!("{SERVERS}: {}", brief(&what)));
        // Written for other programs, which may be able to use entries that we cannot.
        let mut warnings = Vec::new();
        for (name, reading) in servers.map_err(fault)? {
            let mut warn = |what: &str| warnings.push(brief(&format!("{SERVERS}: the server `{name}` {what}")));
            match reading {
                Ok(ServerReading { server, ignored }) => {
                    for what in ignored {
                        warn(&format!("has a key that is ignored: {what}"));
                    }
                    let line = line_of(&bytes, &name);
                    said.add_server(server, Origin::File { path: SERVERS.into(), line, owner: Owner::Project });
                }
                Err(what) => warn(&format!("is left out: {what}")),
            }
        }
        said.warnings.extend(bounded(warnings));
        Ok(())
    }
}

/// Line where a name first appears in quotes; JSON does not report lines.
fn line_of(bytes: &[u8], name: &str) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let before = text.split_once(&format!("{name:?}")).map_or("", |(before, _)| before);
    before.matches('\n').count() + 1
}

/// Variables of a project that settings would take from it.
fn used_variables<'a>(names: &[&'a str], said: &Layers, environment: &Environment) -> Vec<&'a str> {
    let routes = said.route_names();
    let named: Vec<LayerText<'_>> = routes.iter().filter_map(|route| said.text_of(&key::API_KEY_ENV, route)).collect();
    let is_used = |name: &&&str| {
        let is_setting = matches!(variable::meaning(name), Some((_, Meaning::Setting(_))));
        let of_providers = || route::key_variables().chain(route::address_variables());
        is_setting || of_providers().any(|variable| variable == **name) || named.iter().any(|key| key.text == **name)
    };
    names.iter().filter(is_used).filter(|name| !environment.is_set(name)).copied().collect()
}

/// Mistakes in an untrusted file.
fn complaints(layer: &FileLayer) -> Vec<String> {
    if let Some(Remark { line, what }) = &layer.unreadable {
        return vec![format!("{PROJECT_CONFIG} is ignored as a whole: line {line}: {}", brief(what))];
    }
    let place = |line: usize| format!("{PROJECT_CONFIG}:{line}");
    let remarks = layer.faults.iter().chain(&layer.ignored);
    bounded(remarks.map(|Remark { line, what }| format!("{} is ignored: {}", place(*line), brief(what))).collect())
}

/// First few warnings, and a count of the rest.
fn bounded(mut warnings: Vec<String>) -> Vec<String> {
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    warnings.truncate(MOST_WARNINGS);
    warnings.extend((more > 0).then(|| format!("{more} more lines of the project's file are also ignored")));
    warnings
}

/// The one warning about everything ignored. A changed file is reported even if nothing is ignored.
fn warning(verdict: Verdict, set_aside: &[SetAside]) -> Option<String> {
    let complaint = verdict.complaint(PROJECT_CONFIG)?;
    if set_aside.is_empty() {
        return (verdict == Verdict::Changed).then_some(complaint);
    }
    Some(format!("ignored: {}: {complaint}", each_once(settings(set_aside))))
}

/// A project's own words, on one line of bounded length.
fn brief(text: &str) -> String {
    const COLUMNS: usize = 160;
    width::cut(&neutral::line(text), COLUMNS)
}

/// Name in a warning, and the family of settings to which it belongs.
struct Named {
    name: String,
    family: Option<&'static Key>,
}

/// Each setting once, with its place. A list may have been set on many lines.
fn settings(set_aside: &[SetAside]) -> impl Iterator<Item = Named> {
    let mut lines: Vec<(&Entry, Vec<usize>)> = Vec::new();
    for SetAside { value, .. } in set_aside {
        match lines.iter_mut().find(|(entry, _)| entry.path == value.entry.path) {
            Some((_, lines)) => lines.push(value.line),
            None => lines.push((&value.entry, vec![value.line])),
        }
    }
    lines.into_iter().map(|(entry, lines)| {
        let more = match lines.len() - 1 {
            0 => String::new(),
            1 => " and 1 more place".to_owned(),
            more => format!(" and {more} more places"),
        };
        let name = format!("`{}` ({PROJECT_CONFIG}:{}{more})", brief(&entry.path), lines[0]);
        Named { name, family: Some(entry.key).filter(|key| key.is_family()) }
    })
}

/// Family of the setting that a variable sets.
fn family_of(variable: &str) -> Option<&'static Key> {
    match variable::meaning(variable) {
        Some((_, Meaning::Setting(entry))) => Some(entry.key).filter(|key| key.is_family()),
        _ => None,
    }
}

/// Each name once, with commas. Only the first few of a large family are named and the others counted: a project
/// chooses how many there are.
fn each_once(all: impl Iterator<Item = Named>) -> String {
    let mut seen = BTreeSet::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut shown = Vec::new();
    for Named { name, family } in all {
        if !seen.insert(name.clone()) {
            continue;
        }
        let of_family = family.map(|family| counts.entry(family.path).or_default());
        let is_one_too_many = of_family.is_some_and(|count| {
            *count += 1;
            *count > MOST_OF_A_FAMILY
        });
        if !is_one_too_many {
            shown.push(name);
        }
    }
    let more = counts.into_iter().filter(|(_, count)| *count > MOST_OF_A_FAMILY);
    shown.extend(more.map(|(path, count)| format!("{} more of `{path}`", count - MOST_OF_A_FAMILY)));
    shown.join(", ")
}
