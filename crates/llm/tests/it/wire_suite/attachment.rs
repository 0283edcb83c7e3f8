//! Files in tool outputs: the model gets the file, or text in its place.

use sortie_llm::WireKind;
use sortie_llm::wire::support;
use sortie_protocol::{Attachment, Message, ToolOutput, Usage};
use sortie_testkit::{Script, reply};

use crate::caller::{ONE_TRY, caller};
use crate::fixture::{self, attachment, call, outputs};

/// A history that ends with a tool's output.
fn history(output: ToolOutput) -> [Message; 3] {
    let asked = fixture::reply(vec![call("call_1", "Read", r#"{"path":"a"}"#)]);
    [Message::user("What is in it?"), asked, outputs(vec![("call_1", output)])]
}

/// The scripted server rejects the file kinds and forms that the providers reject.
pub(super) async fn attachments_of_an_output_reach_the_model_or_are_named(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::text("Seen.")), ONE_TRY);
    let carried = [support(wire).output_images, support(wire).output_documents].concat();
    for (name, media_type, data) in [
        ("logo.png", "image/png", "iVBORw0KGgo="),
        ("photo.jpg", "image/jpeg", "/9j/4AAQSkZJ"),
        ("dance.gif", "image/gif", "R0lGODlh"),
        ("shot.webp", "image/webp", "UklGRhoA"),
        ("phone.heic", "image/heic", "AAAAHGZ0eXBoZWlj"),
        ("paper.pdf", "application/pdf", "JVBERi0xLjcK"),
        ("film.mp4", "video/mp4", "AAAAGGZ0eXA="),
    ] {
        for (said, failed) in [("Here it is.", false), ("Only half of it.", true), ("", false)] {
            let output = ToolOutput { failed, ..ToolOutput::done(said, said) };
            let files = vec![attachment(name, media_type, data), attachment("gone.png", "image/png", "")];
            let answer = caller.go_on(&history(output.with_attachments(files))).await.1.unwrap();
            assert_eq!(answer.text(), "Seen.");
            let sent = String::from_utf8(caller.server.requests().last().unwrap().raw.clone()).unwrap();
            let is_carried = carried.contains(&media_type) && (!failed || support(wire).files_in_failures);
            assert_eq!(sent.contains(data), is_carried, "{name} in {sent}");
            let words = format!("[attachment {name} ({media_type}, ");
            assert_eq!(sent.contains(&words), !is_carried, "{name} in {sent}");
            assert!(sent.contains("[attachment gone.png (image/png, 0 bytes) was left out: it is empty]"), "{sent}");
            assert!(sent.contains(said) && !sent.contains("(no output)"), "{sent}");
        }
    }
}

pub(super) async fn the_bytes_of_an_attachment_are_not_counted_as_text(wire: WireKind) {
    let uncounted = reply::text("Seen.").usage(Usage::default());
    let caller = caller(wire, Script::always(uncounted), ONE_TRY);
    let tokens = async |files: Vec<Attachment>| {
        let output = ToolOutput::done("Here it is.", "").with_attachments(files);
        caller.go_on(&history(output)).await.1.unwrap().usage.input_tokens
    };
    let megabyte = "AAAA".repeat(350_000);
    let without = tokens(vec![]).await;
    let with = tokens(vec![attachment("logo.png", "image/png", &megabyte)]).await;
    assert!((without..without + 2000).contains(&with), "{without} tokens without the picture, {with} with it");
}
