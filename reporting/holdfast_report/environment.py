# SPDX-License-Identifier: Apache-2.0
"""The environment in which a part was measured."""

from holdfast_report.root import Part
from holdfast_report.units import digits, readable, share, short_hash


def of_the_cpus(fraction: float | None) -> str | None:
    return f"{share(fraction)} of the CPUs" if fraction is not None else None


def gigahertz(hertz: float | None) -> str | None:
    return f"{digits(hertz / 1e9)} GHz" if hertz is not None else None


def count(number: int | None) -> str | None:
    return f"{number:,}" if number is not None else None


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
        "multiprocessors": count(device.sms),
        "device memory": readable(device.memory_bytes, "B") if device.memory_bytes else None,
        "driver": env.driver,
        "CUDA": env.cuda,
        "NVRTC": env.nvrtc,
        "nvJitLink": env.nvjitlink,
        "compiler": env.compiler,
        "flags": short_hash(env.flags) if env.flags else None,
        "CPU": env.host.cpu,
        "processor": env.host.timed_on,
        "threads": count(env.host.threads),
        "instruction set": env.host.isa,
        "fingerprint": short_hash(env.fingerprint),
        "quality": "valid" if quality.valid else "INVALID: " + "; ".join(quality.reasons),
        "load": digits(quality.load) if quality.load is not None else None,
        "others' share": of_the_cpus(quality.others_fraction),
        "steal": of_the_cpus(quality.steal_fraction),
        "memory stall": f"{share(quality.memory_stall_fraction)} of the time"
        if quality.memory_stall_fraction is not None
        else None,
        "CPU clock": gigahertz(quality.cpu_clock_hz),
        "SM clock": gigahertz(quality.sm_clock_hz),
        "memory clock": gigahertz(quality.mem_clock_hz),
        "throttled": yes_no[quality.throttled],
        "temperature": f"{digits(quality.temperature_c)} \u00b0C"
        if quality.temperature_c is not None
        else None,
        "ECC errors": f"{quality.ecc_errors:,} uncorrected"
        if quality.ecc_errors is not None
        else None,
        "other processes": count(quality.other_processes),
        "device code from": run.sources,
    }
    return [(name, fact) for name, fact in facts.items() if fact]
