// What workflows, processes and the judge of the loop share.
export interface LocalKeyActivities {
  charge(customer: string): Promise<void>;
  tick(): Promise<void>;
}

/** Longer than any attempt, so that the rest of a limit can name the call. */
const BASE_MS = 60_000;
const CALLS = 10;

/** The limit of call `call` of the handler of message `number`, in milliseconds. */
export const limitOf = (number: number, call: number): number => BASE_MS + CALLS * number + call;

/** The call that a limit names. */
export function callOf(limitMs: number): { readonly number: number; readonly call: number } {
  const rest = limitMs - BASE_MS;
  return { number: Math.floor(rest / CALLS), call: rest % CALLS };
}

/** A message that a process sends. */
export interface KeyMessage {
  readonly workflowId: string;
  readonly kind: "pay" | "remind";
  readonly customer: string;
  readonly number: number;
}
