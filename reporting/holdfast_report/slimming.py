# SPDX-License-Identifier: Apache-2.0
"""Takes out of an SVG what a page with a hundred of them does not need: a third of the bytes are
left, and the picture is the same."""

import re

NOTHING = re.compile(r"<g(?: [^<>]*)?/>|<g(?: [^<>]*)?></g>|<defs></defs>")


def rounded(number: str) -> str:
    """Coordinates are points; a tenth of one is less than a pixel of a phone."""
    text = f"{float(number):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def slim_path(commands: str) -> str:
    """Rounded, on one line, with the short commands for level and upright lines, and without a line
    to where the pen already is, unless it is a dot."""
    steps = re.findall(r"([A-Za-z])([^A-Za-z]*)", commands)
    kept: list[str] = []
    pen: list[str] = []
    for command, rest in steps:
        place = [rounded(number) for number in rest.split()]
        if command == "L" and len(pen) >= 2:
            if place == pen[-2:]:
                if kept[-1][0] == "M":
                    kept.append("h0")  # with round caps a line of no length is a dot
                continue
            if kept[-1] == "h0":
                kept.pop()  # the line goes on
            if place[1] == pen[-1]:
                kept.append(f"H{place[0]}")
            elif place[0] == pen[-2]:
                kept.append(f"V{place[1]}")
            else:
                kept.append(f"L{place[0]} {place[1]}")
        else:
            kept.append(command + " ".join(place))
        pen = place or pen
    return "".join(kept)


# Only within a tag: texts, in which a name may say anything, stay as they are.
WITHIN = r"(?=[^<>]*>)"
PATH = re.compile(r' d="([^"]*)"' + WITHIN)
PLACE = re.compile(r' (x|y)="(-?\d+\.\d+)"' + WITHIN)
FONT = re.compile(r" font-family: [^;\"]*;?" + WITHIN)  # the page's own is used
NO_TURN = re.compile(r' transform="rotate\(-0 [^"]*\)"' + WITHIN)
UNSEEN = re.compile(r'<path d="[^"]*" style="fill: none"/>')  # neither line nor area
NAME = re.compile(r' id="([^"]+)"' + WITHIN)
USED = re.compile(r'(?:url\(|href=")#([^)"]+)')


def slim(svg: str) -> str:
    svg = PATH.sub(lambda path: f' d="{slim_path(path[1])}"', svg)
    svg = PLACE.sub(lambda place: f' {place[1]}="{rounded(place[2])}"', svg)
    for needless in (FONT, NO_TURN, UNSEEN):
        svg = needless.sub("", svg)
    used = set(USED.findall(svg))
    svg = NAME.sub(lambda name: name[0] if name[1] in used else "", svg)
    svg = re.sub(r">\s+<", "><", svg)
    while NOTHING.search(svg):
        svg = NOTHING.sub("", svg)
    return svg
