//! `sortie mcp --http` with the real program: the address, the token's file, the end, and a long session.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::{Invocation, World, wait_for};

const AT_MOST: Duration = Duration::from_mins(1);

/// Running server, and its messages.
struct Web {
    child: Child,
    address: String,
    /// Address that it announced.
    name: String,
    stderr: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl Web {
    fn start(invocation: Invocation) -> Self {
        Self::start_on("127.0.0.1:0", invocation)
    }

    fn start_on(address: &str, invocation: Invocation) -> Self {
        let mut command = invocation.arg("--http").arg(address).hearing_signals().into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("listening on") {
            assert_ne!(lines.read_line(&mut said).unwrap(), 0, "it does not listen: {said}");
        }
        let address = said.split_once("http://").unwrap().1.split_once("/mcp").unwrap().0.to_owned();
        let stderr = Arc::new(Mutex::new(said));
        let kept = Arc::clone(&stderr);
        let reader = std::thread::spawn(move || {
            lines.lines().map_while(Result::ok).for_each(|line| *kept.lock().unwrap() += &format!("{line}\n"));
        });
        Self { child, name: address.clone(), address, stderr, reader }
    }

    fn message(&self, token: &str, session: Option<&str>, message: &Value) -> Reply {
        let connection = self.begin(token, session, "POST", &message.to_string());
        Reply::read(connection)
    }

    fn begin(&self, token: &str, session: Option<&str>, method: &str, body: &str) -> TcpStream {
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(AT_MOST)).unwrap();
        write!(
            stream,
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{session}\
             Content-Length: {}\r\n\r\n{body}",
            self.name,
            body.len()
        )
        .unwrap();
        stream
    }

    /// Sends the head of a request whose body comes once the server waits for it.
    fn begin_long(&self, token: &str, session: &str, length: usize) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(AT_MOST)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Mcp-Session-Id: {session}\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n",
            self.name,
        )
        .unwrap();
        stream
    }

    fn open_session(&self, token: &str) -> String {
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let opened = self.message(token, None, &request(0, "initialize", &params));
        let session = opened.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = session.unwrap_or_else(|| panic!("no session: {opened:?}")).to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.message(token, Some(&session), &ready).status, 202);
        session
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end; returns the exit code and all output.
    fn wait(mut self) -> (Option<i32>, String, String) {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let code = self.child.wait().unwrap().code();
        self.reader.join().unwrap();
        (code, stdout, Arc::into_inner(self.stderr).unwrap().into_inner().unwrap())
    }

    fn n_descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    fn resident_kib(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn read(mut connection: TcpStream) -> Self {
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn task(id: u64, prompt: &str) -> Value {
    let arguments = json!({ "description": "Do it", "prompt": prompt });
    request(id, "tools/call", &json!({ "name": "Task", "arguments": arguments }))
}

fn token(world: &World) -> String {
    fs::read_to_string(world.path("state/mcp-token")).unwrap().trim().to_owned()
}

fn mode(world: &World) -> u32 {
    fs::metadata(world.path("state/mcp-token")).unwrap().permissions().mode() & 0o7777
}

#[test]
fn without_a_model_a_call_over_http_is_refused_unless_the_rules_are_wanted() {
    for (args, word) in [(&["mcp"][..], "no_model"), (&["mcp", "--offline"][..], "answered by fixed rules")] {
        let world = World::new();
        let web = Web::start(world.sortie(args));
        let token = token(&world);
        let session = web.open_session(&token);
        let called = web.message(&token, Some(&session), &task(1, "Where is AuthError?"));
        assert!(called.status == 200 && called.body.contains(word), "{called:?}");
        web.signal(Signal::TERM);
        web.wait();
    }
}

#[test]
fn a_task_is_called_over_http_and_the_token_is_printed_nowhere() {
    let (world, model) = (World::new(), ScriptedServer::start(Script::always(reply::text("REPORT"))).unwrap());
    let web = Web::start(world.sortie(["mcp"]).on(&model, "anthropic"));
    let token = token(&world);
    let session = web.open_session(&token);
    let called = web.message(&token, Some(&session), &task(1, "Work"));
    assert_eq!(called.status, 200, "{called:?}");
    assert!(called.body.contains("REPORT") && called.body.contains("structuredContent"), "{called:?}");
    assert_eq!(web.message("wrong", Some(&session), &task(2, "Work")).status, 401);

    web.signal(Signal::TERM);
    let (code, stdout, stderr) = web.wait();
    assert_eq!((code, stdout.as_str()), (Some(143), ""));
    assert!(!stderr.contains(&token), "{stderr}");
    assert!(stderr.contains(&format!("{}", world.path("state/mcp-token").display())), "{stderr}");
}

#[test]
fn calls_over_http_are_admitted_in_the_order_of_their_arrival() {
    let (world, model) = (World::new(), ScriptedServer::start(Script::always(reply::text("done"))).unwrap());
    let web = Web::start(world.sortie(["mcp", "--set", "task_tool.max_concurrent=1"]).on(&model, "anthropic"));
    let token = token(&world);
    let session = web.open_session(&token);
    let prompts: Vec<String> = (0..8).map(|number| format!("CALL {number}.")).collect();
    // The first request is there before the others, but the rest of its body comes after them.
    let first = task(1, &prompts[0]).to_string();
    let (begun, rest) = first.split_at(first.len() / 2);
    let mut slow = web.begin_long(&token, &session, first.len());
    assert_eq!(line(&mut slow), "HTTP/1.1 100 Continue");
    slow.write_all(begun.as_bytes()).unwrap();
    let others: Vec<TcpStream> = (2..)
        .zip(&prompts[1..])
        .map(|(id, prompt)| {
            let mut stream = web.begin(&token, Some(&session), "POST", &task(id, prompt).to_string());
            // The head of an answer comes once the call is in.
            assert_eq!(line(&mut stream), "HTTP/1.1 200 OK");
            stream
        })
        .collect();
    slow.write_all(rest.as_bytes()).unwrap();
    for mut stream in std::iter::once(slow).chain(others) {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("structuredContent"), "{answer}");
    }
    let asked = |body: &Value| prompts.iter().find(|prompt| body.to_string().contains(*prompt)).cloned();
    let asked: Vec<String> = model.requests().iter().filter_map(|request| asked(&request.body)).collect();
    web.signal(Signal::TERM);
    assert_eq!(web.wait().0, Some(143));
    assert_eq!(asked, prompts);
}

/// Reads one line of a head, and no byte more.
fn line(stream: &mut TcpStream) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while byte != *b"\n" {
        stream.read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    String::from_utf8(line).unwrap().trim_end().to_owned()
}

#[test]
fn s66_a_server_that_others_could_reach_needs_an_explicit_flag() {
    let world = World::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = world.sortie(["mcp", "--http", address]).run();
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{refused:#?}");
        assert!(world.kept_nothing());
    }
    expect![[r#"
        exit 2
        --- stderr
        error: other machines could reach 0.0.0.0:8808, which was not allowed
        hint: listen on 127.0.0.1:<port>, and reach it from elsewhere through a tunnel
        hint: or accept it with --allow-remote: anyone with the token can run agents here, and nothing is encrypted
    "#]]
    .assert_eq(&world.sortie(["mcp", "--http", "0.0.0.0:8808"]).run().transcript());
}

#[test]
fn remote_access_is_announced_and_still_needs_the_right_name_and_the_token() {
    let world = World::new();
    let mut web = Web::start_on("0.0.0.0:0", world.sortie(["mcp", "--allow-remote", "--allow-host", "box.example"]));
    let port = web.address.rsplit_once(':').unwrap().1.to_owned();
    let token = token(&world);
    let ping = request(1, "ping", &json!({}));
    for (name, status) in [("127.0.0.1", 400), ("192.0.2.7", 400), ("box.example", 400), ("evil.example", 403)] {
        web.address = format!("127.0.0.1:{port}");
        web.name = format!("{name}:{port}");
        assert_eq!(web.message(&token, None, &ping).status, status, "{name}");
        assert_eq!(web.message("wrong", None, &ping).status, if status == 403 { 403 } else { 401 }, "{name}");
    }
    web.signal(Signal::TERM);
    let (_, _, stderr) = web.wait();
    assert!(stderr.contains("warning: other machines can reach this server"), "{stderr}");
}

#[test]
fn s64_the_token_is_made_once_for_this_user_alone() {
    let world = World::new();
    let web = Web::start(world.sortie(["mcp"]));
    let first = token(&world);
    assert_eq!((first.len(), mode(&world)), (64, 0o600));
    let second = Web::start(world.sortie(["mcp"]));
    for server in [web, second] {
        server.open_session(&first);
        server.signal(Signal::TERM);
        server.wait();
    }
    assert_eq!(token(&world), first);
    assert_eq!(
        fs::read_dir(world.path("state"))
            .unwrap()
            .filter(|entry| { entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("mcp-token") })
            .count(),
        1
    );
}

#[test]
fn s64_a_token_that_others_could_know_is_refused() {
    let world = World::new();
    let path = world.write("state/mcp-token", &"a".repeat(64));
    let start = || world.sortie(["mcp", "--http", "127.0.0.1:0"]).run();
    for (mode, is_open) in [(0o644, true), (0o640, true), (0o604, true), (0o620, true)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = start();
        assert_eq!(refused.code, 2, "{refused:#?}");
        assert_eq!(refused.stderr.contains("so others may know the token"), is_open, "{refused:#?}");
    }
    fs::write(&path, "short").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(start().stderr.contains("it does not contain a token"));

    let elsewhere = world.write("home/token", &"a".repeat(64));
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&elsewhere, &path).unwrap();
    let refused = start();
    assert_eq!(refused.code, 2, "a link: {refused:#?}");
}

#[test]
fn s69_replacing_the_token_locks_the_old_one_out_at_once() {
    let world = World::new();
    let web = Web::start(world.sortie(["mcp"]));
    let (old, new) = (token(&world), "b".repeat(64));
    let session = web.open_session(&old);
    let ping = request(1, "ping", &json!({}));
    assert_eq!(web.message(&old, Some(&session), &ping).status, 200);

    fs::write(world.path("state/mcp-token"), &new).unwrap();
    assert_eq!(web.message(&old, Some(&session), &ping).status, 401);
    assert_eq!(web.message(&new, Some(&session), &ping).status, 404, "the session was the old one's");
    web.open_session(&new);

    fs::set_permissions(world.path("state/mcp-token"), fs::Permissions::from_mode(0o644)).unwrap();
    for _ in 0..3 {
        assert_eq!(web.message(&new, None, &ping).status, 503);
    }
    fs::remove_file(world.path("state/mcp-token")).unwrap();
    assert_eq!(web.message(&new, None, &ping).status, 503);
    web.signal(Signal::TERM);
    let (_, _, stderr) = web.wait();
    assert_eq!(stderr.matches("all connections are refused").count(), 2, "each trouble once: {stderr}");
    assert!(stderr.contains("is gone; put it back, or start the server again"), "{stderr}");
}

#[test]
fn a_signal_interrupts_running_calls_and_their_clients_get_an_answer() {
    let script = Script::new()
        .on(
            when::prompt_contains("PARENT").turn(0),
            reply::calls([reply::call("Task", json!({"description": "Wait", "prompt": "CHILD"}))]),
        )
        .otherwise(reply::never());
    let (world, model) = (World::new(), ScriptedServer::start(script).unwrap());
    let web = Web::start(world.sortie(["mcp"]).on(&model, "anthropic"));
    let token = token(&world);
    let session = web.open_session(&token);
    let waiting = web.begin(&token, Some(&session), "POST", &task(1, "PARENT").to_string());
    wait_for(&model, |traffic| traffic.calls >= 2);

    web.signal(Signal::TERM);
    let told = Reply::read(waiting);
    assert!(told.body.contains("interrupted"), "{told:?}");
    let (code, ..) = web.wait();
    assert_eq!(code, Some(143));
    let states: Vec<Value> = world.tasks(2).iter().map(|task| task["status"].clone()).collect();
    assert_eq!(states, ["interrupted", "interrupted"]);
    wait_for(&model, |traffic| traffic.open_connections == 0);
}

#[test]
fn f64_an_ended_session_takes_its_calls_along() {
    let (world, model) = (World::new(), ScriptedServer::start(Script::always(reply::never())).unwrap());
    let web = Web::start(world.sortie(["mcp"]).on(&model, "anthropic"));
    let token = token(&world);
    let session = web.open_session(&token);
    let waiting = web.begin(&token, Some(&session), "POST", &task(1, "Work").to_string());
    wait_for(&model, |traffic| traffic.calls >= 1);
    assert_eq!(Reply::read(web.begin(&token, Some(&session), "DELETE", "")).status, 202);
    drop(waiting);
    wait_for(&model, |traffic| traffic.open_connections == 0);
    let since = Instant::now();
    while world.tasks(1)[0]["status"] != "cancelled" {
        assert!(since.elapsed() < AT_MOST, "{:?}", world.tasks(1));
    }
    web.signal(Signal::TERM);
    web.wait();
}

#[test]
fn a_thousand_calls_in_one_session_leave_memory_and_descriptors_as_they_were() {
    let world = World::new();
    let web = Web::start(world.sortie(["mcp"]));
    let token = token(&world);
    let session = web.open_session(&token);
    let call = |id| {
        let list = json!({ "name": "SubagentList", "arguments": {} });
        assert_eq!(web.message(&token, Some(&session), &request(id, "tools/call", &list)).status, 200);
    };
    (0..200).for_each(call);
    let (descriptors, resident) = (web.n_descriptors(), web.resident_kib());
    (200..1200).for_each(call);
    let since = Instant::now();
    while web.n_descriptors() > descriptors {
        assert!(since.elapsed() < AT_MOST, "{} descriptors became {}", descriptors, web.n_descriptors());
    }
    let grown = web.resident_kib().saturating_sub(resident);
    // Two KiB a call: less than a request and its answer take.
    assert!(grown < 2048, "it grew by {grown} KiB");
    web.signal(Signal::TERM);
    web.wait();
}
