//! Operators as data: what the command line, Python and the conformance runner call them by.

use crate::dialect::OPERATORS;
use crate::dialect::framework::call::{Call, Ready};
use crate::dialect::framework::checks::{expect_size, unknown_word};
use std::borrow::Cow;
use strew_engine::describe::Output;
use strew_kernel::error::{Class, Error, Problem, Result};
use strew_kernel::tensor::{Dims, DynView, DynViewMut, Scalar};

/// One operator of one framework.
#[derive(Debug)]
pub struct Operator {
    /// `framework.operator`, as the framework spells it.
    pub name: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// Its arguments, in the framework's order.
    pub arguments: &'static [Argument],
    /// What it returns: `out`, `arg`. An operator that works in place returns its target.
    pub returns: &'static [&'static str],
    /// Checks the arguments and says what to do.
    pub lower: for<'a> fn(&mut Arguments<'a>) -> Result<Call<'a>>,
}

/// One argument of an operator.
#[derive(Debug)]
pub struct Argument {
    /// The framework's name for it.
    pub name: &'static str,
    /// What may be passed.
    pub kind: Kind,
    /// What it is when it is not passed, as one would write it; `None`: it must be passed.
    pub default: Option<&'static str>,
    /// What it means, with shapes and dtypes.
    pub doc: &'static str,
    /// The words that may be passed where a word is; empty: any.
    pub words: &'static [&'static str],
    /// Whether the result has a derivative with respect to it, if its elements are numbers that are
    /// not integers.
    pub differentiable: bool,
}

impl Argument {
    /// One of a declaration: its kind comes with its default.
    pub(crate) const fn declared(
        name: &'static str,
        (kind, default): (Kind, Option<&'static str>),
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            default,
            doc,
            words: &[],
            differentiable: false,
        }
    }

    /// A tensor of a type that a declaration names: `T` and `U` are those of values, `I` of indices.
    pub(crate) const fn of_type(mut self, name: &str) -> Self {
        let is_tensor = matches!(self.kind, Kind::Tensor | Kind::Target);
        self.differentiable = is_tensor && matches!(name.as_bytes(), b"T" | b"U");
        self
    }

    /// The words that it takes.
    pub(crate) const fn of(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }
}

/// What may be passed as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A tensor that is read.
    Tensor,
    /// A tensor that is written in place and returned.
    Target,
    /// A list of integers, or a 1-d tensor of them.
    Integers,
    /// One integer.
    Int,
    /// True or false.
    Bool,
    /// A word.
    Text,
    /// A number of whatever type the operator makes of it.
    Scalar,
    /// A list of tensors. Some may be left out.
    Tensors,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Tensor => "a tensor",
            Self::Target => "a tensor that may be written to",
            Self::Integers => "a list of integers or a tensor of them",
            Self::Int => "an integer",
            Self::Bool => "true or false",
            Self::Text => "a word",
            Self::Scalar => "a number",
            Self::Tensors => "a list of tensors",
        }
    }
}

/// A value that is passed as an argument.
#[derive(Debug)]
pub enum Value<'a> {
    /// A tensor to read.
    Tensor(DynView<'a>),
    /// A tensor to write in place.
    Target(DynViewMut<'a>),
    /// A list of integers.
    Integers(Cow<'a, [i64]>),
    /// One integer.
    Int(i64),
    /// One integer that `i64` cannot hold.
    Wide(i128),
    /// True or false.
    Bool(bool),
    /// A word.
    Text(Cow<'a, str>),
    /// A number.
    Scalar(Scalar),
    /// A list of tensors to read. Some may be left out.
    Tensors(Vec<Option<DynView<'a>>>),
}

impl Value<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::Tensor(_) => Kind::Tensor,
            Self::Target(_) => Kind::Target,
            Self::Integers(_) => Kind::Integers,
            Self::Int(_) | Self::Wide(_) => Kind::Int,
            Self::Bool(_) => Kind::Bool,
            Self::Text(_) => Kind::Text,
            Self::Scalar(_) => Kind::Scalar,
            Self::Tensors(_) => Kind::Tensors,
        }
    }
}

/// Integers that came as a list or as a tensor.
#[derive(Clone, Debug)]
pub enum Integers<'a> {
    /// A list.
    List(Cow<'a, [i64]>),
    /// A tensor of any shape and type, still to be checked.
    Tensor(DynView<'a>),
}

impl<'a> From<&'a [i64]> for Integers<'a> {
    fn from(list: &'a [i64]) -> Self {
        Self::List(Cow::Borrowed(list))
    }
}

impl<'a> From<DynView<'a>> for Integers<'a> {
    fn from(view: DynView<'a>) -> Self {
        Self::Tensor(view)
    }
}

/// More values than any list of axes, sizes or slices has.
const LONGEST: usize = 1 << 16;

impl Integers<'_> {
    /// The list, if it is one or a 1-d tensor of integers. Unsigned values beyond `i64` become
    /// `i64::MAX`.
    ///
    /// # Errors
    /// [`Problem::Shape`] for another rank or more than 65536 values, [`Problem::DType`] for
    /// another type.
    pub fn list(&self, argument: &'static str) -> Result<Cow<'_, [i64]>, Problem> {
        match self {
            Self::List(list) if list.len() > LONGEST => Err(Problem::Shape {
                argument,
                found: vec![list.len()],
                expected: format!("it must have at most {LONGEST} values"),
            }),
            Self::List(list) => Ok(Cow::Borrowed(list)),
            Self::Tensor(view) if view.rank() != 1 => Err(Problem::Shape {
                argument,
                found: view.shape().to_vec(),
                expected: "it must have exactly one dimension".into(),
            }),
            // An expanded tensor may stand for more values than memory holds.
            Self::Tensor(view) if view.len() > LONGEST => Err(Problem::Shape {
                argument,
                found: view.shape().to_vec(),
                expected: format!("it must have at most {LONGEST} values"),
            }),
            Self::Tensor(view) => integers(view, argument).map(Cow::Owned),
        }
    }
}

impl Integers<'_> {
    /// The list as the sizes of a tensor.
    ///
    /// # Errors
    /// As [`list`](Self::list); [`Problem::Value`] for a negative one.
    pub(crate) fn sizes(&self, argument: &'static str) -> Result<Dims, Problem> {
        let listed = self.list(argument)?;
        let sizes = listed
            .iter()
            .enumerate()
            .map(|(axis, &size)| expect_size(format_args!("{argument}[{axis}]"), size));
        sizes.collect()
    }
}

fn integers(view: &DynView<'_>, argument: &'static str) -> Result<Vec<i64>, Problem> {
    let found = view.dtype();
    let list = found.is_integer().then(|| view.to_integers()).flatten();
    list.ok_or_else(|| Problem::DType {
        argument,
        found,
        expected: "it must be an integer type".into(),
    })
}

/// The values of a call, by the operator's argument names.
#[derive(Debug)]
pub struct Arguments<'a> {
    operator: &'static Operator,
    values: [Option<Value<'a>>; MOST],
    /// An integer beyond `i64`, and the argument that it was given for.
    wide: Option<(&'static str, i128)>,
}

/// No operator has more arguments. Room for all of them is begun by a store each.
const MOST: usize = 13;

const _: () = {
    let mut dialect = 0;
    while dialect < OPERATORS.len() {
        let mut operator = 0;
        while operator < OPERATORS[dialect].len() {
            assert!(OPERATORS[dialect][operator].arguments.len() <= MOST);
            operator += 1;
        }
        dialect += 1;
    }
};

impl<'a> Arguments<'a> {
    /// No value yet.
    #[must_use]
    #[inline]
    pub fn new(operator: &'static Operator) -> Self {
        Self {
            operator,
            values: [const { None }; MOST],
            wide: None,
        }
    }

    /// Sets an argument by its place in the operator's list.
    ///
    /// # Errors
    /// [`Problem::Kind`] if it is of a kind that the argument does not take.
    #[inline(always)] // As below.
    pub fn set(&mut self, place: usize, value: Value<'a>) -> Result<()> {
        let Some(argument) = self.operator.arguments.get(place).filter(|_| place < MOST) else {
            let taken = self.operator.arguments.len();
            return Err(self.error(Problem::Kind {
                argument: format!("argument {}", place + 1),
                expected: format!("one of {taken}"),
                found: "one more".into(),
            }));
        };
        let (wanted, found) = (argument.kind, value.kind());
        let tensors = [Kind::Tensor, Kind::Target];
        let fits = wanted == found
            || (tensors.contains(&found) && (wanted == Kind::Tensor || wanted == Kind::Integers))
            || (wanted == Kind::Tensors && tensors.contains(&found))
            || (wanted == Kind::Scalar && [Kind::Int, Kind::Bool].contains(&found));
        if !fits {
            return Err(self.error(Problem::Kind {
                argument: argument.name.into(),
                expected: wanted.name().into(),
                found: found.name().into(),
            }));
        }
        if let Value::Wide(given) = value {
            self.wide = Some((argument.name, given));
        }
        self.values[place] = Some(match value {
            Value::Target(view) if wanted != Kind::Target => Value::Tensor(view.into_view()),
            value => value,
        });
        Ok(())
    }

    /// Sets an argument by name.
    ///
    /// # Errors
    /// [`Problem::Value`] if the operator has no such argument, [`Problem::Kind`] as for
    /// [`set`](Self::set).
    pub fn set_named(&mut self, name: &str, value: Value<'a>) -> Result<()> {
        let names = self.operator.arguments.iter().map(|a| a.name);
        match names.clone().position(|n| n == name) {
            Some(place) => self.set(place, value),
            None => {
                let known: Vec<_> = names.collect();
                Err(self.error(unknown_word("argument", name, &known)))
            }
        }
    }

    /// The operator.
    pub(crate) fn operator(&self) -> &'static Operator {
        self.operator
    }

    /// Takes the tensors that have a derivative, with their places.
    pub(crate) fn take_differentiable(&mut self) -> Vec<(usize, Value<'a>)> {
        let all = self.operator.arguments.iter().zip(&mut self.values);
        let taken = all
            .enumerate()
            .filter(|(_, (argument, _))| argument.differentiable);
        let taken = taken.map(|(place, (_, value))| Some((place, value.take()?)));
        taken.flatten().collect()
    }

    /// The argument that is given to be written to, if there is one.
    pub(crate) fn written(&self) -> Option<&'static str> {
        let mut all = self.operator.arguments.iter().zip(&self.values);
        let found = all.find(|(_, value)| matches!(value, Some(Value::Target(_))));
        found.map(|(argument, _)| argument.name)
    }

    /// Puts a value back that was taken.
    pub(crate) fn put(&mut self, place: usize, value: Value<'a>) {
        self.values[place] = Some(value);
    }

    /// Checks the values and says what to do.
    ///
    /// # Errors
    /// Whatever the operator finds wrong with its arguments.
    pub fn lower(mut self) -> Result<Call<'a>> {
        (self.operator.lower)(&mut self).map_err(|error| self.with_wide(error))
    }

    /// Checks the values and runs the operator.
    ///
    /// # Errors
    /// As [`lower`](Self::lower) and [`Call::run`].
    pub fn run(mut self) -> Result<Output> {
        self.run_by(|ready| ready.run())
    }

    /// As [`run`](Self::run), for a caller that first asks how large the call is: `how` gets the
    /// checked call and runs it. The values are used up.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_by(&mut self, how: impl FnOnce(Ready<'_, 'a>) -> Result<Output>) -> Result<Output> {
        // A call is large: it stays where it was made.
        match (self.operator.lower)(self) {
            Ok(ref mut call) => how(Ready(call)),
            Err(error) => Err(self.with_wide(error)),
        }
    }

    /// The error of an integer that was read as the extreme of `i64`, with the integer that was
    /// given.
    fn with_wide(&self, error: Error) -> Error {
        let Some((name, given)) = self
            .wide
            .filter(|(name, _)| error.problem().argument() == Some(name))
        else {
            return error;
        };
        let extreme = narrow(given);
        let problem = match error.problem().clone() {
            Problem::Axis {
                argument,
                value,
                rank,
            } if argument == name && value == extreme.into() => Problem::Axis {
                argument,
                value: given,
                rank,
            },
            Problem::Value {
                argument,
                value,
                expected,
            } if argument == name && value == extreme.to_string() => Problem::Value {
                argument,
                value: given.to_string(),
                expected,
            },
            _ => return error,
        };
        Error::new(error.operator(), error.class(), problem)
    }

    fn error(&self, problem: Problem) -> Error {
        Error::new(self.operator.name, Class::Type, problem)
    }

    // A value is many bytes, and moving it right after it was written stalls. Inlining the
    // functions below leaves it in its place.
    #[inline(always)]
    fn take(&mut self, name: &'static str) -> Option<Value<'a>> {
        let place = self.place(name)?;
        self.values.get_mut(place)?.take()
    }

    // A search and an error that are inlined for each argument of each operator are 0.2 MB.
    #[inline(never)]
    fn place(&self, name: &str) -> Option<usize> {
        self.operator.arguments.iter().position(|a| a.name == name)
    }

    #[inline(always)]
    fn required<T>(&self, name: &'static str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.missing(name))
    }

    #[cold]
    #[inline(never)]
    fn missing(&self, argument: &'static str) -> Error {
        self.error(Problem::Missing { argument })
    }

    #[inline(always)]
    pub(crate) fn optional_tensor(&mut self, name: &'static str) -> Option<DynView<'a>> {
        match self.take(name)? {
            Value::Tensor(view) => Some(view),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn tensor(&mut self, name: &'static str) -> Result<DynView<'a>> {
        let found = self.optional_tensor(name);
        self.required(name, found)
    }

    #[inline(always)]
    pub(crate) fn optional_target(&mut self, name: &'static str) -> Option<DynViewMut<'a>> {
        match self.take(name)? {
            Value::Target(view) => Some(view),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn target(&mut self, name: &'static str) -> Result<DynViewMut<'a>> {
        let found = self.optional_target(name);
        self.required(name, found)
    }

    #[inline(always)]
    pub(crate) fn optional_integers(&mut self, name: &'static str) -> Option<Integers<'a>> {
        match self.take(name)? {
            Value::Integers(list) => Some(Integers::List(list)),
            Value::Tensor(view) => Some(Integers::Tensor(view)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn integers(&mut self, name: &'static str) -> Result<Integers<'a>> {
        let found = self.optional_integers(name);
        self.required(name, found)
    }

    /// An integer of any size.
    pub(crate) fn optional_wide(&mut self, name: &'static str) -> Option<i128> {
        match self.take(name)? {
            Value::Int(value) => Some(value.into()),
            Value::Wide(value) => Some(value),
            _ => None,
        }
    }

    /// An integer; one that `i64` cannot hold becomes the extreme on its side, which no axis and no
    /// size reaches either.
    #[inline(always)]
    pub(crate) fn optional_int(&mut self, name: &'static str) -> Option<i64> {
        match self.take(name)? {
            Value::Int(value) => Some(value),
            Value::Wide(value) => Some(narrow(value)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn int(&mut self, name: &'static str) -> Result<i64> {
        let found = self.optional_int(name);
        self.required(name, found)
    }

    pub(crate) fn optional_scalar(&mut self, name: &'static str) -> Option<Scalar> {
        match self.take(name)? {
            Value::Scalar(value) => Some(value),
            Value::Int(value) => Some(Scalar::Int(value)),
            Value::Wide(value) => Some(number(value)),
            Value::Bool(value) => Some(Scalar::Bool(value)),
            _ => None,
        }
    }

    pub(crate) fn scalar(&mut self, name: &'static str) -> Result<Scalar> {
        let found = self.optional_scalar(name);
        self.required(name, found)
    }

    pub(crate) fn tensors(&mut self, name: &'static str) -> Result<Vec<Option<DynView<'a>>>> {
        let found = match self.take(name) {
            Some(Value::Tensors(list)) => Some(list),
            // One tensor is a list of one.
            Some(Value::Tensor(view)) => Some(vec![Some(view)]),
            _ => None,
        };
        self.required(name, found)
    }

    pub(crate) fn bool_or(&mut self, name: &'static str, default: bool) -> bool {
        match self.take(name) {
            Some(Value::Bool(value)) => value,
            _ => default,
        }
    }

    #[inline(always)]
    pub(crate) fn optional_text(&mut self, name: &'static str) -> Option<Cow<'a, str>> {
        match self.take(name)? {
            Value::Text(word) => Some(word),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Cow<'a, str>> {
        let found = self.optional_text(name);
        self.required(name, found)
    }
}

/// The integer as `i64`, or the extreme on its side.
fn narrow(value: i128) -> i64 {
    let extreme = if value < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(value).unwrap_or(extreme)
}

/// An integer that `i64` cannot hold as a number.
fn number(value: i128) -> Scalar {
    // What no integer type holds is a float.
    u64::try_from(value).map_or(Scalar::Float(value as f64), Scalar::Uint)
}

/// A size as an argument of an operator. One that no `i64` holds is larger than any axis.
pub(crate) fn int(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// The operator of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Operator> {
    OPERATORS
        .iter()
        .flat_map(|of| of.iter())
        .find(|o| o.name == name)
}
