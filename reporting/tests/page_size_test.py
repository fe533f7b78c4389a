# SPDX-License-Identifier: Apache-2.0
"""What a page of many cases weighs and takes. Time is that of the processors, so that a busy machine
says the same."""

import os

import builders
import profile_builders
import pytest
from builders import DRY, STEP, Workplace
from holdfast_report.command import main

PROFILES = 320  # of five suites on two device classes
KERNELS = 400_000  # in one result


def test_a_page_of_hundreds_of_profiles_is_light_and_soon_drawn(
    workplace: Workplace,
) -> None:
    sites = [f"buffer {number}" for number in range(8)]
    changes = [(sites[k % 8], 1000 + 37 * (k % 11)) for k in range(60)]
    life = profile_builders.timeline(
        [*changes, *((site, -held) for site, held in reversed(changes))]
    )
    for number in range(PROFILES // 2):
        for variant in ("optimized", "reference"):
            made = profile_builders.gpu(STEP.replace("48", str(1000 + number)), variant)
            made["memory"] |= {
                "timeline": life,
                "peak_by_site": dict.fromkeys(sites, 7000),
            }
            profile_builders.put(workplace, made)
    before = os.times()
    assert main(workplace.options()) == 0
    spent = sum(os.times()[:4]) - sum(before[:4])
    assert len(workplace.page()) < 500_000
    assert spent < 12


@pytest.mark.big
def test_a_result_of_hundreds_of_thousands_of_kernels_is_soon_drawn(
    workplace: Workplace,
) -> None:
    document = builders.dry_results()
    kernels = [builders.kernel(f"kernel_{number}", 1) for number in range(KERNELS)]
    document["cases"][0]["variants"]["optimized"]["kernels"] = kernels
    workplace.measure(DRY, document)
    before = os.times()
    assert main(workplace.options()) == 0
    spent = sum(os.times()[:4]) - sum(before[:4])
    assert len(workplace.page()) < 2_000_000
    assert spent < 20
