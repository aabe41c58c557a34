//! Arrival in levels: in every order of memory operations for three members, and in random order for many.

use super::*;

/// The lines of one member for one slot.
struct Member {
    header: SlotHeader,
    arrived: Counter,
    levels: SlotLevels,
}

// SAFETY: as for `Pair`.
unsafe impl Sync for Member {}

impl Member {
    fn new() -> Self {
        Member { header: SlotHeader::empty(), arrived: Counter::new(), levels: SlotLevels::empty() }
    }

    fn lines(&self) -> Lines<'_> {
        Lines { header: &self.header, arrived: &self.arrived, levels: &self.levels }
    }
}

/// Each of three members puts a digit. Two of them form a group, and the third another. A released member finds the
/// digits in order. No member waits: loom would have to try every number of polls.
#[cfg(loom)]
#[test]
fn released_members_see_the_combined_data_of_all() {
    struct Team([Member; 3]);
    let act = |team: &Team, me: usize| {
        let levels = Levels::new(3, 2);
        let lines = |member: usize| team.0[member].lines();
        let header = |member: usize| &team.0[member].header;
        header(me).put(1, me as u64 + 1);
        let in_order = |parts: usize, member: &dyn Fn(usize) -> usize| {
            let joined = (0..parts).fold(0, |before, part| {
                let digits = header(member(part)).read();
                before * if digits < 10 { 10 } else { 100 } + digits
            });
            header(member(parts - 1)).write(joined);
        };
        if let Some(call) = levels.arrive(me, 1, (7, 8), lines, in_order) {
            assert_eq!(call, (7, 8));
            let result = header(2).read();
            levels.release(1, call, lines, |short| {
                // SAFETY: a short part has room for eight bytes.
                unsafe { short.cast::<u64>().write_unaligned(result) };
            });
        }
        let release = levels.release_of(me, lines);
        let is_released = release.holds(1);
        assert!(!is_released || release.take(1) == 123);
        is_released
    };
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let team = loom::sync::Arc::new(Team([Member::new(), Member::new(), Member::new()]));
        let others = [1, 2].map(|me| {
            let team = team.clone();
            loom::thread::spawn(move || act(&team, me))
        });
        act(&team, 0);
        others.into_iter().for_each(|other| assert!(other.join().is_ok()));
        let all_are_released = [0, 2].map(|member| team.0[member].levels.release.take(1));
        assert_eq!(all_are_released, [123, 123]);
    });
}

/// The members of random teams arrive in random order. The last to arrive gets all parts in the order of the members,
/// or nothing if a member makes another call.
#[cfg(not(loom))]
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
            let own = if differs == Some(me) { (9, 8) } else { (7, 8) };
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
            let call = if size == 1 && differs.is_some() { (9, 8) } else { (7, 8) };
            let release = levels.release_of(me, |member| team[member].lines());
            assert_eq!(release.means(epoch, call), agrees, "{size} members, groups of {group}");
            assert!(release.holds(epoch));
        }
    }
}
