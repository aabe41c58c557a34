//! The published pattern (MITRE 1995, section 6.3), for n = 2^k nodes.
//!
//! Its primitives are swap(i, i + 1), two messages in two stages, and quad(i, j), in which the neighbours i, i + 1 and
//! the neighbours j, j + 1 exchange eight messages in four stages, one to the right and one to the left in each.
//! step(n, s) is n/4 quads at once. In a quad's stages the link in the middle of the line carries n/4 messages in each
//! direction.

type Stages = Vec<Vec<(usize, usize)>>;

/// Returns the stages for `nodes` nodes, a power of two.
pub(super) fn stages(nodes: usize) -> Stages {
    let mut stages = Vec::new();
    let mut width = nodes;
    while width > 2 {
        // Figure 6.4 goes through the skips downwards, though the text counts them up.
        for skip in (0..width / 2).step_by(2).rev() {
            stages.extend(everywhere(nodes, width, &step(width, skip)));
        }
        width /= 2;
    }
    stages.extend(everywhere(nodes, 2, &swap(0)));
    stages
}

fn swap(i: usize) -> Stages {
    vec![vec![(i, i + 1)], vec![(i + 1, i)]]
}

fn quad(i: usize, j: usize) -> Stages {
    vec![
        vec![(i + 1, j), (j + 1, i)],
        vec![(i, j + 1), (j, i + 1)],
        vec![(i + 1, j + 1), (j, i)],
        vec![(i, j), (j + 1, i + 1)],
    ]
}

/// Returns the quads between the halves of a line of `width` nodes that belong to one skip, at the same time.
fn step(width: usize, skip: usize) -> Stages {
    let half = width / 2;
    let quads = (0..half).step_by(2).map(|i| quad(i, half + (skip + i) % half));
    quads.reduce(side_by_side).expect("the line has at least four nodes")
}

fn side_by_side(a: Stages, b: Stages) -> Stages {
    a.into_iter().zip(b).map(|(a, b)| [a, b].concat()).collect()
}

/// Returns `stages` of the first `width` nodes, executed by each `width` nodes of the line at once.
fn everywhere(nodes: usize, width: usize, stages: &Stages) -> Stages {
    let shifted = |by: usize| -> Stages {
        stages
            .iter()
            .map(|stage| stage.iter().map(|(from, to)| (from + by, to + by)).collect())
            .collect()
    };
    (0..nodes).step_by(width).map(shifted).reduce(side_by_side).expect("there is a node")
}
