//! Tests of small libraries by their public interfaces, in one program, because each program takes a second to link.

mod call_stack_tests;
mod definition_files_tests;
mod random_tests;
mod record_tests;
