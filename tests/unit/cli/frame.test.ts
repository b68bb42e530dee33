// The frame of the command line: words to values, messages, help, formats, interruption. On a table
// of the test's own.
import test from "node:test";
import assert from "node:assert/strict";
import { command, type Commands } from "../../../ts/cli/frame/command.ts";
import { dispatch } from "../../../ts/cli/frame/dispatch.ts";
import { CommandError, Interrupted } from "../../../ts/cli/frame/errors.ts";
import { nearestName } from "../../../ts/base/nearest_name.ts";
import { type Result, run as runWith, type RunOptions } from "./support/run.ts";

const COMMANDS: Commands = {
  order: {
    summary: "orders",
    fallback: "place",
    commands: {
      place: command({
        summary: "place an order",
        options: {
          workflowId: {
            type: "text",
            short: "w",
            value: "id",
            required: true,
            help: "Whose order",
          },
          type: { type: "text", aliases: ["name"], help: "What kind" },
          input: { type: "text", short: "i", many: true, help: "A value" },
          policy: {
            type: "text",
            choices: ["AllowDuplicate", "Fail"],
            default: "Fail",
            help: "What then",
          },
          limit: { type: "number", help: "How many" },
          timeout: { type: "duration", help: "How long" },
          store: { type: "text", env: "ORDER_STORE", help: "Where" },
          tls: { type: "flag", short: "t", help: "Whether" },
        },
        args: { name: "thing", many: true, help: "Things" },
        examples: [{ line: "temporalex order place -w 1", what: "the shortest" }],
        run({ options, args, print }) {
          print.result({ ...options, args }, () => `${options.workflowId} ${args.join(" ")}\n`);
          return Promise.resolve(0);
        },
      }),
      list: command({
        summary: "list orders",
        options: { none: { type: "flag", help: "None at all" } },
        examples: [{ line: "temporalex order list" }],
        run({ options, print }) {
          for (const n of options.none ? [] : [1, 2]) print.item({ n }, () => `${n}\n`);
          print.end();
          return Promise.resolve(0);
        },
      }),
    },
  },
  fail: command({
    summary: "fails",
    options: { how: { type: "text", required: true, help: "How" } },
    examples: [{ line: "temporalex fail" }],
    run({ options }) {
      if (options.how === "bug") throw new TypeError("undefined is not a function");
      throw new CommandError("the store is away", { cause: new Error("disk on fire") });
    },
  }),
  wait: command({
    summary: "waits for ever",
    options: { patience: { type: "duration", default: 90_000, help: "How long" } },
    examples: [{ line: "temporalex wait" }],
    run: () => new Promise(() => {}),
  }),
  drain: command({
    summary: "waits until it is stopped",
    options: {},
    drains: true,
    examples: [{ line: "temporalex drain" }],
    run: ({ signal, print }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          print.result({ drained: true }, () => "drained\n");
          resolve(0);
        })
      ),
  }),
};

const run = (args: readonly string[], options?: RunOptions): Promise<Result> =>
  runWith(args, options, (words, io) => dispatch(COMMANDS, words, io));
const values = async (...words: string[]) => {
  const result = await run(["order", "place", "--json", ...words], {
    env: { ORDER_STORE: "env.sqlite" },
  });
  assert.equal(result.code, 0, result.err);
  return JSON.parse(result.out) as { [name: string]: unknown };
};

test("arguments are parsed to typed values", async () => {
  assert.deepEqual(await values("-w", "1"), {
    json: true,
    color: "auto",
    help: false,
    workflowId: "1",
    input: [],
    policy: "Fail",
    store: "env.sqlite",
    tls: false,
    args: [],
  });
  const all = await values(
    ...[
      "--workflow-id=7",
      "--name",
      "Order",
      "-i",
      "1",
      "--input",
      "-2.5",
      "-i={}",
      "--policy",
      "allow_duplicate",
    ],
    ...["--limit", "3", "--timeout", "1.5h", "--store", "x", "-t", "a", "--", "-b"],
  );
  assert.deepEqual([all["workflowId"], all["type"], all["input"], all["policy"]], [
    "7",
    "Order",
    ["1", "-2.5", "={}"],
    "AllowDuplicate",
  ]);
  assert.deepEqual([all["limit"], all["timeout"], all["store"], all["tls"], all["args"]], [
    3,
    5_400_000,
    "x",
    true,
    ["a", "-b"],
  ]);
  assert.equal(
    (await values("-w1", "--timeout", "90"))["timeout"],
    90_000,
    "a bare number is seconds",
  );
  assert.equal((await values("-w1", "--tls=false"))["tls"], false);
  assert.equal((await values("-w=", "--input=--x"))["input"]?.toString(), "--x");
});

test("every unknown argument is reported by name with advice", async () => {
  for (
    const [words, expected] of [
      [
        ["ordre", "place"],
        /unknown command "ordre"; commands: order, fail, wait, drain\. Did you mean order\?/,
      ],
      [
        ["order", "plcae"],
        /unknown command "order plcae"; commands: place, list\. Did you mean place\?/,
      ],
      [["order", "place"], /--workflow-id <id> is missing; see temporalex order place --help/],
      [
        ["order", "-w", "1", "--lmit", "3"],
        /Unknown option '--lmit'\. Did you mean --limit\? \(see temporalex order place --help\)/,
      ],
      [["order", "-w", "1", "-x"], /Unknown option '-x'; see/],
      [["order", "-w"], /-w needs a value <id>/],
      [
        ["order", "-w", "1", "--limit", "--tls"],
        /--limit needs a value <number>; a value that begins with a dash is written --limit=--tls/,
      ],
      [["order", "-w", "1", "-w", "2"], /-w is given twice/],
      [["order", "-w", "1", "--tls=maybe"], /--tls takes no value \("maybe"\)/],
      [["order", "-w", "1", "--limit", "many"], /--limit is a number, not "many"/],
      [["order", "-w", "1", "--limit", ""], /--limit is a number/],
      [["order", "-w", "1", "--timeout", "soon"], /--timeout is a duration such as 30s/],
      [
        ["order", "-w", "1", "--policy", "Fial"],
        /--policy is one of AllowDuplicate, Fail, not "Fial"\. Did you mean Fail\?/,
      ],
      [["order", "list", "x"], /"x" is not expected here/],
      [["order", "place", "o-1"], /--workflow-id <id> is missing; see/],
      [["fail", "loud"], /--how <text> is missing \(did you mean --how loud\?\)/],
      [["place"], /unknown command "place"; .*\. Did you mean order place\?/],
      [["order", "list", "--json", "-o", "text"], /cannot be used together/],
      [["--json", "order", "list"], /options follow the command/],
      [["order", "place", "-w", "1", "--__proto__", "x"], /Unknown option '--__proto__'/],
      [["constructor"], /unknown command "constructor"/],
    ] as const
  ) {
    const result = await run(words);
    assert.equal(result.code, 2, words.join(" "));
    assert.equal(result.out, "", words.join(" "));
    const message = (words as readonly string[]).includes("--json")
      ? JSON.parse(result.err).error.message
      : result.err;
    assert.match(message, expected, words.join(" "));
  }
  assert.equal(nearestName("xyzzy", ["order", "fail"]), undefined);
  assert.equal(nearestName("--timeout", ["--input", "--execution-timeout"]), "--execution-timeout");
});

test("help exists for every command and is made from the table of commands", async () => {
  const all = await run([]);
  assert.equal(all.code, 2);
  assert.match(all.err, /^usage: temporalex <command>[^]*order +orders\n +place +place an order/);
  for (const words of [["--help"], ["-h"], ["help"]]) {
    assert.match((await run(words)).out, /^usage: temporalex <command>/);
  }
  assert.equal((await run(["order"])).code, 2);
  for (const words of [["order", "--help"], ["help", "order"]]) {
    const { code, out } = await run(words);
    assert.equal(code, 0);
    assert.match(
      out,
      /^usage: temporalex order <command>[^]*Default command: place/,
    );
  }
  for (
    const words of [["order", "place", "--help"], ["help", "order", "place"], [
      "order",
      "place",
      "--nope",
      "-h",
    ]]
  ) {
    const { code, out } = await run(words);
    assert.equal(code, 0, words.join(" "));
    assert.match(
      out,
      /^usage: temporalex order place --workflow-id <id> \[options\] \[thing\]\.\.\.\n/,
    );
    assert.match(out, /-w, --workflow-id <id> +Whose order \(required\)/);
    assert.match(out, /--type <text> +What kind \(also --name\)/);
    assert.match(out, /--store <text> +Where \(or ORDER_STORE\)/);
    assert.match(out, /Exit code: 0 success; 1 /);
    assert.match(out, /Examples:\n {2}# the shortest\n {2}temporalex order place -w 1\n/);
    assert.ok(
      out.split("\n").every((line) => line.length <= 100),
      "no line is wider than the terminal",
    );
  }
  assert.match(
    (await run(["wait", "--help"])).out,
    /--patience <duration> +How long \(default: 1m 30s\)/,
  );
  assert.match((await run(["--version"])).out, /^\d+\.\d+\.\d+\n$/);
});

test("output formats: text, one JSON document, JSON lines, none", async () => {
  assert.equal((await run(["order", "list"])).out, "1\n2\n");
  assert.deepEqual(JSON.parse((await run(["order", "list", "--json"])).out), [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(JSON.parse((await run(["order", "list", "--none", "-o", "json"])).out), []);
  assert.equal((await run(["order", "list", "-o", "jsonl"])).out, '{"n":1}\n{"n":2}\n');
  assert.equal((await run(["order", "list", "--output=none"])).out, "");
});

test("errors print a message and its cause, or an object for programs; only bugs print a stack trace", async () => {
  const failed = await run(["fail", "--how", "x"]);
  assert.deepEqual(failed, {
    code: 1,
    out: "",
    err: "temporalex: the store is away\n  because: disk on fire\n",
  });
  const json = await run(["fail", "--how", "x", "-o", "json"]);
  assert.equal(json.code, 1);
  assert.deepEqual(JSON.parse(json.err), {
    error: {
      name: "CommandError",
      message: "the store is away",
      cause: { name: "Error", message: "disk on fire" },
    },
  });
  assert.match(
    (await run(["fail", "--how", "x"], { env: { TEMPORALEX_DEBUG: "1" } })).err,
    /\n {4}at /,
  );
  const bug = await run(["fail", "--how", "bug"]);
  assert.equal(bug.code, 1);
  assert.match(bug.err, /undefined is not a function\nThis is a bug of temporalex[^]*\n {4}at /);
});

test("Ctrl-C stops a command, which can drain and choose its exit status", async () => {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const controller = new AbortController();
    const waiting = run(["wait"], { interrupt: controller.signal });
    controller.abort(new Interrupted(signal));
    assert.deepEqual(await waiting, { code, out: "", err: "" });
  }
  const controller = new AbortController();
  const draining = run(["drain"], { interrupt: controller.signal });
  controller.abort(new Interrupted());
  assert.deepEqual(await draining, { code: 0, out: "drained\n", err: "" });
});

test("names, ids and required values must not be empty; other texts may be", async () => {
  const empty = await run(["order", "place", "-w", ""]);
  assert.deepEqual([empty.code, empty.err], [
    2,
    "temporalex: --workflow-id is empty; see temporalex order place --help\n",
  ]);
  const other = await run(["order", "place", "-w", "1", "--type", "", "--json"]);
  assert.equal(other.code, 0, other.err);
  assert.equal(JSON.parse(other.out).type, "");
});
