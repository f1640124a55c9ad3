//! What every dialect is built from.
//!
//! | module | what it holds |
//! |---|---|
//! | `operator` | An operator as data: [`Operator`](operator::Operator), its arguments, and [`Arguments`](operator::Arguments), the values of a call by name. |
//! | `declaration` | One declaration for each operator: a macro that makes its row, its typed and its `_dyn` function. |
//! | `call` | [`Call`](call::Call): a checked call, and the framework whose errors it reports. |
//! | `bounds` | What an index outside an axis means, for frameworks that agree. |
//! | `checks` | Checks of arguments that frameworks make in the same words. |
//! | `scatter_forms` | Scatters into a copy, in place, and of elements along one axis. |
//! | `segment_ids` | Segment numbers that must ascend. |
//! | `index_tuples` | Index tuples along the last axis (`scatter_nd`), and the shape that the updates must have. |
//! | `indexing` | NumPy's indexing by integer tensors (`x[i, :, j]`); masks become integers first. |
//! | `gather_forms` | Gathers of slices, of elements along one axis, and by tuples. |
//! | `composite` | A call that needs several passes over the cells: softmax, log-sum-exp, standard deviation. |
//! | `custom` | A call that is neither a scatter nor a gather, and runs its own steps. |
//! | `into_out` | A call whose result is computed in new memory and delivered to the caller's tensor at the end. |

pub(crate) mod bounds;
pub(crate) mod call;
pub(crate) mod checks;
pub(crate) mod composite;
pub(crate) mod custom;
pub(crate) mod declaration;
pub(crate) mod gather_forms;
pub(crate) mod index_tuples;
pub(crate) mod indexing;
pub(crate) mod into_out;
pub(crate) mod operator;
pub(crate) mod scatter_forms;
pub(crate) mod segment_ids;
