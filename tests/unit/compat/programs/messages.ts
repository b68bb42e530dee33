// Signals and updates whose handlers suspend, side by side with each other and with the main
// function, and what they know of themselves.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
const add = wf.defineSignal<[string]>("add");
const ask = wf.defineUpdate<string, [string]>("ask");
const later = wf.defineUpdate<string, [string]>("later");
const stop = wf.defineSignal("stop");

function note(step: string): Promise<unknown> {
  const update = wf.currentUpdateInfo();
  return acts[`${step}${update === undefined ? "" : `#${update.name}.${update.id}`}`]!();
}

export async function messages(): Promise<string[]> {
  const log: string[] = [];
  let stopped = false;
  wf.setHandler(add, async (what) => {
    log.push(`add ${what}`);
    await note(`add.${what}`);
    await wf.sleep(5);
    await note(`added.${what}`);
    log.push(`added ${what}`);
  });
  wf.setHandler(ask, async (what) => {
    log.push(`ask ${what}`);
    const [inner] = await Promise.all([
      wf.CancellationScope.nonCancellable(async () => {
        await wf.sleep(5);
        await note(`ask.inner.${what}`);
        return what.toUpperCase();
      }),
      note(`ask.${what}`),
    ]);
    await note(`asked.${what}`);
    log.push(`asked ${what}`);
    return inner;
  }, {
    validator: (what) => {
      if (what === "bad") throw new Error("no");
    },
  });
  wf.setHandler(stop, () => {
    stopped = true;
  });
  await note("ready");
  await wf.condition(() => log.length > 1);
  await note("some");
  // Messages that came before their handler are dispatched by setHandler, in the middle of this
  // code.
  wf.setHandler(later, async (what) => {
    log.push(`later ${what}`);
    await note(`later.${what}`);
    return `${what}!`;
  });
  log.push("main");
  await wf.condition(() => stopped);
  await wf.condition(wf.allHandlersFinished);
  await note(`end.${log.length}`);
  return log;
}
