//! Workloads with fixed durations: nodes with a timer or inputs, and their twin.

use ringspin_executor::{BoxError, Graph, Message, QoS};
use ringspin_modes::names::callback_labels;
use ringspin_optimizer::{Chain, Profile, Twin};
use std::fmt::Write;
use std::time::Duration;

/// A node with one event loop. It publishes on a topic with its name.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The name, without a slash.
    pub(crate) name: String,
    /// The trigger.
    pub(crate) trigger: Trigger,
    /// The execution time. A node with several inputs needs an equal share of it for each of them.
    pub(crate) duration: Duration,
    /// The dispatch priority, unless a search sets another one.
    pub(crate) priority: u8,
}

/// The trigger of a node.
#[derive(Clone, Debug)]
pub(crate) enum Trigger {
    /// A timer with this period.
    Timer(Duration),
    /// A message of each of these nodes, by index. The node sends when all have arrived.
    Inputs(Vec<usize>),
}

impl Part {
    /// The nodes that it receives from.
    pub(crate) fn inputs(&self) -> &[usize] {
        match &self.trigger {
            Trigger::Timer(_) => &[],
            Trigger::Inputs(inputs) => inputs,
        }
    }
}

/// Nodes and the chains to optimize.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    /// The nodes; inputs come from earlier ones.
    pub(crate) nodes: Vec<Part>,
    /// The chains.
    pub(crate) chains: Vec<Chain>,
    /// The cost of a message on one core, and between two cores.
    pub(crate) hop: [Duration; 2],
}

impl Workload {
    /// Declares the nodes; their callbacks take no time by themselves.
    pub(crate) fn build(&self, graph: &Graph) -> Result<(), BoxError> {
        for part in &self.nodes {
            let inputs = part.inputs();
            let node = graph.create_node(&part.name, vec![false; inputs.len()])?;
            node.set_priority(part.priority)?;
            let output = node.create_publisher(&part.name, QoS::keep_last(1))?;
            if let Trigger::Timer(period) = part.trigger {
                let output = output.clone();
                node.create_timer(period, move |_, _| output.publish(0_u8))?;
            }
            for (n, &input) in inputs.iter().enumerate() {
                let (topic, output) = (&self.nodes[input].name, output.clone());
                node.create_subscription(
                    topic,
                    QoS::keep_last(1),
                    move |has, _: &Message<u8>, _| {
                        has[n] = true;
                        if has.contains(&false) {
                            return Ok(());
                        }
                        has.fill(false);
                        output.publish(0_u8)
                    },
                )?;
            }
        }
        Ok(())
    }

    /// The profile of a machine on which everything takes exactly its time.
    pub(crate) fn profile(&self) -> Result<Profile, BoxError> {
        let graph = Graph::new();
        self.build(&graph)?;
        let info = graph.info();
        let always = |duration: Duration| {
            let ns = duration.as_nanos();
            format!(
                "{{ count = 10, total_ns = {}, min_ns = {ns}, max_ns = {ns}, \
                 histogram = [[{ns}, 10]] }}",
                10 * ns
            )
        };
        let loops: Vec<String> = info.loops.values().map(|of| of.full_name()).collect();
        let mut text = format!(
            "version = 2\nloops = {loops:?}\nmachine = {{ name = \"exact\", \
             architecture = \"none\", cores = 1, slowdown_percent = 100 }}\n"
        );
        for (id, label) in callback_labels(&info).iter() {
            let number = info.callbacks[id].event_loop.0 as usize;
            let shares = info.loop_of(id).callbacks.len() as u32;
            let duration = always(self.nodes[number].duration / shares);
            writeln!(
                text,
                "[[callback]]\nnode = \"{}\"\ncallback = \"{label}\"\n\
                 durations = {duration}",
                loops[number]
            )?;
        }
        let [same, cross] = self.hop.map(always);
        // The other edges take the times of this one.
        writeln!(
            text,
            "[[hop]]\ntopic = \"/any\"\nfrom = \"/any\"\nto = \"/any\"\n\
             same_core = {same}\ncross_core = {cross}"
        )?;
        Ok(Profile::from_toml(&text)?)
    }

    /// The twin.
    pub(crate) fn twin(&self) -> Result<Twin<'_>, BoxError> {
        Ok(Twin::new(|graph: &Graph| self.build(graph), &self.profile()?, self.chains.clone())?)
    }

    /// The number of messages or timer periods of `node` per second.
    pub(crate) fn rate_hz(&self, node: usize) -> f64 {
        match &self.nodes[node].trigger {
            Trigger::Timer(period) => period.as_secs_f64().recip(),
            Trigger::Inputs(inputs) => {
                inputs.iter().map(|&input| self.rate_hz(input)).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// The number of cores that the execution times occupy.
    pub(crate) fn utilization(&self) -> f64 {
        let of_node = |(node, part): (usize, &Part)| {
            let calls = match &part.trigger {
                Trigger::Timer(_) => self.rate_hz(node),
                Trigger::Inputs(inputs) => {
                    let rates = inputs.iter().map(|&input| self.rate_hz(input));
                    rates.sum::<f64>() / inputs.len() as f64
                }
            };
            calls * part.duration.as_secs_f64()
        };
        self.nodes.iter().enumerate().map(of_node).sum()
    }
}
