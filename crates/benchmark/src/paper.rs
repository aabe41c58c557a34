//! The publications of benchmarks.

/// A publication.
#[derive(Debug, PartialEq, Eq)]
pub struct Paper {
    /// Name in texts, with its year.
    pub label: &'static str,
    /// Its authors, title, publisher and year.
    pub citation: &'static str,
    /// Name that selects its benchmarks of messages, if it has one.
    pub selects: Option<&'static str>,
}

/// The origin of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperPart {
    /// The publication.
    pub paper: &'static Paper,
    /// Section, figure or table of it; empty for the whole.
    pub part: &'static str,
}

pub(crate) const HYPERCUBE: Paper = Paper {
    label: "hypercube benchmarks (1986)",
    citation: "Grunwald and Reed, Benchmarking hypercube hardware and software (1986)",
    selects: Some("cube"),
};

pub(crate) const MPI_SHARC: Paper = Paper {
    label: "MPI-SHARC (2002)",
    citation: "Kohout and George, A high-performance communication service for parallel computing on distributed DSP \
        systems (University of Florida, 2002)",
    selects: Some("sharc"),
};

pub(crate) const MITRE: Paper = Paper {
    label: "MITRE real-time benchmarks (1995)",
    citation: "Brown, Flanzbaum, Games and Ramsdell, Real-time embedded high performance computing: application \
        benchmarks (MITRE, 1995)",
    selects: Some("paragon"),
};

pub(crate) const MITRE_METHODOLOGY: Paper = Paper {
    label: "MITRE methodology (1995)",
    citation: "Games and others, Benchmarking methodology for real-time embedded scalable high performance computing \
        (MITRE, 1995)",
    selects: None,
};

pub(crate) const OSU: Paper = Paper {
    label: "OSU micro-benchmarks",
    citation: "Ohio State University, OSU micro-benchmarks",
    selects: Some("streams"),
};

pub(crate) const ACTIVE_MESSAGES: Paper = Paper {
    label: "active messages (1995)",
    citation: "Mainwaring and Culler, Active message applications programming interface and communication subsystem \
        organization (University of California at Berkeley, 1995)",
    selects: None,
};

pub(crate) const LINDA: Paper = Paper {
    label: "Linda (1985)",
    citation: "Gelernter, Generative communication in Linda (ACM Transactions on Programming Languages and Systems, 1985)",
    selects: None,
};

pub(crate) const FEM: Paper = Paper {
    label: "Finite Element Machine (1983)",
    citation: "Knott, A performance analysis of the PASLIB version 2.1X SEND and RECV routines on the Finite Element Machine \
        (NASA contractor report 172205, 1983)",
    selects: None,
};

pub(crate) const SCALE: Paper = Paper {
    label: "SCALE (1996)",
    citation: "George, Phipps, Todd, Zirpoli, Justice, Giacoboni and Sarwar, SCI and the scalable cluster architecture \
        latency-hiding environment (SCALE) project (Florida State University and Florida A&M University, 1996)",
    selects: None,
};

pub(crate) const HPCC: Paper = Paper {
    label: "HPC Challenge (2005)",
    citation: "Luszczek and others, Introduction to the HPC Challenge benchmark suite (2005)",
    selects: None,
};

pub(crate) const GPCNET: Paper = Paper {
    label: "GPCNeT (2019)",
    citation: "Chunduri and others, GPCNeT: designing a benchmark suite for inducing and measuring contention in HPC networks \
        (SC 2019)",
    selects: None,
};

pub(crate) const HP2P: Paper = Paper {
    label: "hp2p",
    citation: "CEA, hp2p: heavy peer to peer, an MPI benchmark that finds slow links",
    selects: None,
};

pub(crate) const NOISE: Paper = Paper {
    label: "Hoefler (2010)",
    citation: "Hoefler, Schneider and Lumsdaine, Characterizing the influence of system noise on large-scale applications by \
        simulation (SC 2010)",
    selects: None,
};

pub(crate) const HPEC: Paper = Paper {
    label: "HPEC Challenge (2005)",
    citation: "R. Haney, T. Meuse, J. Kepner, J. Lebak: The HPEC Challenge benchmark suite (HPEC 2005)",
    selects: None,
};

pub(crate) const WHETSTONE: Paper = Paper {
    label: "Whetstone (1976)",
    citation: "Curnow and Wichmann, A synthetic benchmark (The Computer Journal, 1976)",
    selects: None,
};

pub(crate) const DHRYSTONE: Paper = Paper {
    label: "Dhrystone 2 (1988)",
    citation: "Weicker, Dhrystone benchmark: rationale for version 2 and measurement rules (1988)",
    selects: None,
};

pub(crate) const LINPACK: Paper = Paper {
    label: "LINPACK (1979)",
    citation: "Dongarra, Bunch, Moler and Stewart, LINPACK users' guide (1979)",
    selects: None,
};

pub(crate) const STREAM: Paper = Paper {
    label: "STREAM (1995)",
    citation: "McCalpin, Memory bandwidth and machine balance in current high performance computers (1995)",
    selects: None,
};

impl Paper {
    /// Returns a part of it as a source.
    pub(crate) const fn part(&'static self, part: &'static str) -> Option<PaperPart> {
        Some(PaperPart { paper: self, part })
    }
}

impl std::fmt::Display for PaperPart {
    /// Formats as `MPI-SHARC (2002), section 4.2`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let comma = if self.part.is_empty() { "" } else { ", " };
        write!(f, "{}{comma}{}", self.paper.label, self.part)
    }
}
