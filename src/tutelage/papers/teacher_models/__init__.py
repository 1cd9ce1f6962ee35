"""Zhang, Zhao, Gu, Cao, "Transformers Trained via Gradient Descent Can Provably Learn a Class of Teacher Models" (ICLR 2026)."""

from tutelage.papers.teacher_models.blocks import BLOCKS
from tutelage.papers.teacher_models.codes import CODES
from tutelage.papers.teacher_models.finite_samples import SAMPLES
from tutelage.papers.teacher_models.graphs import GRAPHS
from tutelage.papers.teacher_models.hypotheses import HYPOTHESES
from tutelage.papers.teacher_models.images import IMAGES
from tutelage.papers.teacher_models.inputs import INPUTS
from tutelage.papers.teacher_models.limits import LIMITS
from tutelage.papers.teacher_models.noise import NOISE
from tutelage.papers.teacher_models.online import ONLINE
from tutelage.papers.teacher_models.ood import OOD
from tutelage.papers.teacher_models.optimisers import OPTIMISERS
from tutelage.papers.teacher_models.phases import PHASES
from tutelage.papers.teacher_models.rates import RATES
from tutelage.papers.teacher_models.scaling import SCALING
from tutelage.papers.teacher_models.starts import STUDY as STARTS

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
