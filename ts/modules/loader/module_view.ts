// The exports of an ES module, for one evaluation of it: as a namespace, whose properties are its own, and as a view, which costs no
// definition of properties. Most modules read what they import by name, and programs are evaluated for each run.
import type { LoadedModule } from "./graph.ts";

export type Namespace = { readonly [name: string]: unknown };

/** Reads an export by its number (LoadedModule.exports). */
export type ReadExport = (number: number) => unknown;

export const READ = Symbol("read");
export const IMPORTS = Symbol("imports");

/** An ES module's exports for those that read them by name. Its properties are its prototype's, which all evaluations share. */
export interface View {
  readonly [name: string]: unknown;
  [READ]: ReadExport;
  [IMPORTS]: readonly unknown[];
}

export type NewView = new () => View;

/** The class of views of a module. */
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

/** Gives an object a property that is asked for each time. */
export function define(namespace: object, name: string, get: () => unknown): void {
  Object.defineProperty(namespace, name, { get, enumerable: true, configurable: true });
}
