//! One request and its response, repeated on each connection.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sortie_protocol::Reasoning;
use tokio::net::TcpStream;

use super::anthropic::Anthropic;
use super::connection::Connection;
use super::delivery::{self, Flow, Response};
use super::dialect::{Answer, Dialect, Rejection};
use super::gemini::{self, Gemini};
use super::http::{self, HttpRequest};
use super::openai::OpenAi;
use super::openai_responses::OpenAiResponses;
use super::{RecordedRequest, ServerEvent, Shared};
use crate::script::{Asked, Composition, Fault, ScriptedReply, compose, tasks_for};

/// Paths that accept a request.
const ENDPOINTS: &[&str] =
    &["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/MODEL:streamGenerateContent"];

/// Answers requests until the client closes the connection or a fault breaks it.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>, number: u64) {
    let _open = shared.traffic.open_connection();
    let Ok(mut connection) = Connection::new(stream) else { return };
    loop {
        let request = match http::read_request(&mut connection).await {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(error) => {
                let refusal = Response::document(400, &json!({ "error": { "message": error.to_string() } }));
                // The client may be gone already, so nobody reads it.
                drop(refusal.send(&mut connection).await);
                return;
            }
        };
        let keep_open = !request.wants_close();
        match exchange(&mut connection, request, &shared, number).await {
            Ok(Flow::KeepOpen) if keep_open => {}
            // An error here means that the client disconnected.
            Ok(_) | Err(_) => return,
        }
    }
}

async fn exchange(connection: &mut Connection, request: HttpRequest, shared: &Shared, number: u64) -> io::Result<Flow> {
    if request.method == "GET" && request.target.split('?').next().is_some_and(|path| path.ends_with("/models")) {
        shared.lists_asked.fetch_add(1, Ordering::Relaxed);
        model_list(shared.options.models.as_deref()).send(connection).await?;
        return Ok(Flow::KeepOpen);
    }
    let call = shared.traffic.begin_call();
    let serial = shared.traffic.counts().calls;
    let is_post = request.method == "POST";
    let request = Arc::new(recorded(request, number));
    if !shared.options.forget_requests {
        shared.requests.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&request));
    }
    let (status, flow) = match dialect_of(request.path()) {
        Some(dialect) if is_post => respond(connection, dialect, &request, shared, serial)
            .await
            .inspect_err(|_| shared.tell(ServerEvent::Abandoned { connection: number }))?,
        found => {
            let status = if found.is_some() { 405 } else { 404 };
            let message = format!("POST to one of {}, not to {}", ENDPOINTS.join(", "), request.target);
            let error = json!({ "type": "error", "error": { "type": "not_found_error", "message": message } });
            Response::document(status, &error).send(connection).await?;
            (status, Flow::KeepOpen)
        }
    };
    call.answered();
    shared.tell(ServerEvent::Answered { connection: number, status });
    Ok(flow)
}

/// The list of models in the form of every provider at once.
fn model_list(models: Option<&[String]>) -> Response {
    let Some(models) = models else {
        return Response::document(404, &json!({ "error": { "message": "this server lists no models" } }));
    };
    let data: Vec<Value> = models.iter().map(|id| json!({ "id": id, "object": "model" })).collect();
    let named: Vec<Value> = models.iter().map(|id| json!({ "name": format!("models/{id}") })).collect();
    Response::document(200, &json!({ "object": "list", "data": data, "models": named, "has_more": false }))
}

fn recorded(request: HttpRequest, connection: u64) -> RecordedRequest {
    RecordedRequest {
        arrival: Instant::now(),
        body: serde_json::from_slice(&request.body).unwrap_or_default(),
        target: request.target,
        headers: request.headers,
        raw: request.body,
        connection,
    }
}

fn dialect_of(path: &str) -> Option<&'static dyn Dialect> {
    match path {
        "/v1/messages" | "/messages" => Some(&Anthropic),
        "/v1/chat/completions" | "/chat/completions" => Some(&OpenAi),
        "/v1/responses" | "/responses" => Some(&OpenAiResponses),
        _ if gemini::is_endpoint(path) => Some(&Gemini),
        _ => None,
    }
}

/// Checks a request, finds its reply in the script and sends it. Returns the status sent.
async fn respond(
    connection: &mut Connection,
    dialect: &'static dyn Dialect,
    request: &RecordedRequest,
    shared: &Shared,
    serial: u64,
) -> io::Result<(u16, Flow)> {
    let asked = dialect.asked(request);
    shared.tell(ServerEvent::Arrived { request, model: asked.model, turn: asked.turn });
    let is_guest = shared.options.guest.as_deref() == Some(asked.model);
    let checked = if is_guest { Ok(()) } else { dialect.check(request, shared.options.key.as_deref()) };
    let scripted =
        checked.and_then(|()| shared.playback.choose(&asked).map_err(|error| Rejection::invalid(error.to_string())));
    let scripted = match scripted {
        Ok(scripted) => scripted,
        Err(rejection) => {
            refusal(dialect, &rejection, serial).send(connection).await?;
            return Ok((rejection.status, Flow::KeepOpen));
        }
    };
    wait(connection, scripted, request.arrival, shared).await?;
    if let Some(meeting) = &scripted.meeting
        && let Err(missed) = connection.unless_closed(shared.meetings.join(meeting)).await?
    {
        let rejection = Rejection::invalid(missed.to_string());
        refusal(dialect, &rejection, serial).send(connection).await?;
        return Ok((rejection.status, Flow::KeepOpen));
    }
    let tasks = tasks_for(scripted, || request.body.to_string());
    let reply = compose(scripted, composition(dialect, request, &asked, &tasks));
    let answer = Answer { reply: &reply, body: &request.body, streams: dialect.streams(request), serial };
    let response = response(dialect, &answer, scripted.fault.as_ref());
    let status = response.status;
    let flow = delivery::deliver(connection, response, scripted).await?;
    Ok((status, flow))
}

/// Holds the reply as long as scripted; delays count from the arrival, not from the parsing.
async fn wait(
    connection: &mut Connection,
    scripted: &ScriptedReply,
    arrival: Instant,
    shared: &Shared,
) -> io::Result<()> {
    if scripted.delay_ms > 0 {
        let until = arrival + Duration::from_millis(scripted.delay_ms);
        connection.unless_closed(tokio::time::sleep_until(until.into())).await?;
    }
    if let Some(name) = &scripted.gate {
        connection.unless_closed(shared.gates.gate(name).pass()).await?;
    }
    Ok(())
}

fn composition<'a>(
    dialect: &dyn Dialect,
    request: &RecordedRequest,
    asked: &Asked<'a>,
    tasks: &'a [String],
) -> Composition<'a> {
    Composition {
        model: asked.model,
        turn: asked.turn,
        input_bytes: request.raw.len(),
        id_prefix: dialect.id_prefix(),
        reasoning: |text| Reasoning { wire: String::new(), item: Value::from(text) },
        tasks,
        me: asked.me(),
    }
}

fn response(dialect: &dyn Dialect, answer: &Answer<'_>, fault: Option<&Fault>) -> Response {
    let overloaded = || dialect.usual_error(dialect.overloaded_status());
    let streams = answer.streams;
    let response = match fault {
        Some(Fault::Status(status)) => {
            let mut rejection = dialect.usual_error(status.code);
            rejection.retry_after.clone_from(&status.retry_after);
            if let Some(message) = &status.message {
                rejection.message.clone_from(message);
            }
            return refusal(dialect, &rejection, answer.serial);
        }
        Some(Fault::KeepAlivesOnly) if streams => {
            let (opening, cycle) = dialect.keep_alives(answer);
            Response::stream(&opening).repeating(cycle)
        }
        Some(Fault::OverloadedMidStream) if streams => {
            Response::stream(&half_then(dialect.events(answer), dialect.error_event(&overloaded())))
        }
        Some(Fault::OverloadedMidStream) => return refusal(dialect, &overloaded(), answer.serial),
        Some(Fault::Garbage) if streams => {
            Response::stream(&half_then(dialect.events(answer), "data: {\"oops\": [}\n\n".to_owned()))
        }
        Some(Fault::Garbage) => Response::garbage(),
        _ if streams => Response::stream(&dialect.events(answer)),
        _ => Response::document(200, &dialect.document(answer)),
    };
    response.header(dialect.request_id_header(), request_id(answer.serial))
}

/// Returns the first half of a stream, and then its last event.
fn half_then(mut events: Vec<String>, last: String) -> Vec<String> {
    events.truncate(events.len() / 2);
    events.push(last);
    events
}

fn refusal(dialect: &dyn Dialect, rejection: &Rejection, serial: u64) -> Response {
    let document = dialect.error_document(rejection, &request_id(serial));
    let response = Response::document(rejection.status, &document);
    let response = response.header(dialect.request_id_header(), request_id(serial));
    match &rejection.retry_after {
        Some(value) if dialect.tells_wait_in_header() => response.header("retry-after", value.clone()),
        _ => response,
    }
}

fn request_id(serial: u64) -> String {
    format!("req_scripted_{serial}")
}
