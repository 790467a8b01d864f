//! Endpoints and nodes that four threads create and destroy beside running traffic, with exact
//! accounts: every message is dispatched, overwritten, dropped with its subscription, or refused.

use crate::spawn_beside;
use ringspin_executor::{Context, Graph, Message, Node, Publisher, QoS, Subscription};
use ringspin_modes::{Executor, Mode};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

const THREADS: u64 = 4;
const CHANGES: u64 = 2_000;
/// The nodes with subscriptions that are created and destroyed, on all cores.
const HOMES: usize = 4;

/// The number of changes; a script sets another one.
fn changes() -> u64 {
    let set = std::env::var("RINGSPIN_CHURN_CHANGES");
    set.map_or(CHANGES, |set| set.parse().expect("RINGSPIN_CHURN_CHANGES is a number"))
}

/// The numbers of events.
#[derive(Default)]
struct Account {
    /// Messages times the subscriptions that they were published to.
    published: AtomicU64,
    handled: AtomicU64,
    /// Calls of callbacks that get no message.
    others: AtomicU64,
    /// Threads that are done.
    done: AtomicU64,
}

impl Account {
    fn add(counter: &AtomicU64, number: u64) {
        counter.fetch_add(number, SeqCst);
    }

    fn is_done(&self) -> bool {
        self.done.load(SeqCst) == THREADS
    }
}

/// Random numbers, which depend on a seed only.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
        (self.0 >> 33) % limit
    }
}

/// The part of a thread that creates and destroys. It alone publishes on its topic and changes the
/// topic's subscriptions, so it knows how many get each message.
struct Changer {
    graph: Graph,
    homes: Vec<Node<()>>,
    account: Arc<Account>,
    random: Random,
    topic: String,
    node: Node<()>,
    out: Publisher<u64>,
    /// The number of the last message.
    last: u64,
    subscriptions: VecDeque<Subscription>,
}

impl Changer {
    fn new(graph: &Graph, homes: &[Node<()>], account: &Arc<Account>, thread: u64) -> Self {
        let (graph, homes, account) = (graph.clone(), homes.to_vec(), account.clone());
        let (random, topic) = (Random(thread + 1), format!("own{thread}"));
        let node = graph.create_node(&format!("changer{thread}"), ()).unwrap();
        let out = node.create_publisher::<u64>(&topic, QoS::default()).unwrap();
        let subscriptions = VecDeque::new();
        Self { graph, homes, account, random, topic, node, out, last: 0, subscriptions }
    }

    fn run(mut self, changes: u64) {
        let mut made = 0;
        while made < changes {
            made += self.change();
            for _ in 0..self.random.below(4) {
                self.publish(self.subscriptions.len() as u64);
            }
        }
        self.subscriptions.iter().for_each(Subscription::destroy);
        Account::add(&self.account.done, 1);
    }

    /// Publishes to so many subscriptions.
    fn publish(&mut self, subscriptions: u64) {
        // Full or out of slots: none of them gets it.
        if self.out.publish(self.last + 1).is_ok() {
            self.last += 1;
            Account::add(&self.account.published, subscriptions);
        }
    }

    /// Makes some changes; returns how many.
    fn change(&mut self) -> u64 {
        match self.random.below(8) {
            0..3 if self.subscriptions.len() < 6 => {
                let home = self.random.below(self.homes.len() as u64) as usize;
                let subscription = self.subscribe(&self.homes[home].clone());
                self.subscriptions.push_back(subscription);
                1
            }
            0..6 => {
                let Some(oldest) = self.subscriptions.pop_front() else { return 0 };
                oldest.destroy();
                1
            }
            6 => {
                self.out = self.node.create_publisher(&self.topic, QoS::default()).unwrap();
                2 // the previous one ends
            }
            _ => self.change_nodes(),
        }
    }

    /// Creates a node with endpoints, and destroys it while it has messages.
    fn change_nodes(&mut self) -> u64 {
        let name = format!("short{}", self.topic);
        let node = self.graph.create_node(&name, ()).unwrap();
        self.subscribe(&node);
        let account = self.account.clone();
        node.create_timer(Duration::from_micros(50), move |_, _| Account::add(&account.others, 1))
            .unwrap();
        let out = node.create_publisher::<u64>("unheard", QoS::default()).unwrap();
        out.publish(1).unwrap();
        for _ in 0..2 {
            self.publish(self.subscriptions.len() as u64 + 1);
        }
        node.destroy();
        8
    }

    /// A subscription that checks the order of its messages.
    fn subscribe(&mut self, node: &Node<()>) -> Subscription {
        let (account, mut last) = (self.account.clone(), self.last);
        let first = self.last;
        let qos = QoS::keep_last(1 + self.random.below(8) as usize);
        let handle = move |_: &mut (), n: &Message<u64>, _: &mut Context<'_>| {
            assert!(**n > last && **n > first, "{} after {last}", **n);
            last = **n;
            Account::add(&account.handled, 1);
        };
        node.create_subscription(&self.topic, qos, handle).unwrap()
    }
}

/// A message that two nodes send back and forth until the threads are done.
fn play(homes: &[Node<()>], account: &Arc<Account>) {
    for (n, [from, to]) in [["ping", "pong"], ["pong", "ping"]].into_iter().enumerate() {
        let out = homes[n].create_publisher::<u64>(to, QoS::default()).unwrap();
        let counts = account.clone();
        homes[n]
            .create_subscription(from, QoS::keep_last(4), move |_, n: &Message<u64>, _| {
                Account::add(&counts.handled, 1);
                if !counts.is_done() {
                    Account::add(&counts.published, 1);
                    out.publish(**n + 1).unwrap();
                }
            })
            .unwrap();
    }
}

/// Runs `executor` until the threads have made so many changes.
fn run(executor: &mut Executor, account: &Arc<Account>, changes: u64) {
    let homes: Vec<_> =
        (0..HOMES).map(|n| executor.create_node(&format!("home{n}"), ()).unwrap()).collect();
    play(&homes, account);
    let out = homes[0].create_publisher::<u64>("ping", QoS::default()).unwrap();
    executor.freeze().unwrap();
    Account::add(&account.published, 1);
    out.publish(0).unwrap();
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (graph, stop) = (executor.graph().clone(), executor.stop_handle());
            let (homes, account) = (homes.clone(), account.clone());
            spawn_beside(executor, move || {
                Changer::new(&graph, &homes, &account, thread).run(changes / THREADS);
                if account.is_done() {
                    stop.stop();
                }
            })
        })
        .collect();
    executor.spin().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Spins until the counters are as `is_settled` says, or for about a minute: a short spin may end
/// before its threads have begun.
fn spin_until(executor: &mut Executor, is_settled: impl Fn(&Executor) -> bool) {
    executor.stop_handle().reset();
    for doublings in 0..16 {
        if is_settled(executor) {
            return;
        }
        executor.spin_for(Duration::from_millis(1 << doublings)).unwrap();
    }
}

fn churn(mut executor: Executor, changes: u64) {
    let account = Arc::<Account>::default();
    run(&mut executor, &account, changes);
    let count = |executor: &Executor| {
        let of = executor.statistics();
        let others = account.others.load(SeqCst);
        assert_eq!(of.dispatched(), account.handled.load(SeqCst) + others);
        of.dispatched() - others + of.overwritten() + of.discarded()
    };
    // Messages on their way to a subscription are counted once no thread can send one any more.
    spin_until(&mut executor, |executor| count(executor) >= account.published.load(SeqCst));
    let published = account.published.load(SeqCst);
    assert_eq!(count(&executor), published, "{:?}", executor.statistics());
    assert_eq!(executor.monitor().unwrap().failures(), []);
    println!("{changes} changes, {published} deliveries: {:?}", executor.statistics().removed);
}

/// Each of four threads creates and destroys a server, and calls that of another thread: a call is
/// refused, or ends once, with a response or an error.
fn churn_servers(mut executor: Executor, changes: u64) {
    let [accepted, ended, done] = [(); 3].map(|()| Arc::<AtomicU64>::default());
    let homes: Vec<_> =
        (0..THREADS).map(|n| executor.create_node(&format!("home{n}"), ()).unwrap()).collect();
    let name = |n: u64| format!("service{}", n % THREADS);
    executor.freeze().unwrap();
    let threads: Vec<_> = (0..THREADS)
        .map(|n| {
            let (own, other) = (name(n), name(n + 1));
            let (home, caller) = (homes[n as usize].clone(), homes[(n % 2) as usize].clone());
            let (accepted, ended, done) = (accepted.clone(), ended.clone(), done.clone());
            let stop = executor.stop_handle();
            spawn_beside(&executor, move || {
                let client = caller.create_client::<u64, u64>(&other, QoS::services()).unwrap();
                for round in 0..changes / THREADS / 2 {
                    let service = home.create_service(&own, QoS::services(), |_, n: &u64, _| *n);
                    for call in [round, round + 1] {
                        let ended = ended.clone();
                        let sent = client.call(call, move |_, reply, _| {
                            assert!(reply.is_err() || reply.is_ok_and(|reply| *reply == call));
                            Account::add(&ended, 1);
                        });
                        Account::add(&accepted, u64::from(sent.is_ok()));
                    }
                    service.unwrap().destroy();
                }
                if done.fetch_add(1, SeqCst) + 1 == THREADS {
                    stop.stop();
                }
            })
        })
        .collect();
    executor.spin().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // The clients are dropped; their calls continue.
    spin_until(&mut executor, |_| ended.load(SeqCst) == accepted.load(SeqCst));
    assert_eq!(ended.load(SeqCst), accepted.load(SeqCst));
    assert_eq!(executor.monitor().unwrap().failures(), []);
    println!("{} of {} calls", ended.load(SeqCst), changes);
}

#[test]
fn every_call_ends_while_threads_create_and_destroy_servers() {
    churn_servers(Executor::new(Mode::MultiCore(None)), changes());
    churn_servers(Executor::single_core(), changes());
}

#[test]
fn every_message_is_accounted_for_while_threads_change_the_graph() {
    churn(Executor::new(Mode::MultiCore(None)), changes());
    churn(Executor::single_core(), changes());
}

#[test]
#[ignore = "slow: many changes"]
fn slow_every_message_is_accounted_for_in_many_changes() {
    churn(Executor::new(Mode::MultiCore(None)), 300_000);
}
