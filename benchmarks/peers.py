"""Other packages on the data of ``speed.py``; runs in their own environment.

``python peers.py DATA.npz`` prints one JSON object per job: the processor time of
the peer, its version, and the largest memory of the process so far.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory import peak_mb

N_RESAMPLES = 9999
FloatArray = NDArray[np.float64]


def scipy_job(groups: list[FloatArray], *, values: int | None = None) -> None:
    """BCa interval and sampled sign-flip test of every group.

    `values` is the size of a batch; by default SciPy makes one batch of all, which
    takes gigabytes at 10,000 questions.
    """
    from scipy.stats import bootstrap, permutation_test

    for difference in groups:
        batch = None if values is None else max(1, values // difference.size)
        bootstrap(
            (difference,),
            np.mean,
            n_resamples=N_RESAMPLES,
            method="BCa",
            batch=batch,
            rng=np.random.default_rng(7),
        )
        permutation_test(
            (difference,),
            np.mean,
            permutation_type="samples",
            vectorized=True,
            n_resamples=N_RESAMPLES,
            batch=batch,
            rng=np.random.default_rng(7),
        )


def batched_scipy_job(groups: list[FloatArray]) -> None:
    """Do the same in batches of 32 MB, which few users would think of."""
    scipy_job(groups, values=4_000_000)


def arch_job(groups: list[FloatArray]) -> None:
    """BCa interval of every group."""
    from arch.bootstrap import IIDBootstrap

    for difference in groups:
        draws = IIDBootstrap(difference, seed=7)
        draws.conf_int(np.mean, reps=N_RESAMPLES, method="bca")


def pingouin_job(groups: list[FloatArray]) -> None:
    """BCa interval of every group."""
    import pingouin

    for difference in groups:
        pingouin.compute_bootci(
            difference, func="mean", method="bca", n_boot=N_RESAMPLES, seed=7
        )


JOBS: dict[str, Callable[[list[FloatArray]], None]] = {
    "scipy": scipy_job,
    "scipy, 32 MB batches": batched_scipy_job,
    "arch": arch_job,
    "pingouin": pingouin_job,
}


def main() -> None:
    """Run the jobs named on the command line on the groups of a file."""
    data = np.load(sys.argv[1])
    groups = [data[key] for key in data.files]
    for name in sys.argv[2:]:
        module = __import__(name.split(",")[0])
        JOBS[name]([groups[0][:40]])  # imports and caches are not what is measured
        start = time.process_time()
        JOBS[name](groups)
        row: dict[str, Any] = {
            "peer": name,
            "version": module.__version__,
            "seconds": time.process_time() - start,
            "peak_mb": peak_mb(),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
