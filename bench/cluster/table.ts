// The cluster bench's results as a table: a row per measure, a column per worker with median
// (minimum to maximum), and how each worker of this package compares with the official worker's
// median.
import { type Spread, spread } from "../lib/measure.ts";
import type { Variant } from "./variants.ts";
import type { Samples } from "./measures.ts";

export interface Row {
  measure: string;
  /** True where more is better. */
  more: boolean;
  values: { [variant in Variant]?: Spread };
  /** Ours divided by the official worker's, by medians. */
  ratios: { [variant in Variant]?: number };
}

export function rows(samples: ReadonlyMap<Variant, Samples>): Row[] {
  const measures = new Set([...samples.values()].flatMap((of) => Object.keys(of)));
  return [...measures].map((measure) => {
    const values: Row["values"] = {};
    for (const [variant, of] of samples) {
      if (of[measure] !== undefined) values[variant] = spread(of[measure]);
    }
    const ratios: Row["ratios"] = {};
    const peer = values.official?.median;
    if (peer !== undefined && peer > 0) {
      for (const [variant, { median }] of Object.entries(values) as [Variant, Spread][]) {
        if (variant !== "official") ratios[variant] = Number((median / peer).toPrecision(2));
      }
    }
    return { measure, more: /\/s$/.test(measure), values, ratios };
  });
}

const TITLES: { [variant in Variant]: string } = {
  node: "ours, Node",
  deno: "ours, Deno",
  official: "official",
  sources: "official from sources",
};

export function table(all: readonly Row[], variants: readonly Variant[]): string {
  const cell = ({ values, ratios }: Row, variant: Variant) => {
    const value = values[variant];
    if (value === undefined) return "-";
    const range = value.min === value.max
      ? `${value.median}`
      : `${value.median} (${value.min} to ${value.max})`;
    return ratios[variant] === undefined ? range : `${range} = ${ratios[variant]}x`;
  };
  const lines = [
    ["", ...variants.map((variant) => TITLES[variant])],
    ...all.map((row) => [row.measure, ...variants.map((variant) => cell(row, variant))]),
  ];
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  return lines.map((line) => line.map((text, i) => text.padEnd(widths[i]!)).join("  ").trimEnd())
    .join("\n");
}
