// Types of calls of Nexus operations: those of the program's own nexus-rpc are taken as they are,
// by shape.
import {
  createNexusServiceClient,
  type NexusOperationHandle,
} from "../../../ts/compat/workflow/mod.ts";
import { nexus, type NexusOperationHandle as NativeHandle } from "../../../ts/workflow/mod.ts";

declare const inputBrand: unique symbol;
declare const outputBrand: unique symbol;

/** As nexus-rpc declares them. */
interface TypeInfo<T = unknown, D = T> {
  transferTypeConverter?: TransferTypeConverter<T, D>;
}
interface TransferTypeConverter<T, D = unknown> {
  fromTransferType(value: D): T;
  toTransferType(value: T): D;
}
interface OperationDefinition<I, O> {
  name: string;
  inputType?: TypeInfo<I, unknown>;
  outputType?: TypeInfo<O, unknown>;
  [inputBrand]: I;
  [outputBrand]: O;
}
interface ServiceDefinition<Ops> {
  name: string;
  operations: Ops;
}

declare const desk: ServiceDefinition<{
  ask: OperationDefinition<{ question: string }, number>;
  nothing: OperationDefinition<void, void>;
}>;

export async function calls(): Promise<void> {
  const client = createNexusServiceClient({ endpoint: "front", service: desk });
  const answer: number = await client.executeOperation("ask", { question: "why" }, {
    cancellationType: "ABANDON",
  });
  const again: number = await client.executeOperation(desk.operations.ask, { question: "why" });
  const handle: NexusOperationHandle<number> = await client.startOperation("ask", {
    question: "how",
  }, { summary: "asks" });
  const token: string | undefined = handle.token;
  const later: number = await handle.result();
  const nothing: void = await client.executeOperation("nothing", undefined);
  console.log(answer, again, token, later, nothing);
  // @ts-expect-error another input
  await client.executeOperation("ask", { question: 1 });
  // @ts-expect-error another input, of the definition
  await client.executeOperation(desk.operations.ask, 1);
  // @ts-expect-error no such operation
  await client.executeOperation("unheard", 1);
  // @ts-expect-error another result
  const wrong: string = await client.executeOperation("ask", { question: "why" });
  // @ts-expect-error no such cancellation type
  await client.startOperation("ask", { question: "why" }, { cancellationType: "NEVER" });
  // @ts-expect-error no such option
  await client.startOperation("ask", { question: "why" }, { taskQueue: "q" });
  console.log(wrong);
}

interface Desk {
  ask(input: { question: string }): number;
  later(): Promise<string>;
}

export async function native(): Promise<void> {
  const [defined, named] = [
    nexus(desk, { endpoint: "front" }),
    nexus<Desk>("desk", { endpoint: "front", scheduleToClose: "1m" }),
  ];
  const answer: number = await defined.ask({ question: "why" });
  const nothing: void = await defined.nothing();
  const again: number = await named.ask.with({ cancellationType: "abandon" })({ question: "why" });
  const handle: NativeHandle<string> = await named.later.start();
  const later: string = await handle.result();
  console.log(answer, nothing, again, later);
  // @ts-expect-error another input
  await defined.ask(1);
  // @ts-expect-error no input
  await named.ask();
  // @ts-expect-error no such operation
  await defined.unheard(1);
  // @ts-expect-error another result
  const wrong: string = await named.ask({ question: "why" });
  // @ts-expect-error no endpoint
  nexus<Desk>("desk", {});
  // @ts-expect-error no such option
  await named.later.with({ taskQueue: "q" })();
  console.log(wrong);
}
