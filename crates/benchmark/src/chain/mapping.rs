//! Chains derived from others: doubled over more ranks, given longer matrices, or cut to some of their stages. After
//! Games and others, *Real-time benchmarks* (MITRE 1995), section 6.

use std::ops::Range;

use super::definition::{Chain, Stage};

impl Chain {
    /// Returns the chain with `times` as many rows, over `times` as many ranks in each of its parts: each rank becomes
    /// `times` successive ones. Each rank of the first stage has as much work as before.
    pub(crate) fn spread(&self, times: usize) -> Chain {
        let spread = |ranks: &[usize]| -> Vec<usize> {
            ranks.iter().flat_map(|rank| rank * times..(rank + 1) * times).collect()
        };
        let stage = |stage: &Stage| Stage { on: spread(&stage.on), ..stage.clone() };
        Chain {
            source: spread(&self.source),
            sink: spread(&self.sink),
            stages: self.stages.iter().map(stage).collect(),
            ..self.lengthened(times)
        }
    }

    /// Returns the chain with `times` as many rows over the same ranks, without its scene and its sought targets.
    pub(crate) fn lengthened(&self, times: usize) -> Chain {
        let (scene, targets) = match times {
            1 => (self.scene.clone(), self.targets.clone()),
            _ => (None, Vec::new()),
        };
        Chain { rows: self.rows * times, scene, targets, ..self.clone() }
    }

    /// Returns groups of successive stages on the same ranks. Each group is a stage of a mapping.
    pub(crate) fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (number, stage) in self.stages.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if self.stages[group.start].on == stage.on => group.end = number + 1,
                _ => groups.push(number..number + 1),
            }
        }
        groups
    }

    /// Returns only the stages of `group`, all on the same ranks, with a source and a sink of as many ranks.
    pub(crate) fn part(&self, group: Range<usize>) -> Chain {
        let before = Chain { stages: self.stages[..group.start].to_vec(), ..self.clone() };
        let (rows, columns) = before.result_shape();
        let count = self.stages[group.start].on.len();
        let on: Vec<usize> = (count..2 * count).collect();
        let stage = |stage: &Stage| Stage { on: on.clone(), ..stage.clone() };
        Chain {
            rows,
            columns,
            source: (0..count).collect(),
            stages: self.stages[group].iter().map(stage).collect(),
            sink: (2 * count..3 * count).collect(),
            scene: None,
            targets: Vec::new(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::Pipeline;
    use super::*;
    use crate::stage_functions::Function;

    const FFT: Function = Function::FFT;
    const TURN: Function = Function::CORNER_TURN;

    /// Returns a chain of 8 x 16 elements, in which two ranks turn among themselves.
    fn mapping() -> Chain {
        let mut chain = Chain::of((8, 16, 1), &[(&[FFT], 2), (&[TURN], 2), (&[], 2), (&[FFT], 2)]);
        chain.source = vec![0, 1];
        let named = [("row", [2, 3]), ("turn", [4, 5]), ("place", [4, 5]), ("column", [6, 7])];
        for (stage, (name, on)) in chain.stages.iter_mut().zip(named) {
            (stage.name, stage.on) = (name.into(), on.to_vec());
        }
        chain.sink = vec![8, 9];
        assert_eq!(chain.mistake(), None);
        chain
    }

    #[test]
    fn a_doubled_chain_has_twice_the_rows_and_ranks() {
        let doubled = mapping().spread(2);
        assert_eq!((doubled.rows, doubled.columns, doubled.ranks()), (16, 16, 20));
        assert_eq!(doubled.stages[0].on, [4, 5, 6, 7]);
        assert_eq!((doubled.source, doubled.sink), (vec![0, 1, 2, 3], vec![16, 17, 18, 19]));
    }

    #[test]
    fn a_stage_by_itself_gets_the_matrix_that_it_gets_in_the_chain() {
        let chain = mapping();
        assert_eq!(chain.groups(), [0..1, 1..3, 3..4]);
        let last = chain.part(3..4);
        assert_eq!((last.rows, last.columns, last.ranks()), (16, 8, 6));
        let turn = chain.part(1..3);
        assert_eq!((turn.rows, turn.columns, turn.stages.len()), (8, 16, 2));
        assert_eq!((turn.mistake(), last.mistake()), (None, None));
    }

    #[test]
    fn variants_are_told_apart() {
        let wanted = Pipeline {
            chain: Some(mapping()),
            doublings: 1,
            stages_alone: true,
            copies: true,
            ..Pipeline::default()
        };
        let words = |variant: &super::super::choice::ChainVariant| {
            format!("{} {}", variant.parameters["nodes"], variant.parameters["part"])
        };
        let names: Vec<_> = wanted.variants().iter().map(words).collect();
        assert_eq!(names[3..5], ["2 chain", "4 1 row"], "{names:?}");
        assert_eq!(names[5], "4 2 turn + place");
        assert_eq!(names[7..], ["4 one of 2 copies", "4 chain"], "{names:?}");
        assert_eq!((wanted.mistake(), wanted.ranks()), (None, vec![6, 10, 12, 20]));
        // Doubled four times, 32 ranks share the 16 rows of the last stage.
        let far = Pipeline { doublings: 4, ..wanted };
        assert!(
            far.mistake().unwrap().contains("with matrices of 128 x 16"),
            "{:?}",
            far.mistake()
        );
    }
}
