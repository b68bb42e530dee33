// Workflows whose commands carry markers of event groups: of options, of scopes, of the message
// whose handler issues them.
// deno-lint-ignore-file no-explicit-any
import * as wf from "@temporalio/workflow";

const { createEventGroup } = wf;
const quiet = (promise: Promise<unknown>) => void promise.catch(() => {});
const groups = (...labels: string[]) => labels.map((label) => createEventGroup(label));
const remote = (eventGroups?: wf.EventGroupMarker[]) =>
  wf.proxyActivities<any>({ startToCloseTimeout: "1m", ...(eventGroups && { eventGroups }) });
const local = (eventGroups?: wf.EventGroupMarker[]) =>
  wf.proxyLocalActivities<any>({ startToCloseTimeout: "1m", ...(eventGroups && { eventGroups }) });
const go = wf.defineSignal<[]>("go");
const ask: wf.UpdateDefinition<string, [string]> = wf.defineUpdate("ask");
const late = wf.defineSignal<[]>("late");

/** Each option that takes groups, and what is cancelled again. */
export async function options(): Promise<void> {
  const [a, b] = groups("a", "b") as [wf.EventGroupMarker, wf.EventGroupMarker];
  await remote([a]).work("1");
  await remote([a]).work.executeWithOptions({ eventGroups: [b, a, b] }, ["2"]);
  await local([a, b]).work("3");
  await wf.sleep(1, { summary: "told", eventGroups: [b] });
  await wf.condition(() => false, 1, { eventGroups: [a] });
  quiet(
    wf.startChild("idle", {
      workflowId: `child-${wf.workflowInfo().workflowId}`,
      eventGroups: [a, b],
    }),
  );
  await remote([]).work("4");
  const scope = new wf.CancellationScope();
  quiet(scope.run(() =>
    Promise.all([
      remote([a]).slow(),
      wf.sleep("1h", { eventGroups: [b] }),
      wf.executeChild("idle", {
        workflowId: `cancelled-${wf.workflowInfo().workflowId}`,
        eventGroups: [b],
      }),
      remote().slow(),
    ])
  ));
  await wf.sleep(100);
  scope.cancel();
  await wf.sleep(1);
}

/**
 * Ids: order of numbers among names, the last label of an id, ASCII and other texts, a name that
 * all objects have.
 */
export async function ids(): Promise<void> {
  const named = (id: string, label = `label ${id}`) => createEventGroup(label, { id });
  await wf.sleep(1, { eventGroups: ["z", "10", "b", "2", "a"].map((id) => named(id)) });
  await wf.sleep(1, { eventGroups: [named("x", "first"), named("y"), named("x", "second")] });
  await named("s", "outer").withScope(() => wf.sleep(1, { eventGroups: [named("s", "direct")] }));
  await wf.sleep(1, { eventGroups: [named("constructor"), named("toString"), named("")] });
  await wf.sleep(1, { eventGroups: groups("", "Grüße, 世界 🎉", "x".repeat(300), "same", "same") });
  await wf.sleep(1, {
    eventGroups: [
      createEventGroup("unnamed", {}),
      createEventGroup("undefined id", { id: undefined as never }),
    ],
  });
}

/** Scopes: nested, side by side, over awaits, callbacks and functions of the program. */
export async function scopes(): Promise<unknown[]> {
  const [a, b, c] = groups("a", "b", "c") as [
    wf.EventGroupMarker,
    wf.EventGroupMarker,
    wf.EventGroupMarker,
  ];
  const seen: unknown[] = [];
  seen.push(
    await a.withScope(async () => {
      await wf.sleep(1);
      await b.withScope(async () => {
        await remote().work("both");
        await local().work("both");
        await c.withScope(() => wf.sleep(1, { eventGroups: [a] }));
      });
      await wf.sleep(1);
      return "answer";
    }),
  );
  await wf.sleep(1);
  await Promise.all([
    a.withScope(async () => {
      await remote().work("in a");
      await remote().work("still in a");
    }),
    b.withScope(async () => {
      await remote().work("in b");
      await remote().work("still in b");
    }),
    remote().work("in none"),
  ]);
  await a.withScope(() =>
    wf.sleep(1).then(() => remote().work("then")).catch(() => {}).finally(() => wf.sleep(1))
  );
  await a.withScope(async () => {
    await new Promise<void>((resolve) => setTimeout(() => resolve(wf.sleep(1)), 5));
    await wf.CancellationScope.nonCancellable(() => remote().work("in a scope of cancellation"));
    await wf.CancellationScope.withTimeout("1h", () => remote().work("with a timeout"));
    for await (const word of words()) await remote().work(word);
  });
  await a.withScope(() => Promise.reject(new Error("thrown"))).catch((error) =>
    seen.push(error.message)
  );
  const scope = new wf.CancellationScope();
  quiet(scope.run(() => b.withScope(() => wf.sleep("1h"))));
  await wf.sleep(1);
  await a.withScope(async () => scope.cancel());
  await wf.sleep(1);
  return seen;
}

async function* words(): AsyncGenerator<string> {
  yield "one";
  await wf.sleep(1);
  yield "two";
}

/** Every other command, in a scope and outside of one. */
export async function others(): Promise<void> {
  const all = async () => {
    wf.upsertMemo({ a: 1 });
    wf.upsertSearchAttributes({ GroupKeyword: ["x"] });
    quiet(wf.getExternalWorkflowHandle("unknown").signal("hello"));
    quiet(wf.getExternalWorkflowHandle("unknown").cancel());
    await wf.sleep(1);
  };
  await all();
  await groups("a")[0]!.withScope(async () => {
    wf.patched("in a");
    wf.deprecatePatch("gone");
    await all();
  });
  wf.patched("in none");
}

/** What handlers of messages issue, and the functions that they call. */
export async function messages(): Promise<void> {
  const outer = createEventGroup("outer");
  let left = 4;
  const done = () => void left--;
  const steps = async (what: string) => {
    await remote().work(what);
    wf.upsertMemo({ what });
    await outer.withScope(() => wf.sleep(1, { eventGroups: groups("direct") }));
    await local().work(what);
  };
  wf.setHandler(go, async () => {
    await steps("signal");
    done();
  });
  wf.setHandler(ask, async (what: string) => {
    await steps(what);
    done();
    return what;
  }, { validator: () => void createEventGroup("of a validator") });
  await outer.withScope(async () => {
    await wf.condition(() => left <= 2);
    // What waited is handled here, and does not take the groups of this code.
    wf.setHandler(late, async () => {
      await steps("late");
      done();
    });
    await wf.sleep(1);
    await wf.condition(() => left <= 1);
  });
  wf.setDefaultSignalHandler(async (name) => {
    await wf.sleep(1, { summary: name });
    done();
  });
  await wf.condition(() => left <= 0);
}

/** Continues as a new run, with groups of an option and of a scope. */
export async function continues(again = true): Promise<string> {
  if (!again) return "done";
  const [a, b] = groups("a", "b") as [wf.EventGroupMarker, wf.EventGroupMarker];
  await wf.sleep(1, { eventGroups: [a] });
  return await b.withScope(() =>
    wf.makeContinueAsNewFunc<typeof continues>({ eventGroups: [a], memo: { a: 1 } })(false)
  );
}

/** Continues as a new run in a handler. */
export async function continuesInHandler(again = true): Promise<string> {
  if (!again) return "done";
  wf.setHandler(go, () => wf.continueAsNew<typeof continuesInHandler>(false));
  await wf.condition(() => false);
  return "never";
}

/** A local activity that is tried again behind a timer. */
export async function backsOff(): Promise<void> {
  const tried = wf.proxyLocalActivities<any>({
    startToCloseTimeout: "1m",
    localRetryThreshold: "1ms",
    retry: { initialInterval: "100ms", backoffCoefficient: 1, maximumAttempts: 2 },
    eventGroups: groups("a"),
  });
  await groups("b")[0]!.withScope(() => tried.failsOnce());
}

/** Operations of Nexus services, of which one is cancelled. */
export async function nexus(): Promise<void> {
  const service = { name: "service", operations: { ask: { name: "ask" } } } as any;
  const client = wf.createNexusServiceClient({ endpoint: "desk", service });
  const [a, b] = groups("a", "b") as [wf.EventGroupMarker, wf.EventGroupMarker];
  const scope = new wf.CancellationScope();
  quiet(
    scope.run(() =>
      a.withScope(() =>
        client.startOperation("ask" as never, 1 as never, { eventGroups: [b], summary: "told" })
      )
    ),
  );
  quiet(client.startOperation("ask" as never, 2 as never));
  await wf.sleep(1);
  scope.cancel();
  await wf.sleep(1);
}

/** What the API says where it is used wrongly. */
export async function says(): Promise<string[]> {
  const said: string[] = [];
  const tries = async (fn: () => unknown) => {
    try {
      await fn();
      said.push("nothing");
    } catch (error) {
      said.push(`${(error as Error).constructor.name}: ${(error as Error).message}`);
    }
  };
  const bad = [{}] as any;
  await tries(() => wf.sleep(1, { eventGroups: bad }));
  await tries(() => remote(bad).work("x"));
  await tries(() => local(bad).work("x"));
  await tries(() => wf.startChild("idle", { workflowId: "never", eventGroups: bad }));
  await tries(() => wf.makeContinueAsNewFunc({ eventGroups: bad })());
  await tries(() => wf.sleep(1, { eventGroups: null as any }));
  await tries(() => wf.sleep(1, { eventGroups: [undefined] as any }));
  await tries(() => (createEventGroup as any)("label", null).withScope(() => wf.sleep(1)));
  await tries(() => createEventGroup("label").withScope(() => "not a promise" as any));
  await tries(() =>
    createEventGroup("label").withScope(() => {
      throw new TypeError("at once");
    })
  );
  return said;
}

/** Makes groups, to be replayed as a program that makes none and the other way round. */
export async function plain(): Promise<void> {
  await remote().work("1");
  await wf.sleep(1);
}

export async function idle(): Promise<void> {
  await wf.condition(() => false);
}
