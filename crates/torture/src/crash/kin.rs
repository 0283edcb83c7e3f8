//! An agent's dealings with agents around it: it starts, writes to, asks, waits for and stops them.
//!
//! A script knows no ids: other agents are the first, the second, … that the agent has been told of.

use serde_json::json;

use super::agent::Agent;

impl Agent {
    /// Has a part done, and waits for it.
    pub(super) fn delegate(&mut self, to: &Self) {
        self.start(to, false);
    }

    /// Has a part done in the background.
    pub(super) fn launch(&mut self, to: &Self) {
        self.start(to, true);
    }

    fn start(&mut self, to: &Self, in_background: bool) {
        let mut arguments =
            json!({ "description": "Do a part", "prompt": to.prompt, "subagent_type": "general-purpose" });
        if in_background {
            arguments["run_in_background"] = json!(true);
        }
        if let Some(max_turns) = to.max_turns {
            arguments["limits"] = json!({ "max_turns": max_turns });
        }
        self.call("Task", |_| arguments);
    }

    /// Resumes a sub-agent that has ended, in the foreground or the background.
    pub(super) fn go_on_with(&mut self, number: u64, in_background: bool) {
        self.call("Task", |id| {
            json!({
                "description": "Go on",
                "prompt": format!("Go on: {id}."),
                "resume": other(number),
                "run_in_background": in_background,
            })
        });
    }

    /// Waits for one, for a while.
    pub(super) fn wait_for(&mut self, number: u64) {
        self.call("TaskOutput", |_| json!({ "task_id": other(number), "timeout": 400 }));
    }

    pub(super) fn look_at(&mut self, number: u64) {
        self.call("TaskOutput", |_| json!({ "task_id": other(number), "block": false }));
    }

    pub(super) fn stop(&mut self, number: u64) {
        self.call("TaskStop", |_| json!({ "task_id": other(number) }));
    }

    pub(super) fn write_to(&mut self, number: u64) {
        self.send(&other(number));
    }

    pub(super) fn write_to_parent(&mut self) {
        self.send("parent");
    }

    fn send(&mut self, to: &str) {
        self.call("SendMessage", |id| json!({ "to": to, "message": format!("A message: {id}.") }));
    }

    /// Asks its parent, which answers, unless it has other things to do.
    pub(super) fn ask(&mut self) {
        self.call("Ask", |id| json!({ "question": format!("A question: {id}?"), "timeout_seconds": 2 }));
    }

    pub(super) fn post_note(&mut self) {
        self.call("Note", |id| json!({ "text": format!("A note: {id}.") }));
    }

    pub(super) fn list_tasks(&mut self) {
        self.call("TaskList", |_| json!({}));
    }
}

fn other(number: u64) -> String {
    format!("<task {number}>")
}
