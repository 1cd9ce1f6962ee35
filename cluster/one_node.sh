#!/usr/bin/env bash
# A real SLURM of one node, for trying jobs without a cluster:  one_node.sh up DIR | down DIR
#
# Everything it makes (config, keys, sockets, state, logs) is under DIR; the machine's own SLURM is not touched, since every
# program here is told where our config is. After `up`:  . DIR/env  and sbatch, squeue, scancel speak to this one.
# Root is not needed: all three daemons run as the user who calls, and jobs then run as that user only. Not systemd either.
# CORES=4 makes the node offer four cores whatever the machine has (its own number by default).
set -euo pipefail

fail() { echo "one_node: $*" >&2; exit 1; }

usage="usage: one_node.sh up DIR | down DIR"
[ $# -eq 2 ] || fail "$usage"
verb=$1
mkdir -p "$(dirname -- "$2")"
dir=$(cd -- "$(dirname -- "$2")" && pwd)/$(basename -- "$2")
# Inside a job of another SLURM its variables would speak to these programs too.
unset ${!SLURM_@} ${!SBATCH_@}
# Debian keeps daemons in sbin, which is not on everyone's path.
export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$dir/slurm.conf

# until_true SECONDS WHAT COMMAND…: wait for COMMAND, or say that WHAT did not happen and where to read why.
until_true() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || fail "$what; see $dir/log"
        sleep 0.1
    done
}

# A pid file can outlive its process and the number be given to another: ours is the one whose command line names DIR.
alive() {
    local pid
    pid=$(cat "$dir/run/$1.pid" 2>/dev/null) && [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "$dir/"
}
dead() { ! alive "$1"; }

stop() {
    alive "$1" || return 0
    kill "$(cat "$dir/run/$1.pid")"
    for _ in $(seq 100); do dead "$1" && return 0; sleep 0.1; done
    kill -KILL "$(cat "$dir/run/$1.pid")"
    until_true 5 "$1 does not die" dead "$1"
}

free_port() {
    local port
    for port in $(shuf -i 20000-30000 -n 50); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
    fail "no free port found between 20000 and 30000"
}

write_config() {
    local host cores memory user port=() one
    while [ ${#port[@]} -lt 2 ]; do
        one=$(free_port)
        [ "$one" = "${port[0]:-}" ] || port+=("$one")
    done
    host=$(hostname -s)
    cores=${CORES:-$(nproc)}
    memory=$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
    user=$(id -un)
    head -c 1024 /dev/urandom >"$dir/munge.key"
    chmod 400 "$dir/munge.key"
    cat >"$dir/slurm.conf.part" <<CONF
ClusterName=one_node
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${port[0]}
SlurmdPort=${port[1]}
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
# cred_expire is also how long a requeued job waits before it may start again (120 s unless said). A job whose time has
# come is only noticed by the next pass over the queue (60 s unless said), hence sched_interval.
# By default both together make the two to three minutes between a requeue and the new start.
AuthInfo=socket=$dir/run/munge.socket,cred_expire=5
SchedulerParameters=sched_interval=2,bf_interval=2
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.log
# No cgroups, no database, no mail: none of them is sure to be there.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
JobRequeue=1
# Seconds from SIGTERM to SIGKILL, as on most clusters: a program that is compiling is deaf until it has done so.
KillWait=30
# A job of the partition urgent preempts one of main: it is warned, has GraceTime seconds, and goes back to the queue.
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
# config_overrides: believe the line below and not the hardware.
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores Boards=1 SocketsPerBoard=1 CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE PriorityTier=1 GraceTime=20 State=UP
PartitionName=urgent Nodes=$host MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF State=UP
CONF
    echo "export SLURM_CONF=$dir/slurm.conf" >"$dir/env"
    mv "$dir/slurm.conf.part" "$dir/slurm.conf"
}

node_idle() { sinfo --noheader --format=%T | grep -qE '^(idle|mixed|allocated)$'; }

up() {
    local program missing=()
    for program in munged slurmctld slurmd sbatch; do
        command -v $program >/dev/null || missing+=("$program")
    done
    [ ${#missing[@]} -eq 0 ] || fail "not installed: ${missing[*]}; on Debian and Ubuntu: apt-get install --no-install-recommends slurm-wlm munge"
    if [ -e "$dir" ] && [ ! -e "$dir/.one_node" ] && [ -n "$(ls -A "$dir")" ]; then
        fail "$dir has files that are not ours, and \`down\` removes the whole folder; give an empty or a new one"
    fi
    # munged refuses a socket or key under a folder that others may write to; 755 also lets a job's user read the config.
    (umask 022 && mkdir -p "$dir" "$dir"/{run,log,state,spool} && touch "$dir/.one_node")
    [ -e "$dir/slurm.conf" ] || write_config

    alive munged || munged --key-file="$dir/munge.key" --socket="$dir/run/munge.socket" --pid-file="$dir/run/munged.pid" \
        --log-file="$dir/log/munged.log" --seed-file="$dir/run/munged.seed" 2>>"$dir/log/munged.start" || fail "munged did not start; see $dir/log"
    until_true 10 "munged does not answer" munge --socket="$dir/run/munge.socket" --no-input
    alive slurmctld || slurmctld -f "$dir/slurm.conf" 2>>"$dir/log/slurmctld.start" || fail "slurmctld did not start; see $dir/log"
    until_true 20 "slurmctld does not answer" scontrol ping
    alive slurmd || slurmd -f "$dir/slurm.conf" 2>>"$dir/log/slurmd.start" || fail "slurmd did not start; see $dir/log"
    until_true 30 "the node did not become ready" node_idle
    echo "one_node: up; to use it:  . $dir/env"
}

# Processes that outlived their job: without cgroups SLURM loses sight of one whose parent has ended. A shell in which DIR/env was
# read has our SLURM_CONF too, but no job id.
left_over() {
    { grep -szlxF "SLURM_CONF=$dir/slurm.conf" /proc/[0-9]*/environ | xargs --no-run-if-empty grep -szlE '^SLURM_JOB_ID='; } | cut -d/ -f3
}
none_left_over() { [ -z "$(left_over)" ]; }

down() {
    [ -e "$dir" ] || { echo "one_node: nothing at $dir"; return; }
    [ -e "$dir/.one_node" ] || fail "$dir was not made by \`up\`; nothing done"
    if alive slurmctld && alive slurmd; then
        # A job would outlive its daemons, so cancel all; one that does not heed SIGTERM is killed after KillWait.
        squeue --noheader --array --format=%i | xargs --no-run-if-empty scancel 2>/dev/null || true
        until_true 60 "jobs are still there after a minute" bash -c '[ -z "$(squeue --noheader)" ]'
    fi
    (left_over || true) | xargs --no-run-if-empty kill -KILL 2>/dev/null || true
    until_true 10 "processes of jobs do not die" none_left_over
    stop slurmd
    stop slurmctld
    stop munged
    rm -rf -- "$dir"
    echo "one_node: down, $dir removed"
}

case $verb in
    up) up ;;
    down) down ;;
    *) fail "$usage" ;;
esac
