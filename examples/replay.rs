//! A drive with an IMU and wheel odometry, replayed through two nodes.
//!
//! ```text
//! alias drive='cargo run --features cli,bag --example replay --'
//! drive write target/drive # a small recording
//! drive bag info target/drive
//! drive replay target/drive --record target/out --verify
//! drive bag diff target/drive target/out
//! RINGSPIN_MODE=single drive replay target/drive --rate 4
//! ```
//!
//! A recording of a real robot is replayed in the same way, its topics remapped:
//!
//! ```text
//! replay DRIVE --remap /imu/raw:=/imu/data /wheels/odom:=/odom
//! ```
//!
//! Without arguments a small recording is written to a temporary folder and replayed.

use ringspin::bag::{MessageTypes, Topic, WriteOptions, Writer};
use ringspin::cli::Program;
use ringspin::messages::builtin_interfaces::msg::Time as Stamp;
use ringspin::messages::cdr;
use ringspin::messages::nav_msgs::msg::Odometry;
use ringspin::messages::sensor_msgs::msg::Imu;
use ringspin::messages::std_msgs::msg::Float64;
use ringspin::sim::{NodeConfig, Registry};
use ringspin::{BoxError, Digest, Graph, Message, QoS, Time};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

#[allow(clippy::disallowed_methods, reason = "the command line is main's, not a node's")]
fn main() -> ExitCode {
    let types = MessageTypes::new().with::<Imu>().with::<Odometry>().with::<Float64>();
    let registry = Registry::new().node("heading_filter", heading_filter).node("watch", watch);
    let program = Program::new(registry).messages(types);
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let ended = match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        ["write", path] => write_drive(Path::new(path)),
        [] => replay_small_drive(&program),
        _ => return program.main(),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The state of the filter.
#[derive(Default, Digest)]
struct Heading {
    /// In radians; it leads the odometry by the turns that the gyroscope has measured since.
    heading: f64,
    /// The stamp of the last measurement of the gyroscope.
    measured: Option<Time>,
}

/// Integrates the yaw rate of the IMU, and pulls the sum to the heading of the odometry.
fn heading_filter(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let node = place.create_node(graph, Heading::default())?;
    node.digest_state()?;
    let gain = node.declare_parameter("gain", 0.02)?.get();
    let headings = node.create_publisher("heading", QoS::default())?.digested();
    node.create_subscription("imu/data", QoS::sensor_data(), |state, imu: &Message<Imu>, _| {
        let stamp = imu.header.stamp.to_time();
        if let Some(before) = state.measured.replace(stamp) {
            state.heading += imu.angular_velocity.z * stamp.since(before).as_secs_f64();
        }
    })?;
    node.create_subscription("odom", QoS::default(), move |state, odom: &Message<Odometry>, _| {
        let yaw = odom.pose.pose.orientation.z.atan2(odom.pose.pose.orientation.w) * 2.0;
        let turns = ((yaw - state.heading) / std::f64::consts::TAU).round();
        state.heading += gain * (yaw - turns * std::f64::consts::TAU - state.heading);
        headings.publish(Float64 { data: state.heading })
    })?;
    Ok(())
}

/// Ends the run with exit code 3 if no heading arrives for `silence_ms_max` after the first one.
fn watch(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let node = place.create_node(graph, None::<Time>)?;
    let limit = node.declare_parameter("silence_ms_max", 1000i64)?.get().unsigned_abs();
    node.create_subscription("heading", QoS::default(), |last, _: &Message<Float64>, cx| {
        *last = Some(cx.now());
    })?;
    node.create_timer(Duration::from_millis(100), move |last, cx| {
        if last.is_some_and(|last| cx.now().since(last) > Duration::from_millis(limit)) {
            cx.exit(3);
        }
    })?;
    Ok(())
}

/// Writes ten seconds of a drive on a circle: the same bytes each time.
fn write_drive(path: &Path) -> Result<ExitCode, BoxError> {
    const PERIOD: Duration = Duration::from_millis(20);
    let mut writer = Writer::create(path, WriteOptions::default())?;
    let imus = writer.add_topic(&Topic::of::<Imu>("/imu/data", QoS::default()))?;
    let odometry = writer.add_topic(&Topic::of::<Odometry>("/odom", QoS::default()))?;
    let start = Time::from_secs(1_700_000_000);
    for n in 0..500u32 {
        let time = start + PERIOD * n;
        let yaw = 0.3 * (PERIOD * n).as_secs_f64();
        let mut imu = Imu::default();
        imu.header.stamp = Stamp::from_time(time);
        imu.header.frame_id = "imu".into();
        imu.angular_velocity.z = 0.3;
        writer.write(imus, time, time, n, &cdr::to_bytes(&imu)?)?;
        let mut odom = Odometry { header: imu.header, ..Odometry::default() };
        odom.child_frame_id = "base".into();
        (odom.pose.pose.orientation.z, odom.pose.pose.orientation.w) = (yaw / 2.0).sin_cos();
        writer.write(odometry, time, time, n, &cdr::to_bytes(&odom)?)?;
    }
    writer.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a small recording and replays it; at ten times its speed in the live modes.
#[allow(clippy::disallowed_methods, reason = "for the mode and a folder, outside of nodes")]
fn replay_small_drive(program: &Program) -> Result<ExitCode, BoxError> {
    let folder = std::env::temp_dir().join(format!("ringspin-replay-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let (drive, out) = (folder.join("drive"), folder.join("out"));
    write_drive(&drive)?;
    let is_live = matches!(std::env::var("RINGSPIN_MODE").as_deref(), Ok("single" | "multi"));
    let [drive, out] = [drive, out].map(|path| path.display().to_string());
    let mut line = vec!["replay", "replay", &drive, "--record", &out];
    line.extend(if is_live { ["--rate", "10"].iter() } else { ["--verify"].iter() });
    let code = program.run_from(line, &mut std::io::stdout(), &mut std::io::stderr());
    std::fs::remove_dir_all(&folder)?;
    Ok(code.into())
}
