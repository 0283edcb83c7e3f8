//! Pages and their Markdown, side by side: `tests/corpus/pages` and `tests/golden/pages`.

use std::fs;
use std::path::Path;

use expect_test::expect_file;

use super::server::Server;
use super::web::Web;

#[tokio::test]
async fn each_page_of_the_corpus_becomes_its_markdown() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut pages: Vec<_> =
        fs::read_dir(tests.join("corpus/pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    assert!(pages.len() >= 10, "{pages:?}");
    for path in pages {
        let server = Server::with("text/html; charset=utf-8", fs::read(&path).unwrap());
        let text = Web::of(&server).done(&server.url("/docs/page.html")).await;
        let text = text.split_once('\n').unwrap().1.replace(&server.url(""), "http://host");
        let golden = tests.join("golden/pages").join(path.file_name().unwrap()).with_extension("md");
        expect_file![golden].assert_eq(&(text + "\n"));
    }
}
