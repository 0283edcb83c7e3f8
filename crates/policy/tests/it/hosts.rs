//! Rules for hosts.

use super::support::{Verdict, allow, deny, host, verdict};

fn permits(rule: &str, name: &str) -> bool {
    let permits = verdict(allow(&[rule]), "WebFetch", &host(name)) == Verdict::Allow;
    let forbids = verdict(deny(&[rule]), "WebFetch", &host(name)) == Verdict::Deny;
    assert!(!permits || forbids, "{rule}, {name}");
    permits
}

#[test]
fn a_host_is_compared_as_a_whole() {
    // S71
    let rule = "WebFetch(domain:trusted.io)";
    for name in ["trusted.io", "TRUSTED.io", "trusted.io.", "Trusted.IO."] {
        assert!(permits(rule, name), "{name}");
    }
    for name in [
        "trusted.io.evil.com",
        "eviltrusted.io",
        "www.trusted.io",
        "trusted.com",
        "io",
        "trusted@evil.com",
        "evil.com\\trusted.io",
        "trusted.io:80",
        "trusted.io/x",
        "trusted\u{2024}io.evil.com",
        "trustеd.io",
        "",
        ".",
    ] {
        assert!(!permits(rule, name), "{name}");
    }
}

#[test]
fn a_star_covers_subdomains_and_not_the_host_itself() {
    let rule = "WebFetch(domain:*.example.com)";
    for name in ["www.example.com", "a.b.example.com", "WWW.Example.Com."] {
        assert!(permits(rule, name), "{name}");
    }
    for name in ["example.com", "evilexample.com", "example.com.evil.net", ".example.com", "www.example.org"] {
        assert!(!permits(rule, name), "{name}");
    }
    assert!(permits("WebFetch(domain:*)", "anything.example"));
    assert!(permits("WebFetch", "anything.example"));
}

#[test]
fn international_names_and_addresses_have_one_form() {
    assert!(permits("WebFetch(domain:bücher.example)", "xn--bcher-kva.example"));
    assert!(permits("WebFetch(domain:xn--bcher-kva.example)", "BÜCHER.example"));
    assert!(permits("WebFetch(domain:127.0.0.1)", "127.0.0.1"));
    assert!(permits("WebFetch(domain:127.0.0.1)", "0x7f.1"), "another spelling of the address");
    assert!(permits("WebFetch(domain:[::1])", "[0:0:0:0:0:0:0:1]"));
    assert!(permits("WebFetch(domain:::1)", "[::1]"));
    assert!(!permits("WebFetch(domain:127.0.0.1)", "127.0.0.2"));
}

#[test]
fn a_rule_about_an_address_covers_every_form_of_it() {
    for form in ["93.184.216.34", "[::ffff:93.184.216.34]", "::ffff:5db8:d822", "[64:ff9b::5db8:d822]", "0x5db8d822"] {
        assert!(permits("WebFetch(domain:93.184.216.34)", form), "{form}");
        assert!(permits(&format!("WebFetch(domain:{form})"), "93.184.216.34"), "{form}");
    }
    assert!(!permits("WebFetch(domain:93.184.216.34)", "[64:ff9b:1::5db8:d822]"));
}
