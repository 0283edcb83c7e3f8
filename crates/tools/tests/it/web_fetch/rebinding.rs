//! A name whose address changes (S74): the connection goes to a checked address, or nowhere.

use super::server::{Server, page};
use super::web::{Names, Web};
use crate::memory::alone_with;

#[tokio::test]
async fn a_connection_goes_to_the_address_that_was_checked() {
    let public =
        Server::start_at(([127, 0, 0, 2], 0).into(), |_, out| out.write_all(&page("200 OK", "text/plain", b"public")));
    let inner = Server::start_at(([127, 0, 0, 1], public.port()).into(), |_, out| {
        out.write_all(&page("200 OK", "text/plain", b"a secret"))
    });
    let names = Names::new(&[("rebinding.example", &[&["127.0.0.2"], &["127.0.0.1"]])]);
    // Only this address of the loopback network stands for the internet.
    let web = Web::of(&public).with_names(&names);
    let url = format!("http://rebinding.example:{}/", public.port());
    assert!(web.done(&url).await.ends_with("public"));
    assert_eq!(names.asked().len(), 1, "a second lookup could say something else");
    let text = web.failed(&url).await;
    assert!(text.contains("`rebinding.example` leads to 127.0.0.1, which is loopback"), "{text}");
    assert_eq!((public.requests().len(), inner.requests().len()), (1, 0));
}

/// A proxy would look the name up itself.
#[test]
fn no_proxy_is_used() {
    let proxy = Server::with("text/plain", "by proxy");
    let variables = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, proxy.url("")));
    alone_with("web_fetch::rebinding::no_proxy_is_used", &variables, || {
        let server = Server::with("text/plain", "directly");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(runtime.block_on(Web::of(&server).done(&server.url("/"))).ends_with("directly"));
    });
    assert_eq!(proxy.requests(), [""; 0]);
}
