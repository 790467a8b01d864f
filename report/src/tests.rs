//! Completeness of a page: all data of a report, no missing sections, no name that breaks it. A
//! strict XML parser reads the pages.

use std::collections::BTreeSet;

use ringspin_simulation::timeline::{Lane, Parts, Span, Timeline, TimelineCallback};
use roxmltree::{Document, Node, ParsingOptions};

use crate::published::{PEERS, PaperExecutor, paper};
use crate::summary::format_ms;
use crate::{
    Convergence, Definition, GraphData, GraphEdge, GraphLoop, HotPath, Latencies, Mark, Measured,
    OptimizationData, Origin, ReportData, Summary, TimelineSection, Twin, overview_svg, render,
    render_results,
};

/// An unusual name that must not break anything.
const ODD: &str = "/<b>&\"";

fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}"))
}

/// All text of a page, including titles.
fn text(document: &Document<'_>) -> String {
    let is_style = |node: &Node<'_, '_>| {
        node.parent().is_some_and(|parent| parent.tag_name().name() == "style")
    };
    let texts = document.descendants().filter(|node| node.is_text() && !is_style(node));
    texts.filter_map(|node| node.text()).collect::<Vec<_>>().join("\n")
}

fn headings(document: &Document<'_>) -> Vec<String> {
    let is_heading = |node: &Node<'_, '_>| node.tag_name().name() == "h2";
    let headings = document.descendants().filter(is_heading);
    headings.filter_map(|node| node.text()).map(str::to_owned).collect()
}

/// Latencies around `middle_ns`.
fn latencies(middle_ns: u64) -> Latencies {
    Latencies::of((0..40).map(|n| middle_ns - middle_ns / 9 + n * n * 1_237).collect())
}

/// The latency from release to end is a fifth longer.
fn hot_path(middle_ns: u64) -> HotPath {
    let [sample_to_start, release_to_end] = [middle_ns, middle_ns / 5 * 6].map(latencies);
    HotPath { sample_to_start, release_to_end }
}

fn measured(mode: &str, n: u64, middle_ns: u64) -> Measured {
    Measured {
        n,
        mode: mode.into(),
        crunch_ns: middle_ns / 12,
        hot_path: hot_path(middle_ns),
        hot_path_drops: 17,
        planner_std_ns: 123_456.0,
        cpu_percent: 43.21,
        rss_bytes: 7 << 20,
        overwritten: 1_234,
        missed_periods: 567,
    }
}

fn twin(mode: &str, n: u64, middle_ns: u64) -> Twin {
    let (digest, hot_path) = ("0123456789abcdef0123456789abcdef".into(), hot_path(middle_ns));
    Twin { n, mode: mode.into(), simulated_s: 60.0, wall_s: 0.125, digest, hot_path }
}

fn timeline() -> Timeline {
    let callback = |event_loop: &str| TimelineCallback {
        event_loop: event_loop.into(),
        name: "timer 10ms".into(),
    };
    let span = |n: u64| Span {
        lane: (n % 2) as usize,
        callback: (n % 2) as usize,
        start_ns: n * 3_000_000,
        end_ns: n * 3_000_000 + 2_500_000,
        source: 0,
        sequence: n,
    };
    let lane = |core| Lane { name: format!("core {core}"), core: Some(core) };
    Timeline::try_from(Parts {
        lanes: vec![lane(4), lane(7)],
        callbacks: vec![callback(ODD), callback("/planner:fast")],
        spans: (0..40).map(span).collect(),
        ..Parts::default()
    })
    .unwrap()
}

fn graph() -> GraphData {
    let event_loop = |name: &str, core, hot| GraphLoop {
        name: name.into(),
        core: Some(core),
        utilization: Some(0.0634),
        hot,
        ..GraphLoop::default()
    };
    GraphData {
        title: "The mapping.".into(),
        loops: vec![event_loop(ODD, 4, true), event_loop("/planner:fast", 7, true)],
        edges: vec![
            GraphEdge { from: 0, to: 1, topic: "/odd <topic>".into(), hot: true },
            GraphEdge { from: 1, to: 99, topic: "/nowhere".into(), hot: false },
        ],
    }
}

fn optimization() -> OptimizationData {
    serde_json::from_str(include_str!("tests/optimization.json")).unwrap()
}

fn full() -> ReportData {
    ReportData {
        origin: Origin {
            command: "reference-system report --out <odd>".into(),
            versions: vec![("ringspin".into(), "9.8.7".into())],
            processor: "A processor & more".into(),
            cores: 12,
            system: "linux odd64".into(),
            other_busy_cores: Some(0.75),
            remarks: vec!["A remark <of> its own.".into()],
        },
        measured: vec![measured("single", 64, 30_000), measured("multi", 4096, 16_000_000)],
        twins: vec![twin("single", 64, 27_000), twin("multi", 4096, 15_000_000)],
        timelines: vec![TimelineSection {
            title: "multi, N = 4096".into(),
            timeline: timeline(),
            from_ns: 4_000_000,
            to_ns: 104_000_000,
            hot: vec![ODD.into()],
            mark: Some(Mark { label: "slow <one>".into(), from_ns: 9_000_000, to_ns: 40_000_000 }),
        }],
        graph: Some(graph()),
        optimization: Some(optimization()),
    }
}

#[test]
fn a_page_is_well_formed_and_loads_nothing() {
    let page = render(&full());
    let document = parsed(&page);
    assert!(page.starts_with("<!DOCTYPE html>\n<html"));
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let forbidden = ["script", "img", "iframe", "object", "embed", "use", "image", "base"];
        assert!(!forbidden.contains(&name), "<{name}>");
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on") && name != "src" && name != "srcset", "{name}");
            let is_local = value.starts_with('#') || value == "data:,";
            assert!(!name.ends_with("href") || is_local, "{name}={value}");
            assert!(!value.contains("url("), "{name}={value}");
        }
    }
    let styles = document.descendants().filter(|node| node.tag_name().name() == "style");
    for style in styles.filter_map(|node| node.text()) {
        assert!(!style.contains("url(") && !style.contains("@import") && !style.contains("http"));
    }
}

#[test]
fn anchors_lead_somewhere_and_ids_are_unique() {
    let page = render(&full());
    let document = parsed(&page);
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    let links = document.descendants().filter(|node| node.tag_name().name() == "a");
    let links: Vec<&str> = links.filter_map(|node| node.attribute("href")).collect();
    assert_eq!(links.len(), 7);
    assert!(links.iter().all(|link| ids.contains(&link.trim_start_matches('#'))));
}

#[test]
fn every_number_of_the_data_is_on_the_page() {
    let data = full();
    let page = render(&data);
    let seen = text(&parsed(&page));
    let mut expected: Vec<String> = Vec::new();
    let live = data.measured.iter().map(|m| &m.hot_path);
    let hot_paths = live.chain(data.twins.iter().map(|twin| &twin.hot_path));
    let both = hot_paths.flat_map(|of| Definition::ALL.map(|definition| of.by(definition)));
    for figures in both.map(|latencies| latencies.summary) {
        let whole = [figures.min_ns, figures.p50_ns, figures.p99_ns, figures.max_ns];
        expected.extend(whole.map(|ns| format_ms(ns as f64)));
        expected.extend([figures.mean_ns, figures.std_ns].map(format_ms));
    }
    for n in [64, 4096] {
        let paper = paper(n, PaperExecutor::RingBuffer).unwrap();
        let paper = [paper.min_ms, paper.avg_ms, paper.max_ms, paper.std_ms];
        expected.extend(paper.map(|ms| format_ms(ms * 1e6)));
        let peers = PEERS.iter().filter_map(|peer| peer.at(n));
        let figures = peers.flat_map(|of| [of.mean_ms, of.p99_ms, of.max_ms]);
        expected.extend(figures.map(|ms| format_ms(ms * 1e6)));
    }
    let optimization = optimization();
    for prediction in &optimization.predictions {
        let both = [prediction.predicted, prediction.measured];
        let figures = both.iter().flat_map(|latency| latency.figures());
        expected.extend(figures.map(|(_, ns)| format_ms(ns)));
    }
    for of in &optimization.trade_offs.front {
        let latencies = [of.release_to_end, of.sample_to_start];
        expected.extend(latencies.iter().flat_map(|of| of.figures()).map(|(_, ns)| format_ms(ns)));
        expected.push(format_ms(of.jitter_ns));
    }
    for row in &optimization.phases {
        let latencies = [row.before, row.after];
        expected.extend(latencies.iter().flat_map(|of| of.figures()).map(|(_, ns)| format_ms(ns)));
        expected.extend([row.timer.clone(), format_ms(row.shift_ns)]);
    }
    for row in &optimization.strategies {
        expected.extend([row.evaluations.to_string(), format_ms(row.score[2].unwrap())]);
    }
    let others = [
        "43.2",
        "7.0",
        "1234",
        "567",
        "17",
        "0123456789abcdef0123456789abcdef",
        "480",
        "6.3 %",
        "core 4",
        "core 7",
        "9.8.7",
        "A processor & more",
        "0.75 cores",
        "4.321",
        "33.13",
        "-26.5 %",
        "slow <one>",
        "multi, N = 4096",
        "reference-system report --out <odd>",
    ];
    expected.extend(others.map(str::to_owned));
    for number in expected {
        assert!(seen.contains(&number), "{number} is not on the page");
    }
}

/// Every drawing and table with a latency of the hot path names both definitions.
#[test]
fn charts_and_tables_show_both_definitions() {
    let data = full();
    let names = Definition::ALL.map(Definition::name);
    let chart = overview_svg(&data).unwrap();
    assert!(names.iter().all(|name| chart.contains(name)));
    let page = render(&ReportData { optimization: None, ..data });
    let document = parsed(&page);
    let drawn = document.descendants().filter(|node| node.tag_name().name() == "svg");
    let labels: Vec<&str> = drawn.filter_map(|node| node.attribute("aria-label")).collect();
    for n in [64, 4096] {
        for name in names {
            let label = format!("Latency, N = {n}: {name},");
            assert!(labels.iter().any(|of| of.starts_with(&label)), "{label}: {labels:?}");
        }
    }
    let tables = document.descendants().filter(|node| node.tag_name().name() == "table");
    let texts = tables.map(|table| {
        let texts = table.descendants().filter_map(|node| node.text());
        texts.collect::<Vec<_>>().join(" ")
    });
    // All figures, and predictions; published figures name their one definition in the title.
    let both = texts.filter(|text| names.iter().all(|name| text.contains(name)));
    assert_eq!(both.count(), 2);
    assert!(text(&document).contains("Published beside rclcpp: sample to start"));
}

#[test]
fn the_pareto_front_is_emphasised_among_all_candidates() {
    let page = render(&full());
    let document = parsed(&page);
    let is_chart = |node: &Node<'_, '_>| {
        node.attribute("aria-label").is_some_and(|of| of.starts_with("Mean and p99 from release"))
    };
    let chart = document.descendants().find(is_chart).unwrap();
    let with_class =
        |class| chart.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    // The chosen one on two cores, the other one of the front on three, and its key; the rest.
    assert_eq!((with_class("c1 hollow"), with_class("c2 dot"), with_class("c0 point")), (1, 2, 1));
    let without = OptimizationData { trade_offs: Default::default(), ..optimization() };
    let page = render(&ReportData { optimization: Some(without), ..ReportData::default() });
    assert!(!page.contains("Trade-offs"));
}

#[test]
fn published_figures_stand_by_transport() {
    let page = render(&full());
    let document = parsed(&page);
    let rows = document.descendants().filter(|node| node.tag_name().name() == "tr");
    let rows: Vec<Vec<&str>> =
        rows.map(|row| row.children().filter_map(|cell| cell.text()).collect()).collect();
    let find = |name: &str| rows.iter().filter(|row| row.contains(&name)).collect::<Vec<_>>();
    // Beside our own figures stands only what stays in the process, too.
    let events = find("rclcpp events, intra-process");
    assert_eq!(events[0][..3], ["64", "rclcpp events, intra-process", "sample to start"]);
    for row in find("rclcpp events") {
        assert_eq!(row[1], "through Fast DDS", "{row:?}");
    }
    assert!(text(&document).contains("another machine of the same kind"));
    assert!(text(&document).contains("Raspberry Pi 4B"));
}

#[test]
fn names_are_shown_unchanged() {
    let page = render(&full());
    assert!(!page.contains("<b>&"));
    let seen = text(&parsed(&page));
    for name in
        ["<b>&\"", "/odd <topic>", "random <b>&\"", "lidar <b>&\"", "A remark <of> its own."]
    {
        assert!(seen.contains(name), "{name}");
    }
}

#[test]
fn sections_without_data_are_left_out() {
    assert_eq!(headings(&parsed(&render(&ReportData::default()))), ["Origin"]);
    let all = headings(&parsed(&render(&full())));
    assert_eq!(all.len(), 7, "{all:?}");
    let without = |change: fn(&mut ReportData)| {
        let mut data = full();
        change(&mut data);
        let left = headings(&parsed(&render(&data)));
        all.iter().filter(|heading| !left.contains(heading)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(without(|data| data.timelines.clear()), ["Timelines"]);
    assert_eq!(without(|data| data.graph = None), ["The graph by core"]);
    assert_eq!(without(|data| data.optimization = None), ["Optimization"]);
    assert_eq!(without(|data| data.optimization = Some(Default::default())), ["Optimization"]);
    assert_eq!(without(|data| data.twins.clear()), ["Predicted against measured"]);
    let gone = without(|data| {
        data.twins.clear();
        data.measured.clear();
    });
    assert_eq!(gone, ["Latency of the hot path", "Costs and losses", "Predicted against measured"]);
}

#[test]
fn missing_measurements_have_no_figures() {
    let mut data = full();
    assert!(text(&parsed(&render(&data))).contains("mean from sample to start, multi at N"));
    data.measured[1].hot_path = HotPath::default();
    data.twins.clear();
    let page = render(&data);
    let seen = text(&parsed(&page));
    assert!(!seen.contains("start, multi at N"), "a tile without a sample");
    assert!(!seen.contains("ringspin multi, N = 4096"), "a point without a sample");
}

#[test]
fn non_finite_figures_do_not_break_the_page() {
    let mut data = full();
    let mut optimization = optimization();
    for (value, strategy) in [f64::NAN, f64::INFINITY, -1.0].into_iter().zip(0..) {
        optimization.convergence[strategy].points[0].1[2] = Some(value);
        optimization.strategies[strategy].score[2] = Some(value);
    }
    optimization.predictions[0].measured.mean_ns = f64::NAN;
    optimization.predictions[1].measured.mean_ns = 0.0;
    optimization.convergence.push(Convergence { strategy: "none".into(), points: Vec::new() });
    optimization.convergence[0].points[1].1.clear();
    optimization.convergence[1].points[1].1[3] = None;
    optimization.strategies[0].score[3] = None;
    data.optimization = Some(optimization);
    data.twins[0].wall_s = 0.0;
    data.timelines[0].to_ns = 0;
    let page = render(&data);
    let document = parsed(&page);
    for node in document.descendants() {
        for attribute in node.attributes() {
            assert!(!attribute.value().contains("NaN") && !attribute.value().contains("inf"));
        }
    }
    let seen = text(&document);
    assert!(!seen.contains("NaN") && !seen.contains("inf "), "{seen}");
}

#[test]
fn data_round_trips_through_json_and_gives_the_same_page() {
    let data = full();
    let text = serde_json::to_string(&data).unwrap();
    let read: ReportData = serde_json::from_str(&text).unwrap();
    assert_eq!(read, data);
    assert_eq!(render(&read), render(&data));
    let error = serde_json::from_str::<ReportData>(&text.replace("from_ns", "form_ns"));
    assert!(error.unwrap_err().to_string().contains("form_ns"), "a misspelt key is an error");
}

#[test]
fn the_first_chart_alone_is_an_svg_with_its_own_styles() {
    let svg = overview_svg(&full()).unwrap();
    let document = parsed(&svg);
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert!(svg.contains("prefers-color-scheme:dark") && svg.len() < 50_000);
    assert!(text(&document).contains("ringspin multi"));
    assert!(overview_svg(&ReportData::default()).is_none());
}

#[test]
fn large_graphs_and_timelines_are_bounded() {
    let mut data = ReportData { graph: Some(graph()), ..ReportData::default() };
    let loops = &mut data.graph.as_mut().unwrap().loops;
    let more = (0..500).map(|n| GraphLoop { name: format!("/n{n}"), ..GraphLoop::default() });
    loops.extend(more);
    assert_eq!(headings(&parsed(&render(&data))), ["Origin"]);

    let mut parts = Parts::from(timeline());
    parts.spans = (0..9_000u64)
        .map(|n| Span { start_ns: n * 10, end_ns: n * 10 + 5, sequence: n, ..parts.spans[0] })
        .collect();
    let timeline = Timeline::try_from(parts).unwrap();
    let section =
        TimelineSection { timeline, from_ns: 0, to_ns: 90_000, ..full().timelines.remove(0) };
    let page = render(&ReportData { timelines: vec![section], ..ReportData::default() });
    assert!(text(&parsed(&page)).contains("the first 4000 of 9000 calls"));
    assert!(page.matches("<rect").count() < 8_100);
}

#[test]
fn each_call_appears_by_core_and_by_loop() {
    let data = ReportData { timelines: full().timelines, ..ReportData::default() };
    let page = render(&data);
    let document = parsed(&page);
    // By class: the distinct heights of calls, and their number.
    let calls = |class: &str| {
        let is_call = |node: &Node<'_, '_>| node.attribute("class") == Some(class);
        let calls = document.descendants().filter(is_call);
        let heights: Vec<&str> = calls.filter_map(|node| node.attribute("y")).collect();
        (heights.iter().copied().collect::<BTreeSet<_>>().len(), heights.len())
    };
    // Calls 1 to 34 run from 4 to 104 ms; the even ones are hot.
    assert_eq!((calls("call hot"), calls("call")), ((1, 17), (1, 17)));
    assert_eq!((calls("c4 call"), calls("c7 call")), ((1, 17), (1, 17)));
    let seen = text(&document);
    // Sixteen whole calls of 2.5 ms, the last 1.5 ms of the first call, and 2 ms of the last one.
    assert!(seen.contains("core 4 · 42.0 % busy"), "{seen}");
    assert!(seen.contains("core 7 · 41.5 % busy"), "{seen}");
    let title = format!("{ODD} timer 10ms: at 2.000 ms for 2.500 ms on core 4");
    assert!(seen.contains(&title), "{title}");
}

#[test]
fn a_violin_reaches_from_the_shortest_to_the_longest_latency() {
    let data = ReportData { measured: full().measured, ..ReportData::default() };
    let page = render(&data);
    let document = parsed(&page);
    let violins = document.descendants().filter(|n| n.attribute("class") == Some("c0 violin"));
    let violins: Vec<_> = violins.collect();
    assert_eq!(violins.len(), 2, "one N, a panel for each definition");
    let outline = violins[0].attribute("d").unwrap();
    let numbers = |text: &str| -> Vec<f64> {
        let numbers = text.split(['M', 'L', 'Z', ' ']).filter(|number| !number.is_empty());
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let xs: Vec<f64> = numbers(outline).chunks(2).map(|point| point[0]).collect();
    let (from, to) = (xs[0], xs[xs.len() / 2 - 1]);
    assert!(xs.iter().all(|x| (from..=to).contains(x)), "{from} to {to}: {outline}");
    let panel = violins[0].parent().unwrap();
    let points = panel.descendants().filter(|n| n.attribute("class") == Some("c0 point"));
    let points: Vec<f64> = points.map(|n| n.attribute("cx").unwrap().parse().unwrap()).collect();
    assert_eq!(points.len(), 40);
    let ends = points.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
    assert_eq!(ends, (from, to));
}

#[test]
fn several_results_stand_on_one_page_beside_the_published_table() {
    use crate::results::{Callback, Cell, Conditions, Finding, Results, Series, Turn, WakeUp};
    use ringspin_simulation::models::DurationHistogram;
    let results = |scale: u64| {
        let turn = |turn: u64| Turn {
            latencies: vec![Series {
                deadline_ns: Some(1),
                ..Series::new("sample to start", (0..40).map(|n| scale * (n + turn)).collect())
            }],
            periods: vec![Series::new("planner period", vec![99_000_000, 101_000_000])],
            callbacks: vec![Callback {
                name: ODD.into(),
                durations: DurationHistogram::of([scale]).unwrap(),
            }],
            watts: Some(4.5),
            after: Conditions { throttled: Some(0x50005), ..Conditions::default() },
            ..Turn::default()
        };
        let turns = [90, 91, 92].map(turn).to_vec();
        let cell = Cell { name: ODD.into(), n: Some(64), turns, ..Cell::default() };
        let found = Finding { found: "hot".into(), fix: "wait".into() };
        let summary = Summary::of(&[7_000]);
        let wake_ups = vec![WakeUp { core: 3, priority: Some(80), summary }];
        Results { cells: vec![cell], findings: vec![found], wake_ups, ..Results::default() }
    };
    let page = render_results(&[("a".into(), results(1_000)), (ODD.into(), results(2_000))]);
    let document = parsed(&page);
    let text = text(&document);
    for part in ["ring buffer, paper", "slower", "4.5", "0x50005", "wait", "SCHED_FIFO 80", ODD] {
        assert!(text.contains(part), "{part}");
    }
    let bars = document.descendants().filter(|node| {
        node.attribute("class")
            .is_some_and(|class| class.contains("other") && class.contains("range"))
    });
    assert_eq!(bars.count(), 4, "the executors of the paper");
    assert!(!text.contains("NaN"));
    let alone = render_results(&[("a".into(), Results::default())]);
    assert!(headings(&parsed(&alone)).contains(&"Latencies".to_owned()));
}
