//! Which server is asked, and how: address, model, key, manners.

use std::fmt;

use reqwest::Url;
use reqwest::header::HeaderValue;

use lakeward_core::error::{Error, Result};

/// A shorter key is no secret: people type `none` or `ollama` where a server insists on one.
const LEAST_SECRET: usize = 8;

/// A key: never shown, stored or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key, without white space around it.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_string())
    }

    /// What the server is shown; none for an empty key.
    ///
    /// # Errors
    /// [`Error::Usage`] for characters that no key has.
    pub(crate) fn header(&self) -> Result<Option<HeaderValue>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let wrong = || Error::Usage("the key of the model's server holds characters that no key has".into());
        // Others can be sent: typographic quotes, a key in two halves.
        if !self.0.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// `text` without the key, should a server repeat it.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        if self.0.len() < LEAST_SECRET { text.to_string() } else { text.replace(&self.0, "…") }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A server and what to ask there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The base URL, with `/v1` where the server has it.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The key, where it wants one.
    pub key: Option<Key>,
}

/// How a server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manners {
    /// How often a question is sent again to a server that is busy or failed.
    pub retries: u32,
    /// Questions at a time.
    pub concurrency: usize,
}

/// The base URL of a server, checked: `http` or `https`, with a host, without user and password.
pub(crate) fn parse(text: &str) -> Result<Url> {
    let wrong =
        |what: &str| Error::Usage(format!("the language model's address {what}; one is http://127.0.0.1:8080/v1"));
    let url = Url::parse(text.trim()).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("is no web address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must not hold a user or password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("must end with its path"));
    }
    Ok(url)
}

/// Whether a server is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        assert!(is_loopback(&parse("http://127.0.0.1:8080/v1").unwrap()));
        assert!(is_loopback(&parse("http://localhost/v1").unwrap()) && is_loopback(&parse("http://[::1]:9/").unwrap()));
        assert!(!is_loopback(&parse("https://localhost.example.org/v1").unwrap()));
        for wrong in ["", "127.0.0.1", "file:///etc/passwd", "http://", "https://u:p@host/v1", "http://host/v1?key=1"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("address"), "{wrong}");
        }
    }

    #[test]
    fn keys_are_not_shown() {
        let server = Server { url: "http://h".into(), model: "m".into(), key: Some(Key::new("sk-secret\n")) };
        assert!(!format!("{server:?}").contains("secret"));
        let key = server.key.unwrap();
        assert_eq!(key.hidden_in("no such key: sk-secret!"), "no such key: …!");
        assert!(!format!("{:?}", key.header().unwrap().unwrap()).contains("secret"));
        assert_eq!(Key::new(" ").header().unwrap(), None);
        for wrong in ["sk-\nx", "sk-ключ"] {
            assert!(!Key::new(wrong).header().unwrap_err().to_string().contains("sk-"));
        }
    }

    #[test]
    fn short_keys_are_no_secrets() {
        assert_eq!(Key::new("none").hidden_in("there is none"), "there is none");
    }
}
