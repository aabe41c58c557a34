//! Every collective as ordinary code over point-to-point calls.

use crate::{Rank, Reduction, Result};

macro_rules! pending {
    ($($name:ident($($arg:ident: $t:ty),*);)*) => {$(
        #[expect(missing_docs, unused_variables)]
        pub fn $name<R: Rank + ?Sized>(machine: &mut R, $($arg: $t),*) -> Result<()> {
            unimplemented!()
        }
    )*};
}
pending! {
    barrier();
    broadcast(root: usize, buffer: &mut [u8]);
    scatter(root: usize, send: &[u8], receive: &mut [u8]);
    gather(root: usize, send: &[u8], receive: &mut [u8]);
    allgather(send: &[u8], receive: &mut [u8]);
    allgather_in_place(buffer: &mut [u8]);
    reduce(root: usize, reduction: Reduction, send: &[u8], receive: &mut [u8]);
    allreduce(reduction: Reduction, send: &[u8], receive: &mut [u8]);
    all_to_all(send: &[u8], receive: &mut [u8]);
}
