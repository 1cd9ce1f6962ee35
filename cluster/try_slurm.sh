#!/usr/bin/env bash
# A sweep on a real SLURM of one node, disturbed in every way a cluster disturbs: try_slurm.sh FILE [DIR], such as cluster/try.toml
#
# Runs FILE undisturbed in this process; as a job array that is requeued, preempted and killed; and through Dask workers of which
# one job is cancelled. Then every store must hold every setting once and equal to the undisturbed run. Five to ten minutes.
# FILE must take each share at least some ten seconds, else there is no middle in which to disturb it.
# Logs stay in DIR (a temporary folder unless said) when something fails.
set -euo pipefail

here=$(cd -- "$(dirname -- "$0")" && pwd)
file=$(realpath -- "${1:?usage: try_slurm.sh FILE [DIR]}")
mkdir -p "${2:-/tmp}"
work=$(realpath -- "${2:-$(mktemp -d)}")
[ -z "$(ls -A "$work")" ] || { echo "try_slurm: $work must be empty" >&2; exit 1; }
command -v tutelage >/dev/null || PATH=$here/../.venv/bin:$PATH
python=$(dirname -- "$(command -v tutelage)")/python
cd "$work"

say() { echo "try_slurm: $(date +%T) $*"; }
fail() { say "FAILED: $*; see $work"; exit 1; }
finish() {
    local code=$?
    [ -z "${client:-}" ] || kill "$client" 2>/dev/null || true
    "$here/one_node.sh" down "$work/slurm" || code=1
    [ $code -ne 0 ] || [ -n "${keep:-}" ] || rm -rf -- "$work"
    exit $code
}
keep=${2:-}
trap finish EXIT

# until_true SECONDS WHAT COMMAND…
until_true() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "$what"
        sleep 0.3
    done
}
stored() { find "$1" -name run.json 2>/dev/null | wc -l; }
more_than() { [ "$(stored "$1")" -gt "$2" ]; }
is() { [ "$(squeue --noheader --jobs="$1" --format=%T 2>/dev/null)" = "$2" ]; }
none_left() { [ -z "$(squeue --noheader --jobs="$1" 2>/dev/null)" ]; }
about() { scontrol --oneliner show job "$1" | grep -oE "\b$2=[^ ]*" | cut -d= -f2; }

say "undisturbed"
tutelage sweep "$file" --out alone >alone.log 2>&1 || fail "the undisturbed sweep ended with code $?"
total=$(stored alone)
say "$total settings"

CORES=2 "$here/one_node.sh" up "$work/slurm"
. "$work/slurm/env"
submit() { sbatch --parsable --array=1-2 --output=array-%A_%a.log "$here/array.sbatch" "$file" array; }

say "job array of two"
job=$(submit)
until_true 120 "no setting was stored" more_than array 0
is "${job}_1" RUNNING && is "${job}_2" RUNNING || fail "the sweep was over before it could be disturbed; give a longer one"
say "requeue task 1"
scontrol requeue "${job}_1"
until_true 120 "task 1 did not come back" is "${job}_1" RUNNING
before=$(stored array)
until_true 120 "nothing was stored after the requeue" more_than array "$before"
is "${job}_1" RUNNING && is "${job}_2" RUNNING || fail "the sweep was over before it could be disturbed; give a longer one"
say "preempt both by an urgent job"
urgent=$(sbatch --parsable --partition=urgent --ntasks=2 --output=urgent.log --wrap "sleep 1")
until_true 120 "the urgent job did not run" none_left "$urgent"
until_true 120 "task 2 did not come back" is "${job}_2" RUNNING
before=$(stored array)
until_true 120 "nothing was stored after the preemption" more_than array "$before"
is "${job}_2" RUNNING || fail "the sweep was over before it could be disturbed; give a longer one"
say "kill task 2 without warning"
step=$(about "${job}_2" JobId).0
scontrol listpids "$step" | awk 'NR > 1 && $1 > 0 {print $1}' | xargs kill -KILL
until_true 300 "the array did not end" none_left "$job"
[ "$(about "${job}_1" Restarts)" -ge 2 ] || fail "task 1 was requeued $(about "${job}_1" Restarts) times, not twice"
[ "$(about "${job}_1" JobState)" = COMPLETED ] || fail "task 1 ended as $(about "${job}_1" JobState)"
[ "$(about "${job}_2" JobState)" = FAILED ] || fail "task 2 was killed and ended as $(about "${job}_2" JobState)"
more_than array $((total - 1)) && fail "the kill came after all was done; give a longer sweep"
say "the same line again: $(stored array) of $total settings are there"
job=$(submit)
until_true 300 "the second array did not end" none_left "$job"
for task in 1 2; do
    [ "$(about "${job}_$task" JobState)" = COMPLETED ] || fail "task $task ended as $(about "${job}_$task" JobState)"
done

say "Dask workers as jobs"
cat >options.toml <<'OPTIONS'
jobs = 2
memory = "2GB"
walltime = "00:10:00"
interface = "lo"
logs = "dask-logs"
OPTIONS
tutelage sweep "$file" --out dask --slurm options.toml >dask.log 2>&1 &
client=$!
until_true 120 "no setting was stored" more_than dask 0
kill -0 "$client" 2>/dev/null || fail "the sweep was over before it could be disturbed; give a longer one"
victim=$(squeue --noheader --states=RUNNING --format=%i | head -1)
say "cancel the worker job $victim"
scancel "$victim"
until_true 300 "the sweep through Dask did not end" bash -c "! kill -0 $client 2>/dev/null"
wait "$client" || fail "the sweep through Dask ended with code $?"
client=
until_true 60 "worker jobs stayed behind" bash -c '[ -z "$(squeue --noheader)" ]'

"$python" "$here/same_runs.py" alone/runs array/runs dask/runs || fail "the stores differ"
say "all $total settings are there once, both ways, and equal to the undisturbed run"
