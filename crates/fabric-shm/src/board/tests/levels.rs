//! Arrival in levels of many members in random order.

use super::*;

fn id(bits: u32) -> CallId {
    CallId::from_bits(bits)
}

/// The lines of one member for one slot.
struct Member {
    header: SlotHeader,
    arrived: Counter,
    levels: SlotLevels,
}

impl Member {
    fn new() -> Self {
        Member { header: SlotHeader::empty(), arrived: Counter::new(), levels: SlotLevels::empty() }
    }

    fn lines(&self) -> Lines<'_> {
        Lines { header: &self.header, arrived: &self.arrived, levels: &self.levels }
    }
}

/// The members of random teams arrive in random order. The last to arrive gets all parts in the order of the members,
/// or nothing if a member makes another call.
#[test]
fn the_last_of_many_has_all_parts_in_order() {
    let mut state = 0x5eed_u64;
    println!("seed {state:#x}");
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    for epoch in 1..=300_u32 {
        let (size, group) = (1 + random(150), 1 + random(20));
        let levels = Levels::new(size, group);
        let team: Vec<Member> = (0..size).map(|_| Member::new()).collect();
        let mut parts: Vec<String> = (0..size).map(|member| format!("{member} ")).collect();
        let expected = parts.concat();
        let differs = (random(3) == 0).then(|| random(size));
        let mut order: Vec<usize> = (0..size).collect();
        for last in (1..size).rev() {
            order.swap(last, random(last + 1));
        }
        for (before, &me) in order.iter().enumerate() {
            let own = if differs == Some(me) { (id(9), 8) } else { (id(7), 8) };
            team[me].header.publish(epoch, own.0, own.1);
            let combine = |count: usize, member: &dyn Fn(usize) -> usize| {
                let joined = (0..count).map(|part| parts[member(part)].as_str()).collect();
                parts[member(count - 1)] = joined;
            };
            let found = levels.arrive(me, epoch, own, |member| team[member].lines(), combine);
            assert_eq!(found.is_some(), before + 1 == size, "{size} members, groups of {group}");
            if let Some(call) = found {
                levels.release(epoch, call, |member| team[member].lines(), |_| {});
            }
        }
        let agrees = differs.is_none() || size == 1;
        assert!(!agrees || parts[size - 1] == expected, "{size} members, groups of {group}");
        for me in 0..size {
            let call = if size == 1 && differs.is_some() { (id(9), 8) } else { (id(7), 8) };
            let release = levels.release_of(me, |member| team[member].lines());
            assert_eq!(release.means(epoch, call), agrees, "{size} members, groups of {group}");
            assert!(release.holds(epoch));
        }
    }
}
