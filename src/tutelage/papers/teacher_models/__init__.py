"""Zhang, Zhao, Gu, Cao, "Transformers Trained via Gradient Descent Can Provably Learn a Class of
Teacher Models" (ICLR 2026).
"""

from tutelage.papers.teacher_models.blocks.study import BLOCKS
from tutelage.papers.teacher_models.codes.study import CODES
from tutelage.papers.teacher_models.graphs.study import GRAPHS
from tutelage.papers.teacher_models.hypotheses.study import HYPOTHESES
from tutelage.papers.teacher_models.images.study import IMAGES
from tutelage.papers.teacher_models.inputs.study import INPUTS
from tutelage.papers.teacher_models.limits.study import LIMITS
from tutelage.papers.teacher_models.noise.study import NOISE
from tutelage.papers.teacher_models.online.study import ONLINE
from tutelage.papers.teacher_models.ood.study import OOD
from tutelage.papers.teacher_models.optimisers.study import OPTIMISERS
from tutelage.papers.teacher_models.phases.study import PHASES
from tutelage.papers.teacher_models.rates.study import RATES
from tutelage.papers.teacher_models.samples.study import SAMPLES
from tutelage.papers.teacher_models.scaling.study import SCALING
from tutelage.papers.teacher_models.starts.study import STUDY as STARTS

BIBTEX = """@inproceedings{zhang2026teachermodels,
  title         = {Transformers Trained via Gradient Descent Can Provably Learn a Class of Teacher Models},
  author        = {Zhang and Zhao and Gu and Cao},
  booktitle     = {International Conference on Learning Representations},
  year          = {2026},
  eprint        = {2603.22801},
  archivePrefix = {arXiv}
}"""

STUDIES = (RATES, ONLINE, PHASES, SCALING, HYPOTHESES, OOD, BLOCKS, CODES, IMAGES)
QUESTIONS = (
    GRAPHS,
    OPTIMISERS,
    STARTS,
    INPUTS,
    SAMPLES,
    NOISE,
    LIMITS,
)  # beyond the paper: by name, not with `tutelage run teacher-models`
