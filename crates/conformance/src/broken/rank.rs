//! All calls of the contract, with the fault in the affected one.

use super::Fault;
use super::fabric::Broken;
use super::system::BrokenSystem;
use contract::FabricDescription;
use contract::{
    Buffer, ClockQuality, Completed, Context, Error, OperatingSystem, Posted, Progress, Rank,
    RankWindow, Reduction, Result, SharedLine, Source, Status, Tag, TagSelector, Time, TimeSpan,
    WindowCall, Work, WorkKind,
};

impl Rank for Broken<'_> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn now(&self) -> Time {
        let now = self.inner.now();
        if self.has(Fault::ClockGoesBack) && self.now_and_then(100) {
            return Time::from_ps(now.as_ps().saturating_sub(TimeSpan::from_us(1000).as_ps()));
        }
        now
    }

    fn clock(&self) -> ClockQuality {
        self.inner.clock()
    }

    fn wait_until(&mut self, time: Time) {
        if !self.has(Fault::WakesEarly) {
            self.inner.wait_until(time);
        }
    }

    fn compute(&mut self, work: Work, body: &mut dyn FnMut()) {
        self.inner.compute(work, body);
        if self.has(Fault::ComputesTwice) && work.kind == WorkKind::FloatingPoint {
            body();
        }
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.inner.every_rank_has_a_processor()
    }

    fn processor(&self) -> Option<usize> {
        self.inner.processor()
    }

    fn describe(&self) -> FabricDescription {
        self.inner.describe()
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(Box::new(BrokenSystem::new(self.fault)))
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        if self.has(Fault::PrivateLine) { Some(&self.line) } else { self.inner.shared_line() }
    }

    fn split(&mut self, colour: Option<u32>, key: i64) -> Result<Option<Context>> {
        let key = if self.has(Fault::SplitsWithoutKeys) { 0 } else { key };
        match self.fault {
            Fault::SplitsWithoutColours => self.inner.split(colour.map(|_| 0), key),
            Fault::GivesEverybodyAContext => self.inner.split(colour.or(Some(0)), key),
            _ => self.inner.split(colour, key),
        }
    }

    fn within<'b>(&'b mut self, context: &Context) -> Box<dyn Rank + 'b> {
        match self.fault {
            Fault::StaysInTheWorld => Box::new(Broken::new(&mut *self.inner, Fault::None)),
            _ => self.inner.within(context),
        }
    }

    fn enter(&mut self, context: Context) -> Context {
        self.inner.enter(context)
    }

    fn close(&mut self, context: Context) -> Result<()> {
        self.inner.close(context)
    }

    fn open_window(&mut self, bytes: usize) -> Result<RankWindow> {
        self.inner.open_window(bytes)
    }

    fn call_window(&mut self, window: &mut RankWindow, call: WindowCall<'_>) -> Result<()> {
        self.inner.call_window(window, call)
    }

    fn close_window(&mut self, window: RankWindow) -> Result<()> {
        self.inner.close_window(window)
    }

    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        self.sent += 1;
        let tag = self.tag_out(tag);
        match self.fault {
            Fault::SwapsNeighbours | Fault::ShortOvertakesLong
                if self.held.is_none() && !tag.is_reserved() && to != self.rank() =>
            {
                let hold = match self.fault {
                    Fault::SwapsNeighbours => self.now_and_then(5),
                    _ => data.len() > 5000,
                };
                if hold {
                    self.held = Some((to, tag, data.to_vec()));
                    return Ok(());
                }
            }
            Fault::DeliversTwice if !tag.is_reserved() && self.now_and_then(50) => {
                self.inner.send(to, tag, data)?;
            }
            Fault::LosesEmptyMessages if data.is_empty() => return Ok(()),
            Fault::RefusesOneself if to == self.rank() => {
                let (fabric, what) = ("broken".into(), "send to itself".into());
                return Err(Error::Unsupported { fabric, what });
            }
            Fault::AcceptsAnyDestination if to >= self.size() => return Ok(()),
            _ => {}
        }
        self.inner.send(to, tag, data)?;
        self.let_go()
    }

    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        self.let_go()?;
        let tag = self.selector(tag);
        if matches!(self.fault, Fault::TruncatesInSilence | Fault::KeepsTruncatedMessages) {
            return self.receive_roomily(from, tag, buffer);
        }
        let status = self.inner.receive(from, tag, buffer)?;
        Ok(self.spoil(status, buffer))
    }

    fn send_receive(
        &mut self,
        (to, send_tag, data): (usize, Tag, &[u8]),
        (from, receive_tag, buffer): (Source, TagSelector, &mut [u8]),
    ) -> Result<Status> {
        self.let_go()?;
        self.sent += 1;
        let (send_tag, receive_tag) = (self.tag_out(send_tag), self.selector(receive_tag));
        let status = self.inner.send_receive((to, send_tag, data), (from, receive_tag, buffer))?;
        Ok(self.spoil(status, buffer))
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        self.let_go()?;
        let tag = self.tag_out(tag);
        self.inner.post_send(to, tag, buffer)
    }

    /// Implements [`Fault::PostsInTheOppositeOrder`] for pairs of receives of one byte.
    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        self.let_go()?;
        let tag = self.selector(tag);
        if !self.has(Fault::PostsInTheOppositeOrder) || buffer.len() != 1 {
            return self.inner.post_receive(from, tag, buffer);
        }
        match self.waiting_to_be_posted.take() {
            None => {
                self.waiting_to_be_posted = Some((from, tag, buffer));
                Ok(Posted::new(u64::MAX))
            }
            Some((first_from, first_tag, first_buffer)) => {
                let second = self.inner.post_receive(from, tag, buffer)?;
                let first = self.inner.post_receive(first_from, first_tag, first_buffer)?;
                self.swapped.push((u64::MAX, first.number()));
                Ok(second)
            }
        }
    }

    fn view<'a>(&'a self, message: &'a Completed) -> &'a [u8] {
        match self.fault {
            Fault::ShowsMoreThanTheMessage => &message.buffer,
            _ => self.inner.view(message),
        }
    }

    fn release(&mut self, message: Completed) -> Result<Buffer> {
        let bytes = message.status.bytes;
        let mut buffer = self.inner.release(message)?;
        if self.has(Fault::CutsWhatItGivesBack) {
            buffer.resize(bytes);
        }
        Ok(buffer)
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        self.let_go()?;
        if self.has(Fault::ForgetsWhichHandlesEnded) {
            return Ok(self.inner.wait(posted).unwrap_or_else(|_| Completed {
                buffer: Buffer::zeroed(0),
                status: Status { source: 0, tag: Tag::new(0), bytes: 0 },
                in_place: None,
            }));
        }
        let number = posted.number();
        let real = match self.swapped.iter().rposition(|&(shown, _)| shown == number) {
            Some(place) => Posted::new(self.swapped.remove(place).1),
            None => posted,
        };
        let mut completed = self.inner.wait(real)?;
        completed.status = self.status(completed.status);
        Ok(completed)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        self.let_go()?;
        self.inner.test(posted)
    }

    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        self.let_go()?;
        if self.has(Fault::WaitAnyTakesTheFirst) {
            let first = posted.remove(0);
            return Ok((0, self.wait(first)?));
        }
        self.inner.wait_any(posted)
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        self.let_go()?;
        let tag = self.selector(tag);
        let mut found = self.inner.probe(from, tag)?.map(|status| self.status(status));
        if let (Fault::ProbeWrongLength, Some(status)) = (self.fault, &mut found) {
            status.bytes = status.bytes.min(2048);
        }
        Ok(found)
    }

    fn send_window(&mut self, to: usize, tag: Tag, data: &[u8], count: usize) -> Result<()> {
        let more = usize::from(self.has(Fault::WindowSendsOneMore));
        for _ in 0..count + more {
            self.send(to, tag, data)?;
        }
        // The rank must exist even if there is no message to send.
        contract::check_rank(to, self.size())
    }

    fn barrier(&mut self) -> Result<()> {
        if self.has(Fault::OpenBarrier) {
            Ok(())
        } else {
            contract::collective::barrier(self, None)
        }
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        match self.fault {
            Fault::BroadcastsFromZero => contract::collective::broadcast(self, None, 0, buffer),
            Fault::BroadcastsAnyLength => {
                let mut all = buffer.to_vec();
                all.resize(200, 0);
                contract::collective::broadcast(self, None, root, &mut all)?;
                buffer.copy_from_slice(&all[..buffer.len()]);
                Ok(())
            }
            _ => contract::collective::broadcast(self, None, root, buffer),
        }
    }

    fn scatter(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let mut send = send.to_vec();
        if self.has(Fault::ScattersRotated) && !send.is_empty() {
            send.rotate_left(receive.len());
        }
        contract::collective::scatter(self, None, root, &send, receive)
    }

    fn gather(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        contract::collective::gather(self, None, root, send, receive)?;
        if self.has(Fault::GathersReversed) && self.rank() == root && !send.is_empty() {
            let blocks: Vec<Vec<u8>> = receive.chunks(send.len()).map(<[u8]>::to_vec).collect();
            for (place, block) in receive.chunks_mut(send.len()).zip(blocks.iter().rev()) {
                place.copy_from_slice(block);
            }
        }
        Ok(())
    }

    fn allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let bytes = match self.fault {
            Fault::AllgathersAnyLength => (send.len() * self.size()).min(receive.len()),
            _ => receive.len(),
        };
        contract::collective::allgather(self, None, send, &mut receive[..bytes])
    }

    fn allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        if self.has(Fault::ForgetsInPlace) {
            return Ok(());
        }
        contract::collective::allgather_in_place(self, buffer)
    }

    fn reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        if !self.has(Fault::ReducesToZero) {
            return contract::collective::reduce(self, None, root, reduction, send, receive);
        }
        let mut result = vec![0; send.len()];
        contract::collective::reduce(self, None, 0, reduction, send, &mut result)?;
        if self.rank() == 0 && root == 0 {
            receive.copy_from_slice(&result);
        }
        Ok(())
    }

    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        if self.has(Fault::AllreduceInOwnOrder) {
            let mut all = vec![0; send.len() * self.size()];
            contract::collective::allgather(self, None, send, &mut all)?;
            let blocks: Vec<&[u8]> = all.chunks(send.len().max(1)).collect();
            receive.copy_from_slice(send);
            for distance in 1..blocks.len() {
                reduction.combine(receive, blocks[(self.rank() + distance) % blocks.len()])?;
            }
            return Ok(());
        }
        contract::collective::allreduce(self, None, reduction, send, receive)?;
        let is_one = self.rank() == 1;
        match (self.fault, receive.last_mut()) {
            (Fault::AllreduceWrongAtOne, Some(last)) if is_one => *last ^= 1,
            _ => {}
        }
        Ok(())
    }

    fn reduce_scatter(
        &mut self,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        if !self.has(Fault::ReduceScatterKeepsFirstBlock) {
            return contract::collective::reduce_scatter(self, None, reduction, send, receive);
        }
        let mut all = vec![0; send.len()];
        contract::collective::allreduce(self, None, reduction, send, &mut all)?;
        receive.copy_from_slice(&all[..receive.len()]);
        Ok(())
    }

    fn exclusive_scan(
        &mut self,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        let exclusive = !self.has(Fault::ExclusiveScanIncludesOwn);
        contract::collective::scan(self, None, exclusive, reduction, send, receive)
    }

    fn all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        contract::collective::all_to_all(self, None, send, receive)?;
        if self.has(Fault::AllToAllUntransposed) {
            receive.copy_from_slice(send);
        }
        Ok(())
    }
}
