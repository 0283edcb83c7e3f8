//! `https`: the certificate must be for the host in the URL, whatever its address.
//!
//! `tests/certificates` has a root that only these tests know, and a certificate for `tls.example` signed by it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::server::{Server, page, redirect};
use super::web::{Names, Web};
use crate::memory::alone_with;

fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(name)
}

/// Serves one answer over TLS forever, and returns its port.
fn serve(answer: Vec<u8>) -> u16 {
    let chain = vec![CertificateDer::from_pem_file(certificate("server.pem")).unwrap()];
    let key = PrivatePkcs8KeyDer::from(std::fs::read(certificate("server.key.der")).unwrap());
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream.unwrap());
            // A client that rejects the certificate hangs up.
            let mut reader = BufReader::new(&mut stream);
            let mut head = String::new();
            while reader.read_line(&mut head).is_ok_and(|n_bytes| n_bytes > 0) && !head.ends_with("\r\n\r\n") {}
            drop(stream.write_all(&answer));
            stream.conn.send_close_notify();
            drop(stream.flush());
        }
    });
    port
}

#[test]
fn a_certificate_counts_only_for_the_host_in_the_url() {
    let roots = [("SSL_CERT_FILE", certificate("root.pem").to_str().unwrap().to_owned())];
    alone_with("web_fetch::tls::a_certificate_counts_only_for_the_host_in_the_url", &roots, || {
        let port = serve(page("200 OK", "text/plain", b"in private"));
        let names = Names::new(&[("tls.example", &[&["127.0.0.1"]]), ("other.example", &[&["127.0.0.1"]])]);
        let web = Web::new(&["127.0.0.1"], &[]).with_names(&names);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let text = runtime.block_on(web.done(&format!("https://tls.example:{port}/")));
        assert!(text.ends_with("\nin private"), "{text}");
        for host in ["other.example", "127.0.0.1"] {
            let text = runtime.block_on(web.failed(&format!("https://{host}:{port}/")));
            assert!(text.contains("not valid for name"), "{text}");
        }
    });
}

#[test]
fn a_certificate_from_an_unknown_root_is_refused() {
    let roots = [("SSL_CERT_FILE", certificate("server.pem").to_str().unwrap().to_owned())];
    alone_with("web_fetch::tls::a_certificate_from_an_unknown_root_is_refused", &roots, || {
        let port = serve(page("200 OK", "text/plain", b"in private"));
        let names = Names::new(&[("tls.example", &[&["127.0.0.1"]])]);
        let web = Web::new(&["127.0.0.1"], &[]).with_names(&names);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let text = runtime.block_on(web.failed(&format!("https://tls.example:{port}/")));
        assert!(text.contains("invalid peer certificate"), "{text}");
    });
}

#[test]
fn a_redirect_to_plain_http_on_the_same_host_is_reported_and_not_followed() {
    let roots = [("SSL_CERT_FILE", certificate("root.pem").to_str().unwrap().to_owned())];
    let name = "web_fetch::tls::a_redirect_to_plain_http_on_the_same_host_is_reported_and_not_followed";
    alone_with(name, &roots, || {
        let plain = Server::with("text/plain", "for everyone to see");
        let to = format!("http://tls.example:{}/x", plain.port());
        let port = serve(redirect(302, &to));
        let names = Names::new(&[("tls.example", &[&["127.0.0.1"]])]);
        let web = Web::new(&["127.0.0.1"], &[]).with_names(&names);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let from = format!("https://tls.example:{port}/");
        let told = format!("{from} redirects (302) without encryption, which was not followed: {to}");
        let text = runtime.block_on(web.done(&from));
        assert_eq!(text, format!("{told}\nFetch that URL if you need it."));
        assert_eq!(plain.requests().len(), 0);
    });
}
