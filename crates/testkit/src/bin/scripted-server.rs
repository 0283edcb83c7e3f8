//! The scripted HTTP server as a program, for trying things by hand and for benchmarks.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, ServerEvent, ServerOptions, Watch};

const HELP: &str = "\
A model server that answers by a script, over Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini.

Usage: scripted-server --script FILE.json [--port N] [--key KEY] [--guest MODEL] [--log FILE.jsonl]
                       [--bodies]

  --script FILE  the script: {\"rules\": [{\"when\": {…}, \"times\": N, \"reply\": {…}}, …]}; the first match wins
  --port N       the port on 127.0.0.1; a free one if absent
  --key KEY      answer 401 to requests that do not bring this key
  --log FILE     one line of JSON for each request (when it arrived, model, turn, bytes) and for each answer;
                 `us` counts from the start of the server, `unix_us` from 1970
  --guest MODEL  answer requests to this model unchecked: they come from another program than ours
  --bodies       put the whole request into its line of the log
  --help         this text

The base URL is the first line on stdout. A line on stdin opens the gate of that name. The server runs until it is ended, e.g. by Ctrl-C.

Example:
  scripted-server --script crates/testkit/scripts/demo.json --port 9000 &
  LLM_BASE_URL=http://127.0.0.1:9000 LLM_WIRE=anthropic LLM_MODEL_ID=demo LLM_API_KEY=any sortie run \"Who greets?\"
";

struct Arguments {
    script: PathBuf,
    port: u16,
    key: Option<String>,
    guest: Option<String>,
    log: Option<PathBuf>,
    bodies: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return finish(io::stdout().write_all(HELP.as_bytes()).map_err(|error| error.to_string()));
    }
    finish(parse(arguments).and_then(run))
}

fn finish(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Without a stderr, the exit code still reports the error.
            drop(writeln!(io::stderr(), "scripted-server: {message}"));
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: Vec<String>) -> Result<Arguments, String> {
    let (mut script, mut port, mut key, mut guest, mut log, mut bodies) = (None, 0, None, None, None, false);
    let mut arguments = arguments.into_iter();
    while let Some(flag) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{flag} needs a value; see --help"));
        match flag.as_str() {
            "--script" => script = Some(PathBuf::from(value()?)),
            "--port" => {
                let text = value()?;
                port = text.parse().map_err(|_| format!("`{text}` is not a port; give a number up to 65535"))?;
            }
            "--key" => key = Some(value()?),
            "--guest" => guest = Some(value()?),
            "--bodies" => bodies = true,
            "--log" => log = Some(PathBuf::from(value()?)),
            unknown => return Err(format!("unknown argument `{unknown}`; see --help")),
        }
    }
    let script = script.ok_or("--script FILE.json is missing; see --help")?;
    Ok(Arguments { script, port, key, guest, log, bodies })
}

fn run(arguments: Arguments) -> Result<(), String> {
    let script = read_script(&arguments)?;
    let watch = arguments.log.map(|path| log_to(&path, arguments.bodies)).transpose()?;
    let options = ServerOptions {
        port: arguments.port,
        key: arguments.key,
        models: None,
        guest: arguments.guest,
        forget_requests: true,
        watch,
    };
    let server = ScriptedServer::start_with(script, options)
        .map_err(|error| format!("cannot listen on port {}: {error}; choose another with --port", arguments.port))?;
    writeln!(io::stdout(), "{}", server.base_url()).map_err(|error| error.to_string())?;
    for name in io::stdin().lines().map_while(Result::ok) {
        server.gate(name.trim()).open();
    }
    loop {
        std::thread::park();
    }
}

fn read_script(arguments: &Arguments) -> Result<Script, String> {
    let path = arguments.script.display();
    let text = fs::read_to_string(&arguments.script).map_err(|error| format!("cannot read {path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path} is not a script: {error}"))
}

/// Writes each event as one line, immediately, for readers during the run.
fn log_to(path: &PathBuf, bodies: bool) -> Result<Watch, String> {
    let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let file = Mutex::new(file);
    let start = Instant::now();
    let start_since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Box::new(move |event| {
        let since_start = start.elapsed();
        let mut line = describe(event, bodies);
        line["us"] = Value::from(since_start.as_micros() as u64);
        line["unix_us"] = Value::from((start_since_epoch + since_start).as_micros() as u64);
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            drop(writeln!(io::stderr(), "scripted-server: the log cannot be written: {error}"));
        }
    }))
}

fn describe(event: ServerEvent<'_>, bodies: bool) -> Value {
    match event {
        ServerEvent::Arrived { request, model, turn } => {
            let mut line = json!({
                "event": "request",
                "connection": request.connection,
                "path": request.path(),
                "model": model,
                "turn": turn,
                "bytes": request.raw.len(),
            });
            if bodies {
                line["body"] = request.body.clone();
            }
            line
        }
        ServerEvent::Answered { connection, status } => {
            json!({ "event": "answer", "connection": connection, "status": status })
        }
        ServerEvent::Abandoned { connection } => json!({ "event": "abandoned", "connection": connection }),
    }
}
