// `temporalex build`: creates the bundle, loads it in a realm as a worker would, and writes it only
// if it loads.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { formatProblem, WorkflowLoadError } from "../../../modules/loader/errors.ts";
import { packageFolder } from "../../../modules/loader/package_files.ts";
import {
  bundleWorkflows,
  createWorkerRealm,
  type WorkerRealm,
  type WorkflowBundle,
} from "../../../realm/mod.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { Exit } from "../../frame/exit.ts";
import { configuredWorkflows } from "../../modules/workflow_modules.ts";
import { bytesText, counted } from "../store/sizes.ts";
import type { BuildCall } from "./options.ts";

export async function buildCommand(call: BuildCall): Promise<number> {
  const { options, io, print } = call;
  const progress = (text: string) =>
    io.errTerminal && !print.json && io.err(`${print.paint(text, "dim")}\n`);
  const workflows = options.workflows.length > 0
    ? found(call, options.workflows)
    : configuredWorkflows(io.cwd);
  const interceptors = found(call, options.interceptors);
  const converter = options.payloadConverter === undefined
    ? []
    : found(call, [options.payloadConverter]);
  progress("reading the modules");
  const bundle = await sound(() =>
    bundleWorkflows({
      workflows: workflows.map((path) => pathToFileURL(path)),
      interceptors: interceptors.map((path) => pathToFileURL(path)),
      ...(converter[0] === undefined ? {} : { payloadConverter: pathToFileURL(converter[0]) }),
    })
  );
  const bytes = new TextEncoder().encode(bundle.code);
  progress(`loading ${counted(bundle.modules.length, "module")}, ${bytesText(bytes.length)}`);
  const name = "/bundle.js";
  const realm = await sound(() =>
    createWorkerRealm({ workflows: name, sources: { [name]: bundle.code }, cacheSize: 0 })
  );
  try {
    for (const warning of bundle.warnings) {
      io.err(`warning: ${formatProblem({ ...warning, file: short(warning.file, io.cwd) })}\n`);
    }
    if (options.out === "-") io.out(bundle.code);
    else write(resolve(io.cwd, options.out), bytes);
    if (options.out !== "-") {
      print.result(resultOf(call, bundle, bytes, realm), () => summary(call, bundle, bytes, realm));
    }
  } finally {
    await realm.dispose();
  }
  return Exit.ok;
}

function found({ io }: BuildCall, modules: readonly string[]): string[] {
  const paths = modules.map((module) => resolve(io.cwd, module));
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`module not found: ${path}`);
  }
  return paths;
}

/** Reports errors of the loader as user errors. */
async function sound<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (e) {
    throw e instanceof WorkflowLoadError ? new CommandError(e.message) : e;
  }
}

/** Writes atomically: a worker that starts meanwhile reads the old file or the new one. */
function write(path: string, bytes: Uint8Array): void {
  const unfinished = `${path}.unfinished`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(unfinished, bytes);
    renameSync(unfinished, path);
  } catch (e) {
    rmSync(unfinished, { force: true });
    throw new CommandError(`${path} cannot be written: ${(e as Error).message}`);
  }
}

interface PackageSize {
  readonly name: string;
  readonly modules: number;
  readonly bytes: number;
}

/** Sizes by package, largest first; the application's own modules have the name "". */
function packagesOf({ modules }: WorkflowBundle): PackageSize[] {
  const sizes = new Map<string, PackageSize>();
  for (const { name: path, bytes } of modules) {
    const name = packageFolder(path)?.name ?? "";
    const before = sizes.get(name) ?? { name, modules: 0, bytes: 0 };
    sizes.set(name, { name, modules: before.modules + 1, bytes: before.bytes + bytes });
  }
  return [...sizes.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

function resultOf(
  call: BuildCall,
  bundle: WorkflowBundle,
  bytes: Uint8Array,
  realm: WorkerRealm,
): object {
  return {
    file: resolve(call.io.cwd, call.options.out),
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    workflowTypes: realm.workflowTypes,
    takesAnyType: realm.takesAnyType,
    modules: bundle.modules,
    packages: packagesOf(bundle).filter(({ name }) => name !== ""),
    warnings: bundle.warnings,
  };
}

function summary(
  { options, io, print }: BuildCall,
  bundle: WorkflowBundle,
  bytes: Uint8Array,
  realm: WorkerRealm,
): string {
  const file = short(resolve(io.cwd, options.out), io.cwd);
  const types = [
    ...realm.workflowTypes,
    ...(realm.takesAnyType ? ["any other type (the default export)"] : []),
  ];
  const rows = packagesOf(bundle).map(({ name, ...row }) => ({
    ...row,
    name: name === "" ? "your own" : name,
  }));
  const table = print.table(rows, [
    { title: "Modules of", cell: ({ name }) => name },
    { title: "Modules", right: true, cell: ({ modules }) => String(modules) },
    { title: "Size", right: true, cell: ({ bytes }) => bytesText(bytes) },
  ]);
  return `${table}workflows: ${types.join(", ")}\nwrote ${print.paint(file, "green")}, ${
    bytesText(bytes.length)
  }\n`;
}

function short(path: string, cwd: string): string {
  const from = relative(cwd, path);
  return from.startsWith("..") ? path : from;
}
