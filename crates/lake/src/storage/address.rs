//! Addresses of object stores and web servers, as they stand where paths do.

use std::io;
use std::path::Path;

/// Beginnings of addresses, and what kind of store each is.
const SCHEMES: [(&str, Kind); 10] = [
    ("s3://", Kind::S3),
    ("s3a://", Kind::S3),
    ("gs://", Kind::Google),
    ("az://", Kind::Azure),
    ("azure://", Kind::Azure),
    ("adl://", Kind::Azure),
    ("abfs://", Kind::Azure),
    ("abfss://", Kind::Azure),
    ("http://", Kind::Web),
    ("https://", Kind::Web),
];

/// What answers at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    S3,
    Google,
    Azure,
    /// A web server, which lists nothing.
    Web,
}

/// A file or folder of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) kind: Kind,
    /// The store: `s3://bucket`, `https://host:8080`.
    pub(super) root: String,
    /// The path below it, without slashes at its ends; empty for the store as a whole.
    pub(super) key: String,
}

impl Address {
    /// Whether `path` is an address and no path of this machine.
    pub fn is(path: &Path) -> bool {
        // An address is always text; its scheme may be in capitals.
        path.to_str().is_some_and(|text| scheme_of(text).is_some())
    }

    /// The address that `path`, which someone typed as that of a lake, is; `None` for a path of this machine.
    ///
    /// # Errors
    /// As [`Address::of`]; for one of a web server with a query.
    pub fn of_lake(path: &Path) -> io::Result<Option<Address>> {
        match Address::of(path)? {
            Some(Address { kind: Kind::Web, key, .. }) if key.contains(['?', '#']) => {
                Err(wrong("it has a query; only plain folders are read"))
            }
            address => Ok(address),
        }
    }

    /// The address that `path` is; `None` for a path of this machine.
    ///
    /// # Errors
    /// For an address without a store, with a password, or with parts that lead nowhere.
    pub fn of(path: &Path) -> io::Result<Option<Address>> {
        let Some((text, (scheme, kind))) = path.to_str().and_then(|text| Some((text, scheme_of(text)?))) else {
            return Ok(None);
        };
        // Windows joins paths by the other slash.
        let rest = text[scheme.len()..].replace('\\', "/");
        let (store, key) = rest.split_once('/').unwrap_or((&rest, ""));
        if store.is_empty() {
            return Err(wrong("it names no bucket or host"));
        }
        // `abfss://container@account…` is no user.
        if store.contains('@') && kind != Kind::Azure {
            return Err(wrong("it has a user or a password in it; credentials come from the environment"));
        }
        let key = key.trim_matches('/');
        if !key.is_empty() && !key.split('/').all(is_name) {
            return Err(wrong("it has empty or relative parts"));
        }
        let root = format!("{}{store}", scheme.to_ascii_lowercase());
        Ok(Some(Address { kind, root, key: key.to_string() }))
    }
}

fn wrong(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("no address of a lake: {reason}"))
}

/// Whether `name` can be the name of a file or folder.
pub(super) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('\0')
}

fn scheme_of(text: &str) -> Option<(&str, Kind)> {
    let of = |(scheme, kind): (&str, Kind)| {
        let start = text.get(..scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some((start, kind))
    };
    SCHEMES.into_iter().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        let of = |text: &str| Address::of(Path::new(text)).map(|found| found.map(|found| (found.root, found.key)));
        let address = |root: &str, key: &str| Some((root.to_string(), key.to_string()));
        assert_eq!(of("s3://b/a/c.csv").unwrap(), address("s3://b", "a/c.csv"));
        assert_eq!(of("S3://b/").unwrap(), address("s3://b", ""));
        assert_eq!(of("s3://b/a b#?%20/").unwrap(), address("s3://b", "a b#?%20"));
        assert_eq!(of("https://h:80/x").unwrap(), address("https://h:80", "x"));
        assert_eq!(of("abfss://c@a.dfs.core.windows.net/x").unwrap(), address("abfss://c@a.dfs.core.windows.net", "x"));
        for path in ["/a/s3://b", "s3:/b", "a", "", "ftp://h/x", "file:///x", "C:\\x", "é3://x"] {
            assert_eq!(of(path).unwrap(), None, "{path}");
        }
        for wrong in ["s3://", "s3:///a", "https://u:p@h/x", "s3://k@b/x", "s3://b/a//c", "s3://b/../c"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        assert!(Address::of_lake(Path::new("http://h/x?y")).is_err() && of("http://h/x?y").is_ok());
    }
}
