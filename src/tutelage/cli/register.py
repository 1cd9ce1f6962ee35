"""`register`: writes claims down before their evidence exists."""

from __future__ import annotations

from tutelage.cli.options import Imports, StorePlace, Texts


def register(
    *names: str,
    preset: str = "quick",
    case: Texts = (),
    store: StorePlace = "out",
    imports: Imports = (),
) -> int:
    """Write the claims of studies to the ledger of their paper, `results/ledger.jsonl`.

    A claim whose runs are made after that counts as registered in its verdict. The ledger only
    grows. Refused where runs of these settings are stored already, since the claim would come after
    its evidence.

    Parameters
    ----------
    names
        Studies (`teacher-models/confirmation`).
    preset
        The preset whose sizes, seeds and horizon are registered.
    case
        Only this case. Repeatable.
    """
    from tutelage.plugins import import_all
    from tutelage.refuse import Refused
    from tutelage.studies.discovery import find_paper
    from tutelage.studies.ledger import register as write
    from tutelage.studies.outputs import open_store
    from tutelage.studies.planning import make_plan, plan_studies

    import_all(imports)
    if not names:
        raise Refused("`register` needs the name of a study. Got none.")
    planned, _ = plan_studies(names, make_plan(preset=preset, cases=case))
    opened = open_store(store)
    for one in planned:
        settings = {setting for found in one.cases for setting in found.settings}
        if made := [setting for setting in settings if opened.find(setting) is not None]:
            raise Refused(
                "A claim is registered before its evidence exists. "
                f"{len(made)} of {len(settings)} runs of {one.study.name} are in {store} already."
            )
        lines = write(find_paper(one.study.name).folder, one.study.name, one.cases)
        claims = "1 claim" if len(lines) == 1 else f"{len(lines)} claims"
        print(f"{one.study.name}: {claims} registered.")
    return 0
