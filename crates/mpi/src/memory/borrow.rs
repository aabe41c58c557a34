//! Memory of Rust programs, borrowed for the duration of a call.

use std::marker::PhantomData;
use std::rc::Rc;

use super::view::Memory;
use crate::datatype::{Datatype, Element};
use crate::error::{ErrorClass, Result, ensure};

/// Data that a call reads.
#[derive(Debug)]
pub struct Outgoing<'a> {
    memory: Memory,
    borrowed: PhantomData<&'a [u8]>,
}

/// Room that a call writes.
#[derive(Debug)]
pub struct Incoming<'a> {
    memory: Memory,
    borrowed: PhantomData<&'a mut [u8]>,
}

/// Checks that elements lie within `bytes` bytes from their address on. Computed in 128 bits, where no sum of a run's
/// numbers can overflow; what passes does not overflow in 64 bits either.
fn check_inside(bytes: usize, count: i64, of: &Datatype) -> Result {
    ensure!(count >= 0, ErrorClass::Count, "a count of {count}");
    let far = i128::from(count.max(1) - 1) * i128::from(of.extent());
    let (mut first, mut end) = (0, 0);
    for run in of.runs().iter().filter(|_| count > 0) {
        let length = i128::from(run.count) * i128::from(run.kind.bytes());
        first = first.min(i128::from(run.offset) + far.min(0));
        end = end.max(i128::from(run.offset) + length + far.max(0));
    }
    ensure!(
        first >= 0 && end <= bytes as i128,
        ErrorClass::Buffer,
        "{count} elements lie in bytes {first} to {end} of a buffer of {bytes}"
    );
    Ok(())
}

impl<'a> Outgoing<'a> {
    /// Borrows `count` elements of a datatype, which must lie within `data`.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`] if they do not, [`ErrorClass::Type`] if the type was not committed, and
    /// [`ErrorClass::Count`].
    pub fn new<T: Element>(data: &'a [T], count: i64, of: &Rc<Datatype>) -> Result<Self> {
        check_inside(size_of_val(data), count, of)?;
        // SAFETY: the elements lie within `data`, which is borrowed for as long as this lives, and numbers have
        // no padding.
        let memory = unsafe { Memory::new(data.as_ptr().cast(), count, of.clone()) }?;
        Ok(Outgoing { memory, borrowed: PhantomData })
    }

    /// Returns the memory, which must not outlive this.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl<'a> Incoming<'a> {
    /// Borrows room for `count` elements of a datatype within `room`.
    ///
    /// # Errors
    /// As for [`Outgoing::new`].
    pub fn new<T: Element>(room: &'a mut [T], count: i64, of: &Rc<Datatype>) -> Result<Self> {
        check_inside(size_of_val(room), count, of)?;
        // SAFETY: as above; every pattern of bits is a number.
        let memory = unsafe { Memory::new(room.as_mut_ptr().cast(), count, of.clone()) }?;
        Ok(Incoming { memory, borrowed: PhantomData })
    }

    /// Returns the memory, which must not outlive this.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl<'a, T: Element> From<&'a [T]> for Outgoing<'a> {
    fn from(data: &'a [T]) -> Self {
        // SAFETY: as in `new`.
        let memory =
            unsafe { Memory::unchecked(data.as_ptr().cast(), data.len() as i64, T::datatype()) };
        Outgoing { memory, borrowed: PhantomData }
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Incoming<'a> {
    fn from(room: &'a mut [T]) -> Self {
        // SAFETY: as in `new`.
        let memory = unsafe {
            Memory::unchecked(room.as_mut_ptr().cast(), room.len() as i64, T::datatype())
        };
        Incoming { memory, borrowed: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Kind, Unit};

    #[test]
    fn elements_that_do_not_lie_within_the_borrowed_memory_are_refused() {
        let data = [0_i32; 6];
        let column = Datatype::vector(2, 1, 3, Unit::Elements, &Datatype::basic(Kind::Signed(4)));
        let column = column.unwrap();
        let refused = Outgoing::new(&data, 1, &column).unwrap_err();
        assert_eq!(refused.class, ErrorClass::Type, "not committed");
        column.commit();
        // Elements 0 and 3 of six; a second one from element 4 on would be 4 and 7.
        assert_eq!(Outgoing::new(&data, 1, &column).unwrap().memory().bytes(), 8);
        assert_eq!(Outgoing::new(&data, 2, &column).unwrap_err().class, ErrorClass::Buffer);
        assert_eq!(Outgoing::new(&data[..3], 1, &column).unwrap_err().class, ErrorClass::Buffer);
        assert_eq!(Outgoing::new(&data, -1, &column).unwrap_err().class, ErrorClass::Count);
        let before = Datatype::indexed_block(1, vec![-1], Unit::Bytes, &column).unwrap();
        before.commit();
        assert_eq!(Outgoing::new(&data, 1, &before).unwrap_err().class, ErrorClass::Buffer);
        let far = Datatype::resized(0, i64::MAX, &column).unwrap();
        far.commit();
        assert_eq!(Outgoing::new(&data, 3, &far).unwrap_err().class, ErrorClass::Buffer);
        assert_eq!(Outgoing::new(&data, 0, &far).unwrap().memory().bytes(), 0);
    }

    #[test]
    fn slices_are_elements_of_their_own_type() {
        let mut room = [0_u16; 3];
        let data = Outgoing::from(&[1_u16, 2, 3][..]);
        Incoming::from(&mut room[..]).memory().copy_from(data.memory());
        assert_eq!(room, [1, 2, 3]);
    }
}
