// Lanes that other parts lay over the run's own: what the code wanted where it parts from history, and what a branch did instead.
import { type Signal, signal } from "@preact/signals";
import type { GlyphKind } from "../ui/glyph.tsx";

export interface OverlayBar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
}

export interface OverlayLane {
  /** Tells lanes apart; a lane of the same key takes the place of the one before. */
  readonly key: string;
  /** The run that it is laid over: `OpenRun.key`. */
  readonly run: string;
  readonly label: string;
  /** Red for what parts from history, violet for what is not on record. */
  readonly kind: Extract<GlyphKind, "difference" | "whatIf">;
  readonly bars: readonly OverlayBar[];
}

export const overlays: Signal<readonly OverlayLane[]> = signal<readonly OverlayLane[]>([]);

/** Lays a lane over a run. Returns what takes it away again. */
export function overlay(lane: OverlayLane): () => void {
  const without = () => overlays.value.filter((other) => other !== lane);
  overlays.value = [...overlays.value.filter(({ key, run }) => key !== lane.key || run !== lane.run), lane];
  return () => (overlays.value = without());
}
