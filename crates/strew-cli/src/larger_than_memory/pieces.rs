//! Calls of the operator on some of its updates, into some of its cells.

use super::key::Beyond;
use super::recipe::{Form, GoingOn, Recipe, Rows};
use super::updates::{Entry, Updates, zeros};
use crate::cli;
use crate::failure::{Failure, Result};
use crate::values::{Given, is_file};
use clap::ArgMatches;
use strew::{Arguments, DType, DynTensor, DynView, Kind, Operator, Problem, Value};

/// How the operator is called.
pub(super) struct Pieces<'m> {
    operator: &'static Operator,
    recipe: &'static Recipe,
    entry: Entry,
    /// The arguments that are the same for all pieces.
    given: Vec<(usize, Given)>,
    /// The files of arguments, for messages.
    files: Vec<(&'static str, Option<&'m str>)>,
}

/// A piece of the result.
pub(super) struct Piece {
    pub(super) out: DynTensor,
    pub(super) arg: Option<DynTensor>,
}

/// What the operator makes of such tensors.
pub(super) struct Kinds {
    /// The result's element type.
    pub(super) dtype: DType,
    /// Whether positions come with it.
    pub(super) has_arg: bool,
}

impl<'m> Pieces<'m> {
    pub(super) fn new(
        operator: &'static Operator,
        recipe: &'static Recipe,
        matches: &'m ArgMatches,
        entry: Entry,
    ) -> Result<Self> {
        let mut given = Vec::new();
        for (place, argument) in operator.arguments.iter().enumerate() {
            let text = cli::given(matches, argument).filter(|_| !recipe.is_own(argument.name));
            let value = text.map(|text| Given::read(argument, text)).transpose()?;
            given.extend(value.flatten().map(|value| (place, value)));
        }
        let files = operator.arguments.iter().map(|argument| {
            let text = cli::given(matches, argument);
            (argument.name, text.filter(|text| is_file(text)))
        });
        Ok(Self {
            operator,
            recipe,
            entry,
            given,
            files: files.collect(),
        })
    }

    pub(super) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What the operator makes of such tensors: asked of a call that has no updates and one cell.
    pub(super) fn probe(&mut self, index: DType, target: Option<DType>) -> Result<Kinds> {
        let (index, src) = (
            zeros(index, &[0])?,
            zeros(self.entry.dtype, &self.entry.times(0))?,
        );
        let target = target.map(|dtype| zeros(dtype, &self.entry.times(1)));
        let piece = self.call(1, &index.view(), &src.view(), target.transpose()?)?;
        Ok(Kinds {
            dtype: piece.out.dtype(),
            has_arg: piece.arg.is_some(),
        })
    }

    /// What these updates make of this number of cells.
    pub(super) fn first(
        &mut self,
        cells: usize,
        updates: &Updates,
        target: Option<DynTensor>,
    ) -> Result<Piece> {
        self.call(
            cells,
            &updates.cells.view()?,
            &updates.values.view()?,
            target,
        )
    }

    /// The same block after more updates.
    pub(super) fn next(&mut self, how: GoingOn, block: DynTensor, more: &Updates) -> Result<Piece> {
        let cells = block.shape().first().copied().unwrap_or(0);
        let (index, src) = (more.cells.view()?, more.values.view()?);
        let name = match how {
            GoingOn::Same => return self.call(cells, &index, &src, Some(block)),
            GoingOn::Other(name) => name,
        };
        let other = strew::find(name).ok_or_else(|| Failure::new(format!("there is no {name}")))?;
        let mut out = block;
        let failed = |e: strew::Error| Failure::from_operator(&e, &self.files);
        let mut arguments = Arguments::new(other);
        let values = [
            ("src", Value::Tensor(src)),
            ("index", Value::Tensor(index)),
            ("dim", Value::Int(0)),
            ("out", Value::Target(out.view_mut())),
        ];
        for (argument, value) in values {
            arguments.set_named(argument, value).map_err(failed)?;
        }
        arguments.run().map_err(failed)?;
        Ok(Piece { out, arg: None })
    }

    /// What the operator says of an index value that names no cell.
    pub(super) fn refuse(&mut self, beyond: &Beyond, at: Vec<usize>) -> Failure {
        let argument = self.recipe.index;
        let problem = Problem::IndexOutOfBounds {
            argument,
            position: at,
            value: beyond.value.into(),
            axis: beyond.axis,
            size: Some(beyond.size),
        };
        let said = problem.to_string();
        match self.beyond_one() {
            Ok(Err(error)) => Failure::from_operator(&error, &self.files)
                .saying(said)
                .with_mode_of(self.operator, &error),
            _ => Failure::new(said).for_operator(self.operator.name),
        }
    }

    /// A call whose index names the second of one cell.
    fn beyond_one(&mut self) -> Result<strew::Result<Piece>> {
        let mut index = zeros(DType::I64, &[1])?;
        index.as_bytes_mut().copy_from_slice(&1i64.to_ne_bytes());
        let (src, target) = (
            zeros(self.entry.dtype, &self.entry.times(1))?,
            zeros(self.entry.dtype, &self.entry.times(1))?,
        );
        let target = matches!(self.recipe.rows, Rows::Target(_)).then_some(target);
        self.attempt(1, &index.view(), &src.view(), target)
    }

    fn call(
        &mut self,
        cells: usize,
        index: &DynView<'_>,
        src: &DynView<'_>,
        target: Option<DynTensor>,
    ) -> Result<Piece> {
        let made = self.attempt(cells, index, src, target)?;
        made.map_err(|error| Failure::from_operator(&error, &self.files))
    }

    fn attempt(
        &mut self,
        cells: usize,
        index: &DynView<'_>,
        src: &DynView<'_>,
        mut target: Option<DynTensor>,
    ) -> Result<strew::Result<Piece>> {
        let tuples = [index.len(), 1];
        let index = match self.recipe.form {
            Form::Tuples => index.reshape(&tuples),
            _ => Some(index.clone()),
        };
        let index = index.ok_or_else(|| Failure::new("the index has no such shape"))?;
        let mut arguments = self.operator.arguments.iter();
        let along = arguments.find(|a| a.name == "dim" && a.kind == Kind::Int);
        let mut values = vec![
            (self.recipe.src, Value::Tensor(src.clone())),
            (self.recipe.index, Value::Tensor(index)),
        ];
        values.extend(along.map(|_| ("dim", Value::Int(0))));
        let size = i64::try_from(cells).unwrap_or(i64::MAX);
        values.push(match (self.recipe.rows, &mut target) {
            (Rows::Target(name) | Rows::OutOrSize(name, _), Some(target)) => {
                (name, Value::Target(target.view_mut()))
            }
            (Rows::Size(name) | Rows::OutOrSize(_, name), _) => (name, Value::Int(size)),
            (Rows::Shape(name), _) => {
                let shape = self.entry.times(cells);
                let shape = shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX));
                (name, Value::Integers(shape.collect()))
            }
            (Rows::Target(name), None) => {
                return Err(Failure::new("it is missing").for_argument(name));
            }
        });
        let mut arguments = Arguments::new(self.operator);
        for (place, given) in &mut self.given {
            if let Err(error) = arguments.set(*place, given.value()?) {
                return Ok(Err(error));
            }
        }
        for (name, value) in values {
            if let Err(error) = arguments.set_named(name, value) {
                return Ok(Err(error));
            }
        }
        let made = match arguments.run() {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        match made.tensor.or(target) {
            Some(out) => Ok(Ok(Piece { out, arg: made.arg })),
            None => Err(Failure::new("it has no result").for_operator(self.operator.name)),
        }
    }
}
