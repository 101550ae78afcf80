//! Requests in other languages, put into English where that says more to the lake.

use super::Agent;
use lakeward_core::error::Result;
use lakeward_models::languages::{Translated, translated};

/// Words of a request in another language that are looked up one by one.
const MOST_WORDS: usize = 32;

impl Agent<'_> {
    /// A request in another language in English words, unless the lake says more of it as it is: then its tables are in that language, too.
    ///
    /// # Errors
    /// [`lakeward_core::error::Error::DamagedIndex`].
    pub fn in_english(&self, text: &str) -> Result<Option<Translated>> {
        let Some(translated) = translated(text) else { return Ok(None) };
        let said = |of: fn(&(String, String)) -> &String| -> Vec<&str> {
            translated.words.iter().map(|word| of(word).as_str()).collect()
        };
        let coverage = |words: Vec<&str>| -> Result<f64> {
            Ok(self.searched(&words.join(" "))?.map_or(0.0, |searched| searched.coverage(&self.ranking)))
        };
        let (as_said, in_english) = (coverage(said(|word| &word.0))?, coverage(said(|word| &word.1))?);
        // Of records in its language the index has the English words, too, so what is as good in English stays if all of it is known as it is said.
        let all_known = || -> Result<bool> {
            let words = said(|word| &word.0).join(" ");
            let words = self.index.lexical().informative_words(&words, MOST_WORDS)?;
            Ok(words.iter().all(|(_, rarity)| rarity.tables > 0))
        };
        let stays = as_said > in_english || (as_said > 0.0 && as_said >= in_english && all_known()?);
        Ok((!stays).then_some(translated))
    }
}
