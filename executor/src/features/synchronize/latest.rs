//! The latest message of each input, without regard to stamps.
//!
//! The event loop of the subscription is the only caller, so the flags need no lock. They mirror
//! the queues of the inputs, of which each keeps one message at most: whether there is one, and
//! whether it was handed over. The trigger is asked at each arrival, also while an input has no
//! message, because a predicate may count. No stamp is read, so messages of any type can be joined,
//! those without a stamp among them.

use super::inputs::Role;
use super::matcher::{Arrival, HEADS, Matcher, Positions, Removal};
use super::trigger::{New, Trigger};
use crate::base::error::Result;
use crate::base::time::Time;

/// Hands over the latest message of each input when a [`Trigger`] is met.
///
/// Each input has its own condition, and its own rule for the message after a delivery:
///
/// | input | callback gets | waits for it | afterwards | triggers |
/// |---|---|---|---|---|
/// | [`Input::new`](crate::Input::new) | `&Message<M>` | yes | used up | yes |
/// | [`.optional()`](crate::Input::optional) | `Option<&Message<M>>` | no | used up | yes |
/// | [`.cached()`](crate::Input::cached) | `&Message<M>` | until the first one | kept | no |
///
/// When the trigger is met and an input that is waited for has nothing, the call waits too, and
/// takes place with the arrival that completes it, be it a cached one's, if the trigger is still
/// met then. With [`holding`](Self::holding), inputs that are not optional keep their message after
/// a call like cached ones, but still trigger: with [`Trigger::Any`] each arrival is a call with
/// the latest of all.
///
/// A message that a newer one replaces without ever having been handed over is counted as
/// [`unmatched`](crate::CallbackStatistics::unmatched) of its input. An arrival costs time
/// proportional to the inputs, and nothing is allocated.
///
/// ```
/// # use ringspin_executor::{Graph, Input, Latest, Message, QoS, Trigger};
/// # let graph = Graph::new();
/// let control = graph.create_node("control", 0.0)?;
/// control.create_synchronized_subscription(
///     (
///         Input::<f64>::new("speed", QoS::keep_last(1)),
///         Input::<f64>::new("limit", QoS::keep_last(1)).cached(),
///         Input::<()>::new("brake", QoS::keep_last(1)).optional(),
///     ),
///     Latest::new(Trigger::Any),
///     |command, (speed, limit, brake), _| {
///         *command = if brake.is_some() { 0.0 } else { speed.min(**limit) };
///     },
/// )?;
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Debug)]
pub struct Latest {
    trigger: Trigger,
    holding: bool,
}

impl Latest {
    /// Calls when `trigger` is met.
    pub const fn new(trigger: Trigger) -> Self {
        Self { trigger, holding: false }
    }

    /// Keeps the messages of all inputs that are not optional after a call, to be handed over again
    /// until newer ones come.
    #[must_use]
    pub const fn holding(mut self) -> Self {
        self.holding = true;
        self
    }

    pub(crate) fn matcher(self, roles: &'static [Role]) -> Result<LatestMatcher> {
        self.trigger.check(roles)?;
        let inputs = roles.len();
        Ok(LatestMatcher {
            trigger: self.trigger,
            holding: self.holding,
            roles,
            present: vec![false; inputs].into(),
            new: vec![0; inputs].into(),
            arrived: None,
            complete: false,
        })
    }
}

pub struct LatestMatcher {
    trigger: Trigger,
    holding: bool,
    roles: &'static [Role],
    present: Box<[bool]>,
    /// 1 where it was not handed over yet.
    new: Box<[usize]>,
    arrived: Option<usize>,
    complete: bool,
}

impl LatestMatcher {
    fn nothing_is_missing(&self) -> bool {
        self.roles
            .iter()
            .zip(&self.present)
            .all(|(role, &present)| *role == Role::Optional || present)
    }
}

impl Matcher for LatestMatcher {
    fn arrive(&mut self, input: usize, _stamp: Time) -> Arrival {
        self.arrived = Some(input);
        Arrival::Regular
    }

    fn next(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) -> Option<Positions> {
        let input = self.arrived.take()?;
        let was_new = std::mem::replace(&mut self.new[input], 1) == 1;
        if std::mem::replace(&mut self.present[input], true) {
            remove(input, 0, if was_new { Removal::Unmatched } else { Removal::Used });
        }
        // The trigger is asked first, and always: a predicate may count.
        self.complete =
            self.trigger.is_met(&New(&self.new), self.roles) && self.nothing_is_missing();
        self.complete.then_some(HEADS)
    }

    fn finish(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) {
        if !std::mem::take(&mut self.complete) {
            return;
        }
        self.new.fill(0);
        for (input, role) in self.roles.iter().enumerate() {
            let keeps = *role == Role::Cached || self.holding && *role != Role::Optional;
            if !keeps && std::mem::take(&mut self.present[input]) {
                remove(input, 0, Removal::Used);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Driver;
    use super::*;
    use proptest::prelude::*;

    const REQUIRED: [Role; 3] = [Role::Required; 3];
    const MIXED: [Role; 3] = [Role::Required, Role::Cached, Role::Optional];
    /// The driver's notation for an input without a message.
    const NONE: u64 = 0;

    fn driver(roles: &'static [Role], latest: Latest) -> Driver<LatestMatcher> {
        Driver::new(roles.len(), latest.matcher(roles).unwrap())
    }

    #[test]
    fn all_waits_for_all_and_uses_them_up() {
        let mut d = driver(&REQUIRED, Latest::new(Trigger::All));
        assert_eq!([d.send(0, 1), d.send(1, 2), d.send(0, 3), d.send(2, 4)], [0, 0, 0, 1]);
        assert_eq!(d.stamps(), [[3, 2, 4]]);
        assert_eq!(d.unmatched, [(0, 0, 1)], "replaced before it was used");
        assert_eq!([d.send(0, 5), d.send(1, 6)], [0, 0], "everything was used up");
        assert_eq!(d.waiting(), [1, 1, 0]);
    }

    #[test]
    fn one_calls_only_for_its_input_and_waits_for_the_others() {
        let mut d = driver(&REQUIRED, Latest::new(Trigger::One(1)));
        assert_eq!([d.send(1, 1), d.send(0, 2), d.send(2, 3)], [0, 0, 1], "the call waited");
        assert_eq!([d.send(0, 4), d.send(2, 5), d.send(1, 6)], [0, 0, 1]);
        assert_eq!(d.stamps(), [[2, 1, 3], [4, 6, 5]]);
        assert!(d.unmatched.is_empty());
    }

    #[test]
    fn cached_inputs_keep_their_message_and_optional_ones_may_be_absent() {
        let mut d = driver(&MIXED, Latest::new(Trigger::Any));
        assert_eq!([d.send(0, 1), d.send(1, 2)], [0, 1], "a cached one completes a waiting call");
        assert_eq!(d.send(1, 3), 0, "but does not trigger");
        assert_eq!([d.send(2, 4), d.send(0, 5), d.send(0, 6)], [0, 1, 1]);
        assert_eq!(d.stamps(), [[1, 2, NONE], [5, 3, 4], [6, 3, NONE]]);
        assert_eq!([d.send(1, 7), d.send(1, 8)], [0, 0]);
        assert_eq!(d.unmatched, [(1, 2, 7)], "3 was handed over before it was replaced");
    }

    #[test]
    fn holding_hands_over_the_latest_of_all_at_each_arrival() {
        let mut d = driver(&REQUIRED, Latest::new(Trigger::Any).holding());
        let calls = [(0, 1), (1, 2), (2, 3), (1, 4), (0, 5)].map(|(input, s)| d.send(input, s));
        assert_eq!(calls, [0, 0, 1, 1, 1]);
        assert_eq!(d.stamps(), [[1, 2, 3], [1, 4, 3], [5, 4, 3]]);
        assert!(d.unmatched.is_empty());
    }

    #[test]
    fn a_predicate_sees_what_is_new_and_is_asked_at_every_arrival() {
        let mut asked = 0;
        let either = Trigger::when(move |new| {
            asked += 1;
            assert_eq!((new.inputs(), new.has(3)), (3, false));
            asked > 2 && new.has(0) && (new.has(1) || new.has(2))
        });
        let roles = &[Role::Required, Role::Optional, Role::Optional];
        let mut d = driver(roles, Latest::new(either));
        assert_eq!([d.send(0, 1), d.send(1, 2), d.send(1, 3), d.send(2, 4)], [0, 0, 1, 0]);
        assert_eq!(d.stamps(), [[1, 3, NONE]]);
        assert_eq!(d.send(0, 5), 1);
        assert_eq!(d.stamps()[1], [5, NONE, 4]);
    }

    #[test]
    fn all_of_optional_inputs_is_any_of_them() {
        let roles = &[Role::Optional, Role::Optional];
        let mut d = driver(roles, Latest::new(Trigger::All));
        assert_eq!([d.send(1, 1), d.send(0, 2)], [1, 1]);
    }

    proptest! {
        #[test]
        fn a_call_has_the_newest_of_all_and_nothing_used_up(
            remote_notifier in proptest::collection::vec(0usize..3, 0..60),
            roles in prop_oneof![Just(&REQUIRED), Just(&MIXED)],
            trigger in 0usize..3,
        ) {
            let trigger = [Trigger::Any, Trigger::All, Trigger::One(0)].into_iter().nth(trigger);
            let mut d = driver(roles, Latest::new(trigger.unwrap()));
            let mut sent = [0; 3];
            let mut used_up = [None; 3];
            for input in remote_notifier {
                sent[input] += 1;
                if d.send(input, 1) == 0 {
                    continue;
                }
                for (i, &(number, _)) in d.sets.last().unwrap().iter().enumerate() {
                    let present = number != usize::MAX;
                    let expected = if present { sent[i] - 1 } else { usize::MAX };
                    prop_assert_eq!(number, expected);
                    prop_assert!(present || roles[i] == Role::Optional);
                    let is_again = present && used_up[i] == Some(number);
                    prop_assert!(roles[i] == Role::Cached || !is_again);
                    used_up[i] = present.then_some(number).or(used_up[i]);
                }
            }
            prop_assert!(d.longest <= 1);
        }
    }

    #[test]
    fn triggers_that_never_call_are_refused() {
        let error = |roles, trigger| Latest::new(trigger).matcher(roles).err().unwrap();
        let missing = "there is no input 3: they are numbered from 0 to 2";
        assert_eq!(error(&MIXED, Trigger::One(3)).to_string(), missing);
        for (roles, trigger) in [
            (&MIXED[..], Trigger::One(1)),
            (&[Role::Cached, Role::Cached], Trigger::Any),
            (&[Role::Cached, Role::Cached], Trigger::All),
        ] {
            let error = error(roles, trigger);
            assert_eq!(error.kind(), crate::ErrorKind::InvalidArgument);
            assert!(error.to_string().starts_with("no input can trigger the callback"), "{error}");
        }
    }
}
