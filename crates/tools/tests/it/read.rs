use std::fs::OpenOptions;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::project::Project;

async fn check(project: &Project, arguments: Value, expected: Expect) {
    expected.assert_eq(&project.run("Read", arguments).await.for_model);
}

#[tokio::test]
async fn lines_are_numbered_and_a_whole_file_needs_no_note() {
    let project = Project::new(&[("src/a.rs", "fn a() {\n\n}\n"), ("no_end", "one\ntwo")]);
    check(&project, json!({"file_path": "src/a.rs"}), expect!["1\tfn a() {\n2\t\n3\t}"]).await;
    check(&project, json!({"file_path": "no_end"}), expect!["1\tone\n2\ttwo"]).await;
    let absolute = project.path("src/../src/a.rs");
    assert_eq!(project.done("Read", json!({"file_path": absolute})).await, "1\tfn a() {\n2\t\n3\t}");
    let output = project.run("Read", json!({"file_path": "no_end"})).await;
    assert_eq!(output.for_people, "no_end: lines 1-2 of 2");
}

#[tokio::test]
async fn a_page_says_where_it_is_and_how_to_continue() {
    let text = (1..=30).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let project = Project::new(&[("a.txt", &text)]);
    let middle = json!({"file_path": "a.txt", "offset": 10, "limit": "2"});
    check(&project, middle, expect!["10\tline 10\n11\tline 11\n[lines 10-11 of 30; continue with offset 12]"]).await;
    let end = json!({"file_path": "a.txt", "offset": 29.0, "limit": null});
    check(&project, end, expect!["29\tline 29\n30\tline 30\n[lines 29-30 of 30]"]).await;
    let exact = json!({"file_path": "a.txt", "offset": 30, "limit": 1});
    check(&project, exact, expect!["30\tline 30\n[lines 30-30 of 30]"]).await;
    let past = json!({"file_path": "a.txt", "offset": 31});
    assert_eq!(project.failed("Read", past).await, "`a.txt` has 30 lines; offset 31 is past its end");
}

#[tokio::test]
async fn pages_joined_together_are_the_file() {
    let lines: Vec<String> = (1..=5000).map(|n| format!("{n} {}", "x".repeat(n % 90))).collect();
    let project = Project::new(&[("a.txt", &lines.join("\n"))]);
    let (mut offset, mut seen) = (1, Vec::new());
    loop {
        let page = project.done("Read", json!({"file_path": "a.txt", "offset": offset})).await;
        assert!(page.len() <= 51 * 1024);
        seen.extend(page.lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())));
        match page.rsplit_once("continue with offset ") {
            Some((_, next)) => offset = next.trim_end_matches(']').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(seen, lines);
}

#[tokio::test]
async fn a_page_beyond_line_a_million_names_exactly_what_it_shows() {
    let text = "\n".repeat(999_000) + &"twenty bytes of text\n".repeat(5000);
    let project = Project::new(&[("a.txt", &text)]);
    let page = project.done("Read", json!({"file_path": "a.txt", "offset": 999_990})).await;
    let (body, note) = page.rsplit_once('\n').unwrap();
    let numbers: Vec<u64> = body.lines().map(|line| line.split_once('\t').unwrap().0.parse().unwrap()).collect();
    let last = *numbers.last().unwrap();
    assert_eq!(numbers, (999_990..=last).collect::<Vec<_>>());
    assert!(numbers.len() < 2000, "the page is cut by its size");
    assert_eq!(note, format!("[lines 999990-{last} of 1004000; continue with offset {}]", last + 1));
}

#[tokio::test]
async fn no_offset_is_too_large_to_be_answered() {
    let project = Project::new(&[("a.txt", "x\n")]);
    let text = project.failed("Read", json!({"file_path": "a.txt", "offset": u64::MAX})).await;
    assert_eq!(text, "`a.txt` has 1 line; offset 18446744073709551615 is past its end");
}

#[tokio::test]
async fn two_thousand_lines_are_shown_by_default() {
    let project = Project::new(&[("a.txt", &"x\n".repeat(3000))]);
    let text = project.done("Read", json!({"file_path": "a.txt"})).await;
    assert!(text.ends_with("\n2000\tx\n[lines 1-2000 of 3000; continue with offset 2001]"), "{text}");
}

#[tokio::test]
async fn a_long_line_is_cut_and_marked_with_its_length() {
    let project = Project::new(&[("a.txt", &format!("{}\nshort\n", "ä".repeat(5000)))]);
    let text = project.done("Read", json!({"file_path": "a.txt"})).await;
    let cut = format!("1\t{} [cut; 10001 bytes in all]\n2\tshort\n[1 line cut at 2000 characters]", "ä".repeat(2000));
    assert_eq!(text, cut);
    project.write("b.txt", "𝄞".repeat(2001));
    assert!(project.done("Read", json!({"file_path": "b.txt"})).await.contains("[cut; 8004 bytes in all]"));
    project.write("c.txt", "𝄞".repeat(2000));
    assert_eq!(project.done("Read", json!({"file_path": "c.txt"})).await, format!("1\t{}", "𝄞".repeat(2000)));
}

#[tokio::test]
async fn a_cut_line_ends_before_a_split_word() {
    let key = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    for n_before in [1955, 1960, 1970, 1996, 1999] {
        let line = format!("{} {key} tail", "x".repeat(n_before - 1));
        let project = Project::new(&[("a.txt", &format!("{line}{}\n", " more".repeat(20)))]);
        let text = project.done("Read", json!({"file_path": "a.txt"})).await;
        let shown = text.split(" [cut").next().unwrap().rsplit('x').next().unwrap();
        assert_eq!(shown.trim_end() == format!(" {key}"), n_before == 1960, "{n_before}: {shown}");
        assert!(shown.contains(&key) || shown.trim().is_empty(), "{n_before}: {shown}");
    }
    let project = Project::new(&[("a.txt", &"x".repeat(10_000))]);
    let text = project.done("Read", json!({"file_path": "a.txt"})).await;
    assert_eq!(text, "1\t[cut; 10000 bytes in all]\n[1 line cut at 2000 characters]");
}

#[tokio::test]
async fn binary_and_invalid_bytes_are_distinguished() {
    let project = Project::new(&[("empty", "")]);
    project.write("binary", b"\x7fELF\x00\x01");
    project.write("utf16", b"\xff\xfeh\x00i\x00");
    project.write("latin1", b"caf\xe9\nok\n");
    project.write("crlf", "one\r\ntwo\r\n");
    project.write("mixed", "one\r\ntwo\nthree\r\nfour");
    check(&project, json!({"file_path": "empty"}), expect!["[the file is empty]"]).await;
    check(
        &project,
        json!({"file_path": "binary"}),
        expect!["`binary` was not read: it is binary (6 bytes, a NUL at byte 4); only text, PNG, JPEG, GIF, WebP and PDF can be read"],
    )
    .await;
    check(
        &project,
        json!({"file_path": "utf16"}),
        expect!["`utf16` was not read: it looks like UTF-16 text (6 bytes), and only UTF-8 is known"],
    )
    .await;
    check(&project, json!({"file_path": "latin1"}), expect!["1\tcaf�\n2\tok\n[not UTF-8 in 1 line, shown as �]"]).await;
    check(&project, json!({"file_path": "crlf"}), expect!["1\tone\n2\ttwo\n[lines end with CRLF]"]).await;
    let mixed = expect!["1\tone\n2\ttwo\n3\tthree\n4\tfour\n[2 of these lines end with CRLF, the others with LF]"];
    check(&project, json!({"file_path": "mixed"}), mixed).await;
}

#[tokio::test]
async fn an_unreadable_path_is_refused_with_what_to_do_instead() {
    let project = Project::new(&[("src/main.rs", "x"), ("b.txt", "x")]);
    project.fifo("pipe");
    check(&project, json!({"file_path": "src"}), expect!["`src` is a directory, not a file; use LS to list it"]).await;
    check(
        &project,
        json!({"file_path": "src/mian.rs"}),
        expect!["`src/mian.rs` does not exist; the nearest existing directory is `src`; did you mean `src/main.rs`?"],
    )
    .await;
    check(
        &project,
        json!({"file_path": "nodir/b.txt"}),
        expect!["`nodir/b.txt` does not exist; the nearest existing directory is `.`"],
    )
    .await;
    check(&project, json!({"file_path": "pipe"}), expect!["`pipe` is a named pipe; only regular files can be read"])
        .await;
    check(
        &project,
        json!({"file_path": "src/main.rs/x"}),
        expect!["`src/main.rs/x` is not a directory, or passes through something that is not one"],
    )
    .await;
}

#[tokio::test]
async fn wrong_arguments_are_explained_with_the_schema() {
    let project = Project::new(&[("a", "x\n")]);
    assert_eq!(project.done("Read", json!({"path": "a"})).await, "1\tx", "another name with one meaning");
    let missing = project.failed("Read", json!({"file": "a"})).await;
    assert!(
        missing.contains("missing field `file_path`") && missing.contains("\"required\":[\"file_path\"]"),
        "{missing}"
    );
    let wrong = project.failed("Read", json!({"file_path": "a", "limit": "all"})).await;
    assert!(wrong.contains("`all` is not a whole number"), "{wrong}");
    let long = project.failed("Read", json!({"file_path": "a", "limit": "x".repeat(1_000_000)})).await;
    assert!(long.len() < 1000 && long.contains("xxx… (cut)"), "{} bytes", long.len());
    let unknown = project.done("Read", json!({"file_path": "a", "encoding": "utf-8"})).await;
    assert_eq!(unknown, "1\tx\n[unknown arguments ignored: encoding]");
}

#[tokio::test]
async fn a_huge_sparse_file_is_paged_without_reading_it_all() {
    let project = Project::new(&[("big", &"line\n".repeat(5000))]);
    OpenOptions::new().write(true).open(project.path("big")).unwrap().set_len(1 << 40).unwrap();
    let text = project.done("Read", json!({"file_path": "big", "offset": 10, "limit": 2})).await;
    assert_eq!(text, "10\tline\n11\tline\n[lines 10-11; continue with offset 12]");
}

#[tokio::test]
async fn a_line_of_two_gibibytes_is_cut_and_its_length_is_not_claimed() {
    let project = Project::new(&[("big", &"a".repeat(16 * 1024))]);
    OpenOptions::new().write(true).open(project.path("big")).unwrap().set_len(2 << 30).unwrap();
    let text = project.done("Read", json!({"file_path": "big"})).await;
    assert!(text.contains("[cut; at least 67116868 bytes in all]"), "{}", &text[2000..]);
    assert!(text.ends_with(
        "line 1 has no end within 67116868 bytes; what follows it was not looked at; 1 line cut at 2000 characters]"
    ));
}
