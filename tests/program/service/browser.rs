//! A browser without scripts: it follows links and sends forms; and what holds of every page that it sees.

use std::sync::LazyLock;

use regex::Regex;
use reqwest::StatusCode;

use super::server::{Answer, Server};

/// Bytes of a page at most.
const MOST_BYTES: usize = 60_000;

/// A browser without scripts that is logged in.
pub struct Browser<'a> {
    pub server: &'a Server,
    /// The languages that it prefers.
    pub language: &'a str,
    /// Its cookie.
    pub cookie: String,
}

impl<'a> Browser<'a> {
    /// A browser that has opened the printed address.
    pub fn new(server: &'a Server) -> Self {
        Self { server, language: "en", cookie: server.log_in() }
    }

    /// The page at `path`.
    pub fn open(&self, path: &str) -> String {
        let path = path.split('#').next().expect("a path");
        let answer = self.get(path);
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text());
        let text = answer.text();
        check(&text);
        text
    }

    /// The answer to a link, whatever it is.
    pub fn get(&self, path: &str) -> Answer {
        let headers = [("cookie", self.cookie.as_str()), ("accept", "text/html"), ("accept-language", self.language)];
        self.server.send("GET", path, &headers, "")
    }

    /// Sends the form of `page` whose action ends with `action`, filled in with `fields`, and follows to the page it leads to.
    pub fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> String {
        self.open(&self.led_to(page, action, fields))
    }

    /// The address that the form leads to.
    pub fn led_to(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.sent(page, action, fields);
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{action}: {}", answer.text());
        answer.header("location").to_string()
    }

    /// The answer to that form.
    pub fn sent(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        static FORM: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#"(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>"#).expect("a pattern"));
        static HIDDEN: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#"type="hidden" name="([^"]*)" value="([^"]*)""#).expect("a pattern"));
        // What is typed is no hidden field of the form that it is typed into.
        let is_hidden = |form: &str, name: &str| HIDDEN.captures_iter(form).any(|field| field[1] == *name);
        let forms = || FORM.captures_iter(page).filter(|form| form[1].ends_with(action));
        let form = forms()
            .find(|form| !fields.iter().any(|(name, _)| is_hidden(&form[2], name)))
            .or_else(|| forms().next())
            .unwrap_or_else(|| panic!("{action}: {page}"));
        let hidden = HIDDEN.captures_iter(&form[2]).map(|field| (field[1].to_string(), field[2].to_string()));
        let filled = fields.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let body: Vec<String> =
            hidden.chain(filled).map(|(name, value)| format!("{name}={}", encoded(&value))).collect();
        let own = self.server.origin();
        let from = [
            ("cookie", self.cookie.as_str()),
            ("origin", own.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "text/html"),
            ("accept-language", self.language),
        ];
        self.server.send("POST", &form[1], &from, body.join("&"))
    }
}

/// `text` as part of an address.
pub fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// What holds of every page: small, nothing from elsewhere, no script, nothing that hides text, labels for all fields.
pub fn check(page: &str) {
    assert!(page.len() <= MOST_BYTES, "{} bytes", page.len());
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" src=\"/app.js\"></script>").count()
    );
    assert!(!page.contains("<img") && !page.contains("<iframe") && !page.contains(" style="), "{page}");
    assert!(!page.contains(['\u{202e}', '\u{1b}', '\u{7}', '\u{200b}']), "{page}");
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(?:src|href|action)="([^"]*)""#).expect("a pattern"));
    for address in ADDRESS.captures_iter(page) {
        let own = address[1].starts_with('/') && !address[1].starts_with("//");
        assert!(own || address[1].starts_with('#') || &address[1] == "data:,", "{}", &address[1]);
    }
    static FIELD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"<(?:textarea|input) id="([^"]*)""#).expect("a pattern"));
    for field in FIELD.captures_iter(page) {
        assert!(page.contains(&format!("<label for=\"{}\"", &field[1])), "{}", &field[1]);
    }
    assert!(
        page.contains("<html lang=\"") && page.contains("<main id=\"main\">") && page.matches("<h1").count() == 1,
        "{page}"
    );
}

/// The first link of `page` that `pattern` finds in its address.
pub fn link(page: &str, pattern: &str) -> String {
    let found = Regex::new(&format!("href=\"({pattern})\"")).expect("a pattern").captures(page);
    found.unwrap_or_else(|| panic!("no {pattern}: {page}"))[1].replace("&amp;", "&")
}
