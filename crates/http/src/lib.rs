//! Clients of servers: language models, object stores, catalogues that are harvested, shards of an index.
//!
//! A client goes to the server that the user named and to no other: redirects are not followed unless the caller allows
//! some, and a server on this machine is asked without a proxy. How often a request is made again, and what it may
//! cost, is the caller's.

use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

/// A client that waits at most `connect` for a connection and follows no redirect; of the server at `server`, where it
/// has only one.
pub fn client(connect: Duration, server: Option<&Url>) -> ClientBuilder {
    // Another part of the process may have installed one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(connect)
        // A redirect would send what is asked to a server that the user did not name.
        .redirect(Policy::none())
        .user_agent(concat!("lakeward/", env!("CARGO_PKG_VERSION")));
    if server.is_some_and(|url| url.scheme() == "http") {
        // Without TLS, a machine needs no root certificates.
        builder = builder.tls_certs_only([]);
    }
    if server.is_some_and(is_loopback) {
        // A proxy would resolve a loopback address on its own machine.
        builder = builder.no_proxy();
    }
    builder
}

/// Whether the server at `url` is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// How long a `Retry-After` header asks to wait: seconds or a date.
pub fn wait_of(header: &str) -> Option<Duration> {
    let header = header.trim();
    if let Some(seconds) = header.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0) {
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let date = chrono::DateTime::parse_from_rfc2822(header).ok()?;
    Some((date.to_utc() - chrono::Utc::now()).to_std().unwrap_or_default())
}

/// The innermost cause of an error, in its words: errors of a client wrap each other.
pub fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_seconds_or_dates() {
        assert_eq!(wait_of(" 12 "), Some(Duration::from_secs(12)));
        assert_eq!(wait_of("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait_of("1e300"), Some(Duration::MAX));
        assert_eq!(wait_of("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        let later = (chrono::Utc::now() + chrono::TimeDelta::seconds(100)).to_rfc2822();
        assert!(wait_of(&later).is_some_and(|wait| (90..=100).contains(&wait.as_secs())));
        assert_eq!((wait_of("soon"), wait_of("-1"), wait_of("NaN")), (None, None, None));
    }

    #[test]
    fn servers_of_this_machine_are_known() {
        let is = |url: &str| is_loopback(&Url::parse(url).unwrap());
        assert!(is("http://127.0.0.1:8080/v1") && is("http://localhost/v1") && is("http://[::1]:9/"));
        assert!(!is("https://localhost.example.org/v1") && !is("http://192.168.0.1/"));
    }
}
