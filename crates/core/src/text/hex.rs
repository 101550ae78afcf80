//! Bytes as digits.

/// Bytes as lower-case hexadecimal digits, two a byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hex(&[0, 9, 0xab, 0xff]), "0009abff");
        assert_eq!(hex(&[]), "");
    }
}
