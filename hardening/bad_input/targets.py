"""All doors for input, by name."""

from __future__ import annotations

from hardening.bad_input.commands import Commands
from hardening.bad_input.curve_files import CurveFiles
from hardening.bad_input.data_files import DataFiles
from hardening.bad_input.layers import Layers
from hardening.bad_input.plugins import Plugins
from hardening.bad_input.reports import Reports
from hardening.bad_input.requests import Requests
from hardening.bad_input.settings import Settings
from hardening.bad_input.stored_runs import StoredRuns
from hardening.bad_input.sweep_files import SweepFiles
from hardening.bad_input.target import Target

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        Commands,
        SweepFiles,
        Settings,
        StoredRuns,
        DataFiles,
        CurveFiles,
        Layers,
        Plugins,
        Requests,
        Reports,
    )
}
