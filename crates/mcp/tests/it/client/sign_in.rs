//! Sign-ins at a server that is its own place to sign in, with a browser that consents to everything.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use sortie_agents::{OAuthSettings, ServerDefinition};
use sortie_mcp::{Login, TokenStore, login};
use sortie_testkit::{Script, reply, when};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::world::{World, one_after_the_other};

/// A server with one tool, `talk`, and its tokens.
struct Guarded {
    port: u16,
    books: Arc<Mutex<Books>>,
    serving: JoinHandle<()>,
}

/// Tokens, and what was seen of them.
#[derive(Default)]
struct Books {
    tokens: u32,
    /// Tokens that are good now.
    access: String,
    refresh: String,
    /// Tokens that are shown with requests to the server.
    shown: Vec<String>,
    /// Parameters of the page to sign in, and of requests for tokens.
    asked: Vec<Value>,
    registrations: u32,
    refreshes: u32,
    /// True if a token that renews was shown twice.
    was_reused: bool,
    /// True if the token is forgotten when the first call comes.
    forgets: bool,
    /// A scope that calls need.
    call_scope: Option<&'static str>,
    granted: String,
    /// Seconds; none for tokens without end.
    lifetime: Option<u64>,
    refuses_refresh: bool,
}

impl Books {
    fn give(&mut self) -> Value {
        self.tokens += 1;
        self.access = format!("access-token-number-{}", self.tokens);
        self.refresh = format!("refresh-token-number-{}", self.tokens);
        let mut given = json!({ "access_token": self.access, "refresh_token": self.refresh, "token_type": "Bearer" });
        if let Some(seconds) = self.lifetime {
            given["expires_in"] = seconds.into();
        }
        given
    }
}

impl Guarded {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let books = Arc::<Mutex<Books>>::default();
        let kept = Arc::clone(&books);
        let serving = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, port, Arc::clone(&kept)));
            }
        });
        Self { port, books, serving }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    fn server(&self) -> ServerDefinition {
        let definition = json!({ "url": self.url(), "start_timeout_seconds": 60 });
        ServerDefinition::read("web", &definition).unwrap().server
    }

    async fn sign_in(&self, world: &World) {
        let store = TokenStore::new(world.home.path().join("mcp-auth"));
        let settings = OAuthSettings::default();
        let url = self.url();
        let browser = |page: &str| {
            let page = page.to_owned();
            tokio::spawn(async move {
                let sent_to = get(&page).await;
                get(&sent_to).await
            });
        };
        let wanted = Login { name: "web", url: &url, settings: &settings };
        let issuer = login(&store, wanted, browser).await.unwrap();
        assert_eq!(issuer, format!("http://127.0.0.1:{}", self.port));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Gets a page on this machine, and returns the address that it sends the browser to.
async fn get(page: &str) -> String {
    let (host, target) = page.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap_or_default().to_owned()
}

async fn serve(socket: TcpStream, port: u16, books: Arc<Mutex<Books>>) {
    let (input, mut output) = socket.into_split();
    let mut lines = BufReader::new(input);
    let mut head = String::new();
    while lines.read_line(&mut head).await.is_ok_and(|length| length > 2) {}
    let header = |name: &str| {
        let line = head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}: ")));
        line.and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
    };
    let mut body = vec![0; header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
    lines.read_exact(&mut body).await.unwrap();
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let token = header("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
    let (status, more, answer) = answer(&target, &String::from_utf8(body).unwrap(), token.as_deref(), port, &books);
    let text = if answer.is_null() { String::new() } else { answer.to_string() };
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n{more}");
    output.write_all(format!("{head}Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes()).await.ok();
}

/// Status, further headers and body.
fn answer(
    target: &str,
    body: &str,
    token: Option<&str>,
    port: u16,
    books: &Mutex<Books>,
) -> (&'static str, String, Value) {
    let mut books = books.lock().unwrap();
    let (own, ok) = (format!("http://127.0.0.1:{port}"), |body| ("200 OK", String::new(), body));
    let form = |text: &str| {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        let plain = |text: &str| text.replace("%3A", ":").replace("%2F", "/").replace('+', " ");
        pairs.map(|(name, value)| (name.to_owned(), plain(value).into())).collect::<serde_json::Map<String, Value>>()
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match path {
        "/.well-known/oauth-protected-resource/mcp" => ok(json!({
            "resource": format!("{own}/mcp"), "authorization_servers": [own], "scopes_supported": ["talk"],
        })),
        "/.well-known/oauth-authorization-server" => ok(json!({
            "issuer": own, "authorization_endpoint": format!("{own}/authorize"), "token_endpoint": format!("{own}/token"),
            "registration_endpoint": format!("{own}/register"), "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        })),
        "/register" => {
            books.registrations += 1;
            ok(json!({ "client_id": "registered", "token_endpoint_auth_method": "none" }))
        }
        "/authorize" => {
            let asked = form(query);
            let (back, state) = (asked["redirect_uri"].as_str().unwrap(), asked["state"].as_str().unwrap());
            let location = format!("Location: {back}?code=a-code&state={state}\r\n");
            asked.get("scope").and_then(Value::as_str).unwrap_or_default().clone_into(&mut books.granted);
            books.asked.push(Value::Object(asked));
            ("302 Found", location, Value::Null)
        }
        "/token" => {
            let asked = form(body);
            let is_refresh = asked["grant_type"] == "refresh_token";
            let is_good = !is_refresh || asked["refresh_token"] == books.refresh.as_str();
            books.refreshes += u32::from(is_refresh);
            books.was_reused |= !is_good;
            books.asked.push(Value::Object(asked));
            if !is_good || is_refresh && books.refuses_refresh {
                return ("400 Bad Request", String::new(), json!({ "error": "invalid_grant" }));
            }
            ok(books.give())
        }
        "/mcp" => {
            books.shown.extend(token.map(str::to_owned));
            let message: Value = serde_json::from_str(body).unwrap_or_default();
            if books.forgets && message["method"] == "tools/call" {
                (books.forgets, books.access) = (false, "forgotten".to_owned());
            }
            let challenge = format!("resource_metadata=\"{own}/.well-known/oauth-protected-resource/mcp\"");
            if token != Some(&*books.access) {
                let more = format!("WWW-Authenticate: Bearer {challenge}, scope=\"talk\"\r\n");
                return ("401 Unauthorized", more, Value::Null);
            }
            let missing = books.call_scope.filter(|scope| !books.granted.contains(scope));
            if let Some(scope) = missing.filter(|_| message["method"] == "tools/call") {
                let more = format!(
                    "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"{scope}\", {challenge}\r\n"
                );
                return ("403 Forbidden", more, Value::Null);
            }
            let result = match message["method"].as_str().unwrap_or_default() {
                "initialize" => json!({
                    "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "web", "version": "1" },
                }),
                "tools/list" => json!({ "tools": [{ "name": "talk", "inputSchema": { "type": "object" } }] }),
                "tools/call" => json!({ "content": [{ "type": "text", "text": "heard" }] }),
                "server/discover" => {
                    let error = json!({ "code": -32601, "message": "no such method" });
                    return ok(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
                }
                _ => return ("202 Accepted", String::new(), Value::Null),
            };
            ok(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        }
        _ => ("404 Not Found", String::new(), Value::Null),
    }
}

fn call() -> sortie_testkit::ScriptedPart {
    reply::call("mcp__web__talk", json!({}))
}

fn calling(calls: usize) -> Script {
    let script = Script::new().on(when::turn(0), reply::calls((0..calls).map(|_| call())));
    script.otherwise(reply::text("Done."))
}

fn outputs(world: &World) -> Vec<String> {
    world.outputs().into_iter().map(|output| output.for_model).collect()
}

#[tokio::test]
async fn a_server_that_wants_a_sign_in_says_so_and_is_used_after_it() {
    let guarded = Guarded::start().await;
    let world = World::new(vec![guarded.server()], calling(1));
    let told = world.run().await.notices.join("\n");
    assert!(told.contains("HTTP 401") && told.contains("run `sortie mcp login web`, or set its `headers`"), "{told}");
    world.close().await;

    guarded.sign_in(&world).await;
    let after = World::in_home(world.home, vec![guarded.server()], calling(1));
    let outcome = after.run().await;
    assert_eq!((outputs(&after), outcome.notices), (vec!["heard".to_owned()], Vec::new()));
    let asked = guarded.books().asked.clone();
    assert_eq!((&asked[0]["code_challenge_method"], &asked[0]["scope"]), (&json!("S256"), &json!("talk")));
    for asked in &asked {
        assert_eq!(asked["resource"], json!(guarded.url()));
    }

    // Another server of that name is shown nothing.
    let other = Guarded::start().await;
    let again = World::in_home(after.home, vec![other.server()], calling(1));
    again.run().await;
    assert_eq!(other.books().shown, Vec::<String>::new());
}

#[tokio::test]
async fn many_calls_with_an_old_token_renew_it_once() {
    let guarded = Guarded::start().await;
    let world = World::new(vec![guarded.server()], calling(20));
    guarded.sign_in(&world).await;
    guarded.books().forgets = true;
    world.run().await;
    assert_eq!(outputs(&world), vec!["heard"; 20]);
    let books = guarded.books();
    assert_eq!((books.refreshes, books.was_reused, books.registrations), (1, false, 1));
}

#[tokio::test]
async fn a_token_near_its_end_is_renewed_before_it_is_used() {
    let guarded = Guarded::start().await;
    let world = World::new(vec![guarded.server()], calling(1));
    guarded.books().lifetime = Some(1);
    guarded.sign_in(&world).await;
    guarded.books().lifetime = None;
    world.run().await;
    assert_eq!(outputs(&world), ["heard"]);
    let books = guarded.books();
    assert!(!books.shown.contains(&"access-token-number-1".to_owned()), "{:?}", books.shown);
    assert_eq!(books.refreshes, 1);
}

#[tokio::test]
async fn a_sign_in_that_cannot_be_renewed_is_reported_and_not_tried_for_ever() {
    let guarded = Guarded::start().await;
    let world = World::new(vec![guarded.server()], calling(1));
    guarded.sign_in(&world).await;
    guarded.books().access = "forgotten".to_owned();
    guarded.books().refuses_refresh = true;
    let told = world.run().await.notices.join("\n");
    assert!(told.contains("it no longer accepts the sign-in; run `sortie mcp login web`"), "{told}");
    assert_eq!(guarded.books().refreshes, 1);
    assert!(!told.contains("access-token"), "{told}");
}

#[tokio::test]
async fn a_call_beyond_the_sign_in_says_so_and_the_next_one_asks_for_more() {
    let guarded = Guarded::start().await;
    guarded.books().call_scope = Some("shout");
    let world = World::new(vec![guarded.server()], one_after_the_other([call()]));
    guarded.sign_in(&world).await;
    world.run().await;
    let told = outputs(&world).join("\n");
    let expected = "the sign-in does not cover this (shout); run `sortie mcp login web` to extend it";
    assert!(told.contains(expected), "{told}");
    guarded.sign_in(&world).await;
    let scopes =
        guarded.books().asked.iter().filter_map(|asked| asked["scope"].as_str().map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(scopes, ["talk", "talk shout"]);
    assert_eq!(guarded.books().registrations, 1);
}
