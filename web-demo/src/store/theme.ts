// Light or dark theme: that of the system until the user switches; the choice is stored.
import { effect, type Signal, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEY = "temporalex.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const kept = (): Theme | undefined => {
  // Storage can be blocked; the choice then lasts until a reload.
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

/** Applies the theme to the document on each change. */
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
    // Storage is blocked: the choice lasts until a reload.
  }
}
