//! Every operator by its name, with arguments of any kind: it runs or it refuses, and a refusal changes nothing.

use crate::made::{below, chance, float, integer, pick, without_nans};
use crate::memory::{Memory, Place, Views};
use arbitrary::{Arbitrary, Result, Unstructured};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use strew::{
    Argument, Arguments, Class, Complex64, DType, Error, Kind, OPERATORS, Operator, Problem,
    Scalar, Split, Strategy, Value,
};

/// The target `calls`.
pub(crate) fn calls(bytes: &[u8]) {
    crate::set_up();
    // Bytes that run out make no call.
    let _ = attempt(&mut Unstructured::new(bytes));
}

fn attempt(from: &mut Unstructured<'_>) -> Result<()> {
    let all: usize = OPERATORS.iter().map(|dialect| dialect.len()).sum();
    let number = usize::from(u16::arbitrary(from)?) % all;
    let operator = OPERATORS.iter().flat_map(|dialect| dialect.iter());
    let Some(operator) = operator.into_iter().nth(number) else {
        return Ok(());
    };
    let way = Way::new(from)?;
    let mut memory = Memory::new();
    let given = Deck::new(from)?.all(from, operator, &mut memory)?;
    check(operator, &given, &mut memory, way);
    Ok(())
}

/// How a call runs a second time, to the same end.
#[derive(Clone, Copy, Debug)]
struct Way {
    strategy: Option<Strategy>,
    split: Option<(Split, usize)>,
    explained: bool,
}

impl Way {
    fn new(from: &mut Unstructured<'_>) -> Result<Self> {
        let strategy = match below(from, 2 * Strategy::ALL.len())? {
            n if n < Strategy::ALL.len() => Some(Strategy::ALL[n]),
            _ => None,
        };
        // To hand work to other threads takes longer than most calls.
        let split = match u8::arbitrary(from)? % 32 {
            6 => Some((Split::Owner, 2 + below(from, 2)?)),
            7 => Some((Split::Axis(below(from, 3)?), 2 + below(from, 2)?)),
            8 => Some((Split::Updates, 2 + below(from, 2)?)),
            _ => None,
        };
        let explained = chance(from, 4)?;
        Ok(Self {
            strategy,
            split,
            explained,
        })
    }

    const PLAIN: Self = Self {
        strategy: None,
        split: None,
        explained: false,
    };
}

/// What is passed for an argument; tensors by their number.
#[derive(Clone, Debug)]
enum Given {
    Tensor(usize),
    Target(usize),
    Tensors(Vec<Option<usize>>),
    Integers(Vec<i64>),
    Int(i64),
    Bool(bool),
    Text(&'static str),
    Scalar(Scalar),
}

/// All that is passed to a call.
#[derive(Debug, Default)]
struct All {
    values: Vec<(usize, Given)>,
    places: Vec<Place>,
}

impl All {
    fn targets(&self) -> Vec<&Place> {
        let target = |(_, given): &(usize, Given)| match given {
            Given::Target(n) => Some(&self.places[*n]),
            _ => None,
        };
        self.values.iter().filter_map(target).collect()
    }
}

/// What the arguments of one call have in common.
struct Deck {
    dtype: DType,
    index: DType,
    shape: Vec<usize>,
    last: Vec<usize>,
}

const SIZES: [usize; 16] = [3, 2, 4, 1, 5, 3, 2, 4, 1, 6, 0, 7, 8, 17, 40, 300];

impl Deck {
    fn new(from: &mut Unstructured<'_>) -> Result<Self> {
        let dtype = DType::ALL[below(from, DType::ALL.len())?];
        let index = pick(
            from,
            &[DType::I64, DType::I64, DType::I32, DType::U8, DType::U64],
        )?;
        let rank = pick(from, &[2, 1, 3, 2, 1, 4, 0, 5])?;
        let sizes = (0..rank).map(|_| pick(from, &SIZES));
        let shape: Vec<usize> = sizes.collect::<Result<_>>()?;
        Ok(Self {
            dtype,
            index,
            last: shape.clone(),
            shape,
        })
    }

    fn all(
        mut self,
        from: &mut Unstructured<'_>,
        operator: &'static Operator,
        memory: &mut Memory,
    ) -> Result<All> {
        let mut all = All::default();
        for (place, argument) in operator.arguments.iter().enumerate() {
            let skipped = match argument.default {
                Some(_) => !bool::arbitrary(from)?,
                None => chance(from, 64)?,
            };
            if !skipped {
                let given = self.one(from, argument, memory, &mut all.places)?;
                all.values.push((place, given));
            }
        }
        Ok(all)
    }

    fn one(
        &mut self,
        from: &mut Unstructured<'_>,
        argument: &Argument,
        memory: &mut Memory,
        places: &mut Vec<Place>,
    ) -> Result<Given> {
        let kinds = [
            Kind::Tensor,
            Kind::Target,
            Kind::Integers,
            Kind::Int,
            Kind::Bool,
            Kind::Text,
            Kind::Scalar,
            Kind::Tensors,
        ];
        let kind = match chance(from, 64)? {
            true => pick(from, &kinds)?,
            false => argument.kind,
        };
        let mut tensor = |deck: &mut Self, from: &mut Unstructured<'_>| -> Result<usize> {
            let (dtype, shape) = (deck.dtype(from, argument.name)?, deck.shape(from)?);
            places.push(memory.place(from, dtype, &shape)?);
            deck.last = shape;
            Ok(places.len() - 1)
        };
        Ok(match kind {
            Kind::Tensor => Given::Tensor(tensor(self, from)?),
            Kind::Target => Given::Target(tensor(self, from)?),
            Kind::Tensors => {
                let count = below(from, 5)?;
                let one = |_| match chance(from, 8)? {
                    true => Ok(None),
                    false => tensor(self, from).map(Some),
                };
                Given::Tensors((0..count).map(one).collect::<Result<_>>()?)
            }
            Kind::Integers => match chance(from, 4)? {
                true => Given::Tensor(tensor(self, from)?),
                false => Given::Integers(self.integers(from)?),
            },
            Kind::Int => Given::Int(integer(from)?),
            Kind::Bool => Given::Bool(bool::arbitrary(from)?),
            Kind::Scalar => Given::Scalar(scalar(from)?),
            _ => Given::Text(word(from, argument)?),
        })
    }

    /// A type that fits the argument, mostly.
    fn dtype(&self, from: &mut Unstructured<'_>, name: &str) -> Result<DType> {
        let pointing = ["ind", "ptr", "segment", "group", "offset", "lengths"];
        let usual = match pointing.iter().any(|part| name.contains(part)) {
            true => self.index,
            false => self.dtype,
        };
        match u8::arbitrary(from)? % 16 {
            12 => Ok(self.index),
            13 => Ok(DType::Bool),
            14 => Ok(self.dtype),
            15 => pick(from, &DType::ALL),
            _ => Ok(usual),
        }
    }

    /// A shape that has to do with the others, mostly.
    fn shape(&self, from: &mut Unstructured<'_>) -> Result<Vec<usize>> {
        let mut shape = self.shape.clone();
        let rank = shape.len();
        match u8::arbitrary(from)? % 20 {
            4 | 5 => shape = self.last.clone(),
            6 | 7 => shape.truncate(below(from, rank + 1)?),
            8 => drop(shape.drain(..below(from, rank + 1)?)),
            9 | 10 if rank > 0 => shape[below(from, rank)?] = pick(from, &SIZES)?,
            11 => shape = vec![pick(from, &SIZES)?],
            12 => shape.push(pick(from, &SIZES)?),
            13 => shape.insert(0, pick(from, &SIZES)?),
            14 if rank > 0 => drop(shape.remove(below(from, rank)?)),
            15 => shape = self.shape.iter().take(1).copied().collect(),
            16 => shape.clear(),
            17 => {
                let rank = below(from, 5)?;
                let sizes = (0..rank).map(|_| pick(from, &SIZES));
                shape = sizes.collect::<Result<_>>()?;
            }
            18 if chance(from, 8)? => {
                let odd = [0, 1, 0, 1 << 40, usize::MAX, isize::MAX.unsigned_abs()];
                shape = vec![0, pick(from, &odd)?, pick(from, &odd)?];
            }
            19 if chance(from, 8)? => shape.resize(rank + 33, 1),
            _ => {}
        }
        Ok(shape)
    }

    fn integers(&self, from: &mut Unstructured<'_>) -> Result<Vec<i64>> {
        match u8::arbitrary(from)? % 4 {
            0 => Ok(self.shape.iter().map(|&size| size as i64).collect()),
            1 => Ok(self.last.iter().map(|&size| size as i64).collect()),
            _ => {
                let count = below(from, 6)?;
                (0..count).map(|_| integer(from)).collect()
            }
        }
    }
}

fn scalar(from: &mut Unstructured<'_>) -> Result<Scalar> {
    let byte = u8::arbitrary(from)?;
    Ok(match u8::arbitrary(from)? % 8 {
        0..=2 => Scalar::Float(float(byte)),
        3 => Scalar::Complex(Complex64::new(float(byte), -float(byte))),
        4 => Scalar::Uint(u64::MAX - u64::from(byte % 2)),
        5 => Scalar::Bool(byte > 127),
        _ => Scalar::Int(integer(from)?),
    })
}

/// One of the argument's words, or of another's.
fn word(from: &mut Unstructured<'_>, argument: &Argument) -> Result<&'static str> {
    const OTHERS: [&str; 14] = [
        "sum", "mean", "max", "min", "amax", "add", "mul", "none", "prod", "raise", "wrap", "clip",
        "", "é",
    ];
    let strange = argument.words.is_empty() || chance(from, 32)?;
    match strange {
        true => pick(from, &OTHERS),
        false => pick(from, argument.words),
    }
}

fn value<'m>(given: &Given, places: &[Place], views: Views<'m>) -> Value<'m> {
    match given {
        Given::Tensor(n) => Value::Tensor(views.read(&places[*n])),
        Given::Target(n) => Value::Target(views.write(&places[*n])),
        Given::Tensors(list) => {
            let one = |n: &Option<usize>| n.map(|n| views.read(&places[n]));
            Value::Tensors(list.iter().map(one).collect())
        }
        Given::Integers(list) => Value::Integers(Cow::Owned(list.clone())),
        Given::Int(value) => Value::Int(*value),
        Given::Bool(value) => Value::Bool(*value),
        Given::Text(word) => Value::Text(Cow::Borrowed(word)),
        Given::Scalar(value) => Value::Scalar(*value),
    }
}

/// What a call came to: the new tensors, and what the targets hold.
type Made = (Vec<(DType, Vec<usize>, Vec<u8>)>, Vec<Vec<u8>>);

fn run(
    operator: &'static Operator,
    all: &All,
    memory: &mut Memory,
    way: Way,
) -> strew::Result<Made> {
    let views = memory.views();
    let mut arguments = Arguments::new(operator);
    for (place, given) in &all.values {
        arguments.set(*place, value(given, &all.places, views))?;
    }
    let call = arguments.lower()?;
    let call = call.with_strategy(way.strategy).with_split(way.split);
    if way.explained {
        // Nobody reads it: it must not panic.
        drop(call.execution()?.explain().to_string());
    }
    let threads = way.split.map_or(1, |(_, threads)| threads);
    strew::set_num_threads(NonZeroUsize::new(threads));
    let output = call.run()?;
    let made = [&output.tensor, &output.arg].into_iter().flatten();
    let made = made.map(|t| (t.dtype(), t.shape().to_vec(), without_nans(t)));
    let made = made.collect();
    let held = all.targets();
    Ok((made, held.into_iter().map(|p| memory.read(p)).collect()))
}

/// Runs a call, and once more in another way.
fn check(operator: &'static Operator, all: &All, memory: &mut Memory, way: Way) {
    let kept = memory.keep();
    let first = run(operator, all, memory, Way::PLAIN);
    let but = match &first {
        Ok(_) => all.targets(),
        Err(_) => Vec::new(),
    };
    let what = || format!("{}, {way:?}, {all:?}", operator.name);
    if let Some(at) = memory.changed(&kept, &but) {
        panic!("byte {at} has changed; {:?}: {}", first.err(), what());
    }
    memory.restore(&kept);
    let second = run(operator, all, memory, way);
    let but = match &second {
        Ok(_) => all.targets(),
        Err(_) => Vec::new(),
    };
    if let Some(at) = memory.changed(&kept, &but) {
        panic!("byte {at} has changed; {:?}: {}", second.err(), what());
    }
    match (&first, &second) {
        (Ok(first), Ok(second)) => assert_eq!(first, second, "{}", what()),
        (Err(first), Err(second)) if first.class() == second.class() => {}
        (_, Err(error)) | (Err(error), _) if depends(error) => {}
        _ => panic!("{first:?}, but {second:?}: {}", what()),
    }
}

/// Whether an error may come of the way that a call ran.
fn depends(error: &Error) -> bool {
    error.class() == Class::Memory || matches!(error.problem(), Problem::Strategy { .. })
}
