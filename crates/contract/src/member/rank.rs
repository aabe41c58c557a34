//! Every call of the contract, over an endpoint.

use collectives::HostMap;

use super::*;

impl<E: Endpoint> Rank for Member<'_, E> {
    #[inline]
    fn rank(&self) -> usize {
        self.context.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.context.size()
    }

    #[inline]
    fn now(&self) -> Time {
        self.process.endpoint.now()
    }

    fn clock(&self) -> ClockQuality {
        self.process.endpoint.computer().clock
    }

    fn wait_until(&mut self, time: Time) {
        crate::wait_until_time(&mut self.process.endpoint, time);
    }

    fn skip_idle_polls(&mut self, time: Time) -> Result<bool> {
        match self.process.endpoint.simulated_time() {
            Some(simulated_time) => simulated_time.skip_idle_polls(time),
            None => Ok(false),
        }
    }

    fn compute(&mut self, work: Work, body: &mut dyn FnMut()) {
        match self.process.endpoint.simulated_time() {
            Some(simulated_time) => simulated_time.compute(work, body),
            None => body(),
        }
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.process.endpoint.computer().every_rank_has_a_processor
    }

    fn processor(&self) -> Option<usize> {
        self.process.endpoint.computer().processor
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.process.endpoint.computer().services.set_priority(priority)
    }

    fn isolate(&mut self, isolation: Isolation, on: bool) -> std::result::Result<(), String> {
        self.process.endpoint.computer().services.isolate(isolation, on)
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        self.process.endpoint.computer().services.operating_system()
    }

    fn describe(&self) -> FabricDescription {
        self.process.endpoint.describe()
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        self.process.endpoint.computer().services.shared_line()
    }

    fn split(&mut self, colour: Option<u32>, key: i64) -> Result<Option<Context>> {
        self.split_as(colour, key)
    }

    fn within<'b>(&'b mut self, context: &Context) -> Box<dyn Rank + 'b> {
        Box::new(Member { process: &mut *self.process, context: context.clone() })
    }

    #[inline]
    fn enter(&mut self, context: Context) -> Context {
        std::mem::replace(&mut self.context, context)
    }

    fn close(&mut self, context: Context) -> Result<()> {
        self.process.endpoint.close_context(context.place())
    }

    fn open_window(&mut self, bytes: usize) -> Result<RankWindow> {
        self.open_window_on(bytes)
    }

    #[inline]
    fn call_window(&mut self, window: &mut RankWindow, call: WindowCall<'_>) -> Result<()> {
        window.call(&mut self.process.endpoint, call)
    }

    fn close_window(&mut self, window: RankWindow) -> Result<()> {
        let endpoint = &mut self.process.endpoint;
        let context = window.close(endpoint)?;
        endpoint.close_context(context.place())
    }

    #[inline]
    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        let to = self.destination(to, tag)?;
        self.process.endpoint.send(to, data)
    }

    #[inline]
    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        let selector = self.selector(from, tag)?;
        let envelope = self.process.endpoint.receive(selector, buffer)?;
        self.status(envelope)
    }

    fn send_receive(
        &mut self,
        (to, send_tag, data): (usize, Tag, &[u8]),
        (from, receive_tag, buffer): (Source, TagSelector, &mut [u8]),
    ) -> Result<Status> {
        let to = self.destination(to, send_tag)?;
        let selector = self.selector(from, receive_tag)?;
        let envelope = self.process.endpoint.exchange((to, data), (selector, buffer))?;
        self.status(envelope)
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        let to = self.destination(to, tag)?;
        // SAFETY: the table keeps the buffer, whose pages do not move with it, until the request has ended.
        #[allow(unsafe_code)]
        let data = unsafe { Readable::new(buffer.as_ptr(), buffer.len()) };
        let request = self.process.endpoint.post_send(to, data, Completion::Local)?;
        Ok(self.process.posted.keep(request, buffer))
    }

    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        self.post_receive_as(from, tag, buffer, false)
    }

    fn post_receive_in_place(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: Buffer,
    ) -> Result<Posted> {
        self.post_receive_as(from, tag, buffer, true)
    }

    fn view<'b>(&'b self, message: &'b Completed) -> &'b [u8] {
        match &message.in_place {
            Some(in_place) => in_place.bytes(),
            None => &message.buffer[..message.status.bytes],
        }
    }

    fn release(&mut self, message: Completed) -> Result<Buffer> {
        if let (Some(lent), Some(receives)) = (message.in_place, self.process.endpoint.in_place()) {
            receives.give_back(lent)?;
        }
        Ok(message.buffer)
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        let request = self.process.posted.request(&posted)?;
        self.process.endpoint.wait_any(&[request])?;
        self.complete(posted, request)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        let request = self.process.posted.request(&posted)?;
        self.process.endpoint.progress(Some(request))?;
        if self.process.endpoint.is_done(request) {
            self.complete(posted, request).map(Progress::Done)
        } else {
            Ok(Progress::Pending(posted))
        }
    }

    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        assert!(!posted.is_empty(), "wait_any needs something to wait for");
        let Process { endpoint, posted: table, waited_for, .. } = &mut *self.process;
        waited_for.clear();
        for index in 0..posted.len() {
            match table.request(&posted[index]) {
                Ok(request) => waited_for.push(request),
                Err(error) => {
                    let _unknown = posted.remove(index);
                    return Err(error);
                }
            }
        }
        let index = endpoint.wait_any(waited_for)?;
        let request = waited_for[index];
        let completed = self.complete(posted.remove(index), request)?;
        Ok((index, completed))
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        let selector = self.selector(from, tag)?;
        let found = self.process.endpoint.probe(selector, None)?;
        found.map(|envelope| self.status(envelope)).transpose()
    }

    fn send_window(&mut self, to: usize, tag: Tag, data: &[u8], count: usize) -> Result<()> {
        let to = self.destination(to, tag)?;
        self.process.endpoint.repeat(Series::Send(to, data), count).map(drop)
    }

    fn receive_window(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
        count: usize,
    ) -> Result<()> {
        let selector = self.selector(from, tag)?;
        match self.process.endpoint.repeat(Series::Receive(selector, buffer), count)? {
            Some(cut) => self.status(cut).map(drop),
            None => Ok(()),
        }
    }

    fn mark_algorithm(&mut self, begins: bool) {
        if let Some(simulated_time) = self.process.endpoint.simulated_time() {
            simulated_time.mark_algorithm(begins);
        }
    }

    fn hosts(&self) -> Option<&HostMap> {
        self.context.hosts()
    }

    fn barrier(&mut self) -> Result<()> {
        match self.native(true, CollectiveCall::barrier()) {
            Some(outcome) => outcome,
            None => collective::barrier(self, None),
        }
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        let call = CollectiveCall::broadcast(root, lend_mut(buffer));
        match self.native(root < self.size(), call) {
            Some(outcome) => outcome,
            None => collective::broadcast(self, None, root, buffer),
        }
    }

    fn scatter(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let (each, size) = (receive.len(), self.size());
        let is_root = self.rank() == root;
        let sound = root < size && (!is_root || send.len() == size * each);
        let send_lent = if is_root { lend(send) } else { Readable::empty() };
        let receive_lent = Some(lend_mut(receive));
        let call = CollectiveCall::scatter(root, each, send_lent, receive_lent);
        match self.native(sound, call) {
            Some(outcome) => outcome,
            None => collective::scatter(self, None, root, send, receive),
        }
    }

    fn gather(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let (each, size) = (send.len(), self.size());
        let is_root = self.rank() == root;
        let sound = root < size && (!is_root || receive.len() == size * each);
        let receive_lent = if is_root { lend_mut(receive) } else { Writable::empty() };
        let send_lent = Some(lend(send));
        let call = CollectiveCall::gather(root, each, send_lent, receive_lent);
        match self.native(sound, call) {
            Some(outcome) => outcome,
            None => collective::gather(self, None, root, send, receive),
        }
    }

    fn allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let each = send.len();
        let sound = receive.len() == self.size() * each;
        let (send_lent, receive_lent) = (Some(lend(send)), lend_mut(receive));
        let call = CollectiveCall::allgather(each, send_lent, receive_lent);
        match self.native(sound, call) {
            Some(outcome) => outcome,
            None => collective::allgather(self, None, send, receive),
        }
    }

    fn allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        let size = self.size();
        let each = buffer.len() / size;
        let receive = lend_mut(buffer);
        let call = CollectiveCall::allgather(each, None, receive);
        match self.native(buffer.len().is_multiple_of(size), call) {
            Some(outcome) => outcome,
            None => collective::allgather_in_place(self, buffer),
        }
    }

    fn reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        let is_root = self.rank() == root;
        let sound = root < self.size()
            && send.len().is_multiple_of(reduction.element.bytes())
            && (!is_root || receive.len() == send.len());
        let receive_lent = if is_root { lend_mut(receive) } else { Writable::empty() };
        let send_lent = lend(send);
        let native = self.native_reduction(sound, reduction, |combine| {
            CollectiveCall::reduce(root, send_lent, receive_lent, combine)
        });
        match native {
            Some(outcome) => outcome,
            None => collective::reduce(self, None, root, reduction, send, receive),
        }
    }

    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let whole = send.len().is_multiple_of(reduction.element.bytes());
        let sound = whole && receive.len() == send.len();
        let (send_lent, receive_lent) = (lend(send), lend_mut(receive));
        let native = self.native_reduction(sound, reduction, |combine| {
            CollectiveCall::allreduce(send_lent, receive_lent, combine)
        });
        match native {
            Some(outcome) => outcome,
            None => collective::allreduce(self, None, reduction, send, receive),
        }
    }

    fn reduce_scatter(
        &mut self,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        let whole = receive.len().is_multiple_of(reduction.element.bytes());
        let sound = whole && send.len() == self.size() * receive.len();
        let (send_lent, receive_lent) = (lend(send), lend_mut(receive));
        let native = self.native_reduction(sound, reduction, |combine| {
            CollectiveCall::reduce_scatter(send_lent, receive_lent, combine)
        });
        match native {
            Some(outcome) => outcome,
            None => collective::reduce_scatter(self, None, reduction, send, receive),
        }
    }

    fn scan(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        self.scan_of(false, reduction, send, receive)
    }

    fn exclusive_scan(
        &mut self,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        self.scan_of(true, reduction, send, receive)
    }

    fn all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let size = self.size();
        let sound = send.len() == receive.len() && send.len().is_multiple_of(size);
        let each = send.len() / size;
        let (send_lent, receive_lent) = (Some(lend(send)), lend_mut(receive));
        let call = CollectiveCall::all_to_all(each, send_lent, receive_lent);
        match self.native(sound, call) {
            Some(outcome) => outcome,
            None => collective::all_to_all(self, None, send, receive),
        }
    }
}
