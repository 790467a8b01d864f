//! The ports of a topic.

use super::{Port, Refusal};

/// The ports of a topic, in order of creation. The last one lies here, so that a publisher finds
/// the only one at once.
#[repr(align(128))]
pub(super) struct Ports<M> {
    last: Option<Port<M>>,
    others: Box<[Port<M>]>,
    /// If the topic takes no messages.
    pub(super) closed: Option<Refusal>,
}

impl<M> Ports<M> {
    pub(super) fn new(ports: impl IntoIterator<Item = Port<M>>, closed: Option<Refusal>) -> Self {
        const { assert!(size_of::<Self>() == 128, "it lies on two cache lines") };
        let mut others: Vec<_> = ports.into_iter().collect();
        let last = others.pop();
        Self { last, others: others.into(), closed }
    }

    #[inline]
    pub(super) fn split_last(&self) -> Option<(&Port<M>, &[Port<M>])> {
        self.last.as_ref().map(|last| (last, &*self.others))
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Port<M>> + Clone {
        self.others.iter().chain(&self.last)
    }
}
