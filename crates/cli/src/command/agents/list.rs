//! List of the agents of the contract in use, one line each, and of the files that define none.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstyle::{Ansi256Color, AnsiColor, Style};
use sortie_agents::{AgentDefinition, Registry, Unused, UnusedFile};
use sortie_contract::{Contract, Defaults};
use sortie_engine::{EngineSettings, cast};

use super::show::model;
use crate::error::CommandError;
use crate::text::{neutral, width};

pub(super) fn run(found: &Registry, contract: &dyn Contract, rules: &EngineSettings) -> Result<ExitCode, CommandError> {
    let (agents, defaults) = (cast(found, contract, rules), contract.defaults());
    // Main agents cannot be delegated to anyway; the others are left out if the contract hides them.
    let is_here = |(found, agent): &(&AgentDefinition, &AgentDefinition)| agent.delegable || !found.delegable;
    let here = found.all().iter().zip(agents.all()).filter(is_here);
    let lines = here.map(|(_, agent)| Line::of(agent, &defaults));
    let lines: Vec<Line> = lines.chain(found.unused().iter().map(Line::of_unused)).collect();
    // A pipe gets whole descriptions; on a screen, each has one line.
    let columns = io::stdout().is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        size.map(|size| size.ws_col).filter(|columns| *columns > 0).map_or(80, usize::from)
    });
    anstream::stdout().write_all(list(&lines, columns).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Line of one agent, or of a file that defines none.
struct Line {
    style: Style,
    /// Name with aliases, origin, model or mark, turn limit.
    cells: [String; 4],
    description: String,
}

impl Line {
    fn of(agent: &AgentDefinition, defaults: &Defaults) -> Self {
        let by_type = defaults.type_of(&agent.name);
        let turns = format!("{} turns", agent.limits.max_turns.unwrap_or(defaults.max_turns));
        let model = model(agent, by_type).unwrap_or("inherit").to_owned();
        let cells = [names(agent, by_type.map(|known| known.name)), agent.origin.scope.to_string(), model, turns];
        Self {
            style: agent.color.as_deref().map(style).unwrap_or_default(),
            cells: cells.map(|cell| neutral::line(&cell)),
            description: neutral::line(&agent.description),
        }
    }
}

impl Line {
    /// `broken` or `set aside` stands in place of a model, and the reason in place of a description.
    fn of_unused(file: &UnusedFile) -> Self {
        let UnusedFile { name, scope, path, line, why, reason } = file;
        let mark = match why {
            Unused::Broken => "broken",
            Unused::SetAside => "set aside",
        };
        let scope = scope.map_or_else(|| "-".to_owned(), |scope| scope.to_string());
        let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
        let cells = [name.clone(), scope, mark.to_owned(), "-".to_owned()];
        Self {
            style: Style::new().dimmed(),
            cells: cells.map(|cell| neutral::line(&cell)),
            description: neutral::line(&format!("{place}: {reason}")),
        }
    }
}

/// `general-purpose (general)`: its name in the contract, then its other names.
fn names(agent: &AgentDefinition, type_name: Option<&str>) -> String {
    let name = type_name.unwrap_or(&agent.name);
    let others = std::iter::once(&agent.name).chain(&agent.aliases).filter(|other| !other.eq_ignore_ascii_case(name));
    match others.map(String::as_str).collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => name.to_owned(),
        others => format!("{name} ({others})"),
    }
}

/// List with colours; the caller strips them where they are not wanted.
fn list(lines: &[Line], columns: Option<usize>) -> String {
    let widest = |at: usize| lines.iter().map(|line| width::of(&line.cells[at])).max().unwrap_or_default();
    let widths: [usize; 4] = std::array::from_fn(widest);
    let before_description: usize = widths.iter().map(|width| width + 2).sum();
    let mut text = String::new();
    for Line { style, cells, description } in lines {
        for (at, (cell, widest)) in cells.iter().zip(widths).enumerate() {
            let style = if at == 0 { *style } else { Style::new() };
            text += &format!("{style}{cell}{style:#}{}", " ".repeat(widest - width::of(cell) + 2));
        }
        match columns {
            Some(columns) => text += &width::cut(description, columns.saturating_sub(before_description).max(20)),
            None => text += description,
        }
        text.push('\n');
    }
    text
}

/// Style for a colour name in an agent file; the terminal's own for an unknown name.
pub(super) fn style(color: &str) -> Style {
    match color {
        "red" => AnsiColor::Red.on_default(),
        "blue" => AnsiColor::Blue.on_default(),
        "green" => AnsiColor::Green.on_default(),
        "yellow" => AnsiColor::Yellow.on_default(),
        "purple" => AnsiColor::Magenta.on_default(),
        "cyan" => AnsiColor::Cyan.on_default(),
        "orange" => Ansi256Color(208).on_default(),
        "pink" => Ansi256Color(205).on_default(),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_agents::{Origin, Scope};

    fn line(name: &str, color: Option<&str>, description: &str) -> Line {
        let agent = AgentDefinition {
            name: name.to_owned(),
            color: color.map(str::to_owned),
            description: description.to_owned(),
            origin: Origin { scope: Scope::Project, path: Some("a.md".to_owned()) },
            ..Registry::builtin().all()[0].clone()
        };
        Line::of(&agent, &Defaults::PLAIN)
    }

    #[test]
    fn names_have_their_colour_and_descriptions_one_line() {
        let lines = [line("plain", None, "one\nline"), line("red-one", Some("red"), &"long ".repeat(20))];
        assert_eq!(
            list(&lines, Some(64)),
            "plain    project  inherit  100 turns  one line\n\
             \u{1b}[31mred-one\u{1b}[0m  project  inherit  100 turns  long long long long long …\n"
        );
        assert!(list(&lines, None).ends_with("long long\n"));
    }

    #[test]
    fn every_valid_colour_name_has_a_colour() {
        for color in ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"] {
            assert_ne!(style(color), Style::new(), "{color}");
        }
        assert_eq!(style("mauve"), Style::new());
    }
}
