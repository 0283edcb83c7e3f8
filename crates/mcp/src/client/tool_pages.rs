//! A server's list of tools as it arrives, page by page, within bounds. Unreadable tools are left out and reported.

use rmcp::model::{CustomResult, ServerResult, Tool};
use serde_json::Value;
use sortie_policy::Redactor;

use crate::transport::brief::brief;

/// A longer list is not a list of tools.
const MAX_PAGES: usize = 100;
const MAX_TOOLS: usize = 5_000;
const MAX_BYTES: usize = 16 << 20;
/// Number of omitted tools that are named.
pub(crate) const MAX_NAMED: usize = 3;

#[derive(Default)]
pub(crate) struct ToolPages {
    pub(crate) tools: Vec<Tool>,
    bytes: usize,
    /// Cursors used so far.
    cursors: Vec<String>,
    /// Names of unreadable tools, as far as present.
    unreadable: Vec<Value>,
    /// Reason why the rest of the list was not requested.
    cut: Option<String>,
}

impl ToolPages {
    /// Adds a page and returns the cursor of the next one, if any, or the reason why the answer is not a list.
    pub(crate) fn take(&mut self, page: ServerResult) -> Result<Option<String>, &'static str> {
        let (tools, next) = match page {
            ServerResult::ListToolsResult(page) => (page.tools, page.next_cursor),
            // One malformed tool makes the library return the whole page unparsed.
            ServerResult::CustomResult(CustomResult(mut page)) => {
                let next = page["nextCursor"].as_str().map(str::to_owned);
                let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else { return Err(NO_LIST) };
                (tools.into_iter().filter_map(|tool| self.read(tool)).collect(), next)
            }
            _ => return Err(NO_LIST),
        };
        for tool in tools {
            self.bytes += serde_json::to_string(&tool).map_or(0, |text| text.len());
            if self.bytes > MAX_BYTES || self.tools.len() == MAX_TOOLS {
                self.cut = Some(format!("has more than {} tools; the rest is left out", self.tools.len()));
                return Ok(None);
            }
            self.tools.push(tool);
        }
        let Some(next) = next else { return Ok(None) };
        if self.cursors.contains(&next) {
            self.cut = Some("begins its list of tools again instead of ending it".to_owned());
            return Ok(None);
        }
        if self.cursors.len() + 1 == MAX_PAGES {
            self.cut = Some(format!("has more than {MAX_PAGES} pages of tools; the rest is left out"));
            return Ok(None);
        }
        self.cursors.push(next.clone());
        Ok(Some(next))
    }

    fn read(&mut self, tool: Value) -> Option<Tool> {
        let name = tool["name"].clone();
        serde_json::from_value(tool).inspect_err(|_| self.unreadable.push(name)).ok()
    }

    /// Notice about unreadable tools.
    pub(crate) fn unreadable(&self, server: &str, redactor: &Redactor) -> Option<String> {
        let name = |name: &Value| format!("`{}`", brief(redactor, name.as_str().unwrap_or_default()));
        let named: Vec<String> = self.unreadable.iter().take(MAX_NAMED).map(name).collect();
        let more = self.unreadable.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = named.join(", ");
        (!self.unreadable.is_empty())
            .then(|| format!("the MCP server `{server}` has tools that cannot be read and are left out: {named}{more}"))
    }

    /// Notice about a list whose rest was not requested.
    pub(crate) fn cut(&self, server: &str) -> Option<String> {
        self.cut.as_ref().map(|cut| format!("the MCP server `{server}` {cut}"))
    }
}

const NO_LIST: &str = "it answered with something that is not a list of tools";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(page: Value) -> ServerResult {
        serde_json::from_value(page).unwrap()
    }

    fn tool(name: &str, description: &str) -> Value {
        json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
    }

    fn left_out(pages: &ToolPages) -> Option<String> {
        pages.unreadable("db", &Redactor::new(Vec::new()))
    }

    fn cut(pages: &ToolPages) -> String {
        assert_eq!(left_out(pages), None);
        pages.cut("db").unwrap()
    }

    #[test]
    fn an_unreadable_tool_is_left_out_and_the_others_stay() {
        let odd = json!({ "name": "odd", "description": "has no schema" });
        let mut pages = ToolPages::default();
        let first = page(json!({ "tools": [tool("a", ""), odd, 7, tool("b", "")], "nextCursor": "2" }));
        assert_eq!(pages.take(first), Ok(Some("2".to_owned())));
        assert_eq!(pages.take(page(json!({ "tools": [tool("c", "")] }))), Ok(None));
        let names: Vec<&str> = pages.tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let told = "the MCP server `db` has tools that cannot be read and are left out: `odd`, ``";
        assert_eq!((left_out(&pages).as_deref(), pages.cut("db")), (Some(told), None));
        let unreadable: Vec<Value> = (0..2_000).map(|n| json!({ "name": format!("t{n}") })).collect();
        let mut pages = ToolPages::default();
        assert_eq!(pages.take(page(json!({ "tools": unreadable }))), Ok(None));
        let told = "the MCP server `db` has tools that cannot be read and are left out: `t0`, `t1`, `t2` and 1997 more";
        assert_eq!(left_out(&pages).as_deref(), Some(told));
        assert_eq!(ToolPages::default().take(page(json!({ "tools": "none" }))), Err(NO_LIST));
        assert_eq!(ToolPages::default().take(page(json!({}))), Err(NO_LIST));
    }

    #[test]
    fn a_circular_list_is_not_followed() {
        let mut pages = ToolPages::default();
        for next in ["b", "a"] {
            assert_eq!(pages.take(page(json!({ "tools": [], "nextCursor": next }))), Ok(Some(next.to_owned())));
        }
        assert_eq!(pages.take(page(json!({ "tools": [], "nextCursor": "b" }))), Ok(None));
        assert_eq!(cut(&pages), "the MCP server `db` begins its list of tools again instead of ending it");
    }

    #[test]
    fn a_list_is_bounded_in_pages_tools_and_bytes() {
        let mut pages = ToolPages::default();
        let asked = (0..)
            .take_while(|n| pages.take(page(json!({ "tools": [], "nextCursor": n.to_string() }))).unwrap().is_some());
        assert_eq!(asked.count(), MAX_PAGES - 1);
        assert_eq!(cut(&pages), "the MCP server `db` has more than 100 pages of tools; the rest is left out");
        let mut pages = ToolPages::default();
        let many: Vec<Value> = (0..=MAX_TOOLS).map(|n| tool(&format!("t{n}"), "")).collect();
        assert_eq!(pages.take(page(json!({ "tools": many }))), Ok(None));
        assert_eq!(cut(&pages), "the MCP server `db` has more than 5000 tools; the rest is left out");
        let mut pages = ToolPages::default();
        let long = "x".repeat(6 << 20);
        let asked = (0..).take_while(|n| {
            let next = json!({ "tools": [tool(&n.to_string(), &long)], "nextCursor": n.to_string() });
            pages.take(page(next)).unwrap().is_some()
        });
        assert_eq!(asked.count(), 2);
        assert_eq!(cut(&pages), "the MCP server `db` has more than 2 tools; the rest is left out");
    }
}
