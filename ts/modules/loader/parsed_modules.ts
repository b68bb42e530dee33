// Caches modules parsed for an earlier graph: a reload after an edit usually changes one of them.
import type { CompiledModule, Form, ModuleSource, ModuleUnit } from "./module_code.ts";
import { parseUnit } from "./parse_module.ts";

/** By address. */
export type ParsedModules = Map<
  string,
  { readonly source: ModuleSource; readonly unit: ModuleUnit }
>;

const FIELDS = ["text", "kind", "foreign", "stripped", "restoreFrames"] as const;
const probed = ({ probes }: ModuleSource) => probes === undefined ? "none" : [...probes].join();

/** Whether everything that parsing depends on is the same. */
function isSame(a: ModuleSource, b: ModuleSource): boolean {
  return FIELDS.every((field) => a[field] === b[field]) && probed(a) === probed(b);
}

/** Returns the cached module if nothing changed. Throws like `parseUnit`. */
export function parsedUnit(source: ModuleSource, parsed: ParsedModules | undefined): ModuleUnit {
  if (parsed === undefined) return parseUnit(source);
  const known = parsed.get(source.url);
  if (known !== undefined && isSame(known.source, source)) return known.unit;
  const unit = parseUnit(source);
  const compiled: { [form in Form]?: CompiledModule } = {};
  const kept = { ...unit, compile: (form: Form) => compiled[form] ??= unit.compile(form) };
  parsed.set(source.url, { source, unit: kept });
  return kept;
}
