use expect_test::expect;
use serde_json::json;
use sortie_protocol::Resource;
use sortie_tools::Receipt;

use super::family::{Family, glance, id, works};

#[tokio::test]
async fn the_receipt_says_when_the_message_will_be_read() {
    let family = Family::of(vec![glance('a', works())]);
    let project = family.project();
    *family.receipt.lock().unwrap() = Some(Receipt::Delivered { task: id('a') });
    let output = project.run("SendMessage", json!({"to": " aaaaaaaaaaaa", "message": "Look in docs, too."})).await;
    expect!["delivered: agent-aaaaaaaaaaaa reads it at its next turn, unless it ends before"]
        .assert_eq(&output.for_model);
    assert_eq!(output.for_people, "delivered to agent-aaaaaaaaaaaa");
    *family.receipt.lock().unwrap() = Some(Receipt::Resumed { task: id('a') });
    let arguments = json!({"to": "Parent", "message": " Go on. ", "summary": "more work"});
    let text = project.done("SendMessage", arguments).await;
    expect!["agent-aaaaaaaaaaaa resumes with it in the background; its report is delivered to you"].assert_eq(&text);
    assert_eq!(
        family.done(),
        ["send call-1 agent-aaaaaaaaaaaa: Look in docs, too.", "send call-1 parent:  Go on. "],
        "the words are as they were written"
    );
}

#[tokio::test]
async fn an_invalid_message_is_not_sent() {
    let family = Family::of(Vec::new());
    let project = family.project();
    *family.receipt.lock().unwrap() = Some(Receipt::Delivered { task: id('a') });
    for (to, said) in [(" ", ""), ("agent-aaa", "agent-aaa"), ("everybody", "everybody")] {
        let refused = project.failed("SendMessage", json!({"to": to, "message": "hello"})).await;
        assert_eq!(refused, format!("nothing was sent: `{said}` is neither a full task id nor parent"));
    }
    let send = |message: String| json!({"to": "parent", "message": message});
    assert_eq!(project.failed("SendMessage", send(" \n".to_owned())).await, "nothing was sent: the message is empty");
    expect![
        "nothing was sent: the message has 16,385 bytes, at most 16,384 bytes can be sent; shorten it, or write a file and name it"
    ]
    .assert_eq(&project.failed("SendMessage", send("x".repeat(16_385))).await);
    assert!(family.done().is_empty());
    project.done("SendMessage", send("x".repeat(16_384))).await;
    assert_eq!(family.done().len(), 1);
    *family.receipt.lock().unwrap() = None;
    let refused = project.failed("SendMessage", send("hello".to_owned())).await;
    assert_eq!(refused, "there is no such task to write to");
}

#[tokio::test]
async fn a_rule_about_an_agent_covers_messages_to_it() {
    let family = Family::of(vec![glance('a', works())]);
    let judged = |to: &str| family.project().resource("SendMessage", &json!({"to": to, "message": "Go on."}));
    assert_eq!(judged(id('a').letters()), Resource::Agent { name: "explore".to_owned(), aliases: Vec::new() });
    assert_eq!(judged("parent"), Resource::Nothing);
}
