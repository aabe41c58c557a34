//! Operations, and operations on a datatype.

use std::rc::Rc;

use super::arithmetic;
use super::predefined::Predefined;
use super::user::{User, UserOperation};
use crate::datatype::{Datatype, Element};
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;

/// The operation that combines two elements.
#[derive(Debug)]
pub struct Operation(Kind);

#[derive(Debug)]
enum Kind {
    Predefined(Predefined),
    User(User),
}

impl From<Predefined> for Operation {
    fn from(operation: Predefined) -> Self {
        Operation(Kind::Predefined(operation))
    }
}

impl Operation {
    /// Creates a program's operation.
    pub fn user(commutes: bool, function: impl UserOperation + 'static) -> Self {
        Operation(Kind::User(User { function: Box::new(function), commutes }))
    }

    /// Creates a program's operation from a function on packed elements: its second argument becomes first op second,
    /// element by element.
    pub fn of_bytes(
        commutes: bool,
        function: impl Fn(&[u8], &mut [u8], &Rc<Datatype>) + 'static,
    ) -> Self {
        Operation(Kind::User(User::of_bytes(commutes, function)))
    }

    /// Creates a program's operation from a function on numbers. It supports datatypes that consist of such numbers
    /// only.
    pub fn of_elements<T: Element>(commutes: bool, function: impl Fn(T, T) -> T + 'static) -> Self {
        Operation(Kind::User(User::of_elements(commutes, function)))
    }

    /// Returns whether it is commutative.
    pub fn commutes(&self) -> bool {
        match &self.0 {
            Kind::Predefined(operation) => operation.commutes(),
            Kind::User(user) => user.commutes,
        }
    }

    /// Returns the predefined operation, if it is one.
    #[inline]
    pub fn predefined(&self) -> Option<Predefined> {
        match &self.0 {
            Kind::Predefined(operation) => Some(*operation),
            Kind::User(_) => None,
        }
    }
}

/// An operation on a datatype for which it is defined.
#[derive(Clone, Debug)]
pub struct Reduction {
    operation: Rc<Operation>,
    of: Rc<Datatype>,
}

impl Reduction {
    /// Creates the reduction of `operation` on elements of type `of`.
    ///
    /// # Errors
    /// [`ErrorClass::Type`] if the type was not committed, [`ErrorClass::Operation`] if the operation is not defined
    /// for it.
    #[inline]
    pub fn new(operation: Rc<Operation>, of: Rc<Datatype>) -> Result<Self> {
        ensure!(of.is_committed(), ErrorClass::Type, "the datatype was not committed");
        if let Some(predefined) = operation.predefined() {
            let applies = predefined.applies(&of, arithmetic::HAS_LONG_DOUBLE);
            let why = "the operation is not defined for this datatype";
            ensure!(applies, ErrorClass::Operation, "{why}");
        }
        Ok(Reduction { operation, of })
    }

    /// Returns the operation.
    #[inline]
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Returns the datatype.
    #[inline]
    pub fn of(&self) -> &Rc<Datatype> {
        &self.of
    }

    /// Returns whether it is commutative.
    pub fn commutes(&self) -> bool {
        self.operation.commutes()
    }

    /// Computes `inout` = `input` op `inout`, element by element.
    ///
    /// # Panics
    /// If the two are not as many elements of this datatype.
    pub fn apply(&self, input: &Memory, inout: &Memory) {
        let same = Rc::ptr_eq(input.of(), &self.of) && Rc::ptr_eq(inout.of(), &self.of);
        assert!(same && input.count() == inout.count(), "elements that do not fit each other");
        match &self.operation.0 {
            Kind::Predefined(operation) => arithmetic::apply(*operation, input, inout),
            Kind::User(user) => user.function.apply(input, inout),
        }
    }
}
