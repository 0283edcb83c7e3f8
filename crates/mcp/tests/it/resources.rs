//! Resources about agents and tasks that a host can read.

use rmcp::ServiceError;
use rmcp::model::{ErrorCode, PaginatedRequestParams, ReadResourceRequestParams};
use serde_json::json;
use sortie_protocol::TaskRequest;
use sortie_testkit::{Script, reply, when};

use crate::site::{Site, call, read, task};

#[tokio::test]
async fn agents_are_listed_with_their_descriptions() {
    let agent = "---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n";
    let site = Site::new(Script::new(), &[(".sortie/agents/reviewer.md", agent)]);
    let client = site.connect(()).await;
    let agents = read(&client, "sortie://agents").await;
    let lines: Vec<&str> = agents.lines().collect();
    assert!(lines.contains(&"- reviewer [project]: Reviews"), "{agents}");
    assert!(lines.iter().any(|line| line.starts_with("- general-purpose, general [built in]: ")), "{agents}");
    assert!(!agents.contains("- main"), "nobody delegates to it: {agents}");
}

#[tokio::test]
async fn a_report_is_complete_even_if_only_a_part_was_delivered() {
    let report = "All is well. ".repeat(5_000);
    let site = Site::new(Script::new().otherwise(reply::text(&report)), &[]);
    let client = site.connect(()).await;
    let id = task(&client, "Look.").await;
    let first = read(&client, &format!("sortie://tasks/{id}/report")).await;
    assert!(first.starts_with(&format!("{id} general-purpose completed, 0 calls, ")), "{}", &first[..200]);
    let (page, mark) = first.trim_end().rsplit_once('\n').expect("it continues elsewhere");
    let next = format!("sortie://tasks/{id}/report?from=40000");
    assert!(
        mark.starts_with("[characters 0 to 40000 of ") && mark.ends_with(&format!("the rest is at {next}]")),
        "{mark}"
    );
    let whole = page.to_owned() + &read(&client, &next).await;
    assert!(whole.trim_end().ends_with(report.trim_end()), "all of it, once");
}

#[tokio::test]
async fn a_transcript_shows_the_actions_of_a_task() {
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "a.txt"}))]))
        .otherwise(reply::text("It says hello."));
    let site = Site::new(script, &[("a.txt", "hello\n")]);
    let client = site.connect(()).await;
    let id = task(&client, "What does a.txt say?").await;
    let transcript = read(&client, &format!("sortie://tasks/{id}/transcript")).await;
    assert!(
        transcript.contains("> Read {\"file_path\":\"a.txt\"}") && transcript.trim_end().ends_with("It says hello."),
        "{transcript}"
    );
}

#[tokio::test]
async fn changes_are_the_diffs_of_a_task_and_its_descendants_in_order() {
    let edit =
        |path: &str, text: &str| reply::calls([reply::call("Write", json!({"file_path": path, "content": text}))]);
    let delegate = json!({"description": "b", "prompt": "CHILD", "subagent_type": "general-purpose"});
    let script = Script::new()
        .on(when::prompt_contains("CHILD").turn(0), edit("b.txt", "two\n"))
        .on(when::prompt_contains("CHILD"), reply::text("Done below."))
        .on(when::turn(0), edit("a.txt", "one\n"))
        .on(when::turn(1), reply::calls([reply::call("Task", delegate)]))
        .otherwise(reply::text("Done."));
    let site = Site::new(script, &[]);
    let client = site.connect(()).await;
    let id = task(&client, "Write two files.").await;
    let changes = read(&client, &format!("sortie://tasks/{id}/changes")).await;
    let expected = "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+two\n";
    assert_eq!(changes, expected);
}

#[tokio::test]
async fn a_task_that_changed_nothing_says_so() {
    let site = Site::new(Script::new().otherwise(reply::text("Nothing to do.")), &[]);
    let client = site.connect(()).await;
    let id = task(&client, "Look.").await;
    let changes = read(&client, &format!("sortie://tasks/{id}/changes")).await;
    assert_eq!(changes, format!("# {id} and those below it have changed no files\n"));
}

#[tokio::test]
async fn the_list_continues_after_a_page_and_has_no_persons_tasks() {
    let site = Site::new(Script::new().otherwise(reply::text("Seen.")), &[]);
    let client = site.connect(()).await;
    let persons = TaskRequest { prompt: "Look.".to_owned(), agent: "main".to_owned(), ..TaskRequest::default() };
    let persons = site.engine.run(persons).await.expect("it starts").outcome().await.expect("it ends").task_id;
    let mut started = Vec::new();
    for _ in 0..51 {
        started.push(task(&client, "Look.").await);
    }
    let first = client.list_resources(None).await.expect("a page");
    assert_eq!((first.resources.len(), first.resources[0].uri.as_str()), (51, "sortie://agents"));
    assert_eq!(first.resources[1].uri, format!("sortie://tasks/{}/report", started[50]));
    let next = PaginatedRequestParams::default().with_cursor(first.next_cursor.clone());
    let second = client.list_resources(Some(next)).await.expect("a page");
    let uris: Vec<String> = second.resources.into_iter().map(|resource| resource.uri).collect();
    assert_eq!((uris, second.next_cursor), (vec![format!("sortie://tasks/{}/report", started[0])], None));
    let wrong = PaginatedRequestParams::default().with_cursor(Some("elsewhere".to_owned()));
    assert_eq!(code(client.list_resources(Some(wrong)).await.err()), ErrorCode::INVALID_PARAMS);
    let uri = format!("sortie://tasks/{persons}/report");
    let refused = client.read_resource(ReadResourceRequestParams::new(uri)).await;
    assert_eq!(code(refused.err()), ErrorCode::RESOURCE_NOT_FOUND);
    let templates = client.list_all_resource_templates().await.expect("templates");
    let templates: Vec<String> = templates.into_iter().map(|template| template.uri_template).collect();
    let expected = ["report", "transcript", "changes"].map(|view| format!("sortie://tasks/{{id}}/{view}{{?from}}"));
    assert_eq!(templates, expected);
}

#[tokio::test]
async fn a_missing_resource_is_named() {
    let site = Site::new(Script::new(), &[]);
    let client = site.connect(()).await;
    for uri in ["sortie://secrets", "sortie://tasks/agent-abcdefghijkl/report", "file:///etc/passwd"] {
        let refused = client.read_resource(ReadResourceRequestParams::new(uri)).await;
        assert_eq!(code(refused.err()), ErrorCode::RESOURCE_NOT_FOUND, "{uri}");
    }
    let behind = client.read_resource(ReadResourceRequestParams::new("sortie://agents?from=99999")).await;
    assert_eq!(code(behind.err()), ErrorCode::INVALID_PARAMS);
}

#[tokio::test]
async fn a_pending_report_says_so() {
    let site = Site::new(Script::new().otherwise(reply::text("Late.").held_by("task")), &[]);
    let client = site.connect(()).await;
    let answer = call(&client, "Task", json!({"description": "a", "prompt": "b", "run_in_background": true})).await;
    let id = answer.structured_content.expect("an outcome")["task_id"].as_str().expect("an id").to_owned();
    let report = read(&client, &format!("sortie://tasks/{id}/report")).await;
    assert_eq!(report, format!("{id} general-purpose is at work; it has no report yet\n\n"));
    site.model.gate("task").open();
}

fn code(error: Option<ServiceError>) -> ErrorCode {
    match error {
        Some(ServiceError::McpError(error)) => error.code,
        other => panic!("not refused: {other:?}"),
    }
}
