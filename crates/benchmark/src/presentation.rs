//! The presentation of a benchmark's numbers: its declarations for the tables, the report and other formats.

/// A row of the table at the end of a run's output, which contains the few most important numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The description of the number.
    pub words: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// Message size in bytes; `None` for the measurement with the highest median.
    pub size_bytes: Option<u64>,
}

/// A figure of the report's summary. Several benchmarks may have it; each states its suitability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFigure {
    /// The time of a short message.
    ShortMessage,
    /// The highest rate in one direction.
    RateOneWay,
    /// The highest rate in both directions at once.
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

/// A key figure of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HasFigure {
    /// The figure.
    pub figure: KeyFigure,
    /// Preference: of the benchmarks in a run, the one with the lowest number provides the figure.
    pub preference: u8,
}

impl KeyFigure {
    /// Returns the figure for a benchmark to which this number of others are preferred.
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
    /// Rates over the length of transforms, one chart for each variant.
    TransformLengths,
    /// A table of variants of the same operation, a row for each size.
    Ways,
    /// The pauses of each processor over time.
    Pauses,
    /// Efficiency and speed-up over ranks, beside the ideal.
    Efficiency,
    /// Charts, and the pattern as a picture.
    Pattern,
    /// Charts; those over a parameter of a rule of locality show the rule without locality as a horizontal line.
    Localities,
}

/// The test of the OSU micro-benchmarks that corresponds to a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsuTest {
    /// Title, without `OSU MPI` and `Test`.
    pub title: &'static str,
    /// Its columns.
    pub columns: OsuColumns,
    /// Datatype that it names; `None` if it names none.
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
    /// Returns a test that prints a time for each size.
    pub(crate) const fn latency(title: &'static str) -> Option<OsuTest> {
        Some(OsuTest { title, columns: OsuColumns::Latency, datatype: Some("MPI_CHAR") })
    }

    /// Returns a test that prints a rate for each size.
    pub(crate) const fn bandwidth(title: &'static str) -> Option<OsuTest> {
        Some(OsuTest { title, columns: OsuColumns::Bandwidth, datatype: Some("MPI_CHAR") })
    }

    /// Returns a test that prints a time for each size of an array of double-precision numbers.
    pub(crate) const fn reduction(title: &'static str) -> Option<OsuTest> {
        Some(OsuTest { title, columns: OsuColumns::Latency, datatype: Some("MPI_DOUBLE") })
    }
}
