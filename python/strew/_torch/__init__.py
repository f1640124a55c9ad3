"""strew's operators in torch's dispatcher. Needs torch, and is imported only where that is in use."""

from . import composites as composites
from . import index as index
from . import plan as plan
from . import put as put
from . import scatter as scatter
from . import scatter_reduce as scatter_reduce
from . import segment_reduce as segment_reduce
from . import segments as segments
from . import slices as slices
from . import torch_scatter as torch_scatter
