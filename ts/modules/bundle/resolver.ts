// Resolves modules of bundles: their addresses are "bundle:///<name>", and their imports were
// resolved when the bundle was made.
import type { ModuleKind } from "../loader/module_code.ts";
import { type ModuleResolver, providedAs, type Resolution } from "../loader/resolve.ts";
import { addressOf, type BundleContent, type BundledModule } from "./format.ts";

/** Resolves modules of bundles, and other modules by the loader's resolver. */
export class BundleResolver implements ModuleResolver {
  readonly #others: ModuleResolver;
  readonly #modules = new Map<string, BundledModule>();

  constructor(others: ModuleResolver, bundles: readonly BundleContent[]) {
    this.#others = others;
    bundles.forEach(({ modules }, i) => {
      for (const module of modules) this.#modules.set(addressOf(i, module.name), module);
    });
  }

  /** Returns the text of a module, without types; undefined if no bundle contains it. */
  read(url: string): string | undefined {
    return this.#modules.get(url)?.text;
  }

  resolve(specifier: string, parent: string, how: "import" | "require" = "import"): Resolution {
    const module = this.#modules.get(parent);
    if (module === undefined || specifier === parent) {
      return this.#modules.has(specifier)
        ? { kind: "file", url: specifier }
        : this.#others.resolve(specifier, parent, how);
    }
    const targets = how === "import" ? module.imports : module.requires;
    const target = Object.hasOwn(targets, specifier) ? targets[specifier] : undefined;
    if (target === undefined) return this.#missing(specifier, how);
    if (target.startsWith("realm:")) return providedAs(target.slice("realm:".length));
    const url = parent.slice(0, parent.length - module.name.length) + target;
    return this.#modules.has(url) ? { kind: "file", url } : {
      kind: "refused",
      code: "not-found",
      message: `imports "${specifier}", and the bundle has no module ${target}`,
    };
  }

  /**
   * The module was missing when the bundle was made: CommonJS modules may require missing modules.
   */
  #missing(specifier: string, how: "import" | "require"): Resolution {
    const found = this.#others.resolve(specifier, "bundle:///", how);
    if (found.kind === "refused" && found.code !== "not-found") return found;
    const message = `${how}s "${specifier}", which was missing when the bundle was made`;
    return { kind: "refused", code: "not-found", message };
  }

  kindOf(url: string): ModuleKind | undefined {
    return this.#modules.get(url)?.kind ?? this.#others.kindOf(url);
  }

  takesDefault(url: string): boolean {
    const module = this.#modules.get(url);
    return module === undefined ? this.#others.takesDefault(url) : module.takesDefault === true;
  }

  packageOf(url: string): string | undefined {
    return this.#others.packageOf(url);
  }
}
