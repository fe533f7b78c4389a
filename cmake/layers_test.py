# SPDX-License-Identifier: Apache-2.0
"""Each way to break the floors is planted in a small house and named."""

import subprocess
import sys
from pathlib import Path

import pytest

LAYERS = Path(__file__).with_name("layers.py")
HOUSE = {
    "kernels/layers.txt": "base\nruntime\nheat waves\n",
    "kernels/base/text.hpp": "",
    "kernels/runtime/layers.txt": "count\ndevice\n",
    "kernels/runtime/count/ledger.hpp": '#include "base/text.hpp"\n',
    "kernels/runtime/device/device.hpp": '#include "runtime/count/ledger.hpp"\n',
    "kernels/heat/heat.hpp": '#include "runtime/device/device.hpp"\n#include "heat/sources.hpp"\n',
    "kernels/heat/testing/support.hpp": "",
    "kernels/heat/heat_test.cpp": '#include "heat/testing/support.hpp"\n',
    "kernels/waves/waves.hpp": "",
    "kernels/testing/dry_run.hpp": '#include "runtime/device/device.hpp"\n',
    "kernels/waves/waves_test.cpp": '#include "testing/dry_run.hpp"\n',
    "suites/layers.txt": "heat\n",
    "suites/heat/cases.cpp": '#include "heat/heat.hpp"\n',
    "baselines/formats/schema_check.hpp": "",
    "baselines/gate/gate.cpp": '#include "base/text.hpp"\n',
}


def check(place: Path, planted: dict[str, str]) -> tuple[int, str]:
    for name, text in (HOUSE | planted).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, "utf-8")
    done = subprocess.run([sys.executable, LAYERS, place], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_house_in_order_passes(tmp_path: Path) -> None:
    assert check(tmp_path, {}) == (0, "every include runs downwards\n")


def test_a_workload_need_not_be_listed(tmp_path: Path) -> None:
    new = {"kernels/tides/tides.hpp": '#include "runtime/device/device.hpp"\n', "suites/tides/cases.cpp": '#include "tides/tides.hpp"\n'}
    assert check(tmp_path, new) == (0, "every include runs downwards\n")


def test_libraries_are_the_run_times_and_device_code_has_headers_of_its_own(tmp_path: Path) -> None:
    known = {"kernels/runtime/device/cuda.cpp": "#include <cuda_runtime_api.h>\n", "kernels/heat/heat.cu": "#include <cuda_fp16.h>\n",
             "kernels/lapack_like/lapack_like.hpp": "", "suites/lapack_like/cases.cpp": '#include "lapack_like/lapack_like.hpp"\n'}
    assert check(tmp_path, known) == (0, "every include runs downwards\n")


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("kernels/runtime/count/ledger.hpp", '#include "runtime/device/device.hpp"\n', "stands above count/"),
        ("kernels/base/text.hpp", '#include "runtime/count/ledger.hpp"\n', "stands above base/"),
        ("kernels/heat/heat.hpp", '#include "waves/waves.hpp"\n', "stands beside heat/"),
        ("kernels/tides/tides.hpp", '#include "waves/waves.hpp"\n', "stands beside tides/"),
        ("kernels/runtime/device/device.hpp", '#include "tides/tides.hpp"\n', "stands above runtime/"),
        ("kernels/heat/heat.hpp", '#include "heat/testing/support.hpp"\n', "which is test support"),
        ("kernels/heat/heat.hpp", '#include "testing/dry_run.hpp"\n', "which is test support"),
        ("baselines/gate/gate.cpp", '#include "formats/schema_check.hpp"\n', "which is test support"),
        ("baselines/gate/gate.cpp", '#include "runtime/count/ledger.hpp"\n', "no room that it may know"),
        ("kernels/heat/heat.hpp", '#include "heat/cases.hpp"\n', "no room that it may know"),
        ("suites/heat/cases.cpp", '#include "gate/gate.cpp"\n', "no room that it may know"),
        ("kernels/base/text.hpp", '#pragma once\n  #include "runtime/count/ledger.hpp"\n', "stands above base/"),
        ("kernels/base/text.hpp", '#  include\t"runtime/count/ledger.hpp"\n', "stands above base/"),
        ("kernels/base/text.hpp", "#include <string>\n#include <runtime/count/ledger.hpp>\n", "stands above base/"),
        ("baselines/gate/gate.cpp", "#include <heat/cases.hpp>\n", "no room that it may know"),
        ("kernels/heat/heat.cuh", '#include "waves/waves.hpp"\n', "stands beside heat/"),
        ("kernels/heat/heat.cu", '#include "waves/waves.hpp"\n', "stands beside heat/"),
        ("kernels/heat/the_test_of_time.cpp", '#include "waves/waves.hpp"\n', "stands beside heat/"),
        ("kernels/heat/sums.hpp", '#include "heat/schedule.hpp"\n', "no room that it may know"),
        ("kernels/runtime/cuda/cuda.hpp", "", "does not list cuda/"),
        ("kernels/heat/heat.hpp", "#include <cuda_runtime.h>\n", "whose memory and launches no ledger counts"),
        ("kernels/heat/heat.cpp", "#include <cublas_v2.h>\n", "whose memory and launches no ledger counts"),
        ("kernels/heat/heat.cpp", '#include "cublas_v2.h"\n', "no room that it may know"),
        ("suites/heat/cases.cpp", "#include <fftw3.h>\n", "whose memory and launches no ledger counts"),
        ("kernels/layers.txt", "base\nruntime\nheat waves\nattic\n", "lists attic/, which is no folder"),
    ],
)
def test_a_planted_break_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    code, words = check(tmp_path, {"suites/heat/cases.hpp": "", "kernels/tides/tides.hpp": ""} | {file: text})
    assert code == 1
    assert said in words


def test_a_folder_that_is_no_house_is_refused(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, LAYERS, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "usage" in done.stderr
