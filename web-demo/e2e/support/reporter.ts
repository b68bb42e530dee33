// Prints one block per failure, figures that tests note, the time of each file, and a last line `N
// passed, N failed, N skipped`.
import { stripVTControlCharacters } from "node:util";
import type {
  FullResult,
  Reporter,
  TestCase,
  TestError,
  TestResult,
} from "@playwright/test/reporter";

export default class CountingReporter implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #seconds = new Map<string, number>();

  onTestEnd(test: TestCase, result: TestResult): void {
    const [, , file = "", ...names] = test.titlePath();
    const name = `${file} > ${names.join(" > ")}`;
    this.#seconds.set(file, (this.#seconds.get(file) ?? 0) + result.duration / 1000);
    for (const { type, description } of test.annotations) {
      if (type === "note") this.#say(`note: ${file}: ${description}`);
    }
    if (result.status === "skipped") {
      this.#counts.skipped++;
      const why = test.annotations.find(({ type }) => type === "skip")?.description;
      this.#say(`skipped: ${name}${why === undefined ? "" : ` (${why})`}`);
    } else if (test.ok()) this.#counts.passed++;
    else {
      this.#counts.failed++;
      this.#say(`not ok - ${name} (${(result.duration / 1000).toFixed(1)} s)`);
      for (const { message, stack, snippet } of result.errors) {
        this.#say(`${stack ?? message ?? ""}\n${snippet ?? ""}`);
      }
    }
  }

  onError(error: TestError): void {
    this.#counts.failed++;
    this.#say(`not ok - ${error.stack ?? error.message ?? String(error.value)}`);
  }

  onStdOut(chunk: string | Uint8Array): void {
    process.stdout.write(chunk);
  }

  onEnd(result: FullResult): void {
    if (result.status !== "passed" && this.#counts.failed === 0) {
      this.#counts.failed++;
      this.#say(`not ok - the run ended as "${result.status}"`);
    }
    for (const [file, seconds] of [...this.#seconds].sort(([, a], [, b]) => b - a)) {
      this.#say(`time: ${seconds.toFixed(1)} s ${file}`);
    }
    const { passed, failed, skipped } = this.#counts;
    this.#say(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }

  printsToStdio(): boolean {
    return true;
  }

  #say(text: string): void {
    process.stdout.write(`${stripVTControlCharacters(text)}\n`);
  }
}
