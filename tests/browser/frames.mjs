// How long frames take while the wheel zooms in and out over a part of a page, and what its browser takes of memory.

export async function zoomFrames(page, selector) {
  const box = await page.locator(selector).first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5);
  await page.waitForTimeout(1500);
  await page.evaluate(() => {
    window.frameTimes = [];
    let before = performance.now();
    const tick = (now) => {
      window.frameTimes.push(now - before);
      before = now;
      window.frameRequest = requestAnimationFrame(tick);
    };
    window.frameRequest = requestAnimationFrame(tick);
  });
  for (let i = 0; i < 40; ++i) {
    await page.mouse.wheel(0, i < 20 ? -120 : 120);
    await page.waitForTimeout(20);
  }
  const times = await page.evaluate(() => {
    cancelAnimationFrame(window.frameRequest);
    return window.frameTimes.slice(1).sort((a, b) => a - b);
  });
  return {median_frame_ms: Math.round(times[times.length >> 1]), longest_frame_ms: Math.round(times[times.length - 1])};
}

// Resident MiB of the processes that draw pages.
export async function rendererMebibytes(browser) {
  const {readFileSync} = await import('node:fs');
  const session = await browser.newBrowserCDPSession();
  const {processInfo} = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const kibibytes = processInfo.filter((one) => one.type === 'renderer').map((one) => {
    const status = readFileSync(`/proc/${one.id}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  });
  return Math.round(Math.max(0, ...kibibytes) / 1024);
}
