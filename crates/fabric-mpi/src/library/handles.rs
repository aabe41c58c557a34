//! Types and constants of an MPI's binary interface: the standard ABI, and the interface of Open MPI.

use std::ffi::{c_int, c_void};

use contract::{Element, Operation};

/// Handle of a communicator, a datatype, a request or another object of MPI. It has the size of a pointer in both
/// interfaces.
pub(crate) type Handle = *mut c_void;

/// Status of a message. Both interfaces begin with the same three fields; the standard one has 32 bytes in all, Open
/// MPI's 24.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Status {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) error: c_int,
    internal: [c_int; 5],
}

/// Marks data that are already at their destination. The same in both interfaces.
pub(crate) const IN_PLACE: *const c_void = std::ptr::without_provenance(1);
pub(crate) const SUCCESS: c_int = 0;
/// Error classes that are distinguished. Their numbers are the same in both interfaces, and have not changed since MPI
/// 1.
pub(crate) const ERROR_COUNT: c_int = 2;
pub(crate) const ERROR_TRUNCATE: c_int = 15;

/// Constants that differ between the interfaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    pub(crate) comm_world: Handle,
    pub(crate) errors_return: Handle,
    pub(crate) request_null: Handle,
    pub(crate) byte: Handle,
    /// Datatypes in the order of [`Element::ALL`].
    elements: [Handle; 6],
    /// Operations in the order of [`Operation::ALL`].
    operations: [Handle; 4],
    /// Size of a status in an array, in bytes.
    pub(crate) status_bytes: usize,
    pub(crate) any_source: c_int,
    pub(crate) any_tag: c_int,
    /// Key of the attribute that contains the largest tag.
    pub(crate) tag_upper_bound: c_int,
    /// Error class that indicates an error in each status.
    pub(crate) error_in_status: c_int,
    /// Error class that indicates the death of another process.
    pub(crate) error_process_died: c_int,
}

impl Constants {
    /// Constants of the standard ABI, version 1.0 (MPI 5.0, section 20.3 and appendix A).
    pub(crate) const STANDARD: Constants = Constants {
        comm_world: std::ptr::without_provenance_mut(0x101),
        errors_return: std::ptr::without_provenance_mut(0x143),
        request_null: std::ptr::without_provenance_mut(0x180),
        byte: std::ptr::without_provenance_mut(0x247),
        elements: [
            std::ptr::without_provenance_mut(0x241),
            std::ptr::without_provenance_mut(0x250),
            std::ptr::without_provenance_mut(0x258),
            std::ptr::without_provenance_mut(0x259),
            std::ptr::without_provenance_mut(0x210),
            std::ptr::without_provenance_mut(0x214),
        ],
        operations: [
            std::ptr::without_provenance_mut(0x21),
            std::ptr::without_provenance_mut(0x24),
            std::ptr::without_provenance_mut(0x22),
            std::ptr::without_provenance_mut(0x23),
        ],
        status_bytes: 32,
        any_source: -1,
        any_tag: -2,
        tag_upper_bound: 501,
        error_in_status: 19,
        error_process_died: 58,
    };

    /// Returns the constants of Open MPI 4 and 5, whose handles are the addresses of variables in the library;
    /// `address` finds them.
    pub(crate) fn open_mpi<E>(address: impl Fn(&str) -> Result<Handle, E>) -> Result<Self, E> {
        let datatype = |name: &str| address(&format!("ompi_mpi_{name}"));
        let operation = |name: &str| address(&format!("ompi_mpi_op_{name}"));
        Ok(Constants {
            comm_world: address("ompi_mpi_comm_world")?,
            errors_return: address("ompi_mpi_errors_return")?,
            request_null: address("ompi_request_null")?,
            byte: datatype("byte")?,
            elements: [
                datatype("uint8_t")?,
                datatype("int32_t")?,
                datatype("int64_t")?,
                datatype("uint64_t")?,
                datatype("float")?,
                datatype("double")?,
            ],
            operations: [
                operation("sum")?,
                operation("prod")?,
                operation("min")?,
                operation("max")?,
            ],
            status_bytes: 24,
            any_source: -1,
            any_tag: -1,
            tag_upper_bound: 0,
            error_in_status: 18,
            error_process_died: 75,
        })
    }

    pub(crate) fn element(&self, element: Element) -> Handle {
        self.elements[place(&Element::ALL, element)]
    }

    pub(crate) fn operation(&self, operation: Operation) -> Handle {
        self.operations[place(&Operation::ALL, operation)]
    }
}

fn place<T: PartialEq>(all: &[T], one: T) -> usize {
    all.iter().position(|other| *other == one).expect("ALL lists each")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the values against the text of the standard, by name.
    #[test]
    fn the_standard_handles_are_at_their_elements_and_operations() {
        let standard = Constants::STANDARD;
        let datatype = |element| standard.element(element).addr();
        assert_eq!(datatype(Element::U8), 0x241);
        assert_eq!(datatype(Element::I32), 0x250);
        assert_eq!(datatype(Element::I64), 0x258);
        assert_eq!(datatype(Element::U64), 0x259);
        assert_eq!(datatype(Element::F32), 0x210);
        assert_eq!(datatype(Element::F64), 0x214);
        let operation = |operation| standard.operation(operation).addr();
        assert_eq!(operation(Operation::Sum), 0x21);
        assert_eq!(operation(Operation::Minimum), 0x22);
        assert_eq!(operation(Operation::Maximum), 0x23);
        assert_eq!(operation(Operation::Product), 0x24);
    }

    /// Tests that handles of fixed-size types contain the logarithm of that size in bits 3 to 5.
    #[test]
    fn the_standard_handles_of_integers_encode_their_size() {
        for element in [Element::U8, Element::I32, Element::I64, Element::U64] {
            let handle = Constants::STANDARD.element(element).addr();
            assert_eq!(1 << (handle >> 3 & 7), element.bytes(), "{element:?}");
        }
    }

    #[test]
    fn a_status_has_the_size_of_the_larger_interface() {
        assert_eq!(size_of::<Status>(), 32);
    }
}
