//! The model of a host, called over an in-memory connection.
#![expect(deprecated, reason = "sampling is deprecated in the protocol, and offered by hosts")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ErrorCode, ErrorData, Implementation, Role, SamplingCapability, SamplingMessage, SamplingMessageContentBlock,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, RoleServer, RunningService};
use rmcp::{ClientHandler, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use sortie_llm::{ErrorKind, Model, ModelError, ModelRequest, Models as _, RouteSetup, RouteTable, ToolChoice};
use sortie_mcp::{HOST_ROUTE, HostModels, Hosts, Loan, Offline};
use sortie_protocol::{
    Attachment, CallId, CallOutput, Message, ModelChoice, Part, Reply, StopReason, ToolCall, ToolOutput, ToolSpec,
};
use tokio::sync::mpsc;

use crate::site::{Site, call as call_tool};

/// A host whose model gives everybody the same answer.
struct Host {
    name: &'static str,
    sampling: Option<SamplingCapability>,
    /// `None`: never answers.
    answer: Option<Result<CreateMessageResult, ErrorData>>,
    asked: Arc<Mutex<Vec<Value>>>,
    /// Receives a message when it is asked, and when the request is withdrawn.
    seen: mpsc::UnboundedSender<&'static str>,
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.sampling.clone_from(&self.sampling);
        ClientConfig::new(capabilities, Implementation::new(self.name, "1"))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let mut asked = serde_json::to_value(params).expect("it came as JSON");
        asked.as_object_mut().expect("an object").remove("_meta");
        self.asked.lock().unwrap().push(asked);
        self.seen.send("asked").ok();
        match self.answer.clone() {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    async fn on_cancelled(&self, _: CancelledNotificationParam, _: NotificationContext<RoleClient>) {
        self.seen.send("taken back").ok();
    }
}

impl Host {
    fn new(answer: Option<Result<CreateMessageResult, ErrorData>>) -> Self {
        let (seen, _) = mpsc::unbounded_channel();
        Self { name: "host", sampling: Some(with_tools()), answer, asked: Arc::default(), seen }
    }
}

/// A server that offers nothing.
struct Nothing;

impl ServerHandler for Nothing {}

struct Connection {
    client: RunningService<RoleClient, Host>,
    server: RunningService<RoleServer, Nothing>,
    asked: Arc<Mutex<Vec<Value>>>,
    seen: mpsc::UnboundedReceiver<&'static str>,
}

fn with_tools() -> SamplingCapability {
    serde_json::from_value(json!({"tools": {}})).unwrap()
}

async fn connect(
    name: &'static str,
    sampling: Option<SamplingCapability>,
    answer: Option<Result<CreateMessageResult, ErrorData>>,
) -> Connection {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (asked, (sender, seen)) = (Arc::default(), mpsc::unbounded_channel());
    let host = Host { name, sampling, answer, asked: Arc::clone(&asked), seen: sender };
    let (server, client) = tokio::join!(Box::pin(Nothing.serve(ours)), Box::pin(host.serve(theirs)));
    Connection { client: client.expect("a handshake"), server: server.expect("a handshake"), asked, seen }
}

/// Models of a process without any route.
fn models(hosts: &Hosts) -> HostModels {
    let routes = RouteTable::new(RouteSetup::default()).expect("no routes are fine");
    HostModels::new(Arc::new(routes), hosts.clone(), Offline::Answers)
}

fn says(text: &str) -> CreateMessageResult {
    CreateMessageResult::new(SamplingMessage::assistant_text(text), "big-model-1".to_owned())
}

async fn call(model: &dyn Model, messages: &[Message], tools: &[ToolSpec]) -> Result<Reply, ModelError> {
    let request = ModelRequest {
        model: "any",
        system: "You look into files.",
        tools,
        messages,
        tool_choice: ToolChoice::Auto,
        max_output: Some(500),
        deadline: None,
        idle: None,
        retries_made: 0,
    };
    model.call(request, &mut |_| {}).await
}

fn open(hosts: &Hosts, choice: &ModelChoice) -> Arc<dyn Model> {
    models(hosts).open(choice).unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn a_host_gets_the_whole_conversation_and_its_calls_come_back() {
    let input = json!({"file_path": "b.txt"}).as_object().cloned().unwrap();
    let blocks = vec![
        SamplingMessageContentBlock::text("Now the other one."),
        SamplingMessageContentBlock::tool_use("two", "Read", input),
    ];
    let answer =
        CreateMessageResult::new(SamplingMessage::new_multiple(Role::Assistant, blocks), "big-model-1".to_owned())
            .with_stop_reason("toolUse");
    let connection = connect("Test Host", Some(with_tools()), Some(Ok(answer))).await;
    let hosts = Hosts::default();
    let loan = hosts.lend(connection.server.peer()).expect("it offers its model");
    assert_eq!(loan.choice(), ModelChoice { route: HOST_ROUTE.to_owned(), id: "test-host#1".to_owned() });

    let image = Attachment { name: "a.png".to_owned(), media_type: "image/png".to_owned(), data: "QUJD".into() };
    let book = Attachment { name: "b.pdf".to_owned(), media_type: "application/pdf".to_owned(), data: "QUJD".into() };
    let calls = vec![
        Part::Text { text: "First a.txt.".to_owned() },
        Part::Call(ToolCall {
            id: CallId("one".to_owned()),
            tool: "Read".to_owned(),
            arguments: r#"{"file_path":"a.txt"}"#.to_owned(),
        }),
        Part::Call(ToolCall { id: CallId("odd".to_owned()), tool: "Read".to_owned(), arguments: "{cut".to_owned() }),
    ];
    let output = |id: &str, output| CallOutput { call: CallId(id.to_owned()), output };
    let outputs = vec![
        output("one", ToolOutput::done("a line", "").with_attachments(vec![image, book])),
        output("odd", ToolOutput::failure("the arguments are no JSON")),
    ];
    let messages = [Message::user("What is there?"), Message::Assistant { parts: calls }, Message::Outputs { outputs }];
    let schema = json!({"type": "object", "properties": {"file_path": {"type": "string"}}});
    let tools = [ToolSpec { name: "Read".to_owned(), description: "Reads a file.".to_owned(), schema }];

    let reply = call(open(&hosts, &loan.choice()).as_ref(), &messages, &tools).await.expect("an answer");
    assert_eq!(
        (reply.stop, reply.model.as_str(), reply.text().as_str()),
        (StopReason::Calls, "big-model-1", "Now the other one.")
    );
    let calls: Vec<&ToolCall> = reply.calls().collect();
    assert_eq!((calls.len(), calls[0].arguments.as_str()), (1, r#"{"file_path":"b.txt"}"#));
    assert!(reply.usage_doubted && reply.usage.input_tokens > 40 && reply.usage.output_tokens > 5, "{:?}", reply.usage);
    let mut asked = connection.asked.lock().unwrap().remove(0);
    let messages = asked.as_object_mut().and_then(|asked| asked.remove("messages")).expect("messages");
    let lines = [&asked].into_iter().chain(messages.as_array().expect("a list")).map(Value::to_string);
    expect![[r#"
        {"toolChoice":{"mode":"auto"},"systemPrompt":"You look into files.","maxTokens":500,"tools":[{"name":"Read","description":"Reads a file.","inputSchema":{"type":"object","properties":{"file_path":{"type":"string"}}}}]}
        {"role":"user","content":{"type":"text","text":"What is there?"}}
        {"role":"assistant","content":[{"type":"text","text":"First a.txt."},{"type":"tool_use","id":"one","name":"Read","input":{"file_path":"a.txt"}},{"type":"tool_use","id":"odd","name":"Read","input":{"malformed_arguments":"{cut"}}]}
        {"role":"user","content":[{"type":"tool_result","toolUseId":"one","content":[{"type":"text","text":"a line"},{"type":"image","data":"QUJD","mimeType":"image/png"},{"type":"text","text":"[b.pdf (application/pdf) was left out: a host's model takes no such files]"}]},{"type":"tool_result","toolUseId":"odd","content":[{"type":"text","text":"the arguments are no JSON"}],"isError":true}]}"#]].assert_eq(&lines.collect::<Vec<_>>().join("\n"));
}

#[tokio::test]
async fn a_refusing_and_a_failing_host_are_distinguished_and_named() {
    let code = |code: i32| ErrorData::new(ErrorCode(code), "no, thanks", None);
    for (answer, kind, said) in [
        (Err(code(-1)), ErrorKind::Auth, "it refused (-1): no, thanks"),
        (Err(code(-32603)), ErrorKind::Server, "it failed (-32603): no, thanks"),
        (Err(code(-32602)), ErrorKind::BadRequest, "it failed (-32602): no, thanks"),
        (Err(code(-32601)), ErrorKind::Setup, "it failed (-32601): no, thanks"),
        (
            Ok(CreateMessageResult::new(SamplingMessage::user_text("me?"), "m".to_owned())),
            ErrorKind::Garbage,
            "a user message",
        ),
    ] {
        let connection = connect("host", Some(with_tools()), Some(answer)).await;
        let hosts = Hosts::default();
        let loan = hosts.lend(connection.server.peer()).expect("it offers its model");
        let error =
            call(open(&hosts, &loan.choice()).as_ref(), &[Message::user("?")], &[]).await.expect_err("no answer");
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains("the host `host`") && error.message.contains(said), "{error}");
    }
}

#[tokio::test]
async fn an_abandoned_call_is_withdrawn() {
    let mut connection = connect("host", Some(with_tools()), None).await;
    let hosts = Hosts::default();
    let loan = hosts.lend(connection.server.peer()).expect("it offers its model");
    let model = open(&hosts, &loan.choice());
    let messages = [Message::user("?")];
    tokio::select! {
        answer = call(model.as_ref(), &messages, &[]) => panic!("it never answers: {answer:?}"),
        asked = connection.seen.recv() => assert_eq!(asked, Some("asked")),
    }
    let taken_back = tokio::time::timeout(Duration::from_mins(2), connection.seen.recv()).await;
    assert_eq!(taken_back.expect("it is not withdrawn"), Some("taken back"));
}

#[tokio::test]
async fn a_host_that_disconnects_ends_the_call_and_is_not_asked_again() {
    let mut connection = connect("host", Some(with_tools()), None).await;
    let hosts = Hosts::default();
    let loan = hosts.lend(connection.server.peer()).expect("it offers its model");
    let choice = loan.choice();
    let model = open(&hosts, &choice);
    let asking = tokio::spawn(async move { call(model.as_ref(), &[Message::user("?")], &[]).await });
    assert_eq!(connection.seen.recv().await, Some("asked"));
    connection.client.cancel().await.expect("it ends");
    assert_eq!(asking.await.unwrap().expect_err("no answer").kind, ErrorKind::Unreachable);
    connection.server.waiting().await.expect("it ends");
    let gone = models(&hosts).open(&choice).err().expect("no host is there");
    assert_eq!(gone.kind, ErrorKind::Setup);
    assert!(gone.message.contains("the host `host`, whose model this task uses, is not connected"), "{gone}");

    // The same client program comes again, and so does another one.
    let other = connect("other", Some(with_tools()), Some(Ok(says("mine")))).await;
    let _other = hosts.lend(other.server.peer());
    assert!(models(&hosts).open(&choice).is_err(), "it is somebody else's model");
    let again = connect("host", Some(with_tools()), Some(Ok(says("back")))).await;
    let again_loan = hosts.lend(again.server.peer()).expect("it offers its model");
    assert_ne!(again_loan.choice(), choice);
    let reply = call(open(&hosts, &choice).as_ref(), &[Message::user("?")], &[]).await.expect("an answer");
    assert_eq!((reply.text().as_str(), reply.stop), ("back", StopReason::End));
    drop(again_loan);
    assert!(models(&hosts).open(&choice).is_err(), "it was withdrawn");
}

#[tokio::test]
async fn only_a_host_whose_model_can_use_tools_lends_it() {
    for (sampling, lends) in [(None, false), (Some(SamplingCapability::default()), false), (Some(with_tools()), true)] {
        let connection = connect("host", sampling, None).await;
        assert_eq!(Hosts::default().lend(connection.server.peer()).is_some(), lends);
    }
}

#[tokio::test]
async fn a_hosts_model_serves_its_requests_before_offline_with_a_notice() {
    let connection = connect("host", Some(with_tools()), None).await;
    let hosts = Hosts::default();
    let loan: Loan = hosts.lend(connection.server.peer()).expect("it offers its model");
    let (models, host) = (models(&hosts), loan.choice());
    let chosen = |asked: Option<&str>, inherited: Option<&ModelChoice>| {
        let chosen = models.choose(asked, inherited).unwrap_or_else(|error| panic!("{error}"));
        (chosen.choice.route, chosen.notice.is_some())
    };
    let is = |route: &str, noticed: bool| (route.to_owned(), noticed);
    assert_eq!(chosen(None, Some(&host)), is("host", false));
    assert_eq!(chosen(Some("host"), Some(&host)), is("host", false));
    assert_eq!(chosen(Some("sonnet"), Some(&host)), is("host", true));
    assert_eq!(chosen(Some("light"), Some(&host)), is("host", true));
    assert_eq!(chosen(Some("offline"), Some(&host)), is("offline", true));
    assert_eq!(chosen(None, None), is("offline", true));
    assert!(models.choose(Some("host"), None).is_err(), "no host lends it");
    assert!(models.choose(Some("no-such-model"), Some(&host)).is_err());
    let unusable = [("main".to_owned(), "no key is set".to_owned())].into();
    let routes = RouteTable::new(RouteSetup { unusable, ..RouteSetup::default() }).expect("no routes are fine");
    let in_vain = HostModels::new(Arc::new(routes), hosts.clone(), Offline::Answers).choose(None, Some(&host));
    assert!(in_vain.is_err_and(|error| error.to_string().contains("no key is set")));
}

#[tokio::test]
async fn without_a_route_a_hosts_task_runs_on_the_hosts_model() {
    let hosts = Hosts::default();
    let agent = "---\nname: reviewer\ndescription: Reviews\nmodel: haiku\n---\nYou review.\n";
    let files = [(".sortie/agents/reviewer.md", agent)];
    let site = Site::borrowing(Arc::new(models(&hosts)), hosts.clone(), &files);
    let client = site.connect(Host::new(Some(Ok(says("By the host."))))).await;
    let plain = site.connect(()).await;
    for (agent, notice) in [
        ("explore", None),
        ("reviewer", Some("`haiku` is served by the model of host#1 (route host): no main route is set")),
    ] {
        let asked = json!({"description": "a piece", "prompt": "Look.", "subagent_type": agent});
        let answer = call_tool(&client, "Task", asked.clone()).await;
        let whole = full(&answer);
        let outcome = answer.structured_content.expect("an outcome");
        assert_eq!((&outcome["status"], &outcome["text"]), (&json!("completed"), &json!("By the host.")), "{outcome}");
        assert_eq!(whole["model"], json!({"route": "host", "id": "host#1"}));
        let notices = outcome["notices"].to_string();
        assert_eq!(notices.contains("is served by"), notice.is_some(), "{notices}");
        assert!(notice.is_none_or(|notice| notices.contains(notice)), "{notices}");
        // A host that lends no model gets nobody else's.
        let answer = call_tool(&plain, "Task", asked).await;
        assert_eq!(full(&answer)["model"]["route"], json!("offline"), "{answer:?}");
    }
}

/// The full outcome, for programs.
fn full(answer: &rmcp::model::CallToolResult) -> Value {
    answer.meta.as_ref().expect("an outcome").0["sortie/outcome"].clone()
}

/// Arguments of a call, without and with `offline` by name.
fn asked(contract: &str, agent: &str, model: Option<&str>) -> Value {
    let mut arguments = match contract {
        "delegate" => json!({"task": "Look."}),
        _ => json!({"description": "a piece", "prompt": "Look.", "subagent_type": agent}),
    };
    if contract == "child-recipe" {
        arguments["agentType"] = json!("explore");
    }
    if let Some(model) = model {
        arguments["model"] = json!(model);
    }
    arguments
}

#[tokio::test]
async fn without_any_model_a_call_is_refused_in_every_contract_unless_the_rules_are_wanted() {
    let file = "---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n";
    let files = [(".sortie/agents/reviewer.md", file)];
    for name in sortie_contract::CONTRACTS {
        let agent = if name == "result" { "reviewer" } else { "explore" };
        let tool = sortie_contract::contract(name).expect("it is there").tool_name();
        for (offline, model) in [
            (Offline::Refuses, None),
            (Offline::Answers, None),
            (Offline::Refuses, Some("offline").filter(|_| matches!(name, "sortie" | "delegate"))),
        ] {
            let routes = RouteTable::new(RouteSetup::default()).expect("no routes are fine");
            let models = HostModels::new(Arc::new(routes), Hosts::default(), offline);
            let site = Site::borrowing_in(name, Arc::new(models), Hosts::default(), &files);
            let client = site.connect(()).await;
            let answer = call_tool(&client, tool, asked(name, agent, model)).await;
            let text = format!("{:?}", answer.content);
            let object = answer.structured_content.clone().expect("an object").to_string();
            for form in [&text, &object] {
                if offline == Offline::Refuses && model.is_none() {
                    assert_eq!(answer.is_error, Some(true), "{name}: {form}");
                    assert!(form.contains("no model is configured") && form.contains("--offline"), "{name}: {form}");
                } else {
                    assert!(form.contains("answered by fixed rules (`offline`)"), "{name}: {form}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_refusal_without_a_model_has_a_code_and_names_the_way_of_the_host() {
    for (name, way) in [
        ("claude-code", "claude mcp add sortie -e ANTHROPIC_API_KEY"),
        ("codex-mcp-client", "env_vars"),
        ("gemini-cli-mcp-client", "GEMINI_API_KEY"),
        ("opencode", "opencode.json"),
        ("another", "ANTHROPIC_API_KEY"),
    ] {
        let routes = RouteTable::new(RouteSetup::default()).expect("no routes are fine");
        let models = HostModels::new(Arc::new(routes), Hosts::default(), Offline::Refuses);
        let site = Site::borrowing(Arc::new(models), Hosts::default(), &[]);
        let client = site.connect(Host { name, sampling: None, ..Host::new(None) }).await;
        let answer = call_tool(&client, "Task", asked("sortie", "explore", None)).await;
        let outcome = answer.structured_content.expect("an outcome");
        assert_eq!((&outcome["status"], &outcome["error"]["code"]), (&json!("rejected"), &json!("no_model")));
        assert!(outcome["error"]["message"].to_string().contains(way), "{outcome:#}");
    }
}

#[tokio::test]
async fn a_host_that_refuses_its_model_gets_a_failure_that_says_so() {
    let hosts = Hosts::default();
    let site = Site::borrowing(Arc::new(models(&hosts)), hosts.clone(), &[]);
    let refusal = ErrorData::new(ErrorCode(-1), "the user rejected the request", None);
    let client = site.connect(Host::new(Some(Err(refusal)))).await;
    let answer = call_tool(&client, "Task", json!({"description": "a piece", "prompt": "Look."})).await;
    assert_eq!(answer.is_error, Some(true));
    let outcome = answer.structured_content.expect("an outcome");
    assert_eq!((&outcome["status"], &outcome["error"]["code"]), (&json!("failed"), &json!("model_auth")), "{outcome}");
    let message = outcome["error"]["message"].as_str().expect("words");
    assert!(
        message.contains("the host `host` did not answer with its model: it refused (-1): the user rejected"),
        "{message}"
    );
}
