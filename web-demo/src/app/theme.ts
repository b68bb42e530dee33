// Light or dark: the system's choice until the reader makes another, which is kept.
import { effect, type Signal, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEY = "temporalex.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const kept = (): Theme | undefined => {
  // Storage is refused where a reader forbids it; the choice then lasts as long as the page.
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : undefined;
  } catch {
    return undefined;
  }
};

const chosen: Signal<Theme | undefined> = signal(kept());
const ofSystem: Signal<Theme> = signal(system.matches ? "dark" : "light");

export const theme = (): Theme => chosen.value ?? ofSystem.value;

/** Follows system and reader. */
export function watchTheme(): void {
  system.addEventListener("change", () => (ofSystem.value = system.matches ? "dark" : "light"));
  effect(() => {
    document.documentElement.dataset["theme"] = theme();
  });
}

export function switchTheme(): void {
  chosen.value = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, chosen.value);
  } catch {
    // It lasts as long as the page.
  }
}
