// An in-memory metrics registry with Prometheus text output. Recording adds to a field; the text is
// built when it is scraped.
import type { Counter, Histogram, MetricLabels, Metrics } from "../base/metrics.ts";
import { bucketsOf, FAMILIES } from "./families.ts";

/** Options of {@link MetricsRegistry}. */
export interface MetricsRegistryOptions {
  /** Labels added to every series, such as the service's name. */
  labels?: MetricLabels;
  /**
   * Unit of durations. Temporal's SDKs on its Rust core report milliseconds, those for Java and Go
   * seconds. Default: "ms".
   */
  durations?: "ms" | "s";
  /** Upper bounds of buckets by histogram name, in milliseconds. Replaces the defaults. */
  buckets?: { readonly [name: string]: readonly number[] };
  /**
   * Maximum number of series per name; further ones are counted under labels with the value
   * "other". Default: 2000.
   */
  maxSeries?: number;
}

type Kind = "counter" | "gauge" | "histogram";

interface Series {
  write(lines: string[], name: string, labels: string): void;
}

interface FamilyState {
  readonly kind: Kind;
  readonly help: string;
  /** Keyed by labels as text. */
  readonly series: Map<string, Series>;
}

class CounterSeries implements Series, Counter {
  #value = 0;

  add(amount = 1): void {
    // Prometheus interprets a decreasing counter as a restart.
    if (amount > 0) this.#value += amount;
  }

  write(lines: string[], name: string, labels: string): void {
    lines.push(`${name}${braces(labels)} ${numberText(this.#value)}`);
  }
}

class GaugeSeries implements Series {
  /** Several workers of a process may report under the same labels: their values add up. */
  readonly readers = new Set<() => number>();

  write(lines: string[], name: string, labels: string): void {
    let sum = 0;
    for (const read of this.readers) sum += read();
    lines.push(`${name}${braces(labels)} ${numberText(sum)}`);
  }
}

class HistogramSeries implements Series, Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  readonly #divisor: number;
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[], divisor: number) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
    this.#divisor = divisor;
  }

  record(milliseconds: number): void {
    // A negative duration comes from clocks of two machines that differ; it counts as 0.
    const value = milliseconds > 0 ? milliseconds : 0;
    this.#sum += value;
    this.#count++;
    for (let i = 0; i < this.#bounds.length; i++) {
      if (value <= this.#bounds[i]!) {
        this.#counts[i]!++;
        return;
      }
    }
  }

  write(lines: string[], name: string, labels: string): void {
    const separator = labels === "" ? "" : ",";
    let below = 0;
    for (let i = 0; i < this.#bounds.length; i++) {
      below += this.#counts[i]!;
      lines.push(
        `${name}_bucket{${labels}${separator}le="${
          numberText(this.#bounds[i]! / this.#divisor)
        }"} ${below}`,
      );
    }
    lines.push(`${name}_bucket{${labels}${separator}le="+Inf"} ${this.#count}`);
    lines.push(`${name}_sum${braces(labels)} ${numberText(this.#sum / this.#divisor)}`);
    lines.push(`${name}_count${braces(labels)} ${this.#count}`);
  }
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Metrics in memory, as text for Prometheus and compatible scrapers. Pass it to clients and workers
 * (`metrics`), and respond to `GET /metrics` with `text()` and `contentType`. Applications can add
 * their own metrics.
 *
 * @example
 * const metrics = new MetricsRegistry();
 * const worker = await Worker.create({ service, taskQueue, workflows, metrics });
 * createServer((_, response) => {
 *   response.writeHead(200, { "content-type": metrics.contentType }).end(metrics.text());
 * }).listen(9090);
 */
export class MetricsRegistry implements Metrics {
  /** Content type of the text: Prometheus text format 0.0.4. */
  readonly contentType = "text/plain; version=0.0.4; charset=utf-8";
  readonly #options: MetricsRegistryOptions;
  readonly #divisor: number;
  readonly #maxSeries: number;
  readonly #families = new Map<string, FamilyState>();

  /** Throws a TypeError for invalid labels or buckets. */
  constructor(options: MetricsRegistryOptions = {}) {
    const { durations = "ms", buckets = {}, maxSeries = 2000 } = options;
    if (durations !== "ms" && durations !== "s") {
      throw new TypeError(`durations must be "ms" or "s", not "${durations}"`);
    }
    if (!Number.isInteger(maxSeries) || maxSeries < 1) {
      throw new RangeError(`maxSeries must be an integer of at least 1, not ${maxSeries}`);
    }
    labelText(options.labels ?? {});
    for (const [name, bounds] of Object.entries(buckets)) {
      if (
        bounds.length === 0 ||
        bounds.some((bound, i) => !Number.isFinite(bound) || (i > 0 && bound <= bounds[i - 1]!))
      ) {
        throw new TypeError(
          `the buckets of ${name} must be increasing numbers, not [${bounds.join(", ")}]`,
        );
      }
    }
    this.#options = options;
    this.#divisor = durations === "s" ? 1000 : 1;
    this.#maxSeries = maxSeries;
  }

  /** Returns a counter; the same object for the same name and labels. */
  counter(name: string, labels: MetricLabels = {}, help?: string): Counter {
    return this.#series("counter", name, labels, help, () => new CounterSeries());
  }

  /**
   * Returns a histogram of durations in milliseconds; the same object for the same name and labels.
   */
  histogram(name: string, labels: MetricLabels = {}, help?: string): Histogram {
    return this.#distribution(name, labels, help, this.#divisor);
  }

  /** Returns a histogram of values in any unit; the same object for the same name and labels. */
  values(name: string, labels: MetricLabels = {}, help?: string): Histogram {
    return this.#distribution(name, labels, help, 1);
  }

  #distribution(
    name: string,
    labels: MetricLabels,
    help: string | undefined,
    divisor: number,
  ): Histogram {
    if ("le" in labels) {
      throw new TypeError(`the label "le" of ${name} is reserved for the buckets`);
    }
    const bounds = this.#options.buckets?.[name] ?? bucketsOf(name);
    return this.#series(
      "histogram",
      name,
      labels,
      help,
      () => new HistogramSeries(bounds, divisor),
    );
  }

  /**
   * Registers a value that is read at each scrape, until the returned function is called. Several
   * readers of one series add up. A reader must not throw.
   */
  gauge(name: string, labels: MetricLabels, read: () => number, help?: string): () => void {
    const series = this.#series("gauge", name, labels, help, () => new GaugeSeries());
    series.readers.add(read);
    return () => void series.readers.delete(read);
  }

  /** Returns all series in Prometheus text format. */
  text(): string {
    const lines: string[] = [];
    for (
      const [name, { kind, help, series }] of [...this.#families].sort((
        [a],
        [b],
      ) => (a < b ? -1 : 1))
    ) {
      lines.push(
        `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
        `# TYPE ${name} ${kind}`,
      );
      for (const [labels, each] of series) each.write(lines, name, labels);
    }
    return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  }

  #series<T extends Series>(
    kind: Kind,
    name: string,
    labels: MetricLabels,
    help: string | undefined,
    make: () => T,
  ): T {
    let family = this.#families.get(name);
    if (family === undefined) {
      if (!NAME.test(name)) {
        throw new TypeError(
          `"${name}" is not a valid metric name; use letters, digits, "_" and ":"`,
        );
      }
      family = {
        kind,
        help: help ?? (Object.hasOwn(FAMILIES, name) ? FAMILIES[name]!.help : name),
        series: new Map(),
      };
      this.#families.set(name, family);
    }
    if (family.kind !== kind) {
      throw new TypeError(`the metric ${name} is already a ${family.kind}, not a ${kind}`);
    }
    const all = { ...this.#options.labels, ...labels };
    let key = labelText(all);
    let series = family.series.get(key);
    if (series === undefined) {
      // A label made from data would exhaust memory here and in the database of the scraper.
      if (family.series.size >= this.#maxSeries) {
        key = labelText({
          ...Object.fromEntries(Object.keys(labels).map((label) => [label, "other"])),
          ...this.#options.labels,
        });
        series = family.series.get(key);
      }
      if (series === undefined) family.series.set(key, series = make());
    }
    return series as T;
  }
}

function labelText(labels: MetricLabels): string {
  return Object.entries(labels).map(([name, value]) => {
    if (!LABEL.test(name)) {
      throw new TypeError(`"${name}" is not a valid label name; use letters, digits and "_"`);
    }
    return `${name}="${
      String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
    }"`;
  }).join(",");
}

const braces = (labels: string): string => (labels === "" ? "" : `{${labels}}`);

function numberText(value: number): string {
  return value === Infinity
    ? "+Inf"
    : value === -Infinity
    ? "-Inf"
    : Number.isNaN(value)
    ? "NaN"
    : String(value);
}
