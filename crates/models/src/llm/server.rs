//! The server to call, and how: address, model, key, retries and concurrency.

use std::fmt;

use reqwest::Url;
use reqwest::header::HeaderValue;

use lakeward_core::error::{Error, Result};
use lakeward_http::is_loopback;

/// A shorter key is not secret: people type `none` or `ollama` if a server requires one.
const LEAST_SECRET: usize = 8;

/// A key: never displayed, stored or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key, trimmed.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_string())
    }

    /// The authorization header; `None` for an empty key.
    ///
    /// # Errors
    /// [`Error::Usage`] for characters that are not allowed in a key.
    pub(crate) fn header(&self) -> Result<Option<HeaderValue>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let wrong = || Error::usage("the key of the model's server contains characters that are not allowed in a key");
        // HTTP would allow some others: typographic quotes, a key in two halves.
        if !self.0.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// `text` with the key removed, in case a server repeats it.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        if self.0.len() < LEAST_SECRET { text.to_string() } else { text.replace(&self.0, "…") }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A server and its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The base URL, including `/v1` if the server has it.
    pub url: String,
    /// The model's name on the server.
    pub model: String,
    /// The key, if the server requires one.
    pub key: Option<Key>,
}

/// How to call a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manners {
    /// Number of retries if a server is busy or failed.
    pub retries: u32,
    /// Maximum number of concurrent questions.
    pub concurrency: usize,
}

/// The base URL of a server, checked: `http` or `https`, with a host, without user and password.
pub(crate) fn parse(text: &str) -> Result<Url> {
    let wrong =
        |what: &str| Error::usage(format!("the language model's address {what}; one is http://127.0.0.1:8080/v1"));
    let url = Url::parse(text.trim()).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("is not a web address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must not contain a user or password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("must end with its path"));
    }
    Ok(url)
}

impl Server {
    /// Whether it is on this machine.
    pub fn is_on_this_machine(&self) -> bool {
        parse(&self.url).is_ok_and(|url| is_loopback(&url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
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
