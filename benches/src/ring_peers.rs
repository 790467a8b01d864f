//! The rings of ringspin and of other crates as [pipes](crate::pipes).
//!
//! Every pipe has room for `capacity` messages, heapless' for one less. All operations are bounded
//! and non-blocking, because waiting is not measured.

use crate::pipes::{Message, Receive1, ReceiveMany, Send1, SendMany, Tally, all};
use crossbeam_queue::ArrayQueue;
use disruptor::{BusySpin, Producer as _, build_single_producer};
use peer_ringbuf::HeapRb;
use peer_ringbuf::traits::{Consumer as _, Producer as _, Split};
use ringspin_ringbuf::multiplexer::multiplexer;
use ringspin_ringbuf::{ready, spsc};
use std::hint::black_box;
use std::ops::Range;
use std::sync::{Arc, mpsc};
use thingbuf::ThingBuf;

/// `ringspin_ringbuf::spsc`.
pub fn own_spsc<M: Message>(capacity: usize) -> (impl Send1<M>, impl Receive1<M>) {
    let (mut producer, mut consumer) = spsc::ring(capacity);
    (move |message| producer.push(message).is_ok(), move || consumer.pop())
}

/// `ringspin_ringbuf::spsc` with batches.
pub fn own_spsc_batches<M: Message>(capacity: usize) -> (impl SendMany, impl ReceiveMany<M>) {
    let (mut producer, mut consumer) = spsc::ring(capacity);
    let send = move |numbers: Range<u64>| {
        let (mut next, most) = (numbers.start, numbers.end - numbers.start);
        let sent = producer.write_batch(most as usize, |slot| {
            next += 1;
            slot.write(M::numbered(next - 1))
        });
        sent as u64
    };
    let receive = move |tally: &mut Tally<M>| {
        consumer.read_batch(usize::MAX, |message| tally.take(message));
    };
    (send, receive)
}

/// `ringspin_ringbuf::spsc` with batches, by value.
pub fn own_spsc_values<M: Message>(capacity: usize) -> (impl SendMany, impl ReceiveMany<M>) {
    let (mut producer, mut consumer) = spsc::ring(capacity);
    let send = move |numbers: Range<u64>| producer.push_batch(numbers.map(M::numbered)) as u64;
    (send, move |tally: &mut Tally<M>| _ = consumer.pop_batch(|message| tally.take(&message)))
}

/// `ringspin_ringbuf::ready`.
pub fn own_ready(capacity: usize) -> (impl Send1<u32> + Clone, impl Receive1<u32>) {
    let (producer, mut consumer) = ready::ring(capacity);
    (move |token| producer.push(token).is_ok(), move || consumer.pop())
}

/// `rtrb`.
pub fn rtrb<M: Message>(capacity: usize) -> (impl Send1<M>, impl Receive1<M>) {
    let (mut producer, mut consumer) = rtrb::RingBuffer::new(capacity);
    (move |message| producer.push(message).is_ok(), move || consumer.pop().ok())
}

/// `rtrb` with chunks.
pub fn rtrb_batches<M: Message>(capacity: usize) -> (impl SendMany, impl ReceiveMany<M>) {
    let (mut producer, mut consumer) = rtrb::RingBuffer::new(capacity);
    let send = move |numbers: Range<u64>| {
        let wanted = (numbers.end - numbers.start) as usize;
        let free = if producer.cached_slots() < wanted { producer.slots() } else { wanted };
        let chunk = producer.write_chunk_uninit(free.min(wanted)).expect("that many are free");
        chunk.fill_from_iter(numbers.map(M::numbered)) as u64
    };
    let receive = move |tally: &mut Tally<M>| {
        let chunk = consumer.read_chunk(consumer.slots()).expect("that many are there");
        let (first, second) = chunk.as_slices();
        first.iter().chain(second).for_each(|message| tally.take(message));
        chunk.commit_all();
    };
    (send, receive)
}

/// `heapless::spsc` with `N` slots, hence room for `N - 1` messages. Its memory is never freed,
/// because its ends borrow it.
pub fn heapless<M: Message, const N: usize>() -> (impl Send1<M>, impl Receive1<M>) {
    let queue = Box::leak(Box::new(heapless::spsc::Queue::<M, N>::new()));
    let (mut producer, mut consumer) = queue.split();
    (move |message| producer.enqueue(message).is_ok(), move || consumer.dequeue())
}

/// The `ringbuf` of crates.io.
pub fn ringbuf<M: Message>(capacity: usize) -> (impl Send1<M>, impl Receive1<M>) {
    let (mut producer, mut consumer) = HeapRb::new(capacity).split();
    (move |message| producer.try_push(message).is_ok(), move || consumer.try_pop())
}

/// The `ringbuf` of crates.io with an iterator in, slices out.
pub fn ringbuf_batches<M: Message>(capacity: usize) -> (impl SendMany, impl ReceiveMany<M>) {
    let (mut producer, mut consumer) = HeapRb::new(capacity).split();
    let receive = move |tally: &mut Tally<M>| {
        let (first, second) = consumer.as_slices();
        first.iter().chain(second).for_each(|message| tally.take(message));
        let taken = first.len() + second.len();
        consumer.skip(taken);
    };
    (move |numbers: Range<u64>| producer.push_iter(numbers.map(M::numbered)) as u64, receive)
}

/// `crossbeam_queue::ArrayQueue`.
pub fn array_queue<M: Message>(capacity: usize) -> (impl Send1<M> + Clone, impl Receive1<M>) {
    let queue = Arc::new(ArrayQueue::new(capacity));
    let other_end = queue.clone();
    (move |message| queue.push(message).is_ok(), move || other_end.pop())
}

/// `disruptor` with one producer and one poller, an event at a time.
pub fn disruptor<M: Message>(capacity: usize) -> (impl Send1<M>, impl Receive1<M>) {
    let builder = build_single_producer(capacity, || M::numbered(0), BusySpin);
    let (mut poller, builder) = builder.new_event_poller();
    let mut producer = builder.build();
    let send = move |message| producer.try_publish(|event| *event = message).is_ok();
    (send, move || (&mut poller.take(1).ok()?).next().copied())
}

/// `disruptor` with batches; it publishes a batch as a whole or not at all.
pub fn disruptor_batches<M: Message>(capacity: usize) -> (impl SendMany, impl ReceiveMany<M>) {
    let builder = build_single_producer(capacity, || M::numbered(0), BusySpin);
    let (mut poller, builder) = builder.new_event_poller();
    let mut producer = builder.build();
    let send = move |numbers: Range<u64>| {
        let count = numbers.end - numbers.start;
        let sent = producer.try_batch_publish(count as usize, |events| {
            events.zip(numbers).for_each(|(event, number)| *event = M::numbered(number));
        });
        if sent.is_ok() { count } else { 0 }
    };
    let receive = move |tally: &mut Tally<M>| {
        if let Ok(mut events) = poller.poll() {
            (&mut events).for_each(|event| tally.take(event));
        }
    };
    (send, receive)
}

/// `std::sync::mpsc::sync_channel`.
pub fn std_channel<M: Message>(capacity: usize) -> (impl Send1<M> + Clone, impl Receive1<M>) {
    let (sender, receiver) = mpsc::sync_channel(capacity);
    (move |message| sender.try_send(message).is_ok(), move || receiver.try_recv().ok())
}

/// `crossbeam-channel`.
pub fn crossbeam_channel<M: Message>(capacity: usize) -> (impl Send1<M> + Clone, impl Receive1<M>) {
    let (sender, receiver) = crossbeam_channel::bounded(capacity);
    (move |message| sender.try_send(message).is_ok(), move || receiver.try_recv().ok())
}

/// `thingbuf`, the queue under its channels.
pub fn thingbuf(capacity: usize) -> (impl Send1<u32> + Clone, impl Receive1<u32>) {
    let queue = Arc::new(ThingBuf::new(capacity));
    let other_end = queue.clone();
    (move |message| queue.push(message).is_ok(), move || other_end.pop())
}

/// `flume`.
pub fn flume<M: Message>(capacity: usize) -> (impl Send1<M> + Clone, impl Receive1<M>) {
    let (sender, receiver) = flume::bounded(capacity);
    (move |message| sender.try_send(message).is_ok(), move || receiver.try_recv().ok())
}

/// `kanal`.
pub fn kanal<M: Message>(capacity: usize) -> (impl Send1<M> + Clone, impl Receive1<M>) {
    let (sender, receiver) = kanal::bounded(capacity);
    let send = move |message| sender.try_send(message).expect("the other end is there");
    (send, move || receiver.try_recv().expect("the other end is there"))
}

/// `tokio::sync::mpsc`, without a runtime.
pub fn tokio_mpsc<M: Message>(capacity: usize) -> (impl Send1<M> + Clone, impl Receive1<M>) {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(capacity);
    (move |message| sender.try_send(message).is_ok(), move || receiver.try_recv().ok())
}

/// `ringspin_ringbuf::multiplexer`, read in place.
pub fn own_multiplexer<M: Message, const CONSUMERS: usize>(
    capacity: usize,
) -> (impl Send1<M>, impl Receive1<u64>) {
    let (mut producer, multiplexer) = multiplexer::<M>(capacity, CONSUMERS);
    let receivers = [(); CONSUMERS].map(|()| {
        let mut consumer = multiplexer.join().expect("there is a place");
        move || Some(black_box(&*consumer.read()?).number())
    });
    (move |message: M| producer.push(message).is_ok(), all(receivers))
}

/// `ringspin_ringbuf::multiplexer` with batches, one consumer.
pub fn own_multiplexer_batches<M: Message>(
    capacity: usize,
) -> (impl SendMany, impl ReceiveMany<M>) {
    let (mut producer, multiplexer) = multiplexer(capacity, 1);
    let mut consumer = multiplexer.join().expect("there is a place");
    let send = move |numbers: Range<u64>| producer.push_batch(&mut numbers.map(M::numbered)) as u64;
    let receive = move |tally: &mut Tally<M>| {
        consumer.read_batch(usize::MAX, |message| tally.take(message));
    };
    (send, receive)
}

/// `disruptor` with one producer and two pollers, read in place.
pub fn disruptor_to_two<M: Message>(capacity: usize) -> (impl Send1<M>, impl Receive1<u64>) {
    let builder = build_single_producer(capacity, || M::numbered(0), BusySpin);
    let (one, builder) = builder.new_event_poller();
    let (two, builder) = builder.new_event_poller();
    let mut producer = builder.build();
    let send = move |message| producer.try_publish(|event| *event = message).is_ok();
    let receivers = [one, two]
        .map(|mut poller| move || Some(black_box((&mut poller.take(1).ok()?).next()?).number()));
    (send, all(receivers))
}

/// `disruptor` with one producer and one poller, read in place.
pub fn disruptor_in_place<M: Message>(capacity: usize) -> (impl Send1<M>, impl Receive1<u64>) {
    let builder = build_single_producer(capacity, || M::numbered(0), BusySpin);
    let (mut poller, builder) = builder.new_event_poller();
    let mut producer = builder.build();
    let send = move |message| producer.try_publish(|event| *event = message).is_ok();
    (send, move || Some(black_box((&mut poller.take(1).ok()?).next()?).number()))
}

/// `bus`, which clones for all consumers but the last one.
pub fn bus<M: Message, const CONSUMERS: usize>(
    capacity: usize,
) -> (impl Send1<M>, impl Receive1<M>) {
    let mut bus = bus::Bus::new(capacity);
    let receivers = [(); CONSUMERS].map(|()| {
        let mut reader = bus.add_rx();
        move || reader.try_recv().ok()
    });
    (move |message| bus.try_broadcast(message).is_ok(), all(receivers))
}

/// `tokio::sync::broadcast`, without a runtime; it clones, and overruns the slowest.
pub fn tokio_broadcast<M: Message, const CONSUMERS: usize>(
    capacity: usize,
) -> (impl Send1<M>, impl Receive1<M>) {
    let (sender, _) = tokio::sync::broadcast::channel(capacity);
    let receivers = [(); CONSUMERS].map(|()| {
        let mut receiver = sender.subscribe();
        move || receiver.try_recv().ok()
    });
    (move |message| sender.send(message).is_ok(), all(receivers))
}
