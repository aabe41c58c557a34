//! Tuples and templates as bytes.
//!
//! A count of fields is first. For each field its type follows in a byte, to which [`FORMAL`] is added if there is no
//! value, and then the value: numbers have 8 bytes, and words and bytes have two bytes of length before them. All are
//! little-endian.

use super::value::{Field, Template, Tuple, Wanted};
use crate::{Error, FieldKind, MEDIUM_BYTES_MAX, Result};

const KINDS: [FieldKind; 5] =
    [FieldKind::Integer, FieldKind::Real, FieldKind::Text, FieldKind::Bytes, FieldKind::Function];
const FORMAL: u8 = 0x80;

fn put_field(bytes: &mut Vec<u8>, field: &Field) {
    bytes.push(field.kind() as u8);
    match field {
        Field::Integer(value) => bytes.extend(value.to_le_bytes()),
        Field::Real(value) => bytes.extend(value.to_bits().to_le_bytes()),
        Field::Function(value) => bytes.extend(u64::from(*value).to_le_bytes()),
        Field::Text(value) => put_bytes(bytes, value.as_bytes()),
        Field::Bytes(value) => put_bytes(bytes, value),
    }
}

fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    // A value that is too long for two bytes is too long for a message, and is refused with the true length of all.
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
}

/// Refuses bytes that are too long for a message.
fn checked(bytes: Vec<u8>, fields: usize) -> Result<Vec<u8>> {
    if bytes.len() > MEDIUM_BYTES_MAX || fields > usize::from(u8::MAX) {
        return Err(Error::TupleTooLong { bytes: bytes.len(), fields });
    }
    Ok(bytes)
}

/// Encodes several tuples, one after another.
pub(super) fn of_tuples(tuples: &[Tuple]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut most = 0;
    for Tuple(fields) in tuples {
        most = most.max(fields.len());
        bytes.push(fields.len() as u8);
        fields.iter().for_each(|field| put_field(&mut bytes, field));
    }
    checked(bytes, most)
}

pub(super) fn of_template(Template(fields): &Template) -> Result<Vec<u8>> {
    let mut bytes = vec![fields.len() as u8];
    for wanted in fields {
        match wanted {
            Wanted::Is(field) => put_field(&mut bytes, field),
            Wanted::Any(kind) => bytes.push(*kind as u8 | FORMAL),
        }
    }
    checked(bytes, fields.len())
}

/// Reads the tuples that [`of_tuples`] has written. Returns `None` for other bytes.
pub(super) fn tuples(bytes: &[u8]) -> Option<Vec<Tuple>> {
    let mut reader = Reader(bytes);
    let mut all = Vec::new();
    while !reader.0.is_empty() {
        let fields = (0..reader.byte()?).map(|_| match reader.wanted()? {
            Wanted::Is(field) => Some(field),
            Wanted::Any(_) => None,
        });
        all.push(Tuple(fields.collect::<Option<_>>()?));
    }
    Some(all)
}

pub(super) fn template(bytes: &[u8]) -> Option<Template> {
    let mut reader = Reader(bytes);
    let fields = (0..reader.byte()?).map(|_| reader.wanted()).collect::<Option<_>>()?;
    reader.0.is_empty().then_some(Template(fields))
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let length = u16::from_le_bytes(self.take(2)?.try_into().ok()?);
        self.take(usize::from(length)).map(<[u8]>::to_vec)
    }

    fn wanted(&mut self) -> Option<Wanted> {
        let kind = self.byte()?;
        let formal = kind & FORMAL != 0;
        let kind = *KINDS.get(usize::from(kind & !FORMAL))?;
        if formal {
            return Some(Wanted::Any(kind));
        }
        Some(Wanted::Is(match kind {
            FieldKind::Integer => Field::Integer(self.number()? as i64),
            FieldKind::Real => Field::Real(f64::from_bits(self.number()?)),
            FieldKind::Function => Field::Function(self.number()?.try_into().ok()?),
            FieldKind::Text => Field::Text(String::from_utf8(self.value()?).ok()?),
            FieldKind::Bytes => Field::Bytes(self.value()?),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_and_templates_come_back() {
        let one = Tuple(vec![
            i64::MIN.into(),
            (-0.5).into(),
            "wörter".into(),
            vec![0, 255].into(),
            Field::Function(u32::MAX),
        ]);
        let two = [one.clone(), Tuple::default()];
        assert_eq!(tuples(&of_tuples(&two).unwrap()), Some(two.to_vec()));
        let mut wanted: Vec<Wanted> = one.0.into_iter().map(Wanted::Is).collect();
        wanted.extend(KINDS.map(Wanted::Any));
        let whole = Template(wanted);
        assert_eq!(template(&of_template(&whole).unwrap()), Some(whole));
    }

    #[test]
    fn what_is_cut_off_is_nothing() {
        let bytes = of_tuples(&[Tuple(vec![1.into(), "ab".into()])]).unwrap();
        for end in 1..bytes.len() {
            assert_eq!(tuples(&bytes[..end]), None, "{end}");
        }
        assert_eq!(template(&[]), None);
    }

    #[test]
    fn what_is_too_long_is_refused_with_its_length() {
        // There are one byte for the count and three before the bytes.
        let error = of_tuples(&[Tuple(vec![vec![0; 885].into()])]).unwrap_err();
        assert_eq!(error, Error::TupleTooLong { bytes: 889, fields: 1 });
        assert!(of_tuples(&[Tuple(vec![vec![0; 884].into()])]).is_ok());
        let many = Template(vec![FieldKind::Real.into(); 256]);
        assert_eq!(of_template(&many), Err(Error::TupleTooLong { bytes: 257, fields: 256 }));
    }
}
