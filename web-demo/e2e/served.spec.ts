// `temporalex debug`: the page uses the code on disk, saving a file updates the verdict, and an
// open run continues.
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type Place, test } from "./support/command.ts";
import { sample } from "./support/story.ts";

const workflow = (second: string) =>
  `import { activities, publishState, query, workflow } from "temporalex/workflow";
import type { steps } from "./steps.ts";
export const status = query<{ step: string }>("status");
const accounts = activities<typeof steps>({ startToClose: "10s", retry: { maximumAttempts: 5 } });
export const onboarding = workflow("Onboarding", {
  messages: { status },
  queries: { status: (published: { step: string }) => published },
  async run(input: { readonly userId: string }) {
    publishState({ step: "creating_account" });
    const account = await accounts.createAccount(input.userId);
    publishState({ step: "sending_welcome" });
    await accounts.${second}(account);
    publishState({ step: "done" });
    return { accountId: account.id };
  },
});
`;

function project(place: Place): void {
  place.write("package.json", "{}");
  place.write("onboarding.json", sample("onboarding"));
  place.write("workflow.ts", workflow("sendWelcome"));
  place.write(
    "steps.ts",
    `export declare const steps: { createAccount(id: string): Promise<{ id: string }>; sendWelcome(a: object): Promise<string>; sendMail(a: object): Promise<string> };\n`,
  );
}

const ARGS = [
  "debug",
  "onboarding.json",
  "--workflows",
  "workflow.ts",
  "--port",
  "0",
  "--no-open",
  "--json",
];

test("saving a file updates the verdict in the page and in the terminal; Ctrl-C ends the command", async ({ place, visit }) => {
  project(place);
  const command = place.start(ARGS);
  const { url } = await command.line(({ event }) => event === "started");
  const { page, watch } = await visit(url);
  const verdict = page.locator("#verdict");
  await expect(verdict).toHaveText(/Replays/);
  await expect(page.locator(".of-code")).toContainText("sendWelcome");
  // The command replays after the page has its verdict.
  const shown = page.waitForRequest(/\/data\/shown$/);
  place.write("workflow.ts", workflow("sendMail"));
  await expect(verdict).toHaveText(/Diverges/);
  expect((await shown).postDataJSON()).toEqual({ version: 2 });
  await expect(page.locator(".of-code")).toContainText("sendMail");
  expect((await command.line(({ version }) => version === 2)).verdict).toBe("nondeterminism");
  place.write("workflow.ts", "export const = 1;\n");
  await expect(verdict).toHaveText(/Not parsed, line 1/);
  await expect(page.locator("body")).toContainText("workflow.ts:1");
  await expect(page.locator(".of-code")).toContainText("sendMail");
  place.write("workflow.ts", workflow("sendWelcome"));
  await expect(verdict).toHaveText(/Replays/);
  await expect(page.locator("body")).not.toContainText("workflow.ts:1");
  await page.reload();
  await expect(verdict).toHaveText(/Replays/);
  // A new export replaces the file.
  place.write("onboarding.json", sample("onboarding").replaceAll("sendWelcome", "sendLetter"));
  await expect(verdict).toHaveText(/Diverges/);
  await expect(page.locator("body")).toContainText("sendLetter");
  expect(await command.end()).toBe(0);
  expect(command.lines.at(-1)).toEqual({ event: "stopped" });
  await expect(page.locator("body")).toContainText("temporalex debug has stopped");
  // The browser reports the end of the stream; other errors are not expected.
  for (const bad of watch.taken()) {
    expect(bad).toMatch(
      /^console: .*ERR_CONNECTION_REFUSED|^console: .*ERR_INCOMPLETE_CHUNKED|^console: .*ERR_EMPTY_RESPONSE/,
    );
  }
});

test("a line of code opens in the user's editor", async ({ place, visit }) => {
  project(place);
  place.write("code", `#!/bin/sh\nprintf '%s ' "$@" > '${join(place.cwd, "told")}'\n`);
  chmodSync(join(place.cwd, "code"), 0o755);
  const command = place.start(ARGS, { VISUAL: join(place.cwd, "code") });
  const { url } = await command.line(({ event }) => event === "started");
  const { page } = await visit(url);
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
  await page.evaluate(async () => {
    await fetch("data/open", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ file: "workflow.ts", line: 10 }),
    });
  });
  await expect.poll(() =>
    existsSync(join(place.cwd, "told")) ? readFileSync(join(place.cwd, "told"), "utf8") : ""
  ).toContain(
    "workflow.ts:10:1",
  );
});

test("without code the page shows the data of the history", async ({ place, visit }) => {
  project(place);
  const command = place.start(["debug", "onboarding.json", "--no-open", "--json"]);
  const { url } = await command.line(({ event }) => event === "started");
  const { page } = await visit(url);
  await expect(page.locator("#verdict")).toHaveText(/No code/);
  await expect(page.locator("#position")).toHaveText(/of 17/);
  const { events } = JSON.parse(sample("onboarding")) as { events: unknown[] };
  place.write("onboarding.json", JSON.stringify({ events: events.slice(0, 11) }));
  await expect(page.locator("#position")).toHaveText(/of 11/);
});
