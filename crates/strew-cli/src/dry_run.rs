//! `--dry-run`: what a command would do, after all checks that read no elements.

use crate::failure::Result;
use crate::outputs::Outputs;
use serde_json::json;
use std::io::Write;

/// What a command would do.
pub(crate) struct Intent<'a> {
    /// Its name, or that of the operator.
    pub(crate) name: &'a str,
    /// What the name would do, as the rest of a sentence.
    pub(crate) does: String,
    /// The results, in their order.
    pub(crate) results: &'a [&'a str],
    /// The types of the columns that are read, by their names.
    pub(crate) types: &'a [(String, String)],
}

impl Intent<'_> {
    /// Says it, and where the results would go.
    pub(crate) fn tell(&self, outputs: &Outputs, json: bool, out: &mut impl Write) -> Result<()> {
        let Self {
            name,
            does,
            results,
            types,
        } = self;
        let places = results
            .iter()
            .map(|&result| (result, outputs.place(result)));
        if json {
            let places = places.map(|(result, place)| (result.to_owned(), place.into()));
            let places: serde_json::Map<String, serde_json::Value> = places.collect();
            let mut told = json!({
                "operator": name, "dry_run": true, "summary": does, "outputs": places,
            });
            if !types.is_empty() {
                let types = types
                    .iter()
                    .map(|(name, of)| (name.clone(), of.clone().into()));
                told["types"] = serde_json::Value::Object(types.collect());
            }
            writeln!(out, "{told}")?;
            return Ok(());
        }
        writeln!(out, "{name} {does}.")?;
        for (column, of) in *types {
            writeln!(out, "column {column}: {of}")?;
        }
        for (result, place) in places {
            writeln!(out, "{result}: {place}")?;
        }
        writeln!(
            out,
            "This was a dry run: nothing was run or written, and no element was checked."
        )?;
        Ok(())
    }
}
