//! Ids that nothing here knows, looked up in the list of their own server before anything is called.

use sortie_llm::{Models, Route, RouteSetup, RouteTable, WireKind};
use sortie_protocol::ModelChoice;
use sortie_testkit::{Script, ScriptedServer, ServerOptions};

use crate::fixture::route;

const WIRES: [WireKind; 4] = [WireKind::Anthropic, WireKind::Gemini, WireKind::OpenAiChat, WireKind::OpenAiResponses];

fn listing(models: Option<&[&str]>) -> ScriptedServer {
    let models = models.map(|ids| ids.iter().map(|&id| id.to_owned()).collect());
    ScriptedServer::start_with(Script::new(), ServerOptions { models, ..ServerOptions::default() }).unwrap()
}

fn table(route: Route) -> RouteTable {
    RouteTable::new(RouteSetup { routes: vec![route], ..RouteSetup::default() }).unwrap()
}

async fn confirmed(table: &RouteTable, id: &str) -> Result<(), String> {
    let choice = ModelChoice { route: "main".to_owned(), id: id.to_owned() };
    table.confirm(&choice).await.map_err(|unknown| unknown.to_string())
}

#[tokio::test]
async fn every_wire_asks_its_server_once_for_many_ids() {
    for wire in WIRES {
        let server = listing(Some(&["served:latest", "org/other"]));
        let table = table(route(wire, &server.base_url()));
        assert_eq!(confirmed(&table, "served").await, Ok(()), "{wire}");
        assert_eq!(confirmed(&table, "org/other:free").await, Ok(()), "{wire}");
        let refused = format!(
            "unknown model `nobodys`; the server of route `main` at {} does not list it; it lists `served:latest`, \
             `org/other`; to use it all the same, set a route with this model",
            server.base_url()
        );
        assert_eq!(confirmed(&table, "nobodys").await, Err(refused), "{wire}");
        assert_eq!((server.lists_asked(), server.requests().len()), (1, 0), "{wire}");
    }
}

#[tokio::test]
async fn an_id_of_a_route_or_of_the_table_is_not_looked_up() {
    let server = listing(Some(&["served"]));
    let table = table(route(WireKind::OpenAiChat, &server.base_url()));
    for known in ["some-model", "claude-3-5-haiku-20241022", "gpt-4.1"] {
        assert_eq!(confirmed(&table, known).await, Ok(()), "{known}");
    }
    let offline = ModelChoice { route: "offline".to_owned(), id: "offline-rules".to_owned() };
    assert_eq!(table.confirm(&offline).await, Ok(()));
    assert_eq!(server.lists_asked(), 0);
}

#[tokio::test]
async fn a_server_without_a_list_is_believed() {
    for server in [listing(None), listing(Some(&[]))] {
        let table = table(route(WireKind::OpenAiChat, &server.base_url()));
        assert_eq!(confirmed(&table, "nobodys").await, Ok(()));
        assert_eq!(server.lists_asked(), 1);
    }
    let nobody = table(route(WireKind::OpenAiChat, "http://127.0.0.1:9"));
    assert_eq!(confirmed(&nobody, "nobodys").await, Ok(()), "the call itself says that nobody answers");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_believed_after_a_moment() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let table = table(route(WireKind::OpenAiChat, &format!("http://{}", silent.local_addr().unwrap())));
    let before = tokio::time::Instant::now();
    assert_eq!(confirmed(&table, "nobodys").await, Ok(()));
    assert_eq!(before.elapsed().as_secs(), 3);
}
