//! The driver of an IMU on a serial port, written against rclrs on tokio as its users do: a task
//! that reads frames of a binary protocol, a watchdog, diagnostics, parameters that are changed
//! while it runs, and a node that monitors it. The device is a thread at the other end of a socket.
//!
//! It ends with the device. Run it as it is, and twice with `RINGSPIN_MODE=deterministic`.

use rclrs::*;
use ros_env::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use ros_env::geometry_msgs::msg::Vector3;
use ros_env::rcl_interfaces::msg::{Parameter, ParameterValue as Value};
use ros_env::rcl_interfaces::srv::{SetParameters, SetParameters_Request, SetParameters_Response};
use ros_env::sensor_msgs::msg::Imu;
use ros_env::std_msgs::msg::Header;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream as Socket;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The frames of the device, of which each 50th is damaged.
const FRAMES: u16 = 600;

/// The frame after which the device is silent for a while.
const PAUSE: u16 = 150;

/// A frame: two bytes of synchronization, a sequence number, three angular velocities and three
/// accelerations, and two bytes of a checksum.
const LENGTH: usize = 18;
const SYNC: [u8; 2] = [0xAA, 0x55];

/// Metres per second squared, and radians per second, of one count.
const SCALE: f64 = 0.001;

type Failure = Box<dyn Error + Send + Sync>;

/// The checksum of Fletcher.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    bytes.iter().fold([0, 0], |[low, high]: [u8; 2], byte| {
        let low = low.wrapping_add(*byte);
        [low, high.wrapping_add(low)]
    })
}

/// The frame of a sample.
fn encode(sequence: u16, counts: [i16; 6]) -> [u8; LENGTH] {
    let mut frame = [0; LENGTH];
    frame[..2].copy_from_slice(&SYNC);
    frame[2..4].copy_from_slice(&sequence.to_le_bytes());
    for (place, count) in frame[4..16].chunks_exact_mut(2).zip(counts) {
        place.copy_from_slice(&count.to_le_bytes());
    }
    let sum = checksum(&frame[2..16]);
    frame[16..].copy_from_slice(&sum);
    frame
}

/// The device: sends samples at a rate that a command changes, with noise before some of them.
fn simulate(mut port: Socket) -> io::Result<()> {
    let period = Arc::new(Mutex::new(Duration::from_millis(5)));
    let (mut commands, changed) = (port.try_clone()?, period.clone());
    thread::spawn(move || {
        let mut rate = [0; 2];
        while commands.read_exact(&mut rate).is_ok() {
            *changed.lock().unwrap() = Duration::from_secs(1) / u16::from_le_bytes(rate).into();
        }
    });
    for sequence in 0..FRAMES {
        let period = *period.lock().unwrap();
        thread::sleep(period);
        if sequence == PAUSE {
            thread::sleep(Duration::from_millis(400));
        }
        if sequence % 70 == 69 {
            port.write_all(&rand::random::<[u8; 3]>())?;
        }
        let mut counts = [0; 6];
        counts.fill_with(|| rand::random_range(-20..=20));
        counts[5] = 9810;
        let mut frame = encode(sequence, counts);
        frame[9] ^= u8::from(sequence % 50 == 49) << 3;
        // In two parts, as a serial port gives them.
        let (first, second) = frame.split_at(rand::random_range(1..LENGTH));
        port.write_all(first)?;
        port.write_all(second)?;
    }
    port.shutdown(Shutdown::Both)
}

/// The received bytes that are not decoded yet.
#[derive(Default)]
struct Decoder(Vec<u8>);

impl Decoder {
    /// The next sample; counts damaged frames.
    fn next(&mut self, damaged: &mut usize) -> Option<(u16, [i16; 6])> {
        loop {
            let begin = self.0.windows(2).position(|bytes| bytes == SYNC);
            // The last byte may be the first of a frame.
            self.0.drain(..begin.unwrap_or(self.0.len().saturating_sub(1)));
            let frame = self.0.get(..LENGTH)?;
            if frame[16..] != checksum(&frame[2..16]) {
                *damaged += 1;
                self.0.drain(..1);
                continue;
            }
            let mut counts = [0; 6];
            for (count, bytes) in counts.iter_mut().zip(frame[4..16].chunks_exact(2)) {
                *count = i16::from_le_bytes([bytes[0], bytes[1]]);
            }
            let sequence = u16::from_le_bytes([frame[2], frame[3]]);
            self.0.drain(..LENGTH);
            return Some((sequence, counts));
        }
    }
}

/// The driver's counts, which its task writes and its timers read.
#[derive(Clone, Default)]
struct Health {
    frames: usize,
    damaged: usize,
    lost: usize,
    /// Frames when the watchdog looked last.
    seen: usize,
    silences: usize,
    is_silent: bool,
}

/// Reads frames and publishes them, until the device closes its end. Returns their number.
async fn read(
    node: Node,
    mut port: OwnedReadHalf,
    health: Arc<Mutex<Health>>,
    bias: MandatoryParameter<Arc<[f64]>>,
) -> Result<usize, Failure> {
    let frame_id = node.declare_parameter::<Arc<str>>("frame_id").default("imu".into());
    let frame_id = frame_id.read_only()?.get();
    let samples = node.create_publisher::<Imu>("imu/data".keep_all())?;
    // The time of the computer, also where `use_sim_time` is set.
    let clock = Clock::system();
    let (mut decoder, mut expected, mut buffer) = (Decoder::default(), 0, [0; 64]);
    loop {
        let count = port.read(&mut buffer).await?;
        if count == 0 {
            return Ok(health.lock().unwrap().frames);
        }
        decoder.0.extend_from_slice(&buffer[..count]);
        let mut damaged = 0;
        while let Some((sequence, counts)) = decoder.next(&mut damaged) {
            let value = |axis: usize| f64::from(counts[axis]) * SCALE;
            let bias = bias.get();
            let message = Imu {
                header: Header { stamp: clock.now().to_ros_msg()?, frame_id: frame_id.to_string() },
                angular_velocity: Vector3 {
                    x: value(0) - bias[0],
                    y: value(1) - bias[1],
                    z: value(2) - bias[2],
                },
                linear_acceleration: Vector3 { x: value(3), y: value(4), z: value(5) },
                ..Imu::default()
            };
            samples.publish(message)?;
            let mut health = health.lock().unwrap();
            health.frames += 1;
            health.lost += usize::from(sequence.wrapping_sub(expected));
            expected = sequence.wrapping_add(1);
        }
        health.lock().unwrap().damaged += damaged;
    }
}

/// Sends the rate to the device when it is changed.
async fn write(
    mut port: OwnedWriteHalf,
    mut rates: ParameterSubscription<i64>,
) -> Result<(), Failure> {
    while let Some(rate) = rates.changed().await {
        port.write_all(&u16::try_from(rate)?.to_le_bytes()).await?;
    }
    Ok(())
}

/// The timers of the driver, which end when they are dropped.
struct Driver {
    _rate: MandatoryParameter<i64>,
    _watchdog: Timer,
    _diagnostics: Timer,
}

impl Driver {
    /// Starts the tasks, of which the second one reads.
    fn start(
        node: &Node,
        port: UnixStream,
    ) -> Result<(Self, tokio::task::JoinHandle<Result<usize, Failure>>), Failure> {
        let range = ParameterRange { lower: Some(1), upper: Some(1000), step: None };
        let rate = node.declare_parameter("rate").default(200).range(range).mandatory()?;
        let bias = node
            .declare_parameter("gyro_bias")
            .default_from_iter([0.0; 3])
            .validate(|bias: &Arc<[f64]>| match bias.len() {
                3 => Ok(()),
                count => Err(format!("{count} values for three axes")),
            })
            .mandatory()?;
        let health = Arc::new(Mutex::new(Health::default()));
        let (input, output) = port.into_split();
        tokio::spawn(write(output, rate.subscribe()));
        let reading = tokio::spawn(read(node.clone(), input, health.clone(), bias));

        let (watched, logger) = (health.clone(), node.logger().clone());
        let watch = move || {
            let mut health = watched.lock().unwrap();
            let is_silent = health.frames == health.seen && health.frames < usize::from(FRAMES);
            if is_silent && !health.is_silent {
                log_warn!(&logger, "no frame for 100 ms after {} frames", health.frames);
                health.silences += 1;
            }
            (health.is_silent, health.seen) = (is_silent, health.frames);
        };
        let watchdog = node.create_timer_repeating(Duration::from_millis(100), watch)?;

        let arrays = node.create_publisher::<DiagnosticArray>("/diagnostics".keep_all())?;
        let diagnose = move |time: Time| {
            let health = health.lock().unwrap().clone();
            let pair =
                |key: &str, value: usize| KeyValue { key: key.into(), value: value.to_string() };
            let (level, message) = match (health.is_silent, health.damaged) {
                (true, _) => (DiagnosticStatus::ERROR, "silent"),
                (false, 0) => (DiagnosticStatus::OK, "ok"),
                (false, _) => (DiagnosticStatus::WARN, "damaged frames"),
            };
            let status = DiagnosticStatus {
                level,
                name: "imu".into(),
                message: message.into(),
                values: vec![
                    pair("frames", health.frames),
                    pair("damaged", health.damaged),
                    pair("lost", health.lost),
                ],
                ..DiagnosticStatus::default()
            };
            let header = Header { stamp: time.to_ros_msg().unwrap(), ..Header::default() };
            arrays.publish(DiagnosticArray { header, status: vec![status] }).unwrap();
        };
        let diagnostics = node.create_timer_repeating(Duration::from_millis(100), diagnose)?;
        Ok((Self { _rate: rate, _watchdog: watchdog, _diagnostics: diagnostics }, reading))
    }
}

/// The received data.
#[derive(Debug, Default)]
struct Received {
    samples: usize,
    /// The sum of the yaw rates, in radians per second.
    yaw: f64,
    last: (i32, u32),
    levels: Vec<u8>,
}

/// The node that monitors the driver.
struct Monitor {
    received: Worker<Received>,
    _samples: WorkerSubscription<Imu, Received>,
    _levels: WorkerSubscription<DiagnosticArray, Received>,
}

impl Monitor {
    fn new(node: &Node) -> Result<Self, RclrsError> {
        let received = node.create_worker(Received::default());
        let samples = received.create_subscription(
            "imu/data".keep_all(),
            |received: &mut Received, sample: Imu| {
                let stamp = (sample.header.stamp.sec, sample.header.stamp.nanosec);
                assert!(stamp >= received.last, "{stamp:?} after {:?}", received.last);
                received.last = stamp;
                received.samples += 1;
                received.yaw += sample.angular_velocity.z;
            },
        )?;
        let levels = received.create_subscription(
            "/diagnostics".keep_all(),
            |received: &mut Received, array: DiagnosticArray| {
                let level = array.status[0].level;
                if received.levels.last() != Some(&level) {
                    println!("after {} samples: {}", received.samples, array.status[0].message);
                    received.levels.push(level);
                }
            },
        )?;
        Ok(Self { received, _samples: samples, _levels: levels })
    }

    /// Waits for samples.
    async fn wait_for(&self, count: usize) {
        let enough = move |received: &mut Received| (received.samples >= count).then_some(());
        self.received.listen_until(enough).await.unwrap();
    }
}

/// Sets parameters of the driver; prints the reasons if they are refused.
async fn set(
    client: &Client<SetParameters>,
    parameters: impl IntoIterator<Item = (&str, Value)>,
) -> Result<(), Failure> {
    let parameter = |(name, value): (&str, Value)| Parameter { name: name.into(), value };
    let parameters = parameters.into_iter().map(parameter).collect();
    let response: SetParameters_Response =
        client.call(SetParameters_Request { parameters })?.await?;
    for refused in response.results.iter().filter(|result| !result.successful) {
        println!("refused: {}", refused.reason);
    }
    Ok(())
}

fn integer(integer_value: i64) -> Value {
    Value { type_: 2, integer_value, ..Value::default() }
}

fn doubles(values: &[f64]) -> Value {
    Value { type_: 8, double_array_value: values.to_vec(), ..Value::default() }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let executor = Context::default_from_env()?.create_basic_executor();
    let (node, watcher) = (executor.create_node("imu")?, executor.create_node("monitor")?);
    let monitor = Monitor::new(&watcher)?;
    let (device, port) = Socket::pair()?;
    port.set_nonblocking(true)?;
    let (_driver, reading) = Driver::start(&node, UnixStream::from_std(port)?)?;
    let device = thread::spawn(move || simulate(device));

    let client = watcher.create_client::<SetParameters>("/imu/set_parameters")?;
    let commands = executor.commands().clone();
    let spinning = tokio::spawn(executor.spin_async(SpinOptions::default()));
    client.notify_on_service_ready().await?;
    monitor.wait_for(100).await;
    set(&client, [("rate", integer(5000)), ("gyro_bias", doubles(&[0.0]))]).await?;
    set(&client, [("rate", integer(400)), ("gyro_bias", doubles(&[0.0, 0.0, 0.1]))]).await?;

    let published = reading.await??;
    device.join().expect("the device does not panic")?;
    monitor.wait_for(published).await;
    let yaw = monitor.received.run(|received| received.yaw).await?;
    println!("{published} of {FRAMES} frames, {yaw:.3} rad/s");
    commands.halt_spinning();
    let (_executor, errors) = spinning.await?;
    Ok(errors.first_error()?)
}
