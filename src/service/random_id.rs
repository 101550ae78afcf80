//! Ids that cannot be guessed.

use lakeward_core::error::{Error, Result};
use lakeward_core::text::hex;

/// That many random bytes in hexadecimal digits.
///
/// # Errors
/// [`Error::Internal`] if the system gives no random numbers.
pub fn random_id<const BYTES: usize>() -> Result<String> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(hex(&bytes))
}
