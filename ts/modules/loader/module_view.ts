// The exports of an ES module for one evaluation: as a namespace with own properties, and as a view
// that defines no properties and is therefore cheap. Most modules read imports by name, and
// programs are evaluated for each run.
import type { LoadedModule } from "./module_graph.ts";

export type Namespace = { readonly [name: string]: unknown };

/** Reads an export by its number (LoadedModule.exports). */
export type ReadExport = (number: number) => unknown;

export const READ = Symbol("read");
export const IMPORTS = Symbol("imports");

/**
 * Exports of an ES module, read by name. The properties are on the prototype, which all evaluations
 * share.
 */
export interface View {
  readonly [name: string]: unknown;
  [READ]: ReadExport;
  [IMPORTS]: readonly unknown[];
}

export type NewView = new () => View;

/** Returns the class of a module's views. */
export function viewClass({ exports, reexports }: LoadedModule): NewView {
  const View = function (this: View) {
    this[READ] = () => undefined;
    this[IMPORTS] = [];
  };
  const prototype = Object.create(null) as View;
  exports.forEach((name, number) =>
    define(prototype, name, function (this: View) {
      return this[READ](number);
    })
  );
  for (const [exported, request, name] of reexports) {
    define(prototype, exported, function (this: View) {
      const from = this[IMPORTS][request] as Namespace;
      return name === "*" ? from : from[name];
    });
  }
  View.prototype = prototype;
  return View as unknown as NewView;
}

/** Defines a getter on an object. */
export function define(namespace: object, name: string, get: () => unknown): void {
  Object.defineProperty(namespace, name, { get, enumerable: true, configurable: true });
}
