//! Who may ask: the user of this machine by a one-time code in the printed address or a token, or the users of a token file.
//!
//! Only hashes of secrets are kept. A browser trades a code or a token for a cookie; other programs send the token with each request.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use blake3::Hash;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::service::random_id::random_id;
use lakeward::Lakeward;
use lakeward_core::error::{Error, Result};

/// How long a cookie is good for.
const COOKIE_LIFE: Duration = Duration::from_secs(12 * 3600);
/// Cookies at most; the one that ends first goes.
const MOST_COOKIES: usize = 1_000;
/// The window of a quota.
const MINUTE: Duration = Duration::from_secs(60);
/// The window of a budget for the language model.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Largest token file.
const MOST_BYTES: u64 = 1 << 20;
/// Least characters of a token that a person chose.
const NAME_CHARS: usize = 32;

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rights {
    /// Search, ask, query.
    Read,
    /// Also have sessions, in which operations run.
    Write,
}

#[derive(Debug, Clone)]
pub struct User {
    /// The name in the token file; `None` for the user of this machine, whose sessions are those of the command line.
    pub name: Option<Arc<str>>,
    /// What they may do.
    pub rights: Rights,
    per_minute: Option<u32>,
    tokens_per_day: Option<u64>,
}

impl User {
    /// The name, for the log.
    pub fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or("local")
    }

    /// `lake` with the sessions of this user.
    pub fn lake(&self, lake: &Lakeward) -> Lakeward {
        self.name.as_ref().map_or_else(|| lake.clone(), |name| lake.of_user(name))
    }
}

/// A user of the token file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// SHA-256 of the token, in hexadecimal digits.
    sha256: String,
    rights: Rights,
    /// Requests that are answered in a minute; any number if missing.
    requests_per_minute: Option<u32>,
    /// Tokens of the language model in a day, after which answers are made without it; any number if missing.
    model_tokens_per_day: Option<u64>,
}

struct Cookie {
    user: User,
    ends: Instant,
}

/// All users, their cookies and quotas.
pub struct Users {
    tokens: Vec<(Hash, User)>,
    code: Mutex<Option<Hash>>,
    cookies: Mutex<HashMap<Hash, Cookie>>,
    /// Of each user: when the minute began, and the requests since.
    asked: Mutex<HashMap<String, (Instant, u32)>>,
    /// Of each user: when the day began, and the model's tokens since.
    spent: Mutex<HashMap<String, (Instant, u64)>>,
    /// Makes the tokens of forms; another one in each process.
    form_key: [u8; 32],
}

/// The secrets of the user of this machine.
pub struct LocalSecrets {
    /// Good once, in an address.
    pub code: String,
    /// Good until the service ends, in a header.
    pub token: String,
}

impl Users {
    /// The user of this machine alone.
    ///
    /// # Errors
    /// [`Error::Internal`] if the system gives no random numbers.
    pub fn local() -> Result<(Self, LocalSecrets)> {
        let secrets = LocalSecrets { code: random_id::<32>()?, token: random_id::<32>()? };
        let user = User { name: None, rights: Rights::Write, per_minute: None, tokens_per_day: None };
        let mut users = Self::new(vec![(sha256(&secrets.token), user)])?;
        users.code = Mutex::new(Some(sha256(&secrets.code)));
        Ok((users, secrets))
    }

    /// The users of the token file at `path`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] with the line for what is not valid there.
    pub fn of_file(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("read", path, error);
        if path.metadata().map_err(failed)?.len() > MOST_BYTES {
            return Err(Error::usage(format!("`{}` is too large for a token file", path.display())));
        }
        Self::of_text(&std::fs::read_to_string(path).map_err(failed)?)
            .map_err(|reason| Error::usage(format!("token file `{}`: {reason}", path.display())))
            .and_then(Self::new)
    }

    fn of_text(text: &str) -> std::result::Result<Vec<(Hash, User)>, String> {
        let lines: BTreeMap<String, Line> = toml::from_str(text).map_err(|error| error.to_string())?;
        if lines.is_empty() {
            return Err("it names no user; write `[NAME]`, `sha256 = \"…\"` and `rights = \"read\"`".into());
        }
        let mut users = Vec::with_capacity(lines.len());
        for (name, line) in lines {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
            if !plain || name.is_empty() || name.len() > NAME_CHARS {
                return Err(format!("`{name}` is no name: use at most {NAME_CHARS} letters, digits, `-` and `_`"));
            }
            let hash = Hash::from_hex(line.sha256.trim()).map_err(|_| {
                format!("`sha256` of `{name}` is no SHA-256 of 64 hexadecimal digits (`printf %s TOKEN | sha256sum`)")
            })?;
            let (per_minute, tokens_per_day) = (line.requests_per_minute, line.model_tokens_per_day);
            let user = User { name: Some(name.into()), rights: line.rights, per_minute, tokens_per_day };
            users.push((hash, user));
        }
        Ok(users)
    }

    fn new(tokens: Vec<(Hash, User)>) -> Result<Self> {
        let mut form_key = [0; 32];
        getrandom::fill(&mut form_key).map_err(|error| Error::Internal(error.to_string()))?;
        let (code, cookies, asked, spent) = (Mutex::default(), Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Self { tokens, code, cookies, asked, spent, form_key })
    }

    /// Whether there is the user of this machine alone.
    pub fn are_local(&self) -> bool {
        self.tokens.iter().all(|(_, user)| user.name.is_none())
    }

    pub fn with_token(&self, token: &str) -> Option<User> {
        let hash = sha256(token);
        // All are compared, each in constant time.
        self.tokens.iter().fold(None, |found, (other, user)| if *other == hash { Some(user.clone()) } else { found })
    }

    /// The user with this one-time code, which is used up.
    pub fn with_code(&self, code: &str) -> Option<User> {
        let mut kept = lock(&self.code);
        if *kept == Some(sha256(code)) {
            *kept = None;
            return self.tokens.first().map(|(_, user)| user.clone());
        }
        None
    }

    /// A new cookie for `user`.
    ///
    /// # Errors
    /// [`Error::Internal`] if the system gives no random numbers.
    pub fn new_cookie(&self, user: User) -> Result<String> {
        let cookie = random_id::<32>()?;
        let mut cookies = lock(&self.cookies);
        cookies.retain(|_, kept| kept.ends > Instant::now());
        while cookies.len() >= MOST_COOKIES {
            let Some(first) = cookies.iter().min_by_key(|(_, kept)| kept.ends).map(|(hash, _)| *hash) else { break };
            cookies.remove(&first);
        }
        cookies.insert(sha256(&cookie), Cookie { user, ends: Instant::now() + COOKIE_LIFE });
        Ok(cookie)
    }

    pub fn with_cookie(&self, cookie: &str) -> Option<User> {
        let cookies = lock(&self.cookies);
        cookies.get(&sha256(cookie)).filter(|kept| kept.ends > Instant::now()).map(|kept| kept.user.clone())
    }

    pub fn end_cookie(&self, cookie: &str) {
        lock(&self.cookies).remove(&sha256(cookie));
    }

    /// The token that forms of the browser with this cookie carry.
    pub fn form_token(&self, cookie: &str) -> String {
        blake3::keyed_hash(&self.form_key, cookie.as_bytes()).to_hex().to_string()
    }

    /// Whether a form's token is the one of this cookie.
    pub fn is_form_token(&self, cookie: &str, token: &str) -> bool {
        Hash::from_hex(token).is_ok_and(|hash| hash == blake3::keyed_hash(&self.form_key, cookie.as_bytes()))
    }

    /// Counts a request of `user`; the time to wait if there were too many in this minute.
    pub fn count(&self, user: &User) -> std::result::Result<(), Duration> {
        let Some(most) = user.per_minute else { return Ok(()) };
        let mut asked = lock(&self.asked);
        let (began, count) = asked.entry(user.shown().to_string()).or_insert((Instant::now(), 0));
        if began.elapsed() >= MINUTE {
            (*began, *count) = (Instant::now(), 0);
        }
        if *count >= most {
            return Err(MINUTE.saturating_sub(began.elapsed()));
        }
        *count += 1;
        Ok(())
    }

    /// Whether `user` may still ask the language model today.
    pub fn may_ask_model(&self, user: &User) -> bool {
        let spent = lock(&self.spent);
        let today = spent.get(user.shown()).filter(|(began, _)| began.elapsed() < DAY).map_or(0, |(_, tokens)| *tokens);
        user.tokens_per_day.is_none_or(|most| today < most)
    }

    /// Counts tokens of the language model that an answer to `user` took.
    pub fn spend(&self, user: &User, tokens: u64) {
        let mut spent = lock(&self.spent);
        let (began, count) = spent.entry(user.shown().to_string()).or_insert((Instant::now(), 0));
        if began.elapsed() >= DAY {
            (*began, *count) = (Instant::now(), 0);
        }
        *count = count.saturating_add(tokens);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held cannot have left half a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sha256(text: &str) -> Hash {
    Hash::from_bytes(Sha256::digest(text.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_a_cookie_until_it_is_ended() {
        let (users, secrets) = Users::local().unwrap();
        assert!(users.with_code("wrong").is_none());
        let user = users.with_code(&secrets.code).unwrap();
        assert!(users.with_code(&secrets.code).is_none());
        let cookie = users.new_cookie(user).unwrap();
        assert!(users.with_cookie(&cookie).is_some() && users.with_token(&cookie).is_none());
        assert!(users.is_form_token(&cookie, &users.form_token(&cookie)));
        assert!(!users.is_form_token("another", &users.form_token(&cookie)));
        users.end_cookie(&cookie);
        assert!(users.with_cookie(&cookie).is_none());
    }

    #[test]
    fn a_token_file_names_users_with_rights_and_quotas() {
        // SHA-256 of "secret".
        let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        let text = format!(
            "[ana]\nsha256 = \"{hash}\"\nrights = \"read\"\nrequests_per_minute = 2\nmodel_tokens_per_day = 9\n"
        );
        let users = Users::new(Users::of_text(&text).unwrap()).unwrap();
        let ana = users.with_token("secret").unwrap();
        assert_eq!((ana.shown(), ana.rights), ("ana", Rights::Read));
        assert!(users.with_token("Secret").is_none());
        assert!(users.count(&ana).is_ok() && users.count(&ana).is_ok() && users.count(&ana).is_err());
        users.spend(&ana, 8);
        assert!(users.may_ask_model(&ana));
        users.spend(&ana, u64::MAX);
        assert!(!users.may_ask_model(&ana));
    }

    #[test]
    fn what_is_wrong_in_a_token_file_is_reported() {
        for (text, part) in [
            ("", "names no user"),
            ("[ana]\nsha256 = \"12\"\nrights = \"read\"", "sha256sum"),
            ("[\"../ana\"]\nsha256 = \"12\"\nrights = \"read\"", "no name"),
            ("[ana]\nsha256 = \"12\"\nrights = \"all\"", "unknown variant `all`"),
            ("[ana]\ntoken = \"secret\"", "unknown field `token`"),
        ] {
            let error = Users::of_text(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
