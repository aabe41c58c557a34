//! The form of 1996: a master distributes rows on request.

use contract::{Buffer, Error, Rank, Result, Work, WorkKind};
use kernels::dot_products;

use super::problem::{LEFT, RIGHT, Serial, check, element, filled, operations, room};
use crate::application::{Application, Timed};
use crate::link::{Library, Link, Linked, MASTER, MasterAndWorkers};

/// Maximum number of rows that are sent at once, as in the paper.
pub const GRAIN_MAX: usize = 8;

/// Length in bytes of the number of the first row in a block, which is before its elements.
const HEADER: usize = size_of::<u64>();

/// A master that distributes rows of the first matrix, and workers that multiply them. A single rank multiplies by
/// itself.
pub struct Rows {
    order: usize,
    grain: usize,
    seed: u64,
    linked: Linked,
    /// The second matrix, transposed, at every rank.
    right: Buffer,
    /// The first matrix and the product, at the master.
    left: Buffer,
    product: Buffer,
    /// A block of rows to send, and one to receive.
    outgoing: Buffer,
    incoming: Buffer,
    serial: Option<Serial>,
}

impl Rows {
    /// Prepares the product of two matrices of `order` rows, of which `grain` are sent at once. All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`] for an order or a grain that is not possible, and those of the fabric.
    pub fn new(
        rank: &mut dyn Rank,
        (order, grain): (usize, usize),
        library: Library,
        seed: u64,
    ) -> Result<Self> {
        if order == 0 || !(1..=GRAIN_MAX).contains(&grain) {
            return Err(Error::Program(format!(
                "rows of a matrix of order {order} cannot be handed out {grain} at a time; 1 to {GRAIN_MAX} can"
            )));
        }
        let is_master = rank.rank() == MASTER;
        let rows = if is_master { order } else { 0 };
        let block = HEADER + grain * order * size_of::<f64>();
        Ok(Rows {
            order,
            grain,
            seed,
            linked: Linked::open(rank, library)?,
            right: match is_master {
                true => {
                    filled(0..order, 0..order, |row, column| element(seed, RIGHT, column, row))?
                }
                false => room(order, order)?,
            },
            left: filled(0..rows, 0..order, |row, column| element(seed, LEFT, row, column))?,
            product: room(rows, order)?,
            outgoing: Buffer::try_zeroed(block)?,
            incoming: Buffer::try_zeroed(block)?,
            serial: is_master.then(|| Serial::new(order, seed)).transpose()?,
        })
    }

    fn run_alone(&mut self, rank: &mut Timed<'_>) {
        let Rows { order, left, right, product, .. } = self;
        let work = Work::new(WorkKind::FloatingPoint, operations(*order, *order, *order));
        rank.compute(work, |_| {
            dot_products(left.elements(), right.elements(), *order, product.elements_mut());
        });
    }
}

impl MasterAndWorkers for Rows {
    fn linked(&mut self) -> &mut Linked {
        &mut self.linked
    }

    fn run_master(&mut self, link: Link<'_, '_>) -> Result<()> {
        let mut link = link;
        link.broadcast(&mut self.right)?;
        let (mut next, mut working) = (0, link.ranks() - 1);
        while working > 0 {
            let (worker, bytes) = link.receive_request(&mut self.incoming)?;
            put_rows(&self.incoming[..bytes], self.order, &mut self.product);
            let rows = self.grain.min(self.order - next);
            working -= usize::from(rows == 0);
            let bytes = rows * self.order * size_of::<f64>();
            let from = next * self.order * size_of::<f64>();
            self.outgoing[..HEADER].copy_from_slice(&(next as u64).to_le_bytes());
            self.outgoing[HEADER..][..bytes].copy_from_slice(&self.left[from..][..bytes]);
            link.send(worker, &self.outgoing[..HEADER + bytes])?;
            next += rows;
        }
        Ok(())
    }

    fn run_worker(&mut self, link: Link<'_, '_>) -> Result<()> {
        let mut link = link;
        link.broadcast(&mut self.right)?;
        let mut bytes = 0;
        loop {
            link.request_work(&self.outgoing[..bytes])?;
            bytes = link.receive(MASTER, &mut self.incoming)?;
            if bytes <= HEADER {
                return Ok(());
            }
            let (incoming, outgoing) = (&self.incoming[..bytes], &mut self.outgoing[..bytes]);
            outgoing[..HEADER].copy_from_slice(&incoming[..HEADER]);
            let rows = bytemuck::cast_slice::<u8, f64>(&incoming[HEADER..]);
            let work =
                Work::new(WorkKind::FloatingPoint, 2 * rows.len() as u64 * self.order as u64);
            let (right, order) = (self.right.elements(), self.order);
            let product = bytemuck::cast_slice_mut(&mut outgoing[HEADER..]);
            link.compute(work, || dot_products(rows, right, order, product));
        }
    }
}

/// Puts a block of rows into the product. A worker's first request has none.
fn put_rows(block: &[u8], order: usize, product: &mut Buffer) {
    if let Some((header, rows)) = block.split_first_chunk::<HEADER>() {
        let first = u64::from_le_bytes(*header) as usize;
        product[first * order * size_of::<f64>()..][..rows.len()].copy_from_slice(rows);
    }
}

impl Application for Rows {
    fn kinds(&self) -> &[WorkKind] {
        &[WorkKind::FloatingPoint, WorkKind::MatrixMultiply]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        if rank.ranks() == 1 {
            self.run_alone(rank);
            return Ok(());
        }
        self.run_part(rank)
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.serial.as_mut().map_or(Ok(()), |serial| serial.run(rank))
    }

    fn check(&mut self, rank: &mut dyn Rank) -> Result<()> {
        match rank.rank() == MASTER {
            true => {
                let all = || 0..self.order;
                check(self.product.elements(), (all(), all()), self.order, self.seed)
            }
            false => Ok(()),
        }
    }

    fn finish(self: Box<Self>, rank: &mut dyn Rank) -> Result<()> {
        self.linked.close(rank)
    }
}
