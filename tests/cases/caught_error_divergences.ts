// A mistake that workflow code catches itself: the report names the error and the line that threw
// it, instead of the step that no longer comes.
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API, type RealmRun } from "./realm_host.ts";

const NATIVE_HEAD = `${API}const acts = api.activities({ startToClose: "1m" });
`;
const COMPAT_HEAD = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({ startToCloseTimeout: "1m" });
const sleep = wf.sleep;
`;

const BODY = `  const menu = { pizza: { price: 3 } };
  await sleep(1000);
  try {
    const { price } = menu.pizza;
    await acts.charge(price);
  } catch {
    await acts.refund();
  }`;

const FINALLY = `  const menu = { pizza: { price: 3 } };
  await sleep(1000);
  try {
    const { price } = menu.pizza;
    await acts.charge(price);
  } finally {
    await acts.refund();
  }`;

const native = (body: string): string =>
  `${NATIVE_HEAD}export const w = workflow("W", async () => {\n${body}\n});`;
const compat = (body: string): string => `${COMPAT_HEAD}export async function W() {\n${body}\n}`;

const natives = new EditedPrograms();
const compats = new EditedPrograms();

async function oneTimer(run: RealmRun): Promise<void> {
  await run.task();
  for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
  await run.task();
}

function checkMistake(before: string, sentence: RegExp): () => Promise<void> {
  const after = before.replace("= menu.pizza;", "= menu.pasta;");
  const line = after.split("\n").findIndex((text) => text.includes("menu.pasta")) + 1;
  const programs = before.startsWith(COMPAT_HEAD) ? compats : natives;
  const use = programs.add(before, after);
  return () =>
    use(async (edited) => {
      const { error } = await replayEdited(edited, oneTimer);
      equal(error!.divergence!.edit.kind, "failingCode", error!.sentence);
      match(error!.sentence!, sentence);
      const place = `${edited.path}:${line}:`;
      ok(error!.location.includes(place), `${place} ${error!.location}`);
    });
}

const CAUGHT = /calls activity refund where history has activity charge .* and caught it\.$/;
const PASSED =
  /calls activity refund where history has activity charge .*The code threw TypeError: /;

export const cases: Case[] = [
  ["native: a catch without a parameter", native(BODY), CAUGHT],
  ["native: a catch with a parameter", native(BODY.replace("catch {", "catch (e) {")), CAUGHT],
  ["native: a finally", native(FINALLY), PASSED],
  ["@temporalio/workflow: a catch", compat(BODY), CAUGHT],
  ["@temporalio/workflow: a finally", compat(FINALLY), PASSED],
].map(([name, program, sentence]) => ({
  name: `caught error divergences: ${name as string}`,
  run: checkMistake(program as string, sentence as RegExp),
}));
