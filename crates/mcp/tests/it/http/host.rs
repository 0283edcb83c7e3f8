//! A server behind the listener whose calls do what a test wants, and report it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sortie_mcp::http::{self, Bounds, Listener, Reach, Token};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const TOKEN: &str = "a-token-that-only-the-tests-know-0123456789";
pub(crate) const OTHER_TOKEN: &str = "another-token-that-only-the-tests-know-0123";

/// Longer than anything takes, however busy the machine is.
pub(crate) const AT_MOST: Duration = Duration::from_mins(1);

/// Fate of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Started,
    Cancelled,
    Finished,
}

/// A server with controls for the test.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<()>,
    token: Arc<Mutex<Option<Token>>>,
    fates: mpsc::UnboundedReceiver<Fate>,
    release: Arc<Semaphore>,
}

impl Host {
    pub(crate) async fn start() -> Self {
        Self::with(Bounds::default()).await
    }

    pub(crate) async fn with(bounds: Bounds) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), Reach::ThisMachine).await.unwrap();
        let address = listener.address();
        let (fate, fates) = mpsc::unbounded_channel();
        let release = Arc::new(Semaphore::new(0));
        let token = Arc::new(Mutex::new(Token::new(TOKEN)));
        let stop = CancellationToken::new();
        let script = Script { fate, release: Arc::clone(&release) };
        let current = Arc::clone(&token);
        let source = Arc::new(move || current.lock().unwrap().clone());
        let served = tokio::spawn(http::serve(listener, source, bounds, move || script.clone(), stop.clone()));
        Self { address, stop, served, token, fates, release }
    }

    /// Replaces or removes the current token.
    pub(crate) fn replace_token(&self, text: Option<&str>) {
        *self.token.lock().unwrap() = text.and_then(Token::new);
    }

    /// Lets one held call finish.
    pub(crate) fn release(&self) {
        self.release.add_permits(1);
    }

    pub(crate) async fn fate(&mut self) -> Fate {
        tokio::time::timeout(AT_MOST, self.fates.recv()).await.expect("nothing became of the call").unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.served.abort();
    }
}

/// `echo` answers at once, `hold` when released, `large` with more than a socket holds.
#[derive(Clone)]
struct Script {
    fate: mpsc::UnboundedSender<Fate>,
    release: Arc<Semaphore>,
}

impl Script {
    async fn hold(&self, context: RequestContext<RoleServer>) -> &'static str {
        self.fate.send(Fate::Started).unwrap();
        let fate = tokio::select! {
            permit = self.release.acquire() => {
                permit.unwrap().forget();
                Fate::Finished
            }
            () = context.ct.cancelled() => Fate::Cancelled,
        };
        self.fate.send(fate).unwrap();
        "held"
    }
}

impl ServerHandler for Script {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &'static str| Tool::new(name, "does what a test tells it", Arc::new(JsonObject::new()));
        Ok(ListToolsResult::with_all_items(["echo", "hold", "large", "headers"].map(tool).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let headers = context.extensions.get::<::http::request::Parts>().map(|head| format!("{:?}", head.headers));
        let text = match &*request.name {
            "hold" => self.hold(context).await.to_owned(),
            "large" => "x".repeat(16 << 20),
            "headers" => headers.unwrap_or_default(),
            _ => "echo".to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
