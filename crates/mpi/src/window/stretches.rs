//! The bytes of a member's memory that elements occupy.

use contract::Stretch;

use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};

/// Returns the stretches of `count` elements at `offset`, in the order of their data; adjacent ones are merged.
/// Elements that consist of a `pair` are whole pairs, with their gaps.
pub(super) fn stretches(
    of: &Datatype,
    count: i64,
    offset: i64,
    pair: Option<&Datatype>,
) -> Result<Vec<Stretch>> {
    let mut list: Vec<Stretch> = Vec::new();
    let mut push = |start: i64, bytes: i64| -> Result {
        let before = || format!("bytes at offset {start} of a window");
        let offset =
            u64::try_from(start).map_err(|_| Error::new(ErrorClass::RmaRange, before()))?;
        let bytes = bytes as u64;
        match list.last_mut() {
            Some(last) if last.offset + last.bytes == offset => last.bytes += bytes,
            _ => list.push(Stretch { offset, bytes }),
        }
        Ok(())
    };
    if of.is_dense() {
        if count > 0 && of.size() > 0 {
            push(offset, count * of.extent())?;
        }
        return Ok(list);
    }
    for index in 0..count {
        let start = offset + index * of.extent();
        let Some(pair) = pair else {
            of.runs().iter().try_for_each(|run| push(start + run.offset, run.bytes()))?;
            continue;
        };
        // A run holds several pairs only if value and index have the same kind, and so no gaps.
        let mut behind = 0;
        for run in of.runs() {
            if behind == 0 {
                let pairs = (run.bytes() / pair.size()).max(1);
                push(start + run.offset, pairs * pair.extent())?;
                behind = pairs * pair.size();
            }
            behind -= run.bytes();
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Kind, Unit};

    #[test]
    fn pieces_that_touch_are_one() {
        let int = Datatype::basic(Kind::Signed(4));
        let column = Datatype::vector(2, 1, 2, Unit::Elements, &int).unwrap();
        let stretch = |offset, bytes| Stretch { offset, bytes };
        // Ints 0 and 2, and from the extent of three ints on 3 and 5, all eight bytes later.
        let expected = [stretch(8, 4), stretch(16, 8), stretch(28, 4)];
        assert_eq!(stretches(&column, 2, 8, None).unwrap(), expected);
        assert_eq!(stretches(&int, 3, 4, None).unwrap(), [stretch(4, 12)]);
        assert_eq!(stretches(&int, 0, 4, None).unwrap(), []);
        let pair = Datatype::pair(Kind::Signed(2), Kind::Signed(4));
        assert_eq!(stretches(&pair, 2, 0, Some(&pair)).unwrap(), [stretch(0, 16)]);
        let two = Datatype::pair(Kind::Signed(4), Kind::Signed(4));
        for pair in [pair, two] {
            // Pairs 0, 1 and 4, 5 of eight bytes each.
            let some = Datatype::vector(2, 2, 4, Unit::Elements, &pair).unwrap();
            let expected = [stretch(0, 16), stretch(32, 16)];
            assert_eq!(stretches(&some, 1, 0, Some(&pair)).unwrap(), expected);
        }
        let before = stretches(&column, 1, -4, None).unwrap_err();
        assert_eq!(before.class, ErrorClass::RmaRange);
    }
}
