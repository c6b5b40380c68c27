#!/usr/bin/env python3
"""Runs a command beside a Slurm of one node, which it starts on this machine and ends again.

For tests: ``scripts/slurm_node.py COMMAND ARGUMENT…``. Ends as the command does, or with 77 and the reason
where Slurm cannot run here. It listens on loopback only.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

CONFIG = """
ClusterName=flashlane
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={here}/munge.sock,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
SlurmdTimeout=5
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=2000
PartitionName=test Nodes=localhost Default=YES MaxTime=10 State=UP
"""
PROGRAMS = [
    "munged",
    "munge",
    "unmunge",
    "slurmctld",
    "slurmd",
    "scontrol",
    "sinfo",
    "sbatch",
    "squeue",
    "srun",
]


class _NoClusterError(Exception):
    """Slurm cannot run here, and why."""


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def _until(true: Callable[[], bool], seconds: float, what: str, log: Path | None = None) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            said = log.read_text(errors="replace")[-1500:] if log is not None and log.exists() else ""
            raise _NoClusterError(f"{what} within {seconds} s; {said}")
        time.sleep(0.1)


def _works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@contextmanager
def _running(log: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _cluster(here: Path) -> Iterator[None]:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise _NoClusterError(f"not installed: {', '.join(missing)}")
    if os.geteuid() != 0:
        raise _NoClusterError("it starts as root only")
    for name in ("state", "spool"):
        (here / name).mkdir()
    key = here / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    config = here / "slurm.conf"
    config.write_text(CONFIG.format(here=here, controller=_free_port(), node=_free_port()))
    os.environ["SLURM_CONF"] = str(config)
    munge = f"--socket={here}/munge.sock"
    with ExitStack() as stack:
        stack.callback(os.environ.pop, "SLURM_CONF", None)
        stack.enter_context(
            _running(
                here / "munged.log",
                "munged",
                "--foreground",
                munge,
                f"--key-file={key}",
                f"--pid-file={here}/munged.pid",
                f"--log-file={here}/munged-own.log",
                f"--seed-file={here}/munge.seed",
            )
        )
        _until(lambda: _works("munge", "-n", munge), 15, "munge does not answer", here / "munged.log")
        stack.enter_context(_running(here / "slurmctld.log", "slurmctld", "-D", "-f", str(config)))
        _until(lambda: _works("scontrol", "ping"), 15, "slurmctld does not answer", here / "slurmctld.log")
        node = ("slurmd", "-D", "-f", str(config), "-N", "localhost")
        stack.enter_context(_running(here / "slurmd.log", *node))

        def idle() -> bool:
            said = subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True)
            return "idle" in said.stdout

        _until(idle, 15, "the node is not idle", here / "slurmd.log")
        _until(lambda: _works("srun", "true"), 20, "no job runs", here / "slurmd.log")
        yield


def main() -> int:
    """Start, run, stop."""
    with ExitStack() as stack:
        # Munge wants a folder that everybody may enter.
        here = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
        here.chmod(0o755)
        try:
            stack.enter_context(_cluster(here))
        except _NoClusterError as error:
            print(error, file=sys.stderr)
            return 77
        return subprocess.run(sys.argv[1:]).returncode


if __name__ == "__main__":
    sys.exit(main())
