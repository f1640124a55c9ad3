//! What every dialect is built from.
//!
//! | module | what it holds |
//! |---|---|
//! | `operator` | An operator as data: [`Operator`](operator::Operator), its arguments, and [`Arguments`](operator::Arguments), the values of a call by name. |
//! | `call` | [`Call`](call::Call): a checked call, and the framework whose errors it reports. |
//! | `index_tuples` | Index tuples along the last axis (`scatter_nd`), and the shape that the updates must have. |
//! | `indexing` | NumPy's indexing by integer tensors (`x[i, :, j]`); masks become integers first. |
//! | `gather_forms` | Gathers of slices, of elements along one axis, and by tuples. |
//! | `composite` | A call that needs several passes over the cells: softmax, log-sum-exp, standard deviation. |
//! | `custom` | A call that is neither a scatter nor a gather, and runs its own steps. |
//! | `into_out` | A call whose result is computed in new memory and delivered to the caller's tensor at the end. |

pub(crate) mod call;
pub(crate) mod composite;
pub(crate) mod custom;
pub(crate) mod gather_forms;
pub(crate) mod index_tuples;
pub(crate) mod indexing;
pub(crate) mod into_out;
pub(crate) mod operator;
