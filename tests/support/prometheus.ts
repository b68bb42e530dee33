// A strict reader of Prometheus' text format 0.0.4: it takes nothing that a scraper might read in
// another way.

export interface Sample {
  readonly name: string;
  readonly labels: { readonly [name: string]: string };
  readonly value: number;
}

export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;

function labelsOf(text: string): { [name: string]: string } {
  const labels: { [name: string]: string } = {};
  for (let rest = text; rest !== "";) {
    const found = LABEL.exec(rest);
    if (found === null) throw new Error(`invalid labels: ${rest}`);
    const [whole, name, value] = found as unknown as [string, string, string];
    if (name in labels) throw new Error(`duplicate label ${name} in ${text}`);
    labels[name] = value.replace(/\\([\\"n])/g, (_, c) => c === "n" ? "\n" : c);
    rest = rest.slice(whole.length);
    if (rest === "" && whole.endsWith(",")) throw new Error(`a comma ends ${text}`);
  }
  return labels;
}

function valueOf(text: string): number {
  if (text === "+Inf") return Infinity;
  if (text === "-Inf") return -Infinity;
  if (text !== "NaN" && !/^-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/.test(text)) {
    throw new Error(`invalid value "${text}"`);
  }
  return Number(text);
}

/** The families of a scrape. Throws for whatever the format does not allow. */
export function parseExposition(text: string): Map<string, MetricFamily> {
  const families = new Map<string, MetricFamily>();
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line does not end");
  let current: { name: string; help: string; family: MetricFamily | undefined } | undefined;
  const seen = new Set<string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const help = /^# HELP (\S+) (.*)$/.exec(line);
    if (help !== null) {
      if (families.has(help[1]!)) throw new Error(`${help[1]} comes twice`);
      current = { name: help[1]!, help: help[2]!, family: undefined };
      continue;
    }
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) {
      if (current?.name !== type[1]) throw new Error(`a type without its help: ${line}`);
      current!.family = { type: type[2]!, help: current!.help, samples: [] };
      families.set(current!.name, current!.family);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) throw new Error(`invalid line: ${line}`);
    const [, name, labelText = "", value] = sample as unknown as [
      string,
      string,
      string | undefined,
      string,
    ];
    const family = current?.family;
    if (family === undefined) throw new Error(`a sample without a type: ${line}`);
    const suffix = name.slice(current!.name.length);
    const allowed = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    if (!name.startsWith(current!.name) || !allowed.includes(suffix)) {
      throw new Error(`${name} is not a ${current!.name}`);
    }
    const key = `${name}{${labelText}}`;
    if (seen.has(key)) throw new Error(`${key} comes twice`);
    seen.add(key);
    family.samples.push({ name, labels: labelsOf(labelText), value: valueOf(value) });
  }
  for (const [name, family] of families) {
    if (family.type === "histogram") checkHistogram(name, family);
  }
  return families;
}

/** Buckets rise, the last one is +Inf and as large as the count. */
function checkHistogram(name: string, { samples }: MetricFamily): void {
  const series = new Map<string, { buckets: [number, number][]; count?: number; sum?: number }>();
  for (const sample of samples) {
    const { le, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    if (!series.has(key)) series.set(key, { buckets: [] });
    const one = series.get(key)!;
    if (sample.name === `${name}_bucket`) one.buckets.push([valueOf(le!), sample.value]);
    else if (sample.name === `${name}_count`) one.count = sample.value;
    else one.sum = sample.value;
  }
  for (const [key, { buckets, count, sum }] of series) {
    if (count === undefined || sum === undefined) {
      throw new Error(`${name}${key} has no count or no sum`);
    }
    buckets.forEach(([bound, value], i) => {
      const [before, below] = buckets[i - 1] ?? [-Infinity, 0];
      if (bound <= before || value < below) {
        throw new Error(`the buckets of ${name}${key} do not rise`);
      }
    });
    const last = buckets.at(-1);
    if (last?.[0] !== Infinity || last[1] !== count) {
      throw new Error(`the last bucket of ${name}${key} is not all of ${count}`);
    }
  }
}

/**
 * The value of the only sample with these labels (it may have others); undefined without such a
 * sample.
 */
export function sampleOf(
  families: Map<string, MetricFamily>,
  name: string,
  labels: { readonly [name: string]: string } = {},
): number | undefined {
  const base = name.replace(/_(?:bucket|sum|count)$/, "");
  const family = families.get(name) ?? families.get(base);
  const found = family?.samples.filter((sample) =>
    sample.name === name &&
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  ) ?? [];
  if (found.length > 1) {
    throw new Error(`${found.length} samples of ${name} have the labels ${JSON.stringify(labels)}`);
  }
  return found[0]?.value;
}

/** The sum over all series of a name. */
export function totalOf(families: Map<string, MetricFamily>, name: string): number {
  const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  return (family?.samples ?? []).filter((sample) => sample.name === name).reduce(
    (sum, { value }) => sum + value,
    0,
  );
}
