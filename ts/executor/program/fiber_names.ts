// Short names of fibers for display next to code: the same in stack frames, lanes and sentences.
import type { WatchedFiber } from "./line_probe.ts";

/**
 * `run`, `handler of add_item`, `async handler of pay`, `branch 2`, `arm 1`, `shield`: from kind
 * and label.
 */
export function fiberName(kind: WatchedFiber["kind"], label: string): string {
  switch (kind) {
    case "run":
    case "shield":
      return kind;
    case "handler":
    case "async": {
      const [, name = ""] = /^[^"]*"(.*)"$/s.exec(label) ?? [];
      return `${kind === "async" ? "async " : ""}handler of ${name}`;
    }
    case "branch":
    case "arm":
      return /^(?:branch|arm) \d+/.exec(label)?.[0] ?? kind;
  }
}
