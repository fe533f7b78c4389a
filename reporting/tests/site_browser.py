# SPDX-License-Identifier: Apache-2.0
"""A site in a headless browser, from the disk, as its pages are: no policy is taken away."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

from browser import run
from planted_history import Planted

# A page in a frame as wide as wanted; what the wrapper's script returns is what was measured.
WRAPPER = """<!doctype html><meta charset="utf-8"><body style="margin:0"><pre id="measured"></pre>
<script>
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const open = (address, width) => new Promise((done) => {{
  const frame = document.createElement("iframe");
  frame.style.cssText = `border:0;height:1500px;width:${{width}}px`;
  frame.onload = () => setTimeout(() => done(frame), 300);
  frame.src = address;
  document.body.append(frame);
}});
const shape = (page, width) => ({{
  scroll: page.documentElement.scrollWidth,
  wide: [...page.querySelectorAll("body *")].filter((one) => !one.closest(".scroll") && !one.closest("svg") && one.getBoundingClientRect().right > width + 0.5)
    .map((one) => one.tagName + "." + one.className),
  texts: [...page.querySelectorAll("svg.trend text")].map((one) => {{
    const box = one.getBoundingClientRect(), svg = one.closest("svg").getBoundingClientRect();
    return {{text: one.textContent, out: Math.max(svg.left - box.left, box.right - svg.right), height: box.height,
             box: [box.left, box.top, box.right, box.bottom], figure: one.closest("figure").id}};
  }}),
  ground: getComputedStyle(page.body).backgroundColor, ink: getComputedStyle(page.body).color,
  unnamed: [...page.querySelectorAll("input, button, a, svg[tabindex]")].filter((one) => !(one.textContent.trim() || one.labels?.length || one.getAttribute("aria-label"))).length,
}});
(async () => {{
  let found;
  try {{ found = await (async () => {{ {script} }})(); }} catch (error) {{ found = {{failed: String(error), at: error.stack}}; }}
  document.getElementById("measured").textContent = JSON.stringify(found);
}})();
</script></body>"""


class Browser:
    def __init__(self, chromium: str, site: Path, folder: Path, planted: Planted) -> None:
        self.chromium, self.site, self.folder, self.planted = chromium, site, folder, planted

    def does(self, script: str, dark: bool = False) -> Any:
        wrapper = self.folder / "wrapper.html"
        site = self.site.as_uri()
        wrapper.write_text(WRAPPER.format(script=f"const site = {json.dumps(site)};" + script), "utf-8")
        options = [
            "--allow-file-access-from-files", "--virtual-time-budget=15000",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--enable-logging=stderr", "--dump-dom",
        ]
        done = run(self.chromium, self.folder, *options, wrapper.as_uri())
        assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
        found = re.search(r'<pre id="measured">(.+?)</pre>', done.stdout, flags=re.DOTALL)
        assert found, "the page did not load in the browser"
        said = json.loads(unescape(found.group(1)))
        assert not (isinstance(said, dict) and "failed" in said), said
        return said
