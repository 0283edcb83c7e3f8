use expect_test::expect;
use serde_json::json;

use crate::project::Project;

#[tokio::test]
async fn the_list_is_repeated_compactly() {
    let todos = json!({"todos": [
        {"content": "Find the parser", "status": "completed", "activeForm": "Finding the parser"},
        {"content": " Read it ", "status": "in_progress"},
        {"content": "Report", "status": "pending", "priority": "high"},
    ]});
    let output = Project::new(&[]).run("TodoWrite", todos).await;
    expect![[r"
        [x] Find the parser
        [>] Read it
        [ ] Report
        [in todos: unknown arguments ignored: priority]"]]
    .assert_eq(&output.for_model);
    assert_eq!(output.for_people, "1 of 3 done");
}

#[tokio::test]
async fn a_list_as_json_in_a_text_is_accepted() {
    let todos = json!([{"content": "a", "status": "pending"}]).to_string();
    assert_eq!(Project::new(&[]).done("TodoWrite", json!({"todos": todos})).await, "[ ] a");
    let wrong = Project::new(&[]).failed("TodoWrite", json!({"todos": "first a, then b"})).await;
    assert!(wrong.contains("TodoWrite was not run"), "{wrong}");
}

#[tokio::test]
async fn an_empty_list_is_reported_as_empty() {
    assert_eq!(Project::new(&[]).done("TodoWrite", json!({"todos": []})).await, "[the list is empty]");
}

#[tokio::test]
async fn an_invalid_list_is_refused_with_the_reason() {
    let project = Project::new(&[]);
    let blank = json!({"todos": [{"content": "a", "status": "pending"}, {"content": " ", "status": "pending"}]});
    assert!(project.failed("TodoWrite", blank).await.contains("todo 2 must have 1 to 500 characters"));
    let unknown = json!({"todos": [{"content": "a", "status": "done"}]});
    assert!(project.failed("TodoWrite", unknown).await.contains("`done`"));
    let many: Vec<_> = (0..101).map(|n| json!({"content": n.to_string(), "status": "pending"})).collect();
    assert!(project.failed("TodoWrite", json!({"todos": many})).await.contains("101 todos, at most 100"));
}
