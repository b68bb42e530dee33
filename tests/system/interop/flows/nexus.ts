// Native workflows that call the services of tests/system/interop/official/nexus.mjs.
import { isCancellation, nexus, sleep, workflow } from "../../../../ts/workflow/mod.ts";

interface Desk {
  "say-again"(text: string): string;
  nothing(): void;
  refuses(why: string): never;
  gives(): never;
  badRequest(): never;
  runs(how: string): string;
}
const desk = nexus<Desk>("desk", {
  endpoint: "desk",
  scheduleToClose: "1 minute",
});
/** As nexus-rpc makes it. */
const defined = nexus({
  name: "desk",
  operations: { echo: { name: "say-again" } },
}, { endpoint: "desk" });

const told = (error: unknown): string[] => {
  if (!(error instanceof Error)) return [];
  const { type, service, operation } = error as {
    type?: string;
    service?: string;
    operation?: string;
  };
  const more = [type, service, operation].filter((each) => each !== undefined);
  return [
    `${error.name}${more.length === 0 ? "" : ` ${more.join(".")}`}: ${error.message}`,
    ...told(error.cause),
  ];
};

/** Every end that an operation has, as the workflow sees it. */
export const nativeCaller = workflow("nativeCaller", async () => {
  const handle = await desk.runs.start("completes");
  return [
    await desk["say-again"].with({ summary: "asks", headers: { trace: "t" } })(
      "a",
    ),
    await defined.echo("b"),
    await desk.nothing() ?? "nothing",
    await desk.refuses("so").catch(told),
    await desk.gives().catch((
      error,
    ) => [isCancellation(error), ...told(error)]),
    await desk.badRequest().catch(told),
    [
      handle.service,
      handle.operation,
      handle.token !== "",
      await handle.result(),
    ],
  ];
});

export const nativeCancels = workflow(
  "nativeCancels",
  async (type: "tryCancel" | "waitCancellationRequested") => {
    const handle = await desk.runs.with({ cancellationType: type }).start(
      "waits",
    );
    await sleep(100);
    handle.cancel();
    return await handle.result().catch((
      error,
    ) => [isCancellation(error), ...told(error)]);
  },
);

/** Waits until it is cancelled. */
export const nativeWaits = workflow("nativeWaits", () => desk.runs("waits"));
