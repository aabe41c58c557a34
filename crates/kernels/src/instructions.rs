//! The vector instructions of the kernels, chosen at run time.

/// A set of vector instructions that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Instructions {
    /// The instructions of every processor of the architecture; the others are tested against it.
    Portable,
    /// AVX2 with fused multiply-add: 8 single-precision lanes.
    Avx2,
    /// AVX-512 foundation, with AVX2 and fused multiply-add: 16 single-precision lanes.
    Avx512,
}

impl Instructions {
    /// All sets, the widest last.
    pub const ALL: [Instructions; 3] =
        [Instructions::Portable, Instructions::Avx2, Instructions::Avx512];

    /// Returns the widest set that this processor has.
    pub fn best() -> Self {
        let mut sets = Instructions::ALL.into_iter().rev();
        sets.find(|set| set.is_available()).unwrap_or(Instructions::Portable)
    }

    /// Returns whether this processor, and its operating system, have the set.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            match self {
                Instructions::Portable => true,
                Instructions::Avx2 => avx2,
                Instructions::Avx512 => avx2 && is_x86_feature_detected!("avx512f"),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Instructions::Portable
        }
    }

    /// Returns its name in results files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Instructions::Portable => "portable",
            Instructions::Avx2 => "AVX2",
            Instructions::Avx512 => "AVX-512",
        }
    }
}

impl std::fmt::Display for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_set_is_always_there_and_the_best_is_available() {
        assert!(Instructions::Portable.is_available());
        assert!(Instructions::best().is_available());
    }
}
