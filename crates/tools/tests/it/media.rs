//! Images and documents through Read.

use std::fs::OpenOptions;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use serde_json::json;

use crate::project::Project;

/// The start of an image of this size, padded to this many bytes.
fn png(width: u32, height: u32, n_bytes: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes().into_iter().chain(height.to_be_bytes()));
    bytes.resize(n_bytes, 7);
    bytes
}

async fn check_refusal(project: &Project, path: &str, expected: Expect) {
    expected.assert_eq(&project.failed("Read", json!({"file_path": path})).await);
    assert!(project.run("Read", json!({"file_path": path})).await.attachments.is_empty());
}

#[tokio::test]
async fn an_image_is_returned_whole_with_a_line_that_describes_it() {
    let project = Project::new(&[]);
    project.write("docs/logo.txt", png(640, 480, 12_345));
    let output = project.run("Read", json!({"file_path": "docs/logo.txt"})).await;
    assert!(!output.failed);
    assert_eq!(output.for_model, "image/png, 640×480, 12,345 bytes");
    assert_eq!(output.for_people, "docs/logo.txt: image/png, 640×480, 12,345 bytes");
    let [attachment] = output.attachments.as_slice() else { panic!("one attachment: {output:?}") };
    assert_eq!((attachment.name.as_str(), attachment.media_type.as_str()), ("docs/logo.txt", "image/png"));
    assert_eq!(attachment.data.len(), 12_345 / 3 * 4);
    assert!(attachment.data.starts_with("iVBORw0KGgoAAAANSUhEUgAAAoAAAAHg"), "{}", &attachment.data[..40]);
}

#[tokio::test]
async fn files_are_recognised_by_their_bytes_not_their_names() {
    let project = Project::new(&[("text.png", "no image\n")]);
    assert_eq!(project.done("Read", json!({"file_path": "text.png"})).await, "1\tno image");
    let starts: [(&[u8], &str, &str); 4] = [
        (b"GIF89a\x40\x01\xf0\x00;", "image/gif, 320×240, 11 bytes", "R0lGODlhQAHwADs="),
        (b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\0\0\x1f\0\0", "image/webp, 64×32, 30 bytes", "UklGR"),
        (b"\xff\xd8\xff\xc0\0\x0b\x08\0\x10\0\x20\x01\x01\x11\0\xff\xd9", "image/jpeg, 32×16, 17 bytes", "/9j/w"),
        (b"%PDF-1.7\n1 0 obj\n", "application/pdf, 17 bytes", "JVBERi0xLjcKMSAwIG9iago="),
    ];
    for (bytes, expected, base64) in starts {
        project.write("file", bytes);
        let output = project.run("Read", json!({"file_path": "file"})).await;
        assert_eq!(output.for_model, expected);
        assert!(expected.starts_with(&output.attachments[0].media_type));
        assert!(output.attachments[0].data.starts_with(base64), "{}", output.attachments[0].data);
    }
}

#[tokio::test]
async fn lines_of_an_image_cannot_be_requested_and_a_note_says_so() {
    let project = Project::new(&[]);
    project.write("a.png", png(1, 1, 24));
    for arguments in [json!({"file_path": "a.png", "offset": 5}), json!({"file_path": "a.png", "limit": 5})] {
        let output = project.run("Read", arguments).await;
        assert_eq!(
            output.for_model,
            "image/png, 1×1, 24 bytes\n[offset and limit do not apply: the file is returned whole]"
        );
        assert_eq!(output.attachments.len(), 1);
    }
}

#[tokio::test]
async fn a_file_that_no_model_would_take_is_refused_with_its_size_and_the_limit() {
    let project = Project::new(&[]);
    project.write("most.png", png(8000, 8000, 3_750_000));
    let output = project.run("Read", json!({"file_path": "most.png"})).await;
    assert_eq!(output.attachments[0].data.len(), 5_000_000, "{}", output.for_model);
    project.write("large.png", png(10, 10, 3_750_001));
    check_refusal(
        &project,
        "large.png",
        expect!["`large.png` was not read: image/png of 3,750,001 bytes; models get at most 3,750,000; read a smaller copy instead"],
    )
    .await;
    project.write("wide.png", png(8001, 1, 100));
    check_refusal(
        &project,
        "wide.png",
        expect!["`wide.png` was not read: image/png of 8001×1 pixels; models take at most 8000 a side; read a smaller copy instead"],
    )
    .await;
    project.write("damaged.png", png(640, 480, 20));
    check_refusal(
        &project,
        "damaged.png",
        expect!["`damaged.png` was not read: it starts like image/png (20 bytes), but its header is damaged"],
    )
    .await;
    project.write("locked.pdf", "%PDF-1.7\n...\ntrailer\n<</Size 9/Root 1 0 R/Encrypt 8 0 R>>\n");
    check_refusal(&project, "locked.pdf", expect!["`locked.pdf` was not read: application/pdf of 58 bytes, encrypted; models take only documents without a password"]).await;
}

#[tokio::test]
async fn a_document_of_a_tebibyte_is_refused_without_reading_it() {
    let project = Project::new(&[("huge.pdf", "%PDF-1.7\n")]);
    OpenOptions::new().write(true).open(project.path("huge.pdf")).unwrap().set_len(1 << 40).unwrap();
    let start = Instant::now();
    check_refusal(
        &project,
        "huge.pdf",
        expect!["`huge.pdf` was not read: application/pdf of 1,099,511,627,776 bytes; models get at most 3,750,000; read a smaller part of it instead"],
    )
    .await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}
