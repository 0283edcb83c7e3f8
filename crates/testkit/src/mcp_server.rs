//! An MCP server over standard input and output that misbehaves on purpose. A test binary plays it when started with a
//! [role](ROLE); it implements only as much of the protocol as clients need.

use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// Environment variable with the server's behaviour:
///
/// - `mute`: never answers;
/// - `broken`: complains and exits at once;
/// - `noisy`: writes noise between its messages, and to its standard error;
/// - `crowd`: has a thousand tools;
/// - `deep`: one of its tools, and what another one answers, are nested too deeply to parse;
/// - `odd`: its tools and their answers violate the protocol;
/// - `forgetful`: does not answer the first tool list request after a change;
/// - `toolless`: declares that it has no tools;
/// - `curious`: sends requests to the callers of its tools;
/// - `patient`: answers nothing until there is a file `go` next to its marks;
/// - `strict`: exits if the first message is not the handshake of the older revisions;
/// - `modern`: speaks only the revision 2026-07-28, which has no handshake;
/// - anything else: works normally, and its tools describe their behaviour.
pub const ROLE: &str = "SORTIE_TEST_MCP_SERVER";

/// An object of more levels than a parser of JSON takes.
fn deep() -> Value {
    (0..200).fold(json!("the ground"), |inner, _| json!({ "items": inner }))
}

/// Returns the role if this process is to play the server.
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Returns the arguments that start the test binary as the server. `test` calls [`serve`] if there is a role.
pub fn arguments(test: &str) -> Vec<String> {
    ["--exact", test, "--nocapture", "--test-threads=1"].map(str::to_owned).to_vec()
}

/// Plays the server until its input ends.
pub fn serve(role: &str) {
    // The test harness has begun a line.
    say("");
    leave_mark(&format!("started-{}", std::process::id()));
    if role == "broken" {
        complain("no licence found");
        end(4);
    }
    let mut server = Server { role, changes: 0, has_forgotten: false, listener: None };
    let mut is_first = true;
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        if role == "mute" {
            continue;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        while role == "patient" && !has_mark("go") {
            // Sleeps on purpose: another process does not announce that it has written a file.
            std::thread::sleep(Duration::from_millis(5));
        }
        if role == "strict" && is_first && message["method"] != "initialize" {
            complain("expected the handshake");
            end(5);
        }
        is_first = false;
        server.hear(&message);
    }
}

/// Place of the revision in each request of the newest one.
const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

struct Server<'a> {
    role: &'a str,
    /// Number of changes to its tools.
    changes: u32,
    /// True once it has left a tool list request unanswered.
    has_forgotten: bool,
    /// Id of a request that listens for changes, in the newest revision.
    listener: Option<Value>,
}

impl Server<'_> {
    fn hear(&mut self, message: &Value) {
        let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
        if self.role == "noisy" {
            say("listening on nothing {");
            complain("a line about nothing");
        }
        if self.role == "modern" && !message["id"].is_null() {
            match method {
                "initialize" => return refuse(message, -32601, "no such method"),
                _ if message.pointer(VERSION) != Some(&json!("2026-07-28")) => {
                    return refuse(message, -32020, "the revision is missing");
                }
                "server/discover" => return answer(message, &discovered()),
                "subscriptions/listen" => {
                    self.listener = Some(message["id"].clone());
                    let params = json!({
                        "_meta": { SUBSCRIPTION: message["id"] }, "notifications": params["notifications"],
                    });
                    let method = "notifications/subscriptions/acknowledged";
                    say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
                    return leave_mark("listens");
                }
                _ => {}
            }
        }
        match method {
            "initialize" => answer(
                message,
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": match self.role {
                        "toolless" => json!({}),
                        _ => json!({ "tools": { "listChanged": true } }),
                    },
                    "serverInfo": { "name": "troubled", "version": "1.0.0" },
                }),
            ),
            "tools/list" if self.role == "forgetful" && self.changes > 0 && !self.has_forgotten => {
                self.has_forgotten = true;
                leave_mark("forgotten");
            }
            "tools/list" if self.role == "odd" => answer(message, &odd_list()),
            "tools/list" => answer(message, &self.list(params)),
            "tools/call" => self.call(message),
            "notifications/cancelled" => leave_mark("cancelled"),
            _ if message["id"].is_null() => {}
            _ => refuse(message, -32601, "no such method"),
        }
    }

    /// Lists the tools in pages of a hundred.
    fn list(&self, params: &Value) -> Value {
        if self.role == "crowd" {
            let page: usize = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
            let tools: Vec<Value> =
                (0..100).map(|n| tool(&format!("tool_{:03}", page * 100 + n), "one of many")).collect();
            let next = (page < 9).then(|| (page + 1).to_string());
            return json!({ "tools": tools, "nextCursor": next });
        }
        let echo = if self.changes == 0 { "says a text again" } else { "says a text again, and tells others" };
        let mut tools = vec![
            tool("echo", echo),
            tool("fail", "fails"),
            tool("refuse", "answers with an error of the protocol"),
            tool("die", "ends the server"),
            tool("hang", "never answers"),
            tool("long", "says much"),
            tool("flood", "says more than anybody can bear"),
            tool("change", "changes the tools of the server"),
            tool("environment", "says which variables it has"),
            tool("dotted.name", &"It has a long description. ".repeat(100)),
        ];
        if self.role == "deep" {
            let mut mine = tool("mine", "has a deep schema");
            mine["inputSchema"] = json!({ "type": "object", "properties": { "shaft": deep() } });
            tools.extend([mine, tool("dig", "answers with a deep structure")]);
        }
        if self.role == "curious" {
            tools.extend([tool("ask", "asks a thousand times"), tool("pester", "asks and never listens")]);
            tools.push(tool("toil", "ignores messages until it is told to continue"));
        }
        if self.changes > 0 {
            tools.push(tool("late", "came later"));
        }
        json!({ "tools": tools })
    }

    fn call(&mut self, message: &Value) {
        let arguments = &message["params"]["arguments"];
        match message["params"]["name"].as_str().unwrap_or_default() {
            "echo" | "late" | "dotted.name" => tell(message, arguments["text"].as_str().unwrap_or("nothing")),
            "fail" => {
                let content = json!([{ "type": "text", "text": "it did not work" }]);
                answer(message, &json!({ "content": content, "isError": true }));
            }
            "refuse" => refuse(message, -32602, "`text` is missing"),
            "die" => {
                complain("out of memory");
                end(3);
            }
            "hang" => leave_mark("hangs"),
            "long" => tell(message, &"0123456789abcde\n".repeat(10_000)),
            // Without a line end, for as long as anybody reads.
            "flood" => {
                while io::stdout().write_all(&[b'x'; 1 << 13]).is_ok() {}
                end(0);
            }
            "ask" => {
                (0..1_000).for_each(ask);
                tell(message, "asked");
            }
            "pester" => loop {
                ask(1);
            },
            "change" => {
                self.changes += 1;
                let mut news = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
                if let Some(listener) = &self.listener {
                    news["params"] = json!({ "_meta": { SUBSCRIPTION: listener } });
                }
                say(&news.to_string());
                tell(message, "changed");
            }
            "environment" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                names.sort();
                tell(message, &names.join("\n"));
            }
            "mixed" => {
                let content = json!([{ "type": "video", "data": "AAAA" }, { "type": "text", "text": "beside it" }]);
                answer(message, &json!({ "content": content }));
            }
            "dig" | "mine" => {
                // Without a text, which would be used instead of the structure.
                answer(message, &json!({ "content": [], "structuredContent": { "shaft": deep() } }));
            }
            "other" => answer(message, &json!({ "toolResult": 1 })),
            "plod" => {
                for step in 1..=3 {
                    std::thread::sleep(std::time::Duration::from_secs(1));
                    come_along(message, step);
                }
                tell(message, "there");
            }
            // Nothing is read meanwhile.
            "toil" => {
                leave_mark("toils");
                for step in (1..).take_while(|_| !has_mark("go")) {
                    come_along(message, step);
                    // Sleeps on purpose: another process does not announce that it has written a file.
                    std::thread::sleep(Duration::from_millis(20));
                }
                tell(message, "toiled");
            }
            // Stops reading, without notice.
            "deafen" => {
                tell(message, "what?");
                loop {
                    std::thread::park();
                }
            }
            other => refuse(message, -32602, &format!("no tool {other}")),
        }
    }
}

/// Answer to the first request of the newest revision.
fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "modern", "version": "1.0.0" },
        "ttlMs": 0,
        "cacheScope": "private",
    })
}

fn tool(name: &str, description: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    // A claim that nobody should believe.
    json!({ "name": name, "description": description, "inputSchema": schema, "annotations": { "readOnlyHint": true } })
}

fn odd_list() -> Value {
    let mut either = tool("either", "takes one thing or the other");
    either["inputSchema"] = json!({ "anyOf": [{ "required": ["this"] }, { "required": ["that"] }], "required": true });
    let tools = [
        tool("echo", "says a text again"),
        tool("mixed", "answers with content of which one part is odd"),
        tool("other", "answers with something else than a result"),
        tool("plod", "takes three seconds and says so"),
        tool("deafen", "makes the server deaf"),
        json!({ "name": "bare", "description": "has no schema" }),
        tool("", "has no name"),
        either,
    ];
    json!({ "tools": tools })
}

fn tell(message: &Value, text: &str) {
    answer(message, &json!({ "content": [{ "type": "text", "text": text }] }));
}

fn answer(message: &Value, result: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string());
}

/// Reports progress of a call.
fn come_along(message: &Value, step: u32) {
    let params = json!({ "progressToken": message["params"]["_meta"]["progressToken"], "progress": step });
    say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }).to_string());
}

fn refuse(message: &Value, code: i32, why: &str) {
    say(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": code, "message": why } }).to_string());
}

fn ask(id: u32) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string());
}

fn say(line: &str) {
    let mut stdout = io::stdout().lock();
    // A client that no longer reads has also closed the input.
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).ok();
}

#[expect(clippy::exit, reason = "a server ends in the middle of things, as servers do")]
fn end(code: i32) -> ! {
    std::process::exit(code)
}

fn complain(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}

/// Creates an empty file where the test expects one.
fn leave_mark(name: &str) {
    if let Some(directory) = std::env::var_os("MARKS") {
        std::fs::write(Path::new(&directory).join(name), "").ok();
    }
}

fn has_mark(name: &str) -> bool {
    std::env::var_os("MARKS").is_some_and(|directory| Path::new(&directory).join(name).exists())
}
