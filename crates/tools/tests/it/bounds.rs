//! Sizes and shapes that must not cost memory, time or the stack.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::project::Project;

#[tokio::test]
async fn a_tree_too_deep_for_paths_is_searched_as_far_as_paths_reach() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    let deep = deep_directory(&project, 900, "dddd");
    let text = project.done("Grep", json!({"pattern": "needle"})).await;
    assert_eq!(text, "a.txt\n[1 directory could not be listed]");
    let found = project.done("Glob", json!({"pattern": "**"})).await;
    assert_eq!(found, "a.txt\n[1 directory could not be listed]");
    drop(deep);
}

/// Makes a chain of directories longer than any path may be.
fn deep_directory(project: &Project, levels: usize, name: &str) -> rustix::fd::OwnedFd {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let open = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut directory = openat(CWD, project.path("."), open, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&directory, name, Mode::RWXU).unwrap();
        directory = openat(&directory, name, open, Mode::empty()).unwrap();
    }
    directory
}

#[tokio::test]
async fn special_files_are_answered_at_once() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    project.fifo("pipe");
    project.fifo(".gitignore");
    let _socket = std::os::unix::net::UnixListener::bind(project.path("socket")).unwrap();
    let start = Instant::now();
    for path in ["pipe", ".gitignore", "socket"] {
        assert!(project.failed("Read", json!({"file_path": path})).await.contains("only regular files can be read"));
    }
    assert_eq!(project.done("Grep", json!({"pattern": "needle"})).await, "a.txt\n[3 special files skipped]");
    assert!(start.elapsed() < Duration::from_millis(400), "{:?}", start.elapsed());
}

#[tokio::test]
async fn ignore_files_outside_the_workspace_or_too_large_are_not_used() {
    let project = Project::new(&[("a.txt", "needle\n"), ("sub/b.txt", "needle\n")]);
    fs::write(project.outside("rules"), "*.txt\n").unwrap();
    project.link(project.outside("rules"), ".gitignore");
    project.write("sub/.ignore", "x*y*z\n".repeat(100_000));
    assert_eq!(
        project.done("Grep", json!({"pattern": "needle"})).await,
        "a.txt\nsub/b.txt\n[1 ignore file not used (unreadable or too large); 1 symbolic link not followed]"
    );
}

#[tokio::test]
async fn an_ignore_file_full_of_wildcards_does_not_stop_a_search() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    let rules = (0..4_500).map(|n| format!("*{n}*x*y*z")).collect::<Vec<_>>().join("\n");
    project.write(".gitignore", &rules);
    let start = Instant::now();
    let text = project.done("Grep", json!({"pattern": "needle"})).await;
    assert!(text.starts_with("a.txt"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_unusable_ignore_file_above_a_search_is_counted() {
    let project = Project::new(&[("sub/deep/a.txt", "needle\n")]);
    project.write(".gitignore", "x*y*z\n".repeat(100_000));
    project.write("sub/.ignore", "x*y*z\n".repeat(100_000));
    let note = "[2 ignore files not used (unreadable or too large)]";
    let path = json!({"pattern": "needle", "path": "sub/deep"});
    assert_eq!(project.done("Grep", path).await, format!("sub/deep/a.txt\n{note}"));
    assert_eq!(project.done("LS", json!({"path": "sub/deep"})).await, format!("a.txt\n{note}"));
}

#[tokio::test]
async fn glob_bombs_are_refused_by_every_tool_that_takes_globs() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    let nested = "{".repeat(300) + "a" + &"}".repeat(300);
    for (bomb, reason) in [(nested.as_str(), "at most 8 deep"), (&"**/".repeat(400), "at most 1000"), ("[", "unclosed")]
    {
        for (tool, arguments) in [
            ("Glob", json!({"pattern": bomb})),
            ("LS", json!({"ignore": [bomb]})),
            ("Grep", json!({"pattern": "needle", "glob": bomb})),
        ] {
            let text = project.failed(tool, arguments).await;
            assert!(text.contains(reason), "{tool}: {text}");
        }
    }
    let wide = "{a,b}".repeat(30);
    assert!(project.done("Glob", json!({"pattern": wide})).await.contains("no file matches"));
    assert_eq!(project.done("Glob", json!({"pattern": "{{{{{{{{a,b},c}}}}}}}.txt"})).await, "a.txt");
}

#[tokio::test]
async fn long_lists_of_globs_are_refused_with_the_bound() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    let bound = "at most 64 globs and 4096 bytes are allowed";
    let many: Vec<_> = (0..20_000).map(|n| format!("*{n}*x*y")).collect();
    let text = project.failed("LS", json!({"ignore": many})).await;
    assert!(text.contains("20000 globs of") && text.contains(bound), "{text}");
    assert!(project.failed("Grep", json!({"pattern": "x", "glob": many.join(",")})).await.contains(bound));
    assert!(project.failed("LS", json!({"ignore": vec!["x".repeat(900); 5]})).await.contains(bound));
    assert_eq!(project.done("LS", json!({"ignore": many[..64]})).await, "a.txt");
}

#[test]
fn files_that_vanish_during_a_search_do_no_harm() {
    let project = Project::new(&[("keep.txt", "needle\n")]);
    let root = project.path(".");
    let running = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0_u64.. {
                if !running.load(Ordering::Relaxed) {
                    break;
                }
                let directory = root.join(format!("d{}", n % 20));
                fs::create_dir_all(&directory).unwrap();
                fs::write(directory.join("x.txt"), "needle\n").unwrap();
                fs::remove_dir_all(&directory).unwrap();
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outputs: Vec<_> =
            (0..100).map(|_| runtime.block_on(project.run("Grep", json!({"pattern": "needle"})))).collect();
        running.store(false, Ordering::Relaxed);
        for output in outputs {
            assert!(!output.failed && output.for_model.contains("keep.txt"), "{}", output.for_model);
        }
    });
}
