//! The presentation of a benchmark's numbers: its declarations for the tables, the report and other formats.

/// A row of the table that ends what a run prints: the few numbers that a reader asks for first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The description of the number.
    pub words: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// The message size in bytes; none for the measurement with the highest median.
    pub size_bytes: Option<u64>,
}

/// A figure of the report's summary. Several benchmarks may have it; each states its suitability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFigure {
    /// The time of a short message.
    ShortMessage,
    /// The highest rate one way.
    RateOneWay,
    /// The highest rate both ways at once.
    RateBothWays,
    /// The time of a barrier.
    Barrier,
    /// The time of a short broadcast.
    ShortBroadcast,
    /// The time of a short reduction.
    ShortAllreduce,
    /// The highest rate of transforms.
    Fft,
    /// The highest rate of linear equations.
    Linpack,
    /// The straight line of time over message size, in words.
    StraightLine,
}

/// That a benchmark has a key figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HasFigure {
    /// The figure.
    pub figure: KeyFigure,
    /// Of the benchmarks that a run holds, the one with the lowest number gives the figure.
    pub preference: u8,
}

impl KeyFigure {
    /// That a benchmark has this figure, and how many others are preferred to it.
    pub(crate) const fn after(self, preference: u8) -> HasFigure {
        HasFigure { figure: self, preference }
    }
}

/// The drawing of a benchmark in the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Charts over the message size or a parameter.
    #[default]
    Charts,
    /// A heat map of pairs of cores.
    CorePairs,
    /// A heat map of pairs of ranks for each size.
    RankPairs,
    /// Rates over the length of transforms, one chart for each way of doing them.
    TransformLengths,
    /// A table of the ways of doing the same, a row for each size.
    Ways,
    /// The pauses of each processor over time.
    Pauses,
    /// Efficiency and speed-up over ranks, beside the ideal.
    Efficiency,
    /// Charts, and the pattern as a picture.
    Pattern,
    /// Charts; those over a parameter of a rule of locality show the rule without locality as a line across.
    Localities,
}

/// The test of the OSU micro-benchmarks that a benchmark corresponds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsuTest {
    /// Its title, without `OSU MPI` and `Test`.
    pub title: &'static str,
    /// Its columns.
    pub columns: OsuColumns,
    /// The datatype that it names; none where it names none.
    pub datatype: Option<&'static str>,
}

/// The columns of an OSU test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OsuColumns {
    /// A time for each size.
    Latency,
    /// A rate for each size.
    Bandwidth,
    /// One time.
    LatencyAlone,
}

impl OsuTest {
    /// A test that prints a time for each size.
    pub(crate) const fn latency(title: &'static str) -> Option<OsuTest> {
        Some(OsuTest { title, columns: OsuColumns::Latency, datatype: Some("MPI_CHAR") })
    }

    /// A test that prints a rate for each size.
    pub(crate) const fn bandwidth(title: &'static str) -> Option<OsuTest> {
        Some(OsuTest { title, columns: OsuColumns::Bandwidth, datatype: Some("MPI_CHAR") })
    }

    /// A test that prints a time for each size of an array of double-precision numbers.
    pub(crate) const fn reduction(title: &'static str) -> Option<OsuTest> {
        Some(OsuTest { title, columns: OsuColumns::Latency, datatype: Some("MPI_DOUBLE") })
    }
}
