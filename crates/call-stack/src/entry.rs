/// Exports a function that passes on where it was called: its first instructions add its return address as a last argument,
/// in the first register for floating-point arguments, and continue in a body, which has that argument as an `f64`.
///
/// The function must have no floating-point arguments of its own, as none of MPI has. Then all others remain in place, also
/// on the stack, and a body that knows nothing of the last argument may be called, too.
#[macro_export]
macro_rules! export_entry {
    ($visible:vis fn $name:ident($($p:ident: $t:ty),*) -> $result:ty, $body:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        $visible unsafe extern "C" fn $name($($p: $t),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            ::std::arch::naked_asm!("movq xmm0, qword ptr [rsp]", "jmp {}", sym $body);
            #[cfg(target_arch = "aarch64")]
            ::std::arch::naked_asm!("fmov d0, x30", "b {}", sym $body);
        }
    };
}
