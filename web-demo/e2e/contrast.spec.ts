// Text on the bars of the timeline can be read.
import { expect, test } from "./support/story.ts";

/** Runs in the page: texts of the timeline that are hard to read, with their contrast. */
function findPaleTexts(): readonly string[] {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  const colorOf = (css: string): readonly number[] => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (color: readonly number[]) => {
    const [r, g, b] = color.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const contrast = (a: readonly number[], b: readonly number[]) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light! + 0.05) / (dark! + 0.05);
  };
  const ground = colorOf(
    getComputedStyle(document.querySelector(".tl-svg")!.closest(".timeline")!)
      .getPropertyValue("--sheet"),
  );
  const rects = [...document.querySelectorAll<SVGRectElement>(".tl-svg rect")].filter((rect) =>
    !rect.matches(".tl-hit, .tl-gap, .tl-pencil, .tl-red, .tl-notch")
  );
  const found: string[] = [];
  for (const text of document.querySelectorAll<SVGTextElement>(".tl-svg text")) {
    const look = getComputedStyle(text);
    const own = colorOf(look.fill);
    // A halo of the ground is around each letter.
    if (look.paintOrder.startsWith("stroke") && look.stroke !== "none") {
      const kept = contrast(own, colorOf(look.stroke));
      if (kept < 4.5) found.push(`${text.textContent}: ${kept.toFixed(2)}`);
      continue;
    }
    const box = text.getBoundingClientRect();
    // The grounds below the text: bars in drawing order, each over the part that it covers.
    for (const share of [0.02, 0.25, 0.5, 0.75, 0.98]) {
      const x = box.left + box.width * share;
      const y = box.top + box.height / 2;
      let below = ground;
      for (const rect of rects) {
        const { left, right, top, bottom } = rect.getBoundingClientRect();
        if (x < left || x > right || y < top || y > bottom) continue;
        const part = Number(getComputedStyle(rect).fillOpacity);
        const fill = getComputedStyle(rect).fill;
        if (fill === "none") continue;
        const over = colorOf(fill);
        below = below.map((channel, i) => channel * (1 - part) + over[i]! * part);
      }
      const kept = contrast(own, below);
      if (kept < 4.5) found.push(`${text.textContent} (${text.classList}): ${kept.toFixed(2)}`);
    }
  }
  return found;
}

test("text on the bars of the timeline has a contrast of at least 4.5, light and dark", async ({ app }) => {
  const { page } = app;
  for (const id of ["shopping_cart", "event_collector", "batch_process"]) {
    for (const event of [1, 12, 99]) {
      await app.sample(id, event);
      await expect(page.locator(".tl-svg text").first()).toBeAttached();
      for (const theme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: theme });
        expect(await page.evaluate(findPaleTexts), `${id} at ${event}, ${theme}`).toEqual([]);
      }
    }
  }
});
