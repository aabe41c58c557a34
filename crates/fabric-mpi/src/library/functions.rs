//! Functions of MPI that this crate calls, with the signatures of the standard's C bindings.

use std::ffi::{c_char, c_int, c_void};

use super::handles::{Handle, Status};

/// A combination of two vectors provided by the program: operand, accumulator, length, datatype.
pub(crate) type UserFunction =
    unsafe extern "C" fn(*const c_void, *mut c_void, *const c_int, *const Handle);

/// Defines a struct of function pointers, and a function that looks each of them up by name.
macro_rules! table {
    ($(#[$about:meta])* $table:ident<$count:ty> { $($field:ident $name:literal ($($argument:ty),* $(,)?)),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl $table {
            /// Looks up all functions; fails with the names that `address` does not find.
            ///
            /// # Safety
            /// `address` must return for each name the function of that name of an MPI whose interface has this
            /// signature for it.
            pub(crate) unsafe fn find(
                address: impl Fn(&'static str) -> Option<*mut c_void>,
            ) -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(
                    let $field = address($name);
                    if $field.is_none() {
                        missing.push($name);
                    }
                )*
                if !missing.is_empty() {
                    return Err(missing);
                }
                Ok($table {
                    $(
                        $field: {
                            let found = $field.expect("checked above");
                            // SAFETY: dlsym returned the pointer, and it is not null; the caller promises the
                            // signature.
                            unsafe {
                                std::mem::transmute::<
                                    *mut c_void,
                                    unsafe extern "C" fn($($argument),*) -> c_int,
                                >(found)
                            }
                        },
                    )*
                })
            }
        }
    };
}

/// The functions whose counts are of type `$count`.
macro_rules! counted_table {
    ($(#[$about:meta])* $table:ident<$count:ty> $send:literal $receive:literal $send_receive:literal $post_send:literal
        $post_synchronous_send:literal $post_receive:literal $post_claimed_receive:literal $count_of:literal
        $broadcast:literal $scatter:literal $gather:literal $allgather:literal $reduce:literal $allreduce:literal
        $all_to_all:literal $reduce_scatter:literal $scan:literal $exclusive_scan:literal) => {
        table! {
            $(#[$about])*
            $table<$count> {
                send $send (*const c_void, $count, Handle, c_int, c_int, Handle),
                receive $receive (*mut c_void, $count, Handle, c_int, c_int, Handle, *mut Status),
                send_receive $send_receive (
                    *const c_void, $count, Handle, c_int, c_int,
                    *mut c_void, $count, Handle, c_int, c_int, Handle, *mut Status,
                ),
                post_send $post_send (*const c_void, $count, Handle, c_int, c_int, Handle, *mut Handle),
                post_synchronous_send $post_synchronous_send (
                    *const c_void, $count, Handle, c_int, c_int, Handle, *mut Handle,
                ),
                post_receive $post_receive (*mut c_void, $count, Handle, c_int, c_int, Handle, *mut Handle),
                post_claimed_receive $post_claimed_receive (*mut c_void, $count, Handle, *mut Handle, *mut Handle),
                count_of $count_of (*const Status, Handle, *mut $count),
                broadcast $broadcast (*mut c_void, $count, Handle, c_int, Handle),
                scatter $scatter (*const c_void, $count, Handle, *mut c_void, $count, Handle, c_int, Handle),
                gather $gather (*const c_void, $count, Handle, *mut c_void, $count, Handle, c_int, Handle),
                allgather $allgather (*const c_void, $count, Handle, *mut c_void, $count, Handle, Handle),
                reduce $reduce (*const c_void, *mut c_void, $count, Handle, Handle, c_int, Handle),
                allreduce $allreduce (*const c_void, *mut c_void, $count, Handle, Handle, Handle),
                reduce_scatter $reduce_scatter (*const c_void, *mut c_void, $count, Handle, Handle, Handle),
                scan $scan (*const c_void, *mut c_void, $count, Handle, Handle, Handle),
                exclusive_scan $exclusive_scan (*const c_void, *mut c_void, $count, Handle, Handle, Handle),
                all_to_all $all_to_all (*const c_void, $count, Handle, *mut c_void, $count, Handle, Handle),
            }
        }
    };
}

counted_table! {
    /// Messages and collectives with counts of 32 bits, which every MPI has.
    Short<c_int> "MPI_Send" "MPI_Recv" "MPI_Sendrecv" "MPI_Isend" "MPI_Issend" "MPI_Irecv" "MPI_Imrecv" "MPI_Get_count"
        "MPI_Bcast" "MPI_Scatter" "MPI_Gather" "MPI_Allgather" "MPI_Reduce" "MPI_Allreduce" "MPI_Alltoall"
        "MPI_Reduce_scatter_block" "MPI_Scan" "MPI_Exscan"
}

counted_table! {
    /// As [`Short`], with counts of 64 bits, which MPI has had since version 4. The ABI defines their type.
    Long<i64> "MPI_Send_c" "MPI_Recv_c" "MPI_Sendrecv_c" "MPI_Isend_c" "MPI_Issend_c" "MPI_Irecv_c" "MPI_Imrecv_c"
        "MPI_Get_count_c" "MPI_Bcast_c" "MPI_Scatter_c" "MPI_Gather_c" "MPI_Allgather_c" "MPI_Reduce_c"
        "MPI_Allreduce_c" "MPI_Alltoall_c" "MPI_Reduce_scatter_block_c" "MPI_Scan_c" "MPI_Exscan_c"
}

table! {
    /// All other functions.
    General<c_int> {
        init "MPI_Init" (*mut c_int, *mut *mut *mut c_char),
        finalize "MPI_Finalize" (),
        abort "MPI_Abort" (Handle, c_int),
        get_version "MPI_Get_version" (*mut c_int, *mut c_int),
        get_library_version "MPI_Get_library_version" (*mut c_char, *mut c_int),
        error_class "MPI_Error_class" (c_int, *mut c_int),
        error_string "MPI_Error_string" (c_int, *mut c_char, *mut c_int),
        comm_rank "MPI_Comm_rank" (Handle, *mut c_int),
        comm_size "MPI_Comm_size" (Handle, *mut c_int),
        comm_dup "MPI_Comm_dup" (Handle, *mut Handle),
        comm_free "MPI_Comm_free" (*mut Handle),
        comm_group "MPI_Comm_group" (Handle, *mut Handle),
        comm_create_group "MPI_Comm_create_group" (Handle, Handle, c_int, *mut Handle),
        comm_set_errhandler "MPI_Comm_set_errhandler" (Handle, Handle),
        comm_get_attr "MPI_Comm_get_attr" (Handle, c_int, *mut c_void, *mut c_int),
        group_incl "MPI_Group_incl" (Handle, c_int, *const c_int, *mut Handle),
        group_free "MPI_Group_free" (*mut Handle),
        type_size "MPI_Type_size" (Handle, *mut c_int),
        op_free "MPI_Op_free" (*mut Handle),
        op_create "MPI_Op_create" (UserFunction, c_int, *mut Handle),
        wait "MPI_Wait" (*mut Handle, *mut Status),
        wait_any "MPI_Waitany" (c_int, *mut Handle, *mut c_int, *mut Status),
        wait_all "MPI_Waitall" (c_int, *mut Handle, *mut Status),
        test "MPI_Test" (*mut Handle, *mut c_int, *mut Status),
        cancel "MPI_Cancel" (*mut Handle),
        test_cancelled "MPI_Test_cancelled" (*const Status, *mut c_int),
        probe "MPI_Iprobe" (c_int, c_int, Handle, *mut c_int, *mut Status),
        claim "MPI_Improbe" (c_int, c_int, Handle, *mut c_int, *mut Handle, *mut Status),
        barrier "MPI_Barrier" (Handle),
    }
}
