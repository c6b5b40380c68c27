"""A sweep as a job array of Slurm, on a cluster of one node that the test starts on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

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
WORKLOAD = """
[[flow]]
name = "reader"
synthetic = { queue_depth = 1, read_ratio = 1.0, requests = 3000 }
"""
GRID = """
device = "tiny"
workload = "w.toml"
[axes]
scheduler = ["fcfs", "no-such", "out-of-order"]
seed = { from = 1, to = 20, steps = 20 }
"""


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


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[None]:
    here = tmp_path / "slurm"
    here.mkdir()
    with ExitStack() as stack:
        try:
            stack.enter_context(_cluster(here))
        except _NoClusterError as error:
            pytest.skip(f"Slurm: {error}")
        yield


def _command() -> Path:
    return Path(__file__).parents[2] / "target" / "debug" / "flashlane"


def test_a_job_array_gives_the_table_of_one_machine(tmp_path: Path, slurm: None) -> None:
    command = _command()
    if not command.exists():
        subprocess.run(["cargo", "build", "-q", "-p", "flashlane-cli"], check=True, cwd=command.parents[2])
    (tmp_path / "w.toml").write_text(WORKLOAD)
    (tmp_path / "grid.toml").write_text(GRID)

    def sweep(out: str, *more: str) -> bytes:
        words = [str(command), "sweep", "grid.toml", "--out", out, *more]
        run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr
        return (tmp_path / out / "results.parquet").read_bytes()

    alone = sweep("alone", "--quiet")
    parts = sweep("parts", "--engine", "slurm", "--parts", "4")
    assert parts == alone
    logs = sorted(path.name for path in (tmp_path / "parts" / "slurm").iterdir())
    assert logs == [f"part-{part}.log" for part in range(1, 5)]
    assert "SLURM_ARRAY_TASK_ID/4" in (tmp_path / "parts" / "sweep.sbatch").read_text()
    # A part that was lost is submitted again.
    for point in sorted((tmp_path / "parts" / "points").glob("point-*.json"))[:3]:
        point.unlink()
    assert sweep("parts", "--engine", "slurm", "--parts", "4") == alone
