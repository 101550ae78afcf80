//! An answer of OAI-PMH.

use xxhash_rust::xxh3::Xxh3Default;

use super::super::metadata::xml::{self, Element};

/// What an answer holds.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub records: u64,
    pub deleted: u64,
    /// Hash of the identifiers of its records.
    pub content: u64,
    /// The token of the next page; none on the last.
    pub token: Option<String>,
    /// The server's time.
    pub date: Option<String>,
    /// Code and words.
    pub error: Option<(String, String)>,
    /// Whether it is an answer to `ListRecords`.
    pub is_list: bool,
    /// The formats that the server has.
    pub formats: Vec<String>,
    /// The precision of the server's dates.
    pub granularity: Option<String>,
}

impl Page {
    /// Reads an answer.
    ///
    /// # Errors
    /// Why it is no whole answer: it was cut, or is none of this protocol.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        const NAMES: [&str; 6] =
            ["record", "error", "resumptionToken", "responseDate", "metadataPrefix", "granularity"];
        let (mut page, mut hash, mut broken) = (Page::default(), Xxh3Default::new(), None);
        let ended = xml::each_element(bytes, &NAMES, |element| {
            page.take(element, &mut hash, &mut broken);
            true
        });
        page.content = hash.digest();
        page.is_list = memchr::memmem::find(bytes, b"ListRecords").is_some();
        if memchr::memmem::find(bytes, b"OAI-PMH").is_none() {
            return Err("this is no answer of OAI-PMH".into());
        }
        match ended.early.or(broken).or_else(|| ended.is_unclosed.then(|| "the answer is cut".into())) {
            Some(reason) => Err(reason),
            None => Ok(page),
        }
    }

    fn take(&mut self, element: Element, hash: &mut Xxh3Default, broken: &mut Option<String>) {
        let Element { name, value, broken: why, .. } = element;
        let at = |path: &[&str]| {
            let mut value = &value;
            for name in path {
                value = &value[*name];
            }
            value
                .as_str()
                .or_else(|| value["@value"].as_str())
                .map(|text| text.trim().to_string())
                .filter(|text| !text.is_empty())
        };
        match name.as_str() {
            "record" => {
                // One that is not well-formed is the server's; it is named when the page is indexed.
                if why.is_some_and(|why| why.contains("file ends")) {
                    *broken = Some("the answer is cut".into());
                }
                self.records += 1;
                self.deleted += u64::from(at(&["header", "status"]).as_deref() == Some("deleted"));
                hash.update(at(&["header", "identifier"]).unwrap_or_default().as_bytes());
                hash.update(at(&["header", "datestamp"]).unwrap_or_default().as_bytes());
            }
            "error" => {
                self.error = Some((at(&["code"]).unwrap_or_else(|| "error".into()), at(&[]).unwrap_or_default()))
            }
            "resumptionToken" => self.token = at(&[]),
            "responseDate" => self.date = at(&[]),
            "metadataPrefix" => self.formats.extend(at(&[])),
            _ => self.granularity = at(&[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<?xml version='1.0'?><OAI-PMH><responseDate>2021-05-01T10:00:00Z</responseDate><ListRecords>\
        <record><header><identifier>oai:x:1</identifier></header><metadata><error>no error</error></metadata></record>\
        <record><header status='deleted'><identifier>oai:x:2</identifier></header></record>\
        <resumptionToken completeListSize='3'>t&amp;1</resumptionToken></ListRecords></OAI-PMH>";

    #[test]
    fn a_page_is_read() {
        let page = Page::read(PAGE.as_bytes()).unwrap();
        assert_eq!((page.records, page.deleted, page.token.as_deref()), (2, 1, Some("t&1")));
        assert_eq!((page.date.as_deref(), page.error), (Some("2021-05-01T10:00:00Z"), None));
        let last = PAGE.replace("t&amp;1", "");
        assert_eq!(Page::read(last.as_bytes()).unwrap().token, None);
    }

    #[test]
    fn what_is_cut_is_told_from_what_is_whole() {
        let start = PAGE.find("<ListRecords>").unwrap();
        for end in start..PAGE.len() - 1 {
            assert!(Page::read(&PAGE.as_bytes()[..end]).is_err(), "{}", &PAGE[..end]);
        }
        assert!(Page::read(b"<html><body>Down for maintenance</body></html>").is_err());
    }
}
