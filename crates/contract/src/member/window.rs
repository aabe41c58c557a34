//! Opening of a window: the ranks exchange the places of their memory.

use super::*;
use crate::{OwnMemory, WindowOffer, WindowPart};

impl<E: Endpoint> Member<'_, E> {
    pub(super) fn open_window_on(&mut self, bytes: usize) -> Result<RankWindow> {
        let context = self.split_as(Some(0), 0)?.expect("this rank has given a colour");
        let endpoint = &mut self.process.endpoint;
        let memory = OwnMemory::new(endpoint, bytes, false);
        let part: WindowPart = memory.part(endpoint);
        let mut all = vec![0; WindowOffer::BYTES * self.size()];
        self.allgather(&part.offer().to_bytes(), &mut all)?;
        let (offers, _) = all.as_chunks::<{ WindowOffer::BYTES }>();
        let offers: Vec<WindowOffer> = offers.iter().map(WindowOffer::from_bytes).collect();
        RankWindow::open(&mut self.process.endpoint, memory, part, context, &offers)
    }
}
