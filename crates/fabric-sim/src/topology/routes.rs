//! The routes of regular shapes, channel by channel.

/// Appends a route in dimension order: the whole distance along the first dimension, then along the next.
pub(super) fn grid(
    extents: &[usize],
    closed: bool,
    from: usize,
    to: usize,
    channels: &mut Vec<u32>,
) {
    let (mut at, mut stride) = (from, 1);
    for (dimension, &extent) in extents.iter().enumerate() {
        let (here, there) = (at / stride % extent, to / stride % extent);
        for up in steps(here, there, extent, closed) {
            let port = 2 * dimension + usize::from(!up);
            channels.push((at * 2 * extents.len() + port) as u32);
            at = neighbour(at, stride, extent, up);
        }
        stride *= extent;
    }
}

/// Returns the steps up (`true`) or down along a dimension. In a closed dimension they go the shorter way, and up if
/// both are equal.
fn steps(here: usize, there: usize, extent: usize, closed: bool) -> impl Iterator<Item = bool> {
    let up = (there + extent - here) % extent;
    let go_up = if closed { up <= extent - up } else { there >= here };
    let count = if go_up { up } else { (extent - up) % extent };
    std::iter::repeat_n(go_up, count)
}

pub(super) fn neighbour(at: usize, stride: usize, extent: usize, up: bool) -> usize {
    let here = at / stride % extent;
    let there = if up { (here + 1) % extent } else { (here + extent - 1) % extent };
    at - here * stride + there * stride
}

/// Appends a route along the diagonal first, then along one dimension.
pub(super) fn diagonal(
    [width, height]: [usize; 2],
    from: usize,
    to: usize,
    channels: &mut Vec<u32>,
) {
    // Ports are numbered counter-clockwise from east: E, NE, N, NW, W, SW, S, SE.
    const PORTS: [[u32; 3]; 3] = [[5, 4, 3], [6, 8, 2], [7, 0, 1]];
    let mut x = steps(from % width, to % width, width, true);
    let mut y = steps(from / width, to / width, height, true);
    let mut at = from;
    loop {
        let (dx, dy) = (x.next(), y.next());
        if dx.is_none() && dy.is_none() {
            return;
        }
        let index = |step: Option<bool>| step.map_or(1, |up| if up { 2 } else { 0 });
        channels.push(at as u32 * 8 + PORTS[index(dx)][index(dy)]);
        if let Some(up) = dx {
            at = neighbour(at, 1, width, up);
        }
        if let Some(up) = dy {
            at = neighbour(at, width, height, up);
        }
    }
}

/// Appends a route up to the lowest common switch and down again. The digits of the destination select among the links
/// up, so that messages to different nodes share no link on the way down.
pub(super) fn fat_tree(
    arity: usize,
    levels: usize,
    from: usize,
    to: usize,
    channels: &mut Vec<u32>,
) {
    let places = arity.pow(levels as u32);
    let top =
        (1..=levels).find(|&level| from / arity.pow(level as u32) == to / arity.pow(level as u32));
    let top = top.unwrap_or(levels);
    for level in 0..top {
        let below = arity.pow(level as u32);
        channels.push((level * places + from / below * below + to % below) as u32);
    }
    for level in (0..top).rev() {
        channels.push(((levels + level) * places + to) as u32);
    }
}
