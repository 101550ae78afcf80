//! Numbers in as few bytes as they need: seven bits a byte, the low ones first, and a bit that says that more follow (LEB128).

/// Bytes of the longest number.
pub(crate) const MOST_VARINT_BYTES: usize = 5;

/// Adds `number` to `out`.
#[inline]
pub(crate) fn push_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front of `bytes`; `None` if they end before, or if it does not fit.
#[inline]
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u32;
    for shift in (0..u32::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec(any::<u32>(), 0..50)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| push_varint(&mut bytes, *number));
            let mut rest = &bytes[..];
            let found: Vec<u32> = std::iter::from_fn(|| take_varint(&mut rest)).collect();
            prop_assert_eq!(found, numbers);
        }

        #[test]
        fn whatever_bytes_say(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let mut rest = &bytes[..];
            while take_varint(&mut rest).is_some() {}
            prop_assert!(rest.iter().all(|byte| byte & 0x80 != 0) || rest.len() < bytes.len());
        }
    }
}
