//! A map from handles to small numbers: open addressing, so that a look-up is a multiplication and a load.

/// Key of an unused slot.
const FREE: u64 = u64::MAX;
const LEAST_SLOTS: usize = 64;

/// The map.
pub(crate) struct Table {
    /// Handles and numbers. The length is a power of two, and at most half of the slots are used.
    slots: Vec<(u64, u32)>,
    used: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        Table { slots: vec![(FREE, 0); LEAST_SLOTS], used: 0 }
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }

    /// Returns the slot of a key, or the slot where it would be inserted.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mut at = self.home(key);
        while self.slots[at].0 != key && self.slots[at].0 != FREE {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    #[inline]
    pub(crate) fn get(&self, key: usize) -> Option<u32> {
        let (found, number) = self.slots[self.find(key as u64)];
        (found == key as u64).then_some(number)
    }

    pub(crate) fn insert(&mut self, key: usize, number: u32) {
        if (self.used + 1) * 2 > self.slots.len() {
            let larger = vec![(FREE, 0); self.slots.len() * 2];
            let all = std::mem::replace(&mut self.slots, larger);
            for (key, number) in all.into_iter().filter(|(key, _)| *key != FREE) {
                let at = self.find(key);
                self.slots[at] = (key, number);
            }
        }
        let at = self.find(key as u64);
        self.used += usize::from(self.slots[at].0 == FREE);
        self.slots[at] = (key as u64, number);
    }

    pub(crate) fn remove(&mut self, key: usize) -> Option<u32> {
        let mut hole = self.find(key as u64);
        let (found, number) = self.slots[hole];
        if found != key as u64 {
            return None;
        }
        self.used -= 1;
        // Entries after the hole move into it, as far as their home allows, so that every search still finds its entry.
        let mask = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let (key, _) = self.slots[at];
            if key == FREE {
                break;
            }
            let from_home = at.wrapping_sub(self.home(key)) & mask;
            if from_home >= at.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
        }
        self.slots[hole] = (FREE, 0);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_is_a_map_whatever_is_put_in_and_taken_out() {
        for seed in 1..50_u64 {
            let (mut table, mut model) = (Table::new(), HashMap::new());
            let mut random = seed;
            for number in 0..2000_u32 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
                // There are few keys, so that they collide, and they are close together, as handles are.
                let key = (random >> 40) as usize % 150 + 0x4000_0000;
                if random >> 33 & 1 == 0 {
                    table.insert(key, number);
                    model.insert(key, number);
                } else {
                    assert_eq!(table.remove(key), model.remove(&key), "seed {seed}");
                }
                assert_eq!(table.get(key), model.get(&key).copied(), "seed {seed}");
            }
            for (key, number) in model {
                assert_eq!(table.get(key), Some(number), "seed {seed}");
            }
        }
    }
}
