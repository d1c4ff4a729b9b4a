"""The colours of categories can be told apart, by everybody and in every picture."""

import itertools
import math
import re

import numpy as np

from sources import Rule, sources

LEAST = 12  # CIEDE2000 between any two categories: a difference that is seen at a glance
PAGE, PICTURES = "tools/web/src/drawing/colours.ts", "tools/view/time/over_time_picture.cc"
STACKS = "tools/analyze/time/over_time_curves.cc"
ORDER = ("PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "UNKNOWN", "BUFFER")  # of enum Category

# Simulations of people who lack one kind of cones, for linear RGB (Machado, Oliveira and Fernandes, 2009).
SIMULATIONS = {
    "everybody": np.eye(3),
    "protanopes": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopes": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopes": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
WHITE = np.array([0.95047, 1, 1.08883])


def lab(rgb, simulation):
    shares = np.asarray(rgb) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    x, y, z = XYZ @ np.clip(simulation @ linear, 0, 1) / WHITE
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other):
    """CIEDE2000 (Sharma, Wu and Dalal, 2005)."""
    (light1, a1, b1), (light2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    widened = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
    chroma1, chroma2 = math.hypot(a1 * widened, b1), math.hypot(a2 * widened, b2)
    hue1, hue2 = (math.degrees(math.atan2(b, a * widened)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (hue2 - hue1 + 180) % 360 - 180 if chroma1 * chroma2 else 0
    light, chroma = (light1 + light2) / 2, (chroma1 + chroma2) / 2
    hue = hue1 + turn / 2 if chroma1 * chroma2 else hue1 + hue2
    weight = 1 - 0.17 * cos(hue - 30) + 0.24 * cos(2 * hue) + 0.32 * cos(3 * hue + 6) - 0.2 * cos(4 * hue - 63)
    by_light = (light2 - light1) / (1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    by_chroma = (chroma2 - chroma1) / (1 + 0.045 * chroma)
    by_hue = 2 * math.sqrt(chroma1 * chroma2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    blue = math.sin(math.radians(60 * math.exp(-(((hue % 360) - 275) / 25) ** 2))) * 2 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    return math.sqrt(max(0, by_light**2 + by_chroma**2 + by_hue**2 - blue * by_chroma * by_hue))


def cos(degrees):
    return math.cos(math.radians(degrees))


def triples(text):
    return [tuple(map(int, triple)) for triple in re.findall(r"[\[{](\d+), *(\d+), *(\d+)[\]}]", text)]


def palettes(tree):
    """{file: category -> colour}, of the page and of the pictures."""
    text = {source.path: source.text for source in sources(tree) if source.path in (PAGE, PICTURES)}
    found = {}
    if PAGE in text:
        table = text[PAGE].partition("const kCategories")[2].partition("};")[0]
        found[PAGE] = {name: tuple(map(int, rgb)) for name, *rgb in re.findall(r"(\w+): \[(\d+), (\d+), (\d+)\]", table)}
    if PICTURES in text:
        found[PICTURES] = dict(zip(ORDER, triples(text[PICTURES].partition("kCategoryPigments[kCategories] = ")[2].partition(";")[0])))
    return found


def categories_can_be_told_apart(tree):
    """Any two categories differ by LEAST, also for people who do not tell red, green or blue apart; the page and the pictures have the same colours."""
    found = palettes(tree)
    for path, colours in found.items():
        for (one, first), (other, second) in itertools.combinations(colours.items(), 2):
            for who, simulation in SIMULATIONS.items():
                apart = distance(lab(first, simulation), lab(second, simulation))
                if apart < LEAST:
                    yield f"{path}: {one} and {other} differ by {apart:.1f} for {who}, less than {LEAST}"
    if len({tuple(sorted(colours.items())) for colours in found.values()}) > 1:
        yield f"{PAGE} and {PICTURES} have different colours"


def stacks_have_one_order(tree):
    """The page and the pictures stack categories in the same order."""
    text = {source.path: source.text for source in sources(tree) if source.path in (PAGE, STACKS)}
    if len(text) == 2:
        pictures = re.findall(r"Category::k(\w+)", text[STACKS].partition("kOrder = {")[2].partition("};")[0])
        page = [name.replace("_", "") for name in palettes(tree)[PAGE]]
        if [name.upper() for name in pictures] != page:
            yield f"{PAGE} stacks {page}, {STACKS} {pictures}"


_PAGE = "const kCategories: Record = {\n  PARAMETER: [17, 97, 140],\n  INPUT: [35, 168, 100],\n};\n"
RULES = (
    Rule(
        categories_can_be_told_apart,
        (
            {PAGE: "const kCategories: Record = {\n  INPUT: [44, 160, 44],\n  ACTIVATION: [255, 127, 14],\n};\n"},
            {PAGE: _PAGE, PICTURES: "constexpr Pigment kCategoryPigments[kCategories] = {{17, 97, 140}, {35, 168, 101}};\n"},
        ),
    ),
    Rule(stacks_have_one_order, ({PAGE: _PAGE, STACKS: "  kOrder = {Category::kInput, Category::kParameter};\n"},)),
)
