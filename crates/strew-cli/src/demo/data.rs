//! The demo's graph, from the files in `data/` that are part of the program.

use std::collections::HashMap;

/// A node.
pub(super) struct Airport {
    pub(super) code: String,
    pub(super) name: Option<String>,
    pub(super) latitude: Option<f64>,
    pub(super) longitude: Option<f64>,
    pub(super) altitude: Option<f64>,
}

impl Airport {
    /// Its name where it has one.
    pub(super) fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.code)
    }
}

/// An edge: the flights of one carrier from an airport to another in one month.
pub(super) struct Edge {
    pub(super) origin: usize,
    pub(super) dest: usize,
    pub(super) carrier: String,
    pub(super) month: usize,
    /// How many flights its delays are the means of.
    pub(super) flights: u32,
    pub(super) departure: f32,
    pub(super) arrival: f32,
}

impl Edge {
    pub(super) fn other_end(&self, airport: usize) -> usize {
        match airport == self.origin {
            true => self.dest,
            false => self.origin,
        }
    }

    /// How the other end is seen from an airport.
    pub(super) fn direction(&self, airport: usize) -> &'static str {
        match airport == self.origin {
            true => "to",
            false => "from",
        }
    }

    pub(super) fn month(&self) -> &'static str {
        const NAMES: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        NAMES
            .get(self.month.wrapping_sub(1))
            .copied()
            .unwrap_or("?")
    }
}

/// Airports, connections, and the messages that run along these in both directions: message `n` and
/// message `n + edges.len()` belong to edge `n`.
pub(super) struct Graph {
    pub(super) airports: Vec<Airport>,
    pub(super) edges: Vec<Edge>,
    /// Which airport each message comes from.
    pub(super) from: Vec<i64>,
    /// Which airport each message goes to.
    pub(super) to: Vec<i64>,
    carriers: HashMap<String, String>,
}

impl Graph {
    /// The graph that comes with the program.
    pub(super) fn embedded() -> Result<Self, String> {
        Self::parse(
            include_str!("../../data/airports.csv"),
            include_str!("../../data/connections.csv"),
            include_str!("../../data/airlines.csv"),
        )
    }

    fn parse(airports: &str, connections: &str, airlines: &str) -> Result<Self, String> {
        let airports: Vec<Airport> = rows(airports)
            .map(|[code, name, latitude, longitude, altitude]| Airport {
                code: code.to_owned(),
                name: (!name.is_empty()).then(|| name.to_owned()),
                latitude: latitude.parse().ok(),
                longitude: longitude.parse().ok(),
                altitude: altitude.parse().ok(),
            })
            .collect();
        let places: HashMap<&str, usize> = airports
            .iter()
            .enumerate()
            .map(|(place, airport)| (airport.code.as_str(), place))
            .collect();
        let place = |code: &str| {
            let found = places.get(code).copied();
            found.ok_or_else(|| format!("there is no airport '{code}'"))
        };
        let mut edges = Vec::new();
        for [origin, dest, carrier, month, flights, departure, arrival] in rows(connections) {
            let number = |text: &str| text.parse::<f32>().map_err(|e| format!("'{text}': {e}"));
            edges.push(Edge {
                origin: place(origin)?,
                dest: place(dest)?,
                carrier: carrier.to_owned(),
                month: month.parse().map_err(|e| format!("'{month}': {e}"))?,
                flights: flights.parse().map_err(|e| format!("'{flights}': {e}"))?,
                departure: number(departure)?,
                arrival: number(arrival)?,
            });
        }
        let end = |of: fn(&Edge) -> usize| edges.iter().map(move |edge| of(edge) as i64);
        Ok(Self {
            from: end(|e| e.origin).chain(end(|e| e.dest)).collect(),
            to: end(|e| e.dest).chain(end(|e| e.origin)).collect(),
            carriers: rows(airlines)
                .map(|[code, name]| (code.to_owned(), name.to_owned()))
                .collect(),
            airports,
            edges,
        })
    }

    /// What the messages carry, row by row: delay at arrival, delay at departure.
    pub(super) fn messages(&self) -> Vec<f32> {
        let both_ways = self.edges.iter().chain(&self.edges);
        both_ways.flat_map(|e| [e.arrival, e.departure]).collect()
    }

    /// The edge that a message runs along.
    pub(super) fn edge_of(&self, message: usize) -> Option<&Edge> {
        (message < self.to.len()).then(|| &self.edges[message % self.edges.len()])
    }

    /// How many connections an airport has.
    pub(super) fn degree(&self, airport: usize) -> usize {
        self.to.iter().filter(|&&to| to == airport as i64).count()
    }

    pub(super) fn carrier<'a>(&'a self, code: &'a str) -> &'a str {
        self.carriers.get(code).map_or(code, String::as_str)
    }
}

/// The rows behind the header that have as many cells as are asked for. No cell holds a comma.
fn rows<const N: usize>(text: &str) -> impl Iterator<Item = [&str; N]> {
    let lines = text.lines().skip(1);
    lines.filter_map(|line| line.split(',').collect::<Vec<_>>().try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_ship_are_whole() {
        let graph = Graph::embedded().unwrap();
        assert_eq!(graph.airports.len(), 107);
        assert_eq!(graph.edges.len(), 3864);
        assert_eq!(graph.carriers.len(), 16);
        assert_eq!((graph.from.len(), graph.to.len()), (2 * 3864, 2 * 3864));
        assert!(graph.edges.iter().all(|e| (1..=12).contains(&e.month)));
        let unnamed = graph.airports.iter().filter(|a| a.name.is_none());
        assert_eq!(unnamed.count(), 4);
        for edge in &graph.edges {
            assert!(graph.carriers.contains_key(&edge.carrier));
        }
    }
}
