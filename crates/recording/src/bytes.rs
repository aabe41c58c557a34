//! Numbers in as few bytes as they need: seven bits in each, the lowest first. The eighth bit is set if more bytes
//! follow.

/// The data are incomplete, or not those of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut;

/// A reader of bytes from the beginning.
#[derive(Clone, Debug)]
pub struct ByteReader<'a>(&'a [u8]);

/// Appends a number.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a number that may be missing.
pub(crate) fn put_optional(out: &mut Vec<u8>, number: Option<u32>) {
    put_number(out, number.map_or(0, |number| u64::from(number) + 1));
}

impl<'a> ByteReader<'a> {
    /// Creates a reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        ByteReader(bytes)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn take(&mut self, bytes: usize) -> Result<&'a [u8], Cut> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(Cut)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Returns the number of bytes that were not read.
    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn number(&mut self) -> Result<u64, Cut> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte().ok_or(Cut)?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Cut)
    }

    pub(crate) fn size(&mut self) -> Result<usize, Cut> {
        usize::try_from(self.number()?).map_err(|_| Cut)
    }

    pub(crate) fn small(&mut self) -> Result<u32, Cut> {
        u32::try_from(self.number()?).map_err(|_| Cut)
    }

    pub(crate) fn optional(&mut self) -> Result<Option<u32>, Cut> {
        match self.number()? {
            0 => Ok(None),
            number => u32::try_from(number - 1).map(Some).map_err(|_| Cut),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_a_byte_for_seven_bits() {
        for (number, bytes) in
            [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)]
        {
            let mut out = Vec::new();
            put_number(&mut out, number);
            assert_eq!(out.len(), bytes);
            let mut source = ByteReader::new(&out);
            assert_eq!((source.number(), source.is_empty()), (Ok(number), true));
        }
    }

    #[test]
    fn a_number_without_end_and_one_that_is_too_great_are_told() {
        assert_eq!(ByteReader::new(&[0x80; 11]).number(), Err(Cut));
        assert_eq!(ByteReader::new(&[0x80]).number(), Err(Cut));
        let mut out = Vec::new();
        put_number(&mut out, u64::from(u32::MAX) + 2);
        assert_eq!(ByteReader::new(&out).small(), Err(Cut));
        assert_eq!(ByteReader::new(&out).optional(), Err(Cut));
    }
}
