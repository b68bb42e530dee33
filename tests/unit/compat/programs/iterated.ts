// Async generators and for await across scopes. The official SDK compiles async generators to
// ES2017, which shows in the order of steps; one thing that it gets wrong is kept, because recorded
// histories have it: after return(), code behind an await in finally is lost.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
const names = new Map<wf.CancellationScope, string>();

function note(step: string): void {
  const where = names.get(wf.CancellationScope.current()) ?? "root";
  acts[`${step}@${where}`]!().catch(() => {});
}

function scoped<T>(name: string, fn: () => Promise<T>): Promise<T> {
  const scope = new wf.CancellationScope();
  names.set(scope, name);
  return scope.run(fn);
}

async function* ticks(name: string, n: number): AsyncGenerator<number, string> {
  try {
    for (let i = 0; i < n; i++) {
      await wf.sleep(10);
      note(`${name}.make.${i}`);
      yield i;
    }
    return name;
  } finally {
    note(`${name}.closed`);
    await wf.sleep(1);
    note(`${name}.closed.later`);
  }
}

async function* both(name: string): AsyncGenerator<number | string, void, string> {
  try {
    const answer = yield* ticks(`${name}.inner`, 2);
    note(`${name}.${answer}`);
    const sent = yield `${name}.ready`;
    note(`${name}.sent.${sent}`);
    for await (const value of [wf.sleep(5).then(() => "slept"), "plain"]) {
      if (value === "plain") continue;
      yield value;
    }
  } catch (e) {
    note(`${name}.caught.${(e as Error).message}`);
    yield "recovered";
  }
}

class Source {
  #n = 2;
  async *[Symbol.asyncIterator](): AsyncGenerator<number> {
    while (this.#n > 0) {
      await wf.sleep(2);
      yield this.#n--;
    }
  }
  static async *of(...values: string[]): AsyncGenerator<string> {
    for (const value of values) yield await Promise.resolve(value);
  }
}

export async function iterated(): Promise<void> {
  await Promise.all(["a", "b"].map((name) =>
    scoped(name, async () => {
      for await (const i of ticks(name, 3)) {
        note(`${name}.take.${i}`);
        if (i === 1 && name === "b") break;
        await Promise.resolve();
        note(`${name}.took.${i}`);
      }
      note(`${name}.end`);
    })
  ));
  const shared = ticks("shared", 5);
  await scoped("first", async () => note(`got.${(await shared.next()).value}`));
  await scoped("second", async () => {
    note(`got.${(await shared.next()).value}`);
    await wf.sleep(5);
    note("second.end");
  });
  await scoped("third", async () => {
    // Two requests at once: the second waits for the first.
    const [c, d] = await Promise.all([shared.next(), shared.next()]);
    note(`got.${c.value}.${d.value}`);
    await shared.return("early");
    note("returned");
  });
  const delegating = both("d");
  for (const sent of ["1", "2", "3", "4"]) {
    const { value, done } = await scoped(`send${sent}`, () => delegating.next(sent));
    note(`d.${value}.${done}`);
  }
  await scoped("thrower", async () => {
    const { value } = await delegating.throw(new Error("thrown"));
    note(`d.${value}`);
  });
  for await (const n of new Source()) note(`source.${n}`);
  outer: for (const round of [1, 2]) {
    for await (const text of Source.of("x", "y", "z")) {
      if (text === "y") continue outer;
      note(`${round}.${text}`);
    }
  }
  try {
    for await (const i of ticks("failing", 3)) {
      if (i === 1) throw new Error("body");
    }
  } catch (e) {
    note(`failed.${(e as Error).message}`);
  }
  for await (const value of [wf.sleep(10).then(() => "late"), "plain"]) note(value);
  note("end");
  await wf.sleep(1);
}
