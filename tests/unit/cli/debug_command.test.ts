// `temporalex debug` as a process: what it serves and to which clients, what it prints when code is
// saved, that its editor link opens code only, that it follows a run of a store, and that it shuts
// down cleanly. web-demo/e2e/served.spec.ts tests the page itself.
import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request as ask } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startPageServer } from "../../../ts/cli/page/page_server.ts";
import { DebugRoutes } from "../../../ts/cli/commands/debug/routes.ts";
import { historiesOfFiles } from "../../../ts/cli/commands/debug/served_histories.ts";
import { type CodeVersion, ServedCode } from "../../../ts/cli/page/served_code.ts";
import type { PageVerdict } from "../../../ts/cli/commands/debug/routes.ts";
import { Verdicts } from "../../../ts/cli/commands/debug/verdicts.ts";
import type { ReplayLine } from "../../../ts/cli/commands/replay/line.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { open } from "../../../ts/mod.ts";
import { noreply, on, receive, signal, stop, workflow } from "../../../ts/workflow/mod.ts";
import { run } from "./support/run.ts";
import { inFolder, PAGE, poll, start } from "./support/debug_call.ts";

/** The checkout, from `tests/unit/cli` and from `dist/tests/unit/cli`. */
const ROOT = ["../../../", "../../../../"].map((up) => fileURLToPath(new URL(up, import.meta.url)))
  .find((
    path,
  ) => existsSync(join(path, "web-demo")))!;
const HISTORY = join(ROOT, "web-demo/samples/onboarding.json");
const EXAMPLE = join(ROOT, "examples/onboarding");

/** A project whose workflow replays its history while `step` is 1. */
function project(cwd: string): { step(value: string): void } {
  const step = (value: string) =>
    writeFileSync(join(cwd, "src/step.ts"), `export const step: number = ${value};\n`);
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "package.json"), "{}");
  copyFileSync(join(EXAMPLE, "activities.ts"), join(cwd, "src/activities.ts"));
  copyFileSync(HISTORY, join(cwd, "onboarding.json"));
  const text = readFileSync(join(EXAMPLE, "workflow.ts"), "utf8").replace(
    "await accounts.sendWelcome",
    "if (step === 1) $&",
  );
  writeFileSync(join(cwd, "src/workflow.ts"), `import { step } from "./step.ts";\n${text}`);
  step("1");
  return { step };
}

interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly text: string;
}

/** A request with the very path and headers that are given: fetch would tidy both up. */
function send(
  url: string,
  { method = "GET", headers = {}, body, path }: {
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    path?: string;
  } = {},
): Promise<Answer> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = ask({ hostname, port, path: path ?? pathname, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => text += part);
      response.on(
        "end",
        () => resolve({ status: response.statusCode!, headers: response.headers, text }),
      );
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function serving(body: (url: string, errors: Error[]) => Promise<void>): Promise<void> {
  const errors: Error[] = [];
  const server = await startPageServer({
    port: 0,
    page: PAGE,
    about: { by: "test", name: `a "quoted" <name> & more` },
    route: (path) =>
      path !== "data/echo" ? undefined : {
        method: "POST",
        handle: (bytes, _, response) => void response.end(bytes),
      },
    onError: (error) => errors.push(error),
  });
  try {
    await body(server.url, errors);
  } finally {
    await server.close();
  }
}

test("the page is served with its policy, is not cached, and knows its server", async () => {
  await serving(async (url) => {
    const { status, headers, text } = await send(url);
    assert.equal(status, 200);
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["content-security-policy"], "default-src 'none'; frame-ancestors 'none'");
    assert.match(text, /<p>here<\/p>/);
    assert.ok(
      text.includes('<meta name="temporalex-served" content="{&quot;by&quot;:&quot;test&quot;,'),
      text,
    );
    assert.doesNotMatch(text, /<name>/);
    const frame = await send(`${url}sandbox.html`);
    assert.equal(
      frame.headers["content-security-policy"],
      "sandbox allow-scripts; frame-ancestors 'self'",
    );
    assert.equal((await send(`${url}assets/a.js`, { method: "HEAD" })).text, "");
    assert.equal((await send(url, { method: "POST", body: "x" })).status, 405);
    assert.equal((await send(`${url}data/echo`)).status, 405);
  });
});

test("without the token of this start the server serves no page, file or data", async () => {
  await serving(async (url) => {
    const token = new URL(url).pathname.slice(1, -1);
    assert.match(token, /^[A-Za-z0-9_-]{43}$/);
    const { origin } = new URL(url);
    const tries = [
      "/",
      "/index.html",
      "/assets/a.js",
      "/data/echo",
      `/${token}`,
      `/${token.slice(1)}/`,
      `/${token}x/`,
      `/x${token}/`,
    ];
    tries.push(`/${"A".repeat(43)}/`, `//${token}/`, "/%2e%2e/", `/${token.toUpperCase()}/`);
    for (const path of tries) {
      const answer = await send(origin, { path });
      assert.equal(answer.status, 404, path);
      assert.match(answer.text, /^not found/);
      assert.ok(!answer.text.includes(token));
    }
  });
});

test("pages of other sites cannot reach the server, not even by DNS rebinding", async () => {
  await serving(async (url) => {
    const { port, origin } = new URL(url);
    const refusals: Record<string, string>[] = [
      { host: `evil.example:${port}` },
      { host: "evil.example" },
      { host: "127.0.0.1:1" },
      { host: `127.0.0.1.evil.example:${port}` },
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: "http://127.0.0.1:1" },
      { origin: `https://127.0.0.1:${port}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ];
    for (const headers of refusals) {
      for (const path of ["", "data/echo", "assets/a.js"]) {
        const answer = await send(url + path, {
          method: path === "data/echo" ? "POST" : "GET",
          headers,
        });
        assert.equal(answer.status, 403, JSON.stringify(headers));
        assert.equal(answer.headers["access-control-allow-origin"], undefined);
      }
    }
    for (
      const headers of [{ host: `localhost:${port}` }, { origin }, {
        "sec-fetch-site": "none",
      }] as Record<string, string>[]
    ) {
      assert.equal((await send(url, { headers })).status, 200, JSON.stringify(headers));
    }
  });
});

test("paths outside of the page's files are rejected, and bodies are limited", async () => {
  await serving(async (url, errors) => {
    const { pathname } = new URL(url);
    const paths = [
      "../package.json",
      "..%2fpackage.json",
      "assets/../../package.json",
      "assets//a.js",
      "/etc/passwd",
      "assets",
      "%00",
      "a\\..\\b",
    ];
    for (const path of [...paths, "constructor", "__proto__"]) {
      assert.equal((await send(url, { path: pathname + path })).status, 404, path);
    }
    assert.equal(
      (await send(`${url}data/echo`, { method: "POST", body: "x".repeat(4096) })).text.length,
      4096,
    );
    assert.equal(
      (await send(`${url}data/echo`, { method: "POST", body: "x".repeat(4097) })).status,
      413,
    );
    const endless = await send(`${url}data/echo`, {
      method: "POST",
      headers: { "transfer-encoding": "chunked" },
      body: "x".repeat(200_000),
    }).catch((error: Error & { code?: string }) => error.code);
    assert.ok(
      endless === "ECONNRESET" || endless === "EPIPE" || (endless as Answer).status === 413,
      String(endless),
    );
    assert.deepEqual(errors, []);
  });
});

test("saving a file or an imported file makes a new version; a load error is reported and the previous code stays", async () => {
  await inFolder(async (cwd) => {
    const { step } = project(cwd);
    const { histories } = await historiesOfFiles(["onboarding.json"], cwd, undefined);
    const modules = { workflows: [join(cwd, "src/workflow.ts")], interceptors: [] };
    const lines: { version: number; line: ReplayLine }[] = [];
    const versions: CodeVersion[] = [];
    const refusals: { version: number; file: string; line: number }[] = [];
    let show!: () => void;
    const shown = new Promise<void>((resolve) => show = resolve);
    const verdicts = new Verdicts(modules, (version, line) => lines.push({ version, line }));
    const code = new ServedCode(modules, {
      loaded(version) {
        versions.push(version);
        verdicts.take(
          version.version,
          version.host,
          histories,
          version.version === 1 ? shown : undefined,
        );
      },
      refused: (version, problems) =>
        refusals.push({ version, file: problems[0]!.file, line: problems[0]!.line }),
    });
    try {
      await code.load();
      assert.deepEqual(versions[0]!.files.map(({ path }) => path).toSorted(), [
        "src/step.ts",
        "src/workflow.ts",
      ]);
      assert.equal(versions[0]!.places.get("src/step.ts"), join(cwd, "src/step.ts"));
      assert.match(
        versions[0]!.files.find(({ path }) => path === "src/step.ts")!.text,
        /: number/,
        "as it was written",
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(lines.length, 0, "the page has its verdict first");
      show();
      assert.equal((await poll("the first verdict", () => lines[0])).line.verdict, "ok");
      step("2");
      await poll("the second version", () => versions[1]);
      assert.notEqual(
        (await poll("its verdict", () => lines.find(({ version }) => version === 2))).line.verdict,
        "ok",
      );
      step("");
      const refused = await poll("the refusal", () => refusals[0]);
      assert.deepEqual({ ...refused, file: refused.file.split("/").at(-1) }, {
        version: 3,
        file: "step.ts",
        line: 1,
      });
      assert.equal(versions.length, 2);
      rmSync(join(cwd, "src/step.ts"));
      await poll(
        "the refusal of what is missing",
        () => refusals.find(({ version }) => version > 3),
      );
      step("1");
      const last = await poll("the version that loads again", () => versions[2]);
      assert.equal(
        (await poll("its verdict", () => lines.find(({ version }) => version === last.version)))
          .line.verdict,
        "ok",
      );
    } finally {
      code.close();
      await verdicts.close();
    }
  });
});

test("the verdict of a page is printed once, and the command does not replay that history again", async () => {
  await inFolder(async (cwd) => {
    const { step } = project(cwd);
    const { histories } = await historiesOfFiles(["onboarding.json"], cwd, undefined);
    const { events } = histories[0]!.file;
    const modules = { workflows: [join(cwd, "src/workflow.ts")], interceptors: [] };
    const lines: { version: number; line: ReplayLine }[] = [];
    const verdicts = new Verdicts(modules, (version, line) => lines.push({ version, line }));
    let show!: () => void;
    const shown = new Promise<void>((resolve) => show = resolve);
    const versions: CodeVersion[] = [];
    const code = new ServedCode(modules, {
      loaded(version) {
        versions.push(version);
        verdicts.take(version.version, version.host, histories, shown);
      },
      refused: () => {},
    });
    const report = (verdict: Partial<PageVerdict>) =>
      verdicts.takeFromPage(
        { version: 1, index: 0, events, activations: 123, ...verdict },
        histories,
      );
    try {
      await code.load();
      // Another version, another history, and the history before it had new events.
      report({ version: 7 });
      report({ index: 1 });
      report({ events: events - 1 });
      assert.equal(lines.length, 0);
      report({});
      report({ activations: 124 });
      assert.deepEqual(
        lines.map(({ version, line: { verdict, activations } }) => [version, verdict, activations]),
        [[1, "ok", 123]],
      );
      show();
      step("2");
      await poll("the second version", () => versions[1]);
      const next = await poll("its verdict", () => lines[1]);
      assert.equal(next.version, 2, "the command has not replayed the first version");
      assert.notEqual(next.line.verdict, "ok");
    } finally {
      code.close();
      await verdicts.close();
    }
  });
});

test("a line is opened in the user's editor, only in files of the code", {
  skip: process.platform === "win32",
}, async () => {
  await inFolder(async (cwd) => {
    const editor = join(cwd, "code");
    writeFileSync(
      editor,
      `#!/bin/sh\nprintf '%s\\n' "$@" > "${join(cwd, "told.tmp")}" && mv "${
        join(cwd, "told.tmp")
      }" "${join(cwd, "told")}"\n`,
    );
    chmodSync(editor, 0o755);
    const routes = new DebugRoutes([], { VISUAL: `${editor} --reuse-window` });
    const file = join(cwd, "a file; touch x.ts");
    routes.code({
      ...{ version: 1, bundle: "", entry: "", files: [], warnings: [] },
      places: new Map([["src/a.ts", file]]),
      host: undefined as unknown as CodeVersion["host"],
    });
    const server = await startPageServer({
      port: 0,
      page: PAGE,
      about: {},
      route: (path) => routes.route(path),
      onError: (error) => assert.fail(error),
    });
    try {
      const post = (value: unknown, type = "application/json") =>
        send(`${server.url}data/open`, {
          method: "POST",
          headers: { "content-type": type },
          body: JSON.stringify(value),
        });
      assert.equal((await post({ file: "src/b.ts", line: 1 })).status, 404);
      assert.equal((await post({ file: file, line: 1 })).status, 404);
      assert.equal((await post({ file: "../../etc/passwd", line: 1 })).status, 404);
      assert.equal((await post({ file: "src/a.ts", line: "1; touch x" })).status, 400);
      assert.equal((await post({ file: "src/a.ts", line: -1 })).status, 400);
      assert.equal((await post({ file: "src/a.ts", line: 1 }, "text/plain")).status, 400);
      assert.equal((await post([])).status, 400);
      assert.ok(!existsSync(join(cwd, "told")));
      assert.equal((await post({ file: "src/a.ts", line: 12, column: 3 })).status, 204);
      await poll("the editor", () => existsSync(join(cwd, "told")) || undefined);
      assert.equal(readFileSync(join(cwd, "told"), "utf8"), `--reuse-window\n-g\n${file}:12:3\n`);
    } finally {
      routes.close();
      await server.close();
    }
  });
});

test("the command prints the address, each new verdict and each load error; Ctrl-C exits cleanly", async () => {
  await inFolder(async (cwd) => {
    const { step } = project(cwd);
    const started = start(
      ["onboarding.json", "--workflows", "src/workflow.ts", "--json"],
      cwd,
      PAGE,
    );
    try {
      const [{ url, ...line }] = [await poll("the address", () => started.lines()[0])];
      assert.deepEqual(line, { event: "started", histories: 1 });
      const verdict = (version: number) =>
        started.lines().find((found) => found.event === "verdict" && found.version === version);
      const { ms: _, ...first } = await poll("the first verdict", () => verdict(1));
      const named = { file: "onboarding.json", workflowType: "Onboarding", events: 17 };
      assert.deepEqual(
        { ...first, ...named },
        first,
        JSON.stringify(first),
      );
      assert.equal(first.verdict, "ok");
      step("2");
      const second = await poll("the second verdict", () => verdict(2));
      assert.equal(second.verdict, "nondeterminism");
      assert.match(second.error.location, /src\/workflow\.ts:\d+/);
      assert.ok(second.error.eventId > 0);
      step(";");
      const refused = await poll(
        "the refusal",
        () => started.lines().find(({ event }) => event === "refused"),
      );
      assert.deepEqual([refused.version, refused.problems[0].file, refused.problems[0].line], [
        3,
        join("src", "step.ts"),
        1,
      ]);
      const history = await send(`${url}data/history/0`);
      assert.equal(history.status, 200);
      assert.equal((await send(`${url}data/history/1`)).status, 404);
      const feed = await new Promise<string>((resolve, reject) => {
        const { hostname, port, pathname } = new URL(url);
        ask({ hostname, port, path: `${pathname}data/feed` }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => {
            text += part;
            if (text.includes("event: refused") && text.endsWith("\n\n")) resolve(text);
          });
          response.on("error", () => {});
        }).on("error", reject).end();
      });
      const code = JSON.parse(/event: code\ndata: (.*)\n/.exec(feed)![1]!);
      assert.equal(code.version, 2, "the code that loaded last");
      assert.match(code.bundle, /^\/\/ Workflow bundle of temporalex/);
      // The open stream does not hold the end up.
      started.stop();
      assert.deepEqual(await started.ended, { code: 0, out: "", err: "" });
      assert.deepEqual(started.lines().at(-1), { event: "stopped" });
      await assert.rejects(send(url), /ECONNREFUSED/);
    } finally {
      started.stop();
      await started.ended;
    }
  });
});

test("a changed history file is read and replayed again", async () => {
  await inFolder(async (cwd) => {
    project(cwd);
    const started = start(
      ["onboarding.json", "--workflows", "src/workflow.ts", "--json"],
      cwd,
      PAGE,
    );
    try {
      const { url } = await poll("the address", () => started.lines()[0]);
      const verdict = (events: number) =>
        started.lines().find((line) => line.event === "verdict" && line.events === events);
      await poll("the first verdict", () => verdict(17));
      const { length } = (await send(`${url}data/history/0`)).text;
      const { events } = JSON.parse(readFileSync(HISTORY, "utf8")) as { events: unknown[] };
      writeFileSync(join(cwd, "onboarding.json"), JSON.stringify({ events: events.slice(0, 11) }));
      const next = await poll("the verdict on the next export", () => verdict(11));
      assert.deepEqual([next.verdict, next.version], ["ok", 1]);
      assert.ok((await send(`${url}data/history/0`)).text.length < length);
    } finally {
      started.stop();
      await started.ended;
    }
  });
});

test("a run of a store that another process has open is followed until it ends", async () => {
  await inFolder(async (cwd) => {
    const go = signal("go");
    const waits = workflow("Waits", {
      messages: { go },
      async run() {
        return await receive(0, [on(go, (_, n) => n === 1 ? stop(n + 1) : noreply(n + 1))]);
      },
    });
    const app = await open({
      path: join(cwd, "shop.sqlite"),
      workflows: [waits],
      logger: silentLogger,
    });
    const handle = await app.client.start(waits, { id: "order-17", args: [] });
    const started = start(["--store", "shop.sqlite", "-w", "order-17", "--json"], cwd, PAGE);
    try {
      const { url } = await poll("the address", () => started.lines()[0]);
      const size = async () => (await send(`${url}data/history/0`)).text.length;
      const before = await size();
      assert.ok((await send(url)).text.includes("&quot;open&quot;:true"));
      await handle.signal(go);
      for (const until = performance.now() + 60_000; await size() === before;) {
        assert.ok(performance.now() < until);
      }
      const later = await size();
      await handle.signal(go);
      await handle.result();
      for (const until = performance.now() + 60_000; await size() === later;) {
        assert.ok(performance.now() < until);
      }
      started.stop();
      assert.equal((await started.ended).code, 0);
      const missing = start(["--store", "shop.sqlite", "-w", "order-18", "--json"], cwd, PAGE);
      const { code, err } = await missing.ended;
      assert.equal(code, 1);
      assert.match(err, /order-18/);
    } finally {
      started.stop();
      await started.ended;
      await app.close();
    }
  });
});

test("invalid command lines are rejected with the correct usage", async () => {
  await inFolder(async (cwd) => {
    writeFileSync(join(cwd, "text.json"), "no history");
    const refused = async (words: RegExp, ...args: string[]) => {
      const { code, err } = await run(["debug", "--no-open", ...args], { cwd });
      assert.equal(code, 2, err);
      assert.match(err, words);
    };
    await refused(/no history given: .*--workflow-id/);
    await refused(/cannot be used together/, "a.json", "-w", "order-17");
    await refused(/--run-id needs --workflow-id/, "a.json", "-r", "x");
    await refused(/module not found: .*nowhere\.ts/, "a.json", "--workflows", "nowhere.ts");
    await refused(/nowhere\.json: no such file/, "nowhere.json");
    await refused(/text\.json: /, "text.json");
    await refused(
      /--codec-header needs --codec-endpoint, for example --codec-endpoint http:/,
      "text.json",
      "--codec-header",
      "a: b",
    );
    await refused(
      /invalid --codec-endpoint "localhost:8888": expected a URL, for example http:/,
      "text.json",
      "--codec-endpoint",
      "localhost:8888",
    );
    await refused(/--port 70000/, "--port", "70000", "text.json");
  });
});
