//! The list: name, origin and description, one line each.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstyle::{Ansi256Color, AnsiColor, Style};
use sortie_agents::{AgentDefinition, Registry};

use crate::error::CommandError;
use crate::render::{neutral, width};

pub(super) fn run(agents: &Registry) -> Result<ExitCode, CommandError> {
    // A pipe gets whole descriptions; a screen has one line for each.
    let columns = io::stdout().is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        size.map(|size| size.ws_col).filter(|columns| *columns > 0).map_or(80, usize::from)
    });
    anstream::stdout().write_all(list(agents.all(), columns).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// With colours, for whoever takes them out where they are not wanted.
fn list(agents: &[AgentDefinition], columns: Option<usize>) -> String {
    let names: Vec<String> = agents.iter().map(|agent| neutral::line(&agent.name)).collect();
    let name_columns = names.iter().map(|name| width::of(name)).max().unwrap_or_default();
    let mut text = String::new();
    for (agent, name) in agents.iter().zip(names) {
        let gap = " ".repeat(name_columns - width::of(&name));
        let style = agent.color.as_deref().map(style).unwrap_or_default();
        let origin = format!("{:8}", agent.origin.scope.to_string());
        let description = neutral::line(&agent.description);
        let description = match columns {
            Some(columns) => width::cut(&description, columns.saturating_sub(name_columns + 12).max(20)),
            None => description,
        };
        text += &format!("{style}{name}{style:#}{gap}  {origin}  {description}\n");
    }
    text
}

/// A colour by the name that agent files have for it; the terminal's own where the name is none.
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

    fn agent(name: &str, color: Option<&str>, description: &str) -> AgentDefinition {
        AgentDefinition {
            name: name.to_owned(),
            color: color.map(str::to_owned),
            description: description.to_owned(),
            origin: Origin { scope: Scope::Project, path: Some("a.md".to_owned()) },
            ..Registry::builtin().all()[0].clone()
        }
    }

    #[test]
    fn names_have_their_colour_and_descriptions_one_line() {
        let agents = [agent("plain", None, "one\nline"), agent("red-one", Some("red"), &"long ".repeat(20))];
        assert_eq!(
            list(&agents, Some(45)),
            "plain    project   one line\n\
             \u{1b}[31mred-one\u{1b}[0m  project   long long long long long …\n"
        );
        assert!(list(&agents, None).ends_with("long long\n"));
    }

    #[test]
    fn every_colour_that_a_file_may_name_is_one() {
        for color in ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"] {
            assert_ne!(style(color), Style::new(), "{color}");
        }
        assert_eq!(style("mauve"), Style::new());
    }
}
