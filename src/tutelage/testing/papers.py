"""What a paper must have, checked without running it: `check_paper` says all that is missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tutelage.problem.registry import option_names, registered_names
from tutelage.refuse import Refused
from tutelage.settings import Setting
from tutelage.studies.discovery import find_paper
from tutelage.studies.paper import Paper
from tutelage.studies.study import Case, Plan, Preset, Study, no_figures
from tutelage.testing.examples import find_example
from tutelage.testing.source import drawn_figures, files_of, folder_of, looks_at_data

NAME = re.compile("[a-z0-9]+(-[a-z0-9]+)*")  # of papers and studies, which are typed
# Of cases and claims, which may be named by a letter (`D`), a value or a pair (`cnn@gumbel`).
PART_OF_ID = re.compile("[A-Za-z0-9][A-Za-z0-9.+@_-]*")
BUILT_IN = "built in"  # the origin of papers that come with tutelage
FIELDS = ("rate", "steps", "seed")  # of a setting, beside its parts


def check_paper(paper: Paper | str) -> list[str]:
    """What is missing in a paper, one sentence each; nothing where all is well.

    `paper` is the name of one that is installed or imported, or that paper itself.
    """
    found = find_paper(paper if isinstance(paper, str) else paper.name)
    troubles = [*_check_citation(found), *_check_theory(found), *_check_pages(found)]
    settings: list[Setting] = []
    for short in found.studies:
        try:
            study = found.study(short)
            plan = Plan(preset=next(iter(study.presets)), seeds=1)
            cases = study.cases(plan, study.preset(plan))
        except Exception as error:
            troubles.append(f"The study {short} cannot be planned. {_said(error)}")
            continue
        own = [setting for case in cases for setting in case.settings]
        settings += own
        troubles += [f"The study {short} {said}" for said in check_study(found, study, cases)]
        new = {key: path for key, path in study.letters.items() if key not in found.letters}
        troubles += [f"Of the study {short}: {said}" for said in check_letters(new, own)]
    return troubles + [f"Of the paper: {said}" for said in check_letters(found.letters, settings)]


def check_study(paper: Paper, study: Study[Preset], cases: Sequence[Case]) -> Iterator[str]:
    """What is missing in a study of a paper, each the rest of a sentence."""
    short = study.name.partition("/")[2]
    words = {"source": study.source, "statement": study.statement, "equation": study.equation}
    for field, text in {**words, "title": study.title}.items():
        if not text.strip():
            yield f"has no {field}."
    for name, preset in study.presets.items():
        if not preset.seconds > 0:
            yield f"does not say how many seconds its preset {name!r} takes."
    yield from _check_case_at(study, cases)
    yield from _check_names(short, cases)
    yield from _check_claims(cases)
    yield from _check_controls(cases)
    yield from _check_captions(study)
    if paper.origin == BUILT_IN:
        for file in (f"docs/{short}.md", f"results/{short}.json"):
            if not (folder_of(paper.module) / file).exists():
                yield f"has no {file} in the folder of its paper."


def check_letters(letters: Mapping[str, str], settings: Sequence[Setting]) -> Iterator[str]:
    """Every letter stands for something in at least one of the settings."""
    for letter, path in letters.items():
        kind, _, option = path.partition(".")
        meant = any(
            kind in setting.parts and option in option_names(kind, setting.part(kind))
            for setting in settings
        )
        if path not in FIELDS and not meant:
            yield f"the letter {letter} stands for {path}, which no setting has."


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"


def _check_citation(paper: Paper) -> Iterator[str]:
    if not NAME.fullmatch(paper.name):
        yield f"The name of a paper consists of lower-case words and hyphens. Got {paper.name!r}."
    for field, text in {"title": paper.title, "authors": paper.authors}.items():
        if not text.strip():
            yield f"The paper has no {field} to be cited by."
    if not re.match(r"\s*@\w+\s*\{", paper.bibtex):
        yield "The paper has no citation: `bibtex` is no BibTeX entry, which begins with @."


def _check_theory(paper: Paper) -> Iterator[str]:
    """Predictions are made before anything is measured, and so without looking at it."""
    for path in files_of(f"{paper.module}.theory"):
        for name in looks_at_data(path):
            yield (
                f"The theory of a paper sees no data, since it predicts. {path.name} of it "
                f"imports {name}."
            )


def _check_pages(paper: Paper) -> Iterator[str]:
    try:
        pages = paper.shown_pages()
    except Exception as error:
        yield f"Its pages of the explorer cannot be imported. {_said(error)}"
        return
    for page in pages:
        for teacher in page.teachers:
            if teacher not in registered_names("teacher"):
                yield f"Its page {page.name} offers an unregistered teacher, {teacher!r}."
                return
        try:
            page.reading(find_example("teacher", page.teachers[0])).predicted()
        except Exception as error:
            yield f"Its page {page.name} cannot read what it begins with. {_said(error)}"


def _check_names(short: str, cases: Sequence[Case]) -> Iterator[str]:
    if not NAME.fullmatch(short):
        yield "has a name that is not of lower-case words and hyphens."
    names = [("case", case.name) for case in cases]
    names += [("claim", claim.id) for case in cases for claim in case.claims]
    for kind, name in dict.fromkeys(names):
        if not PART_OF_ID.fullmatch(name):
            yield f"names a {kind} {name!r}, which is not one word of letters, digits and hyphens."
    for name in _repeated([case.name for case in cases]):
        yield f"has two cases named {name!r}."
    for case in cases:
        for name in _repeated([claim.id for claim in case.claims]):
            yield f"has two claims {name!r} in its case {case.name}."


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _check_claims(cases: Sequence[Case]) -> Iterator[str]:
    claims = {
        claim.id: claim
        for case in cases
        if not case.control
        for claim in case.claims
        if not claim.measurement
    }
    for claim in claims.values():
        for field, text in {"statement": claim.statement, "source": claim.source}.items():
            if not text.strip():
                yield f"has a claim {claim.id!r} without a {field}."


def _check_controls(cases: Sequence[Case]) -> Iterator[str]:
    """Every claim has a control that tests the same thing, and so shows that such a claim can fail.

    What a claim tests is its kind and, where it is about one, its curve: the rate of the excess is
    another thing than its constant, and than the rate of another curve. Claims that read runs by a
    function of their own (an exponent over a sweep, a number, a ratio) do not say of what, so that
    for them one control of their kind will do. Measurements predict nothing, and need none.
    """
    claims: dict[str, dict[str, None]] = {}
    controlled: set[str] = set()
    for case in cases:
        for claim in case.claims:
            if case.control:
                controlled.add(claim.tested)
            elif not claim.measurement:
                claims.setdefault(claim.tested, {})[claim.id] = None
    for tested, ids in claims.items():
        if tested not in controlled:
            yield (
                f"has no control that tests {tested}, and so nothing shows that its claims "
                f"({', '.join(ids)}) can fail. Add a case that breaks a hypothesis and answers "
                "such a claim."
            )


def _check_case_at(study: Study[Preset], cases: Sequence[Case]) -> Iterator[str]:
    """A study gives its claims at one setting, or says what they compare."""
    if (study.case_at is None) == (not study.compares.strip()):
        yield (
            "must have either `case_at`, which gives its claims at one setting for `tt.claims`, or "
            "`compares`, which says what they compare."
        )
    first = next((case for case in cases if case.settings and not case.control), None)
    if study.case_at is None or first is None:
        return
    setting = first.settings[0]
    try:
        found = study.case_at(setting)
        for claim in found.claims:
            if claim.hypotheses is not None:
                claim.hypotheses(setting)
    except Exception as error:
        yield f"cannot give its claims at the setting of its case {first.name}. {_said(error)}"
        return
    if not {claim.id for claim in found.claims} & {claim.id for claim in first.claims}:
        yield (
            f"answers claims in its case {first.name} of which `case_at` gives none at the same "
            "setting."
        )


def _check_captions(study: Study[Preset]) -> Iterator[str]:
    if study.figures is no_figures:
        return
    drawn = drawn_figures(study.figures)
    for name, pattern in drawn.items():
        if not any(pattern.fullmatch(key) for key in study.captions):
            yield f"draws the figure {name} and has no caption for it in `captions`."
    for key, caption in study.captions.items():
        if not caption.strip():
            yield f"has an empty caption for the figure {key}."
        if drawn and not any(pattern.fullmatch(key) for pattern in drawn.values()):
            yield f"has a caption for the figure {key}, which it does not draw."
    if not drawn and not study.captions:
        yield "draws figures and has no `captions` for them."
