//! A collective in the buffer of a line: its parameters, without the data of this rank.

use contract::collective::Collective;
use contract::{CallId, CollectiveCall, Combine, Readable, ReductionId, Writable};
use recording::RecordedCollective;

use crate::stream::{Reader, Writer};

/// The parameters of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub(crate) collective: Collective,
    root: usize,
    bytes: usize,
    stated_bytes: Option<usize>,
    /// The operation and the length of the elements of a reduction.
    combine: Option<(ReductionId, usize)>,
    /// True if there are data to send apart from those in the memory to receive into.
    pub(crate) sends: bool,
    /// Length of the memory to receive into; `None` if there is none.
    pub(crate) room: Option<usize>,
}

impl Parameters {
    /// Returns the parameters of a call.
    pub(crate) fn of(call: &CollectiveCall<'_>) -> Self {
        let CollectiveCall { collective, root, bytes, stated_bytes, .. } = *call;
        Parameters {
            collective,
            root,
            bytes,
            stated_bytes,
            combine: call.combine.as_ref().map(|combine| (combine.id, combine.element_bytes)),
            sends: call.send.is_some(),
            room: call.receive.as_ref().map(Writable::bytes),
        }
    }

    /// Creates the call again. `apply` combines the elements of a reduction.
    pub(crate) fn call<'a>(
        self,
        send: Option<Readable>,
        receive: Option<Writable>,
        apply: &'a mut contract::Apply<'a>,
    ) -> CollectiveCall<'a> {
        let Parameters { collective, root, bytes, stated_bytes, .. } = self;
        let combine = self.combine.map(|(id, element_bytes)| Combine { id, element_bytes, apply });
        CollectiveCall { collective, root, bytes, send, receive, combine, stated_bytes }
    }

    /// Returns the operation, if the call combines.
    pub(crate) fn reduction(&self) -> Option<contract::Reduction> {
        self.combine.and_then(|(id, _)| contract::Reduction::of_id(id))
    }

    /// Returns the collective in the form of recordings.
    pub(crate) fn recorded(&self) -> RecordedCollective {
        let Parameters { collective: kind, root, bytes, .. } = *self;
        RecordedCollective { kind, root, bytes }
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        let optional = |number: Option<usize>| number.map_or(u64::MAX, |one| one as u64);
        let mut id = CallId::of(self.collective);
        if let Some((reduction, _)) = self.combine {
            id = id.combining(reduction);
        }
        writer.numbers(&[
            id.bits().into(),
            self.root as u64,
            self.bytes as u64,
            optional(self.stated_bytes),
            optional(self.combine.map(|(_, element_bytes)| element_bytes)),
            self.sends.into(),
            optional(self.room),
        ]);
    }

    /// Returns the parameters that were written, or `None` if they are not those of a collective with plans.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let optional = |number: u64| (number != u64::MAX).then_some(number as usize);
        let [id, root, bytes, stated_bytes, element_bytes, sends, room] = reader.numbers();
        let id = CallId::from_bits(id as u32);
        let collective = id.collective().filter(|one| one.has_plans())?;
        let combine = optional(element_bytes).map(|element_bytes| (id.reduction(), element_bytes));
        (combine.is_some() == collective.combines()).then_some(Parameters {
            collective,
            root: root as usize,
            bytes: bytes as usize,
            stated_bytes: optional(stated_bytes),
            combine,
            sends: sends != 0,
            room: optional(room),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Lines;

    #[test]
    fn parameters_are_read_as_they_were_written() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        for (index, collective) in Collective::with_plans().enumerate() {
            for operation in 0..16 {
                let parameters = Parameters {
                    collective,
                    root: 7 << 20,
                    bytes: 1 << 20,
                    stated_bytes: (index % 2 == 0).then_some(3),
                    combine: collective.combines().then(|| (ReductionId::new(operation, 6), 8)),
                    sends: index % 3 == 0,
                    room: (index % 2 == 1).then_some(0),
                };
                let mut writer = Writer::new(&line);
                parameters.write(&mut writer);
                writer.end();
                assert_eq!(Parameters::read(&mut Reader::new(&line)), Some(parameters));
            }
        }
    }
}
