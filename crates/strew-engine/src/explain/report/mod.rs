//! An explanation as one HTML page that needs nothing beside it: the sentence, where the updates
//! go, a roofline with the run in it, what each thread gets, the other strategies, and all facts.

mod chart;
mod roofline;

use crate::describe::split::Split;
use crate::explain::profile::Profile;
use crate::traffic::Traffic;
use crate::traffic::text::{Explanation, seconds};
use chart::{Bar, bars};
use std::fmt::Write as _;
use strew_kernel::runtime::machine::Machine;

const STYLE: &str = include_str!("style.css");

/// Another way to do the same.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its name.
    pub name: String,
    /// Whether it is the way that was chosen.
    pub chosen: bool,
    /// Its predicted seconds, if there is a prediction; or why it cannot run.
    pub time: Result<Option<f64>, String>,
}

/// What a page tells.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The operator, or the plan.
    pub title: &'a str,
    /// How it runs.
    pub told: &'a Explanation,
    /// Where the updates go, if an index says so.
    pub profile: Option<&'a Profile>,
    /// How the run is shared out, and among how many threads.
    pub split: Option<(Split, usize)>,
    /// What the run moves.
    pub traffic: Option<&'a Traffic>,
    /// Elements that are joined with cells.
    pub elements: u64,
    /// The machine, if it was measured.
    pub machine: Option<&'a Machine>,
    /// All ways, the chosen one too.
    pub alternatives: &'a [Alternative],
}

impl Report<'_> {
    /// The whole page.
    #[must_use]
    pub fn page(&self) -> String {
        let title = escaped(self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>strew explain {title}</title>\n</head>\n<body>\n{}</body>\n</html>\n",
            self.fragment()
        )
    }

    /// The same to be put into another page, as a notebook does.
    #[must_use]
    pub fn fragment(&self) -> String {
        let mut out = format!("<div class=\"strew\">\n<style>{STYLE}</style>\n");
        let (title, sentence) = (escaped(self.title), escaped(self.told.sentence()));
        let _ = writeln!(
            out,
            "<h1>{title}</h1>\n<p class=\"lead\">{title} {sentence}.</p>"
        );
        self.places(&mut out);
        roofline::section(self, &mut out);
        self.threads(&mut out);
        self.others(&mut out);
        out.push_str("<h2>All facts</h2>\n<table>\n");
        for (name, value) in self.told.facts() {
            let value = escaped(value);
            let _ = writeln!(out, "<tr><th>{name}</th><td>{value}</td></tr>");
        }
        out.push_str("</table>\n</div>\n");
        out
    }

    /// The histograms of the index.
    fn places(&self, out: &mut String) {
        let Some(profile) = self.profile.filter(|profile| profile.updates() > 0) else {
            return;
        };
        let (updates, rows) = (profile.updates(), profile.rows());
        let _ = writeln!(
            out,
            "<h2>Where the updates go</h2>\n<p>{updates} updates into {rows} rows; {} go nowhere.</p>",
            profile.left_out()
        );
        let along = profile.along();
        let stretch = rows.div_ceil(along.len().max(1)).max(1);
        let places = along.iter().enumerate().map(|(n, &count)| {
            let (first, last) = (n * stretch, (n * stretch + stretch).min(rows) - 1);
            Bar {
                label: String::new(),
                title: format!("rows {first} to about {last}: {count} updates"),
                value: count as f64,
            }
        });
        let places: Vec<Bar> = places.collect();
        let last = rows.saturating_sub(1);
        let name = format!("Updates along the destination, from row 0 to row {last}");
        out.push_str(&bars(&name, &places));
        let classes = profile.by_count().iter().enumerate().map(|(n, &count)| {
            let (least, below) = ((1u64 << n) >> 1, 1u64 << n);
            Bar {
                title: format!("{count} rows take {least} to {} updates", below - 1),
                label: short(least),
                // The logarithm shows a single row beside millions.
                value: (count as f64).ln_1p(),
            }
        });
        let classes: Vec<Bar> = classes.collect();
        if !classes.is_empty() {
            let name = "Rows by the least number of their updates; the height is logarithmic";
            out.push_str(&bars(name, &classes));
        }
    }

    /// What each thread gets.
    fn threads(&self, out: &mut String) {
        let Some(profile) = self.profile else {
            return;
        };
        let parts = profile.parts(self.split);
        let ends = (parts.iter().min(), parts.iter().max());
        let name = match ends {
            (Some(least), Some(most)) if least < most => {
                format!("Updates that each thread takes, about {least} to {most}")
            }
            _ => "Updates that each thread takes: about as many".to_owned(),
        };
        let parts = parts.iter().enumerate().map(|(n, &count)| Bar {
            label: n.to_string(),
            title: format!("thread {n}: about {count} updates"),
            value: count as f64,
        });
        let parts: Vec<Bar> = parts.collect();
        out.push_str("<h2>Parts per thread</h2>\n");
        out.push_str(&bars(&name, &parts));
    }

    /// The strategies that were not chosen, too.
    fn others(&self, out: &mut String) {
        if self.alternatives.is_empty() {
            return;
        }
        out.push_str(
            "<h2>Alternatives</h2>\n<p>All of them give the same bits.</p>\n<table>\n\
             <tr><th>way</th><th>predicted time</th></tr>\n",
        );
        for Alternative { name, chosen, time } in self.alternatives {
            let time = match time {
                Ok(Some(time)) => seconds(*time),
                Ok(None) => "not predicted".to_owned(),
                Err(why) => format!("cannot run: {}", escaped(why)),
            };
            let (mark, class) = match chosen {
                true => (" (chosen)", " class=\"chosen\""),
                false => ("", ""),
            };
            let _ = writeln!(out, "<tr{class}><th>{name}{mark}</th><td>{time}</td></tr>");
        }
        out.push_str("</table>\n");
    }
}

/// A power of two in few characters, as in 4k.
fn short(number: u64) -> String {
    match number {
        0..1024 => number.to_string(),
        1024..1_048_576 => format!("{}k", number >> 10),
        _ => format!("{}M", number >> 20),
    }
}

/// A text that may hold anything, for HTML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}
