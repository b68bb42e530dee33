// Type tests of derived workflow ids and of failures that are found by type.
import { type Client, findFailure, isFailure } from "../../../ts/client/mod.ts";
import {
  type ApplicationFailure,
  signal,
  TimeoutFailure,
  workflow,
} from "../../../ts/workflow/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
const is = <T extends true>(): T => true as T;
const go = signal<[number]>("go");

const derived = workflow("Derived", {
  id: (name, count) => {
    is<Equal<typeof name, string>>();
    return `${name}-${count.toFixed()}`;
  },
  run: (name: string, count: number) => Promise.resolve(name.length + count),
});
const plain = workflow("Plain", { run: (name: string) => Promise.resolve(name) });

export async function starts(client: Client) {
  is<Equal<Awaited<ReturnType<typeof client.execute<typeof derived>>>, number>>();
  await client.start(derived, { args: ["a", 1] });
  await client.start(derived, { id: "x", args: ["a", 1] });
  await client.execute(derived, { args: ["a", 1] });
  await client.signalWithStart(derived, { args: ["a", 1], signal: go, signalArgs: [1] });
  // @ts-expect-error the arguments are needed
  await client.start(derived, {});
  // @ts-expect-error an id is needed
  await client.start(plain, { args: ["a"] });
  // @ts-expect-error an id is needed
  await client.signalWithStart(plain, { args: ["a"], signal: go, signalArgs: [1] });
  // @ts-expect-error a name derives no id
  await client.start("Derived", { args: ["a", 1] });
  // @ts-expect-error the id is a text
  workflow("W", { id: (n: number) => n, run: (n: number) => Promise.resolve(n) });
  // @ts-expect-error it gets the arguments of run
  workflow("W", { id: (n: number) => `${n}`, run: (n: string) => Promise.resolve(n) });
}

export function failures(error: unknown) {
  is<Equal<ReturnType<typeof findFailure<TimeoutFailure>>, TimeoutFailure | undefined>>();
  const stock = findFailure(error, "OutOfStock");
  is<Equal<typeof stock, ApplicationFailure | undefined>>();
  if (isFailure(error, TimeoutFailure)) is<Equal<typeof error, Error>>();
  // @ts-expect-error a class or a type
  isFailure(error, 5);
}
