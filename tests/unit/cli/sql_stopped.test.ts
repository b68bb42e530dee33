// `temporalex sql` through a holder whose driver locks its file, and through `temporalex dev`: the
// same rows, the same errors; an endless query is stopped either way, while the engine continues.
// takes: 18 s
// promise: P6
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { delay } from "@std/async/delay";
import { askForRows, sqlMethod } from "../../../ts/app/sql/sql_method.ts";
import { findHolder } from "../../../ts/app/socket_path.ts";
import { lineTo } from "../../../ts/app/store_service.ts";
import { Interrupted } from "../../../ts/cli/frame/errors.ts";
import { startDevServer } from "../../../ts/dev/server.ts";
import { StoreReader } from "../../../ts/engine/maintenance/mod.ts";
import { SqlRefusedError } from "../../../ts/engine/sqlite/read_only_sql.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { open, type OpenOptions, silentLogger } from "../../../ts/mod.ts";
import { signal, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { hostile } from "../engine/support/hostile_sql.ts";
import { inFolder, sqliteDrivers } from "../engine/support/stores.ts";
import { until } from "../../support/until.ts";
import { run } from "./support/run.ts";

const go = signal("go");
const waits = workflow("waits", async () => await waitForSignal(go));
const ENDLESS =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
const ROWS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

interface Way {
  readonly name: string;
  readonly skip: string | false;
  with(
    folder: string,
    body: (where: readonly string[], commit: () => Promise<unknown>) => Promise<void>,
  ): Promise<void>;
  /** The same way without the command's own look at the statement. */
  ask(where: readonly string[], sql: string): Promise<unknown>;
}

function held(engine: NonNullable<OpenOptions["engine"]>, serve: boolean): Way["with"] {
  return async (folder, body) => {
    const store = join(folder, "game.sqlite");
    const app = await open({
      path: store,
      workflows: { waits },
      logger: silentLogger,
      serve,
      engine,
    });
    let n = 0;
    try {
      await app.served;
      await body(
        ["--store", store],
        () => app.client.start(waits, { id: `run-${++n}`, args: [], entityId: "42" }),
      );
    } finally {
      await app.close();
    }
  };
}

function readAlone(path: string, sql: string): unknown {
  const reader = StoreReader.open(path);
  try {
    return reader.sql(sql);
  } finally {
    reader.close();
  }
}

async function askOver(line: GrpcService, sql: string): Promise<unknown> {
  try {
    return await askForRows(
      line,
      { namespace: "default", sql, ms: 30_000 },
      new AbortController().signal,
    );
  } finally {
    line.close();
  }
}

const locks = sqliteDrivers.find(({ driver }) => driver === "node-sqlite3-wasm");
const shares = sqliteDrivers.find(({ driver, skip }) =>
  driver !== "node-sqlite3-wasm" && skip === false
);
const WAYS: readonly Way[] = [
  {
    name: "next to the holder",
    skip: shares === undefined ? "no driver here shares a file" : false,
    with: held({}, false),
    ask: ([, path], sql) => Promise.resolve().then(() => readAlone(path!, sql)),
  },
  {
    name: "through the holder",
    skip: locks?.skip ?? "no driver here locks its file",
    with: held({ driver: "node-sqlite3-wasm" }, true),
    ask: ([, path], sql) => askOver(lineTo(findHolder(path!)!), sql),
  },
  {
    name: "through a server",
    skip: false,
    ask: ([, address], sql) => askOver(new GrpcService({ address: address! }), sql),
    async with(folder, body) {
      const server = await startDevServer({
        port: 0,
        namespaces: ["default"],
        storeOf: (name) => join(folder, `${name}.sqlite`),
        logger: silentLogger,
        extra: (namespaces) => [sqlMethod((name) => namespaces.engineOf(name)?.store)],
      });
      let n = 0;
      const address = ["--address", `127.0.0.1:${server.port}`];
      const start = () =>
        run(["workflow", "start", "--type", "waits", "-t", "q", "-w", `run-${++n}`, ...address], {
          cwd: folder,
        });
      try {
        await body(address, start);
      } finally {
        await server.close();
      }
    },
  },
];

const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith("temporalex-sql-"));

for (const way of WAYS) {
  test(
    `${way.name}: the rows`,
    { skip: way.skip },
    () =>
      inFolder((folder) =>
        way.with(folder, async (where, commit) => {
          await commit();
          const sql = (statement: string, ...more: string[]) =>
            run(["sql", statement, ...where, ...more], { cwd: folder });
          const json = await sql(
            "SELECT id, 1.5 AS n, NULL AS void, x'0aff' AS bytes, 9e999 > 1 AS big FROM workflow",
            "--json",
          );
          assert.equal(json.code, 0, json.err);
          assert.deepEqual(JSON.parse(json.out), [{
            id: "run-1",
            n: 1.5,
            void: null,
            bytes: "0aff",
            big: 1,
          }]);
          assert.equal(
            (await sql("SELECT x'0aff' AS b, 'a,b' AS t", "--csv")).out,
            'b,t\r\n0aff,"a,b"\r\n',
          );
          assert.equal((await sql("SELECT 1 WHERE 0")).out, "no rows\n");
          const unknown = await sql("SELECT * FROM nowhere");
          assert.equal(unknown.code, 1);
          assert.match(unknown.err, /SQLite: .*no such table: nowhere/);
          await commit();
          assert.equal(
            (await sql("SELECT count(*) AS n FROM workflow", "--csv")).out,
            "n\r\n2\r\n",
          );
        })
      ),
  );

  test(
    `${way.name}: an endless query is stopped, and commits continue meanwhile`,
    { skip: way.skip },
    () =>
      inFolder((folder) =>
        way.with(folder, async (where, commit) => {
          await commit();
          const before = copies();
          const began = performance.now();
          const stopped = run(["sql", ENDLESS, ...where, "--timeout", "3s"], { cwd: folder });
          let commits = 0;
          let over = false;
          void stopped.then(() => over = true);
          while (!over) {
            await commit();
            commits++;
            await delay(50);
          }
          const { code, err } = await stopped;
          assert.equal(code, 1, err);
          assert.match(
            err,
            /the query was stopped after 3 s: reduce its work .*, or increase the --timeout/,
          );
          assert.ok(performance.now() - began >= 3_000);
          assert.ok(commits >= 3, `${commits} commits during the query`);
          const interrupt = new AbortController();
          const given = run(["sql", ENDLESS, ...where], {
            cwd: folder,
            interrupt: interrupt.signal,
          });
          setTimeout(() => interrupt.abort(new Interrupted()), 1_000);
          assert.equal((await given).code, 130);
          await commit();
          for (let i = 0; i < 50 && copies().length > before.length; i++) {
            await new Promise((done) => setTimeout(done, 100));
          }
          assert.deepEqual(copies(), before, "no copy is left");
        })
      ),
  );

  test(
    `${way.name}: rows and bytes of a result are bounded`,
    { skip: way.skip },
    () =>
      inFolder((folder) =>
        way.with(folder, async (where, commit) => {
          await commit();
          const many = await run(["sql", ROWS, ...where], { cwd: folder });
          assert.equal(many.code, 1);
          assert.match(many.err, /the result has more than 100000 rows: add a LIMIT/);
          const large = await run(["sql", "SELECT hex(zeroblob(9000000)) AS a", ...where], {
            cwd: folder,
          });
          assert.equal(large.code, 1);
          assert.match(large.err, /the result is larger than 16777216 bytes \(at row 1\)/);
          for (const time of ["0", "2h"]) {
            const never = await run(["sql", "SELECT 1", ...where, "--timeout", time], {
              cwd: folder,
            });
            assert.equal(never.code, 2);
            assert.match(never.err, /more than 0 and at most 60 min/);
          }
        })
      ),
  );

  test(
    `${way.name}: hostile statements are refused`,
    { skip: way.skip },
    () =>
      inFolder((folder) =>
        way.with(folder, async (where, commit) => {
          await commit();
          const other = join(folder, "other.db");
          const statements = hostile(other);
          assert.ok(statements.length >= 60);
          for (const [n, statement] of statements.entries()) {
            await assert.rejects(
              way.ask(where, statement),
              (e) => e instanceof SqlRefusedError,
              JSON.stringify(statement),
            );
            // The command's own look at the statement is the same for all ways.
            if (n % 3 !== WAYS.indexOf(way)) continue;
            const { code, err } = await run(["sql", statement, ...where], { cwd: folder });
            assert.equal(code, 2, `${JSON.stringify(statement)}: ${err}`);
          }
          assert.ok(!existsSync(other));
          assert.deepEqual(await way.ask(where, "SELECT count(*) AS n FROM workflow"), [{ n: 1 }]);
        })
      ),
  );
}

const children = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  } catch {
    return "";
  }
};
const alive = (pid: string): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
const noProc = existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
  ? false
  : "no /proc/<pid>/task/<pid>/children here";

test(
  "a query ends with its command, also by kill -9",
  { skip: noProc },
  () =>
    inFolder(async (folder) => {
      const store = join(folder, "game.sqlite");
      await (await open({ path: store, workflows: { waits }, logger: silentLogger, serve: false }))
        .close();
      const deno = process.versions["deno"] !== undefined;
      const program = fileURLToPath(
        new URL(`../../../ts/cli/main.${deno ? "ts" : "js"}`, import.meta.url),
      );
      const command = spawn(process.execPath, [
        ...(deno ? ["run", "-A"] : []),
        program,
        "sql",
        ENDLESS,
        "--store",
        store,
      ], {
        stdio: "ignore",
      });
      try {
        await until("the query runs", () => children(command.pid!) !== "");
        const query = children(command.pid!);
        assert.ok(alive(query));
        command.kill("SIGKILL");
        await until("the query has ended", () => !alive(query));
      } finally {
        command.kill("SIGKILL");
      }
    }),
);
