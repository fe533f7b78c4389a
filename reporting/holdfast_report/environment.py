# SPDX-License-Identifier: Apache-2.0
"""On what a part was measured."""

from holdfast_report.root import Part
from holdfast_report.units import digits, readable, short_hash


def facts_of(part: Part) -> list[tuple[str, str]]:
    """What a number depends on besides the code; what is not known is left out."""
    run, env, quality = part.results.run, part.results.env, part.results.quality
    device = env.device
    yes_no = {True: "yes", False: "no", None: None}
    facts = {
        "measured": f"{run.utc}, {run.processes} process{'es' if run.processes != 1 else ''}, "
        f"tier {part.results.tier}",
        "commit": f"{run.git.sha[:12]}{' with changes' if run.git.dirty else ''}"
        if run.git.sha
        else None,
        "content": short_hash(run.content),
        "device": env.device_name
        + (f" ({device.name})" if device.name not in (None, env.device_name) else ""),
        "multiprocessors": str(device.sms) if device.sms is not None else None,
        "device memory": readable(device.memory_bytes, "B") if device.memory_bytes else None,
        "driver": env.driver,
        "CUDA": env.cuda,
        "NVRTC": env.nvrtc,
        "nvJitLink": env.nvjitlink,
        "compiler": env.compiler,
        "flags": short_hash(env.flags) if env.flags else None,
        "CPU": env.host.cpu,
        "processor": env.host.processor,
        "threads": str(env.host.threads) if env.host.threads is not None else None,
        "instruction set": env.host.isa,
        "fingerprint": short_hash(env.fingerprint),
        "quality": "valid" if quality.valid else "INVALID: " + "; ".join(quality.reasons),
        "load": digits(quality.load) if quality.load is not None else None,
        "clock": f"{digits(quality.sm_clock_hz / 1e9)} GHz" if quality.sm_clock_hz else None,
        "throttled": yes_no[quality.throttled],
        "temperature": f"{digits(quality.temperature_c)} \u00b0C"
        if quality.temperature_c is not None
        else None,
        "device code from": run.sources,
    }
    return [(name, fact) for name, fact in facts.items() if fact]
