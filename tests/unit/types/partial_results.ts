// Type tests of partial results: code must tell a cancellation from a result.
import {
  isParallelCancellation,
  isReceiveCancellation,
  noreply,
  on,
  parallel,
  receive,
  type ReceiveResult,
  type ReceiveUntilResult,
  type Settled,
  signal,
} from "../../../ts/workflow/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
const is = <T extends true>(): T => true as T;
const bump = signal<[number]>("bump");

export async function receives() {
  const handlers = [on(bump, ([by], s: number) => noreply(s + by))];
  const plain = await receive(0, handlers, { onCancel: "return" });
  // @ts-expect-error a cancellation has no result
  plain.result;
  // @ts-expect-error a result has no state
  plain.state;
  if (plain.canceled) is<Equal<typeof plain.state, number>>();
  else is<Equal<typeof plain.result, number>>();
  const timed = await receive(0, handlers, { timeout: 5, onCancel: "return" });
  // @ts-expect-error only a narrowed outcome has the property
  timed.state;
  if (!timed.canceled) is<Equal<typeof timed.result, ReceiveResult<number>>>();
  const until = await receive(0, [on(bump, ([by], s) => noreply(s + by))], {
    until: (s) => s.toFixed() === "3",
    onCancel: "return",
  });
  if (!until.canceled) is<Equal<typeof until.result, ReceiveUntilResult<number>>>();
  const thrown = await receive(0, handlers, { onCancel: "throw" });
  is<Equal<typeof thrown, number>>();
  const explicit = await receive<number | undefined>(undefined, [], { onCancel: "return" });
  if (explicit.canceled) is<Equal<typeof explicit.state, number | undefined>>();
  // @ts-expect-error not a value of onCancel
  await receive(0, handlers, { onCancel: "keep" });
  await receive(0, handlers).catch((error) => {
    if (isReceiveCancellation<number>(error)) is<Equal<typeof error.state, number>>();
  });
}

export async function parallels() {
  const outcome = await parallel([() => 1, async () => "two"], { onCancel: "return" });
  // @ts-expect-error only a canceled outcome has results
  outcome.results;
  type Both = [Settled<number>, Settled<string>];
  if (outcome.canceled) is<Equal<typeof outcome.results, Both>>();
  else is<Equal<typeof outcome.result, Both>>();
  // @ts-expect-error a branch does not return handler results
  await parallel([() => 1, async () => noreply(1)], { onCancel: "return" });
  // @ts-expect-error unknown option
  await parallel([() => 1], { onCancell: "return" });
  // @ts-expect-error two arguments
  await parallel([() => 1], {}, 1);
  await parallel([() => 1, async () => "two"]).catch((error) => {
    if (isParallelCancellation<Both>(error)) is<Equal<typeof error.results, Both>>();
  });
}
