use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::project::Project;

fn tree() -> Project {
    Project::new(&[
        ("src/main.rs", "fn main() {\n    run();\n}\n"),
        ("src/run.rs", "use x;\n\npub fn run() {\n    // Run it\n}\n\nfn other() {}\n\nfn last() { run() }\n"),
        ("docs/run.md", "How to run it\n"),
    ])
}

async fn check(project: &Project, arguments: Value, expected: Expect) {
    expected.assert_eq(&project.done("Grep", arguments).await);
}

#[tokio::test]
async fn files_with_matches_are_listed_by_default() {
    let output = tree().run("Grep", json!({"pattern": "run"})).await;
    assert_eq!(output.for_model, "docs/run.md\nsrc/main.rs\nsrc/run.rs");
    assert_eq!(output.for_people, "3 files");
}

#[tokio::test]
async fn content_is_grouped_by_file_with_line_numbers() {
    let project = tree();
    let output = project.run("Grep", json!({"pattern": r"run\(", "output_mode": "content"})).await;
    expect![[r"
        src/main.rs
        2:    run();

        src/run.rs
        3:pub fn run() {
        9:fn last() { run() }"]]
    .assert_eq(&output.for_model);
    assert_eq!(output.for_people, "3 matches in 2 files");
    check(
        &project,
        json!({"pattern": "other", "output_mode": "content", "-n": false, "path": "src/run.rs"}),
        expect!["src/run.rs\nfn other() {}"],
    )
    .await;
}

#[tokio::test]
async fn context_is_marked_and_gaps_are_shown() {
    let project = tree();
    check(
        &project,
        json!({"pattern": "fn run|fn last", "output_mode": "content", "-A": 1, "-B": "1"}),
        expect![[r"
            src/run.rs
            2-
            3:pub fn run() {
            4-    // Run it
            --
            8-
            9:fn last() { run() }"]],
    )
    .await;
    check(
        &project,
        json!({"pattern": "// Run", "output_mode": "content", "-C": 1}),
        expect!["src/run.rs\n3-pub fn run() {\n4:    // Run it\n5-}"],
    )
    .await;
}

#[tokio::test]
async fn counts_are_of_matching_lines() {
    let output = tree().run("Grep", json!({"pattern": "run", "-i": true, "output_mode": "count"})).await;
    assert_eq!(output.for_model, "docs/run.md:1\nsrc/main.rs:1\nsrc/run.rs:3");
    assert_eq!(output.for_people, "5 matches in 3 files");
}

#[tokio::test]
async fn files_are_chosen_by_path_glob_and_type() {
    let project = tree();
    for (arguments, expected) in [
        (json!({"pattern": "run", "path": "docs"}), "docs/run.md"),
        (json!({"pattern": "run", "path": project.path("src/main.rs")}), "src/main.rs"),
        (json!({"pattern": "run", "glob": "*.md"}), "docs/run.md"),
        (json!({"pattern": "run", "glob": "src/**"}), "src/main.rs\nsrc/run.rs"),
        (json!({"pattern": "run", "glob": "run.*", "path": "src"}), "src/run.rs"),
        (json!({"pattern": "run", "glob": "*.{rs,md} !run.*"}), "src/main.rs"),
        (json!({"pattern": "run", "type": "md"}), "docs/run.md"),
        (json!({"pattern": "run", "type": "rust", "glob": "!main.rs"}), "src/run.rs"),
    ] {
        assert_eq!(project.done("Grep", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_search_without_matches_says_how_much_was_searched() {
    let project = tree();
    check(&project, json!({"pattern": "absent"}), expect!["[no match in 3 files]"]).await;
    check(
        &project,
        json!({"pattern": "run", "glob": "*.py"}),
        expect!["[no match: the glob or type fits none of 3 files]"],
    )
    .await;
    project.write(".gitignore", "docs\n");
    check(&project, json!({"pattern": "How to"}), expect!["[no match in 3 files; 1 entry hidden by ignore files]"])
        .await;
    check(&project, json!({"pattern": "other"}), expect!["src/run.rs\n[1 entry hidden by ignore files]"]).await;
    check(&project, json!({"pattern": "How to", "path": "docs"}), expect!["docs/run.md"]).await;
    check(&project, json!({"pattern": "How to", "path": "docs/run.md"}), expect!["docs/run.md"]).await;
}

#[tokio::test]
async fn a_match_can_span_lines_when_asked() {
    let project = tree();
    check(
        &project,
        json!({"pattern": r"main\(\) \{.*?run", "multiline": true, "output_mode": "content"}),
        expect!["src/main.rs\n1:fn main() {\n2:    run();"],
    )
    .await;
    assert!(project.failed("Grep", json!({"pattern": "a\\nb"})).await.contains("set multiline"));
}

#[tokio::test]
async fn both_kinds_of_line_ends_are_recognised() {
    let project = Project::new(&[("dos", "one two\r\nthree\r\n"), ("unix", "one two\nthree\n")]);
    check(&project, json!({"pattern": "two$"}), expect!["dos\nunix"]).await;
    check(&project, json!({"pattern": "^three$", "output_mode": "content"}), expect!["dos\n2:three\n\nunix\n2:three"])
        .await;
}

#[tokio::test]
async fn invalid_patterns_are_refused_with_a_hint() {
    let project = tree();
    let brace = project.failed("Grep", json!({"pattern": "interface{"})).await;
    assert!(brace.contains("not a valid regex") && brace.contains(r"write \{"), "{brace}");
    let around = project.failed("Grep", json!({"pattern": "(?=x)"})).await;
    assert!(around.contains("look-around and backreferences are not supported"), "{around}");
    let bomb = project.failed("Grep", json!({"pattern": "((a{100}){100}){100}"})).await;
    assert!(bomb.contains("use a simpler pattern"), "{bomb}");
    assert!(project.failed("Grep", json!({"pattern": ""})).await.contains("the pattern is empty"));
    assert!(project.failed("Grep", json!({"pattern": "x".repeat(5000)})).await.contains("at most 4096"));
    assert!(project.failed("Grep", json!({"pattern": "x", "glob": "["})).await.contains("nothing was searched"));
    let file_type = project.failed("Grep", json!({"pattern": "x", "type": "*.{rs,py}"})).await;
    assert!(file_type.contains("there is no such file type; use glob"), "{file_type}");
    assert!(project.failed("Grep", json!({"pattern": "x", "output_mode": "lines"})).await.contains("`lines`"));
}

#[tokio::test]
async fn an_unknown_type_is_taken_as_an_extension_with_a_note() {
    let project = tree();
    check(
        &project,
        json!({"pattern": "fn main", "type": "rs"}),
        expect!["src/main.rs\n[no type `rs`, so *.rs was searched]"],
    )
    .await;
    check(
        &project,
        json!({"pattern": "fn main", "type": "rustt"}),
        expect!["[no match: the glob or type fits none of 3 files; no type `rustt`, so *.rustt was searched; did you mean `rust`?]"],
    )
    .await;
}

#[tokio::test]
async fn a_named_file_is_searched_despite_the_glob_with_a_note() {
    let project = tree();
    let note = "[glob or type does not fit the file that path names; it was searched all the same]";
    for (filter, value) in [("glob", "*.md"), ("glob", "!src/**"), ("type", "md")] {
        let text = project.done("Grep", json!({"pattern": "run", "path": "src/main.rs", filter: value})).await;
        assert_eq!(text, format!("src/main.rs\n{note}"), "{filter} {value}");
    }
    for glob in ["*.rs", "src/*", "main.*"] {
        let text = project.done("Grep", json!({"pattern": "run", "path": "src/main.rs", "glob": glob})).await;
        assert_eq!(text, "src/main.rs", "{glob}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_by_its_size_does_not_blame_the_limit() {
    let project = Project::new(&[("a.txt", &("begin\n".to_owned() + &"x\n".repeat(40_000) + "end\n"))]);
    let arguments = json!({"pattern": "begin.*end", "multiline": true, "output_mode": "content"});
    let text = project.done("Grep", arguments).await;
    let note = "\n[first 1 match, cut at 50 KiB: narrow the pattern, path, glob or type, or ask for less context]";
    assert!(text.starts_with("a.txt\n1:begin\n2:x\n") && text.ends_with(note), "{}", &text[text.len() - 200..]);
}

#[tokio::test]
async fn a_limit_keeps_the_first_matches_and_says_that_there_are_more() {
    let project = Project::new(&[]);
    for n in 0..40 {
        project.write(&format!("f{n:02}.txt"), "hit\nmiss\nhit\n");
    }
    check(
        &project,
        json!({"pattern": "hit", "output_mode": "content", "head_limit": 3}),
        expect![[r"
            f00.txt
            1:hit
            3:hit

            f01.txt
            1:hit
            [first 3 matches; more follow: narrow the pattern, path, glob or type, or raise head_limit]"]],
    )
    .await;
    let files = project.run("Grep", json!({"pattern": "hit", "head_limit": "2"})).await;
    assert!(files.for_model.starts_with("f00.txt\nf01.txt\n[first 2 files; more follow"));
    assert_eq!(files.for_people, "first 2 files");
    let all = project.done("Grep", json!({"pattern": "hit", "head_limit": 40})).await;
    assert!(all.ends_with("f39.txt"), "exactly as many as the limit is not a cut: {all}");
    let content = project.run("Grep", json!({"pattern": "hit", "output_mode": "content", "head_limit": 0})).await;
    assert_eq!(content.for_people, "80 matches in 40 files");
}

#[tokio::test]
async fn a_limit_counts_matches_not_lines() {
    let project = Project::new(&[("a.txt", "begin\nend\nx\nbegin\nend\n"), ("b.txt", "1\nhit\n3\n4\n5\n6\nhit\n")]);
    check(
        &project,
        json!({"pattern": "begin\nend", "multiline": true, "output_mode": "content", "head_limit": 1}),
        expect![[r"
            a.txt
            1:begin
            2:end
            [first 1 match; more follow: narrow the pattern, path, glob or type, or raise head_limit]"]],
    )
    .await;
    let cut = project.done("Grep", json!({"pattern": "hit", "-C": 1, "head_limit": 1})).await;
    assert!(cut.starts_with("b.txt\n1-1\n2:hit\n3-3\n[first 1 match"), "context alone asks for content: {cut}");
    let wide = project.done("Grep", json!({"pattern": "4", "-A": 1000})).await;
    assert!(wide.ends_with("7-hit\n[at most 50 lines of context on each side]"), "{wide}");
}

#[tokio::test]
async fn a_file_name_cannot_pretend_to_be_several_lines() {
    let project = Project::new(&[("a\n1:fake", "hit"), ("b\u{1b}[2J", "hit")]);
    check(
        &project,
        json!({"pattern": "hit"}),
        expect![[r"
            a\x0a1:fake
            b\x1b[2J
            [2 names with hidden characters or not UTF-8, spelled with \x; give them back so]"]],
    )
    .await;
}

#[tokio::test]
async fn a_cut_answer_is_always_the_same() {
    let project = Project::new(&[]);
    for n in 0..600 {
        project.write(&format!("d{}/f{n}.txt", n % 10), "a needle in a longer line\n".repeat(n % 9));
    }
    let arguments = json!({"pattern": "needle", "output_mode": "content", "head_limit": 0});
    let first = project.done("Grep", arguments.clone()).await;
    assert!(first.contains("cut at 50 KiB") && first.len() <= 51 * 1024);
    for _ in 0..20 {
        assert_eq!(project.done("Grep", arguments.clone()).await, first);
    }
}

#[tokio::test]
async fn files_that_were_not_searched_are_counted() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    project.write("b.bin", b"\x00needle\n");
    project.write("late.txt", [b"needle\n".repeat(3000), b"\x00".to_vec(), b"needle\n".to_vec()].concat());
    project.fifo("pipe");
    project.link("a.txt", "link.txt");
    check(
        &project,
        json!({"pattern": "needle", "output_mode": "count"}),
        expect![[r"
            a.txt:1
            late.txt:3001
            [1 binary file skipped; 1 symbolic link not followed; 1 special file skipped]"]],
    )
    .await;
    assert!(project.failed("Grep", json!({"pattern": "x", "path": "pipe"})).await.contains("named pipe"));
}

#[tokio::test]
async fn long_lines_are_cut_around_the_match() {
    let project = Project::new(&[("min.js", &format!("{}needle{}\n", "a;".repeat(2500), ";b".repeat(2500)))]);
    let text = project.done("Grep", json!({"pattern": "needle", "output_mode": "content"})).await;
    assert!(text.starts_with("min.js\n1:[4900 chars] a;a") && text.ends_with(";b;b [4706 chars]"), "{text}");
}

#[tokio::test]
async fn a_cut_shows_no_part_of_a_word() {
    let key = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    let parts: Vec<&str> = (0..key.len() - 8).map(|at| &key[at..at + 8]).collect();
    for n_between in [0, 60, 80, 95, 330, 360, 390] {
        let (around, between) = ("z ".repeat(400), "q ".repeat(n_between / 2));
        let project = Project::new(&[
            ("before.js", &format!("{around}{key} {between}needle{around}\n")),
            ("after.js", &format!("{around}needle {between}{key}{around}\n")),
        ]);
        let text = project.done("Grep", json!({"pattern": "needle", "output_mode": "content"})).await;
        let shown = text.replace(&key, "");
        assert!(!parts.iter().any(|part| shown.contains(part)), "{n_between}: {text}");
        let inside = project.done("Grep", json!({"pattern": "mN1p", "output_mode": "content"})).await;
        assert_eq!(inside.matches(&key).count(), 2, "a match within a word shows all of it: {inside}");
    }
    let image = format!("url(data:image/png;base64,{}needle{})\n", "A".repeat(900), "B".repeat(900));
    let project = Project::new(&[("a.css", &image)]);
    let text = project.done("Grep", json!({"pattern": "needle", "output_mode": "content"})).await;
    assert_eq!(text, "a.css\n1:url(data:image/png;base64,[1806 chars])");
}

#[tokio::test]
async fn a_match_is_found_anywhere_in_a_file_of_any_size() {
    let project = Project::new(&[]);
    for n_bytes in [10, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 300_000] {
        let filler = "x\n".repeat(n_bytes);
        project.write("a.txt", format!("{}needle", &filler[..n_bytes - 6]));
        let n_lines = (n_bytes - 6) / 2 + 1;
        let expected = format!("a.txt\n{n_lines}:{}needle", if n_bytes % 2 == 0 { "" } else { "x" });
        let arguments = json!({"pattern": "needle$", "output_mode": "content"});
        assert_eq!(project.done("Grep", arguments).await, expected, "{n_bytes} bytes");
    }
}

#[tokio::test]
async fn a_byte_order_mark_belongs_to_no_line() {
    let project = Project::new(&[("small", "\u{feff}needle\n")]);
    project.write("large", format!("\u{feff}needle\n{}", "x\n".repeat(100_000)));
    check(
        &project,
        json!({"pattern": "^needle$", "output_mode": "content"}),
        expect!["large\n1:needle\n\nsmall\n1:needle"],
    )
    .await;
}

#[tokio::test]
async fn a_search_with_enough_matches_says_nothing_about_unreached_files() {
    let project = Project::new(&[("a.txt", "hit\n"), ("b.txt", "hit\n"), ("z/.gitignore", "x\n"), ("z/x", "hit\n")]);
    project.link("a.txt", "z/link");
    check(
        &project,
        json!({"pattern": "hit", "head_limit": 1}),
        expect!["a.txt\n[first 1 file; more follow: narrow the pattern, path, glob or type, or raise head_limit]"],
    )
    .await;
    let whole = expect!["a.txt\nb.txt\n[1 entry hidden by ignore files; 1 symbolic link not followed]"];
    check(&project, json!({"pattern": "hit"}), whole).await;
}
