//! How stores are asked: one client for all of them, that counts, waits where a server asks for it, and refuses addresses of the link.
//!
//! Addresses of the link (169.254.0.0/16, fe80::/10) belong to the machine's own network; a cloud's machine hands out credentials
//! there. A lake must not lead there, by a name, a redirect or an entry of DNS, so names are resolved here and redirects are not followed.
//! Who wants the credentials of the machine says so by the variable of the environment that names their address.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::RETRY_AFTER;
use reqwest::{StatusCode, Url};

use lakeward_http::wait_of;

const CONNECT: Duration = Duration::from_secs(10);
/// Longest silence of a server while it answers.
const SILENCE: Duration = Duration::from_secs(60);
/// Longest wait that a server may ask for; what asks for more is asked again sooner, and then given up.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Variables of the environment that name servers; who sets one means it.
const NAMED: [&str; 9] = [
    "AWS_ENDPOINT",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_METADATA_ENDPOINT",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_MSI_ENDPOINT",
    "IDENTITY_ENDPOINT",
    "GCE_METADATA_HOST",
];

/// Makes the clients of all stores.
#[derive(Debug)]
pub(super) struct Connector {
    /// Counts the requests.
    pub sent: Arc<AtomicU64>,
    /// Whether the store is on this machine, where no proxy is asked.
    pub is_here: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let builder = lakeward_http::client(CONNECT, None).read_timeout(SILENCE).dns_resolver(Arc::new(Resolver));
        let builder = if self.is_here { builder.no_proxy() } else { builder };
        let client =
            builder.build().map_err(|error| object_store::Error::Generic { store: "HTTP", source: error.into() })?;
        Ok(HttpClient::new(Connection { client, sent: Arc::clone(&self.sent) }))
    }
}

#[derive(Debug)]
struct Connection {
    client: reqwest::Client,
    sent: Arc<AtomicU64>,
}

#[async_trait]
impl HttpService for Connection {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let unknown = |error: url::ParseError| HttpError::new(HttpErrorKind::Unknown, error);
        let url = Url::parse(&parts.uri.to_string()).map_err(unknown)?;
        if let Some(host) = url.host_str()
            && let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>()
            && is_of_link(address)
            && !is_named(host)
        {
            return Err(HttpError::new(HttpErrorKind::Unknown, Refused(host.to_string())));
        }
        let mut sent = reqwest::Request::new(parts.method, url);
        *sent.headers_mut() = parts.headers;
        let bytes = body.collect().await?.to_bytes();
        if !bytes.is_empty() {
            *sent.body_mut() = Some(bytes.into());
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        let answered = self.client.execute(sent).await.map_err(|error| http_error(&error))?;
        if matches!(answered.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            let header = answered.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            if let Some(wait) = header.and_then(wait_of) {
                // It is asked again by who asked.
                tokio::time::sleep(wait.min(LONGEST_WAIT)).await;
            }
        }
        let (parts, body) = http::Response::<reqwest::Body>::from(answered).into_parts();
        let body = HttpResponseBody::new(body.map_err(|error| http_error(&error)));
        Ok(HttpResponse::from_parts(parts, body))
    }
}

/// The error with its kind, by which it is decided whether to ask again.
fn http_error(error: &reqwest::Error) -> HttpError {
    let mut cause: &dyn std::error::Error = error;
    let mut refused = None;
    let mut broken = false;
    while let Some(source) = cause.source() {
        cause = source;
        refused = refused.or_else(|| cause.downcast_ref::<Refused>().cloned());
        broken |= cause.downcast_ref::<std::io::Error>().is_some() || cause.downcast_ref::<hyper::Error>().is_some();
    }
    if let Some(refused) = refused {
        return HttpError::new(HttpErrorKind::Unknown, refused);
    }
    let kind = match error {
        error if error.is_timeout() => HttpErrorKind::Timeout,
        error if error.is_connect() => HttpErrorKind::Connect,
        _ if broken => HttpErrorKind::Interrupted,
        error if error.is_decode() => HttpErrorKind::Decode,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, Failed(cause.to_string()))
}

/// Why a request failed, without its address, which may have a signature in it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(String);

/// A server at an address of the link.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "`{0}` is an address of this machine's own network, and refused; without credentials in the environment (AWS_ACCESS_KEY_ID, or \
     AWS_SKIP_SIGNATURE=true for a public bucket; GOOGLE_SERVICE_ACCOUNT; AZURE_STORAGE_ACCOUNT_KEY) a store looks for them there"
)]
struct Refused(String);

/// Resolves names, and refuses those of addresses of the link.
struct Resolver;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let name = name.as_str().to_string();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if found.iter().any(|address| is_of_link(address.ip())) && !is_named(&name) {
                return Err(Refused(name).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn is_of_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => {
            let mapped = address.to_ipv4_mapped().is_some_and(|address| address.is_link_local());
            // fd00:ec2::254 is what AWS has beside it.
            mapped || address.is_unicast_link_local() || address.segments()[..2] == [0xfd00, 0x0ec2]
        }
    }
}

/// Whether a variable of the environment names the host.
fn is_named(host: &str) -> bool {
    let names = |variable: &&str| {
        let Ok(value) = std::env::var(variable) else { return false };
        let url = Url::parse(&value).or_else(|_| Url::parse(&format!("http://{value}")));
        url.is_ok_and(|url| url.host_str() == Some(host))
    };
    // ECS gives only the path of its own server.
    let of_container = host == "169.254.170.2" && std::env::var_os("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").is_some();
    of_container || NAMED.iter().any(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_link_are_known() {
        for (address, expected) in [
            ("169.254.169.254", true),
            ("169.254.0.1", true),
            ("fe80::1", true),
            ("::ffff:169.254.169.254", true),
            ("fd00:ec2::254", true),
            ("127.0.0.1", false),
            ("10.0.0.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_of_link(address.parse().unwrap()), expected, "{address}");
        }
    }
}
