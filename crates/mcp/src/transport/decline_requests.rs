//! Declines a server's requests to us, and answers its pings. If a server sends requests without taking the answers,
//! reading from it pauses: unsent answers take room, and the library queues any number of them.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, unfold};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientResult, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcRequest, ServerJsonRpcMessage,
    ServerRequest,
};
use rmcp::transport::Transport;
use tokio::sync::watch;

/// Most unsent answers. Few, since each repeats an id, which may be as long as a message.
const MOST: usize = 16;

/// Number of unsent answers.
#[derive(Clone, Default)]
pub(crate) struct Backlog(Arc<watch::Sender<usize>>);

/// An unsent answer.
struct Owed(Backlog);

impl Backlog {
    fn owe(&self) -> Owed {
        self.0.send_modify(|owed| *owed += 1);
        Owed(self.clone())
    }

    /// Waits until there is room for another one.
    async fn room(&self) {
        let mut owed = self.0.subscribe();
        // It cannot fail: we hold the other end.
        let _room = owed.wait_for(|owed| *owed < MOST).await;
    }

    /// Wraps a stream so that it is read only while there is room.
    pub(crate) fn paced<T: Send + 'static>(&self, stream: BoxStream<'static, T>) -> BoxStream<'static, T> {
        let paced = unfold((stream, self.clone()), |(mut stream, backlog)| async move {
            backlog.room().await;
            let item = stream.next().await?;
            Some((item, (stream, backlog)))
        });
        paced.boxed()
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.0.0.send_modify(|owed| *owed -= 1);
    }
}

/// A transport that passes on everything except requests.
pub(crate) struct Declining<T> {
    inner: T,
    backlog: Backlog,
    /// True if reading pauses here while there is no room.
    is_paced: bool,
}

impl<T> Declining<T> {
    /// Wraps a transport with a single pipe: while there is no room, nothing is read from it.
    pub(crate) fn over_pipe(inner: T) -> Self {
        Self { inner, backlog: Backlog::default(), is_paced: true }
    }

    /// Wraps streams that are [paced](Backlog::paced) themselves: the library sends nothing more if its received
    /// messages are not taken.
    pub(crate) fn over_streams(inner: T, backlog: Backlog) -> Self {
        Self { inner, backlog, is_paced: false }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Declining<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if self.is_paced {
                self.backlog.room().await;
            }
            let request = match self.inner.receive().await? {
                JsonRpcMessage::Request(request) => request,
                other => return Some(other),
            };
            let owed = self.backlog.owe();
            let answer = self.inner.send(declined(request));
            tokio::spawn(async move {
                // A server that is gone needs no answer.
                answer.await.ok();
                drop(owed);
            });
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

fn declined(request: JsonRpcRequest<ServerRequest>) -> ClientJsonRpcMessage {
    if matches!(request.request, ServerRequest::PingRequest(_)) {
        return JsonRpcMessage::response(ClientResult::empty(()), request.id);
    }
    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this client answers no questions", None);
    JsonRpcMessage::error(error, Some(request.id))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt as _;
    use futures_util::stream::repeat;
    use serde_json::json;
    use tokio::sync::Semaphore;

    use super::*;

    /// A server that sends requests without end, always with one id, and takes as many answers as it is told to.
    #[derive(Clone)]
    struct Asking {
        asked: Arc<AtomicUsize>,
        takes: Arc<Semaphore>,
    }

    impl Asking {
        fn new() -> Self {
            Self { asked: Arc::default(), takes: Arc::new(Semaphore::new(0)) }
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::Relaxed)
        }
    }

    impl Transport<RoleClient> for Asking {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _message: ClientJsonRpcMessage,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            let takes = Arc::clone(&self.takes);
            async move {
                takes.acquire().await.unwrap().forget();
                Ok(())
            }
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            Some(serde_json::from_value(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).unwrap())
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_server_that_asks_endlessly_without_reading_is_not_read() {
        let server = Asking::new();
        let mut ours = Declining::over_pipe(server.clone());
        assert!(ours.receive().now_or_never().is_none());
        assert_eq!(server.asked(), MOST);
        assert!(ours.receive().now_or_never().is_none());
        assert_eq!(server.asked(), MOST, "however often it is checked");
        server.takes.add_permits(3);
        while *ours.backlog.0.borrow() > MOST - 3 {
            tokio::task::yield_now().await;
        }
        assert!(ours.receive().now_or_never().is_none());
        assert_eq!(server.asked(), MOST + 3, "a server that takes answers is read again");
    }

    #[tokio::test]
    async fn streams_are_not_read_while_answers_wait() {
        let backlog = Backlog::default();
        let mut stream = backlog.paced(repeat("event").boxed());
        let mut owed: Vec<Owed> = (0..MOST).map(|_| backlog.owe()).collect();
        assert!(stream.next().now_or_never().is_none());
        owed.pop();
        assert_eq!(stream.next().await, Some("event"));
    }

    #[test]
    fn pings_are_answered_and_questions_declined() {
        let answer = |method: &str, params: serde_json::Value| {
            let asked = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
            let Ok(JsonRpcMessage::Request(request)) = serde_json::from_value::<ServerJsonRpcMessage>(asked) else {
                panic!("no request")
            };
            serde_json::to_value(declined(request)).unwrap()
        };
        assert_eq!(answer("ping", json!({})), json!({ "jsonrpc": "2.0", "id": "a", "result": {} }));
        for method in ["roots/list", "tell/me"] {
            let declined = answer(method, json!({}));
            assert_eq!((&declined["id"], &declined["error"]["code"]), (&json!("a"), &json!(-32601)), "{method}");
        }
    }
}
