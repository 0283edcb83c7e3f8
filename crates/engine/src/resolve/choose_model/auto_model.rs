//! The model `auto`: chooses a usual route for a task by a fixed rule over its agent and its brief.
//!
//! No model is asked and nothing is learnt: the same task always gets the same route, and its outcome names the route
//! and the reason.

use sortie_agents::AgentDefinition;
use sortie_llm::route::{AUTO, LIGHT_ROUTE, MAIN_ROUTE};

/// Tools that change nothing and start nobody.
const READ_TOOLS: [&str; 5] = ["Read", "LS", "Glob", "Grep", "TodoWrite"];

/// The agent whose work others build upon.
const PLAN: &str = "plan";

/// Longest brief that counts as short: a longer one asks for more than a look.
const SHORT_BRIEF_CHARS: usize = 2_000;

/// The chosen route, and the reason, for the outcome.
pub(super) struct Pick {
    pub(super) route: &'static str,
    pub(super) notice: String,
}

/// Picks the light route for an agent that only reads and has a short brief, and the main route otherwise.
pub(super) fn pick(agent: &AgentDefinition, brief: &str) -> Pick {
    let name = &agent.name;
    let only_reads = agent.tools.is_some() && agent.named_tools().all(|tool| READ_TOOLS.contains(&tool));
    let (route, why) = if name == PLAN {
        (MAIN_ROUTE, "others build upon a plan".to_owned())
    } else if !only_reads {
        (MAIN_ROUTE, format!("`{name}` may do more than read"))
    } else if brief.chars().nth(SHORT_BRIEF_CHARS).is_some() {
        (MAIN_ROUTE, format!("`{name}` only reads, but its brief has more than {SHORT_BRIEF_CHARS} characters"))
    } else {
        (LIGHT_ROUTE, format!("`{name}` only reads, and its brief is short"))
    };
    Pick { route, notice: format!("the model `{AUTO}` is the route `{route}`: {why}") }
}

#[cfg(test)]
mod tests {
    use sortie_agents::Registry;

    use super::*;

    #[test]
    fn a_reading_agent_with_a_short_brief_gets_the_light_route() {
        let long = "é".repeat(SHORT_BRIEF_CHARS + 1);
        let short = &long[..2 * SHORT_BRIEF_CHARS];
        let registry = Registry::builtin();
        for (name, brief, route, why) in [
            ("explore", short, LIGHT_ROUTE, "`explore` only reads, and its brief is short"),
            ("summary", "Sum up a.md", LIGHT_ROUTE, "`summary` only reads, and its brief is short"),
            ("explore", &long, MAIN_ROUTE, "`explore` only reads, but its brief has more than 2000 characters"),
            ("plan", short, MAIN_ROUTE, "others build upon a plan"),
            ("general-purpose", "Look", MAIN_ROUTE, "`general-purpose` may do more than read"),
            ("bash", "ls", MAIN_ROUTE, "`bash` may do more than read"),
            ("main", "Look", MAIN_ROUTE, "`main` may do more than read"),
        ] {
            let agent = registry.get(name).expect("built in");
            let pick = pick(agent, brief);
            assert_eq!((pick.route, pick.notice), (route, format!("the model `auto` is the route `{route}`: {why}")));
        }
    }

    #[test]
    fn an_agent_file_is_judged_by_the_tools_it_names() {
        let registry = Registry::builtin();
        let explore = registry.get("explore").expect("built in");
        let with = |tools: Option<&[&str]>| AgentDefinition {
            tools: tools.map(|tools| tools.iter().map(|&tool| tool.to_owned()).collect()),
            ..explore.clone()
        };
        for (tools, route) in [
            (Some(&["Read(docs/**)", "Grep"][..]), LIGHT_ROUTE),
            (Some(&[]), LIGHT_ROUTE),
            (Some(&["Read", "Edit(docs/**)"]), MAIN_ROUTE),
            (Some(&["Read", "Task"]), MAIN_ROUTE),
            (None, MAIN_ROUTE),
        ] {
            assert_eq!(pick(&with(tools), "Look").route, route, "{tools:?}");
        }
    }
}
