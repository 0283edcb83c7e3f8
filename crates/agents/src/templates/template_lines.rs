//! Lines that tell an agent which templates exist.

use crate::templates::Templates;
use crate::templates::template::{Argument, Template};

/// Instructions in front of the lines.
const HEADING: &str = "Templates: a prompt `/NAME key=value … words` (quote values with spaces) becomes their text.";
/// Length of one template's line.
const MAX_LINE_CHARS: usize = 200;
/// All lines together: they are part of every request.
const MAX_LINES_BYTES: usize = 3_000;

/// Instructions, then one bounded line for each template from a file, then the number left out; empty if there are
/// none. The built-in ones are meant for people: they can be called, but would cost every request their lines.
pub fn template_lines(templates: &Templates) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut left = MAX_LINES_BYTES;
    let own: Vec<&Template> = templates.all().iter().filter(|template| template.origin.path.is_some()).collect();
    for template in &own {
        let line = line(template);
        let Some(rest) = left.checked_sub(line.len()) else { break };
        left = rest;
        lines.push(line);
    }
    let more = own.len() - lines.len();
    if !own.is_empty() {
        lines.insert(0, HEADING.to_owned());
    }
    lines.extend((more > 0).then(|| format!("- and {more} more")));
    lines
}

/// `- /test-file path= [style=]: Write tests for one file`.
fn line(template: &Template) -> String {
    let argument = |Argument { name, default }: &Argument| match default {
        None => format!(" {name}="),
        Some(_) => format!(" [{name}=]"),
    };
    let arguments: String = template.arguments.iter().map(argument).collect();
    // With line breaks, one template's description could pose as another template.
    let words: Vec<&str> = template.description.split_whitespace().collect();
    let line = format!("- /{}{arguments}: {}", template.name, words.join(" "));
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
