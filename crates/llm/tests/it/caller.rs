//! A model over a scripted server, and one call of it with everything observed.

use std::time::Duration;

use sortie_llm::{
    CallSettings, Model, ModelError, ModelEvent, ModelRequest, Models, Route, RouteSetup, RouteTable, WireKind,
};
use sortie_protocol::{Message, Reply, Usage};
use sortie_testkit::{Script, ScriptedServer};

use crate::fixture::{request, route, tools};

/// Retries without waiting.
pub(crate) const QUICK: CallSettings =
    CallSettings { max_retries: 2, retry_base: Duration::ZERO, idle_timeout: Duration::from_secs(30) };
pub(crate) const ONE_TRY: CallSettings = CallSettings { max_retries: 0, ..QUICK };
/// For calls that are meant to stall.
pub(crate) const IMPATIENT: CallSettings = CallSettings { idle_timeout: Duration::from_millis(500), ..ONE_TRY };

pub(crate) struct Caller {
    pub(crate) server: ScriptedServer,
    pub(crate) model: std::sync::Arc<dyn Model>,
}

/// Everything that a call reported on its way.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Since the last retry.
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<String>,
    /// Since the last retry; `None` if nothing was reported.
    pub(crate) used: Option<Usage>,
    pub(crate) retries: Vec<(u32, Duration, ModelError)>,
    /// Number of tries sent.
    pub(crate) sent: u32,
}

pub(crate) fn caller(wire: WireKind, script: Script, settings: CallSettings) -> Caller {
    let server = ScriptedServer::start(script).unwrap();
    let model = open(route(wire, &server.base_url()), settings);
    Caller { server, model }
}

pub(crate) fn open(route: Route, settings: CallSettings) -> std::sync::Arc<dyn Model> {
    let setup = RouteSetup { routes: vec![route], settings, ..RouteSetup::default() };
    let table = RouteTable::new(setup).unwrap();
    table.open(&table.choose(None, None).unwrap().choice).unwrap()
}

impl Caller {
    /// Asks a first question.
    pub(crate) async fn ask(&self) -> (Observed, Result<Reply, ModelError>) {
        self.go_on(&[Message::user("Where is it?")]).await
    }

    pub(crate) async fn go_on(&self, messages: &[Message]) -> (Observed, Result<Reply, ModelError>) {
        let tools = tools();
        call(self.model.as_ref(), request(&tools, messages)).await
    }
}

pub(crate) async fn call(model: &dyn Model, request: ModelRequest<'_>) -> (Observed, Result<Reply, ModelError>) {
    let mut observed = Observed::default();
    let mut observe = |event: ModelEvent<'_>| match event {
        ModelEvent::Sending => observed.sent += 1,
        ModelEvent::Text(text) => observed.text.push_str(text),
        ModelEvent::Reasoning(text) => observed.reasoning.push_str(text),
        ModelEvent::CallBegan { tool } => observed.calls.push(tool.to_owned()),
        ModelEvent::Used(usage) => observed.used = Some(usage),
        ModelEvent::Retrying { attempt, wait, error, .. } => {
            observed.text.clear();
            observed.used = None;
            observed.retries.push((attempt, wait, error.clone()));
        }
    };
    let reply = model.call(request, &mut observe).await;
    (observed, reply)
}
