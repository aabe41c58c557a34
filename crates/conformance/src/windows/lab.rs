//! A window in the form that the cases use: on memory of each kind, and over endpoints instead of ranks.
#![allow(unsafe_code)]

use contract::{
    Action, Context, ContextOffer, Destination, Endpoint, NewContext, OwnMemory, RankWindow,
    Result, Selector, Stretch, Update, WindowCall, WindowOffer,
};

/// Number of the window's context, which no other case uses.
const NUMBER: u32 = 21;
/// Tag of the members' offers, which no fence uses.
const ADDRESSES: u32 = 100;

/// The kind of memory that is tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Manner {
    /// Memory from the fabric, if it has any.
    Allocated,
    /// Memory that is unknown to the fabric.
    Ordinary,
    /// Memory that is unknown to the fabric, accessed by messages only.
    ByMessages,
}

impl Manner {
    pub(super) const ALL: [Manner; 3] = [Manner::Allocated, Manner::Ordinary, Manner::ByMessages];
}

pub(super) struct Lab(RankWindow);

impl Lab {
    /// Creates a window of all ranks, each with `bytes` zeros. Words at its beginning are aligned.
    pub(super) fn new<E: Endpoint>(endpoint: &mut E, bytes: usize, manner: Manner) -> Result<Lab> {
        let (me, size) = (endpoint.rank(), endpoint.size());
        let memory = OwnMemory::new(endpoint, bytes, manner != Manner::Allocated);
        let part = memory.part(endpoint);
        let part = if manner == Manner::ByMessages { part.by_messages_only() } else { part };
        let members: Vec<usize> = (0..size).collect();
        let nothing = vec![ContextOffer::NOTHING; size];
        let context = NewContext { number: NUMBER, members: &members, me, offers: &nothing };
        let place = endpoint.open_context(context)?;
        let context = Context::of(NUMBER, place, members, me, size, |one| {
            endpoint.computer().services.host_of(one)
        });
        let offers = exchange_offers(endpoint, &part.offer())?;
        let mut lab = Lab(RankWindow::open(endpoint, memory, part, context, &offers)?);
        lab.fence(endpoint)?;
        Ok(lab)
    }

    pub(super) fn me(&self) -> usize {
        self.0.rank()
    }

    pub(super) fn size(&self) -> usize {
        self.0.size()
    }

    /// Returns this member's memory, between fences or while others do not access it.
    pub(super) fn own(&self) -> &[u8] {
        // SAFETY: the cases ensure that no member writes there now.
        unsafe { self.0.own() }
    }

    pub(super) fn call<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        call: WindowCall<'_>,
    ) -> Result<()> {
        self.0.call(endpoint, call)
    }

    /// Waits until all members have arrived, and all their operations are complete.
    pub(super) fn fence<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        self.0.call(endpoint, WindowCall::Fence)
    }

    pub(super) fn fetch<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        action: Action,
        offset: u64,
        operand: &[u8],
    ) -> Result<Vec<u8>> {
        let bytes = match action {
            Action::CompareAndSwap(_) => operand.len() / 2,
            _ => operand.len(),
        };
        self.update_as(endpoint, (target, offset), action, operand, bytes)
    }

    pub(super) fn get<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        offset: u64,
        bytes: u64,
    ) -> Result<Vec<u8>> {
        self.update_as(endpoint, (target, offset), Action::Nothing, &[], bytes as usize)
    }

    fn update_as<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        (target, offset): (usize, u64),
        action: Action,
        operand: &[u8],
        bytes: usize,
    ) -> Result<Vec<u8>> {
        let mut room = vec![0; bytes];
        let fetched = Some(&mut room[..]);
        self.0.call(endpoint, WindowCall::Update { target, offset, action, operand, fetched })?;
        Ok(room)
    }

    /// Starts an update without waiting for its end.
    pub(super) fn update<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        action: Action,
        offset: u64,
        operand: &[u8],
    ) -> Result<()> {
        let stretches = &[Stretch { offset, bytes: operand.len() as u64 }];
        let update = Update { action, stretches, operand };
        self.update_all(endpoint, target, &update)
    }

    /// As `update`, for several stretches.
    pub(super) fn update_all<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        update: &Update<'_>,
    ) -> Result<()> {
        self.0.update(endpoint, target, update, None)
    }

    pub(super) fn put<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        offset: u64,
        data: &[u8],
    ) -> Result<()> {
        self.update(endpoint, target, Action::Replace, offset, data)
    }

    pub(super) fn close<E: Endpoint>(self, endpoint: &mut E) -> Result<()> {
        let context = self.0.close(endpoint)?;
        endpoint.close_context(context.place())
    }
}

/// Exchanges the offers of all members.
fn exchange_offers<E: Endpoint>(endpoint: &mut E, own: &WindowOffer) -> Result<Vec<WindowOffer>> {
    let (me, size, context) = (endpoint.rank(), endpoint.size(), 2 * NUMBER + 1);
    for other in (0..size).filter(|&other| other != me) {
        endpoint.send(Destination { rank: other, context, tag: ADDRESSES }, &own.to_bytes())?;
    }
    (0..size)
        .map(|other| {
            let mut bytes = own.to_bytes();
            if other != me {
                let source = Some(other as u32);
                endpoint.receive(Selector { context, source, tag: Some(ADDRESSES) }, &mut bytes)?;
            }
            Ok(WindowOffer::from_bytes(&bytes))
        })
        .collect()
}
