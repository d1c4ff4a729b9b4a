"""The map of segments: one scale for all pools with a ruler, streams as numbers, and addresses when the reader asks for them."""

import re
import subprocess
import sys

from test_report_page import browser, memoir, of_page, shown

__all__ = ["browser"]  # a fixture

# A large segment on the default stream, and a smaller one on each of two other streams.
PROGRAM = """
import torch

kept = [torch.empty(256 << 20, dtype=torch.uint8, device="cuda")]
for mib in (64, 32):
    with torch.cuda.stream(torch.cuda.Stream()):
        kept.append(torch.empty(mib << 20, dtype=torch.uint8, device="cuda"))
"""

SEEN = """(await show(page, "segments"), await settle(page), {
  pools: await page.$$eval(".pool h3", (all) => all.map((one) => one.textContent)),
  ruler: await page.getAttribute(".ruler canvas", "aria-label"),
  lengths: await (async () => {
    const lengths = [];
    for (const canvas of await page.locator(".pool canvas").all()) {
      await canvas.scrollIntoViewIfNeeded();
      const box = await canvas.boundingBox();
      let length = 0;
      for (let x = 2; x < box.width; x += 8) {
        await page.mouse.move(box.x + x, box.y + 9);
        if (await page.isVisible("#tip")) length = x;
      }
      lengths.push(length / box.width);
    }
    return lengths;
  })(),
  rows: await page.$$eval(".segments tbody tr", (all) => all.map((row) => [row.cells[0].textContent, row.cells[0].title, row.cells[6].textContent])),
  asked: (await page.click(".segments button[data-value=addresses]"), await settle(page), {
    pools: await page.$$eval(".pool h3", (all) => all.map((one) => one.textContent)),
    rows: await page.$$eval(".segments tbody tr", (all) => all.map((row) => [row.cells[0].textContent, row.cells[6].textContent])),
  }),
})"""


def test_pools_have_one_scale_and_streams_have_numbers(tree, browser, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "-o", tmp_path / "capture", "--", sys.executable, tmp_path / "program.py"]
    assert subprocess.run(command, timeout=300).returncode == 0
    assert memoir(tree, "report", tmp_path / "capture", "-o", tmp_path / "report.html").returncode == 0
    seen = of_page(tmp_path / "report.html", SEEN)
    assert [text.partition(":")[0] for text in seen["pools"]] == ["default pool, stream 0", "default pool, stream 1", "default pool, stream 2"]
    assert seen["ruler"] == "ruler: a line has room for 256.0 MiB"
    for length, mib in zip(seen["lengths"], (256, 64, 32), strict=True):
        assert abs(length - mib / 256) < 0.01, seen["lengths"]
    addresses = {segment["address"] for device in shown(tree, "--at", "peak", "--by", "segment", tmp_path / "capture")["devices"] for segment in device.get("segments", [])}
    assert sorted(number for number, _, _ in seen["rows"]) == ["0", "1", "2"]
    assert {title for _, title, _ in seen["rows"]} == {f"at {address}" for address in addresses}
    assert sorted(stream for _, _, stream in seen["rows"]) == ["0", "1", "2"]
    assert {address for address, _ in seen["asked"]["rows"]} == addresses
    assert all(re.search(r"stream 0x[0-9a-f]+:", text) for text in seen["asked"]["pools"])
