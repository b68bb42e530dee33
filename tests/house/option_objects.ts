// Lists every option object of the public entries, from the declarations that `deno doc` reads. An
// option object is an object type that a caller writes: a parameter of an exported function,
// constructor or method, and a property of such an object.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

interface Type {
  readonly kind: string;
  // deno-lint-ignore no-explicit-any
  readonly value: any;
}
interface Reference {
  readonly typeName: string;
  readonly resolution?: {
    readonly kind: string;
    readonly specifier?: string;
    readonly name?: string;
  };
}
interface Parameter {
  readonly kind: string;
  readonly name?: string;
  readonly tsType?: Type;
  readonly left?: Parameter;
  readonly arg?: Parameter;
}
interface Callable {
  readonly params: readonly Parameter[];
  readonly accessibility?: string;
}
interface Declaration {
  readonly kind: string;
  readonly location: { readonly filename: string };
  // deno-lint-ignore no-explicit-any
  readonly def: any;
}
interface Symbol_ {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

/** What the properties of an object type are, and where it was declared. */
interface ObjectType {
  readonly properties: Map<string, { readonly type: Type | undefined; readonly file: string }>;
}

export const ENTRIES = ["workflow", "client", "testing", "activity"] as const;
/** Folders that declare types of those entries. */
const FOLDERS = [
  ...[
    "workflow",
    "client",
    "client/activities",
    "client/schedules",
    "testing",
    "activity",
    "converter",
    "service",
    "codec",
    "base",
    "engine",
    "worker",
    "worker/activities",
    "worker/nexus",
    "worker/polls",
    "worker/workflow",
  ],
  "executor/program",
  "executor/scheduler",
];
/** Types whose argument is the object. */
const TRANSPARENT = new Set([
  "Partial",
  "Required",
  "Readonly",
  "Omit",
  "Pick",
  "NoInfer",
  "NonNullable",
  "Exclude",
  "Promise",
  "Iterable",
]);
/** Values that the package makes, or that hold names of the caller's own. */
const VALUES = new Set([
  "SearchAttributeKey",
  "Metrics",
  "ClientInterceptor",
  "UpdateHandler",
  "SignalHandler",
  "Payload",
  "StandardSchemaV1",
  "NexusService",
  "Reducer",
  "Arm",
  "WorkflowHandle",
]);
/** Classes whose objects the package makes. */
const MADE_BY_THE_PACKAGE = new Set([
  "WorkflowHandle",
  "UpdateHandle",
  "ActivityClient",
  "ActivityHandle",
  "ScheduleHandle",
  "ScheduleClient",
  "WorkflowSet",
  "WorkerOptions",
]);

function documentation(
  deno: string,
  root: string,
  files: readonly string[],
  hidden: boolean,
): Symbol_[] {
  const args = ["doc", "--json", ...(hidden ? ["--private"] : []), ...files];
  const out = execFileSync(deno, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 1 << 28,
  });
  const { nodes } = JSON.parse(out.toString()) as {
    nodes: { [file: string]: { symbols: Symbol_[] } };
  };
  return Object.values(nodes).flatMap(({ symbols }) => symbols);
}

export class OptionObjects {
  readonly #declared = new Map<string, Declaration[]>();
  readonly #found = new Map<string, readonly string[]>();

  /** Positions with the names of their options: "workflow: activities(options).retry". */
  static list(deno: string, root: string): ReadonlyMap<string, readonly string[]> {
    const objects = new OptionObjects();
    const files = FOLDERS.map((folder) => `ts/${folder}`).filter((folder) =>
      existsSync(join(root, folder))
    )
      .flatMap((folder) =>
        readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts")).map((name) =>
          `${folder}/${name}`
        )
      );
    for (const { name, declarations } of documentation(deno, root, files, true)) {
      objects.#declared.set(name, [...objects.#declared.get(name) ?? [], ...declarations]);
    }
    for (const entry of ENTRIES) {
      for (const symbol of documentation(deno, root, [`ts/${entry}/mod.ts`], false)) {
        objects.#visitSymbol(entry, symbol);
      }
    }
    return objects.#found;
  }

  #visitSymbol(entry: string, { name, declarations }: Symbol_): void {
    const overloaded = declarations.filter(({ kind }) => kind === "function").length > 1;
    for (const { kind, def, location: { filename } } of declarations) {
      if (overloaded && def.hasBody) continue;
      const label = `${entry}: ${name}`;
      if (kind === "function") this.#visitParameters(label, def, filename);
      if (kind === "class") this.#visitClass(label, name, def, filename);
      if (kind === "interface") this.#visitMethods(label, def, filename);
      if (kind === "variable") this.#visitVariable(label, def, filename);
    }
  }

  // deno-lint-ignore no-explicit-any
  #visitVariable(label: string, { tsType }: any, file: string): void {
    if (tsType?.kind === "typeQuery") {
      const [declared] = (this.#declared.get("TestEnvironment") ?? []).filter(({ kind }) =>
        kind === "class"
      );
      if (tsType.value === "Environment" && declared !== undefined) {
        this.#visitClass(label, "TestEnvironment", declared.def, declared.location.filename);
      }
      return;
    }
    const declaration = tsType?.kind === "typeRef"
      ? this.#declarationOf(tsType.value, file)
      : undefined;
    if (declaration?.kind === "interface") {
      this.#visitMethods(label, declaration.def, declaration.location.filename);
    }
  }

  // deno-lint-ignore no-explicit-any
  #visitClass(label: string, name: string, def: any, file: string): void {
    if (!MADE_BY_THE_PACKAGE.has(name) && !/(Error|^(?!Application).*Failure)$/.test(name)) {
      for (const constructor of def.constructors ?? []) {
        if (constructor.accessibility !== "private") {
          this.#visitParameters(label, constructor, file);
        }
      }
    }
    for (const { name: method, functionDef, accessibility } of def.methods ?? []) {
      if (accessibility !== "private" && !/Within$/.test(method)) {
        this.#visitParameters(`${label}.${method}`, functionDef, file);
      }
    }
  }

  // deno-lint-ignore no-explicit-any
  #visitMethods(label: string, def: any, file: string): void {
    if (/(Interceptor|Operations|RawService|Logger|Codec|Converter)$/.test(label)) return;
    for (const method of def.methods ?? []) {
      this.#visitParameters(`${label}.${method.name}`, method, file);
    }
    for (const signature of def.callSignatures ?? []) this.#visitParameters(label, signature, file);
  }

  #visitParameters(label: string, { params }: Callable, file: string): void {
    for (const parameter of params) {
      const { left = parameter } = parameter;
      const type = left.tsType ?? parameter.arg?.tsType ?? parameter.tsType;
      if (parameter.kind !== "rest" && type !== undefined) {
        this.#visit(`${label}(${left.name ?? "options"})`, type, file, 0);
      }
      // `...options: [options?: ChildOptions]`
      if (parameter.kind === "rest" && type?.kind === "typeRef") {
        this.#visitTuple(label, type, file);
      }
    }
  }

  #visitTuple(label: string, type: Type, file: string): void {
    const declaration = this.#declarationOf(type.value, file);
    if (declaration?.kind !== "typeAlias") return;
    for (const tuple of alternatives(declaration.def.tsType)) {
      for (const element of tuple.kind === "tuple" ? tuple.value as Type[] : []) {
        this.#visit(`${label}(options)`, element, declaration.location.filename, 0);
      }
    }
  }

  #visit(position: string, type: Type, file: string, depth: number): void {
    if (depth > 6) return;
    for (const each of alternatives(type)) {
      const list = listOf(each);
      if (list !== undefined) this.#visit(`${position}[]`, list, file, depth + 1);
      else if (each.kind === "fnOrConstructor") {
        this.#visit(`${position}()`, each.value.tsType, file, depth + 1);
      } else this.#visitObject(position, each, file, depth);
    }
  }

  #visitObject(position: string, type: Type, file: string, depth: number): void {
    const object = this.#objectOf(type, file, 0);
    if (object === undefined || object.properties.size === 0) return;
    // What the package makes has a kind; a type whose property is a sentence is the message of a
    // type error.
    if ([...object.properties.keys()].some((name) => name === "kind" || name.includes(" "))) return;
    const before = this.#found.get(position) ?? [];
    this.#found.set(position, [...new Set([...before, ...object.properties.keys()])]);
    for (const [name, property] of object.properties) {
      if (property.type !== undefined) {
        this.#visit(`${position}.${name}`, property.type, property.file, depth + 1);
      }
    }
  }

  /**
   * The properties of an object type; undefined for every other type, and for objects with methods.
   */
  #objectOf(type: Type, file: string, depth: number): ObjectType | undefined {
    if (depth > 8) return undefined;
    if (type.kind === "parenthesized") return this.#objectOf(type.value, file, depth + 1);
    if (type.kind === "typeLiteral") return membersOf(type.value, file);
    if (type.kind === "intersection" || type.kind === "union") {
      return merged((type.value as Type[]).map((each) => this.#objectOf(each, file, depth + 1)));
    }
    if (type.kind === "conditional") {
      const { trueType, falseType } = type.value as { trueType: Type; falseType: Type };
      return merged([
        this.#objectOf(trueType, file, depth + 1),
        this.#objectOf(falseType, file, depth + 1),
      ]);
    }
    if (type.kind !== "typeRef" || VALUES.has(type.value.typeName)) return undefined;
    const { typeName, typeParams = [] } = type.value as { typeName: string; typeParams?: Type[] };
    if (TRANSPARENT.has(typeName)) {
      const object = this.#objectOf(typeParams[0]!, file, depth + 1);
      return object && withoutOmitted(typeName, typeParams[1], object);
    }
    const declaration = this.#declarationOf(type.value, file);
    if (declaration?.kind === "typeAlias") {
      return this.#objectOf(declaration.def.tsType, declaration.location.filename, depth + 1);
    }
    if (declaration?.kind !== "interface") return undefined;
    const { filename } = declaration.location;
    const own = membersOf(declaration.def, filename);
    if (own === undefined) return undefined;
    return merged([
      ...(declaration.def.extends ?? []).map((each: Type) =>
        this.#objectOf(each, filename, depth + 1)
      ),
      own,
    ]);
  }

  #declarationOf({ typeName, resolution }: Reference, file: string): Declaration | undefined {
    const isImport = resolution?.kind === "import";
    const declared = this.#declared.get(isImport ? resolution.name! : typeName) ?? [];
    const all = declared.filter(({ kind }) => kind === "interface" || kind === "typeAlias");
    const wanted = isImport ? new URL(resolution.specifier!, file).href : file;
    return all.find(({ location }) => location.filename === wanted) ?? all[0];
  }
}

/** The alternatives of a union, without those that only say that something is missing. */
function alternatives(type: Type): Type[] {
  switch (type.kind) {
    case "union":
      return (type.value as Type[]).flatMap(alternatives);
    case "conditional":
      return [...alternatives(type.value.trueType), ...alternatives(type.value.falseType)];
    case "parenthesized":
    case "optional":
      return alternatives(type.value);
    case "typeOperator":
      return alternatives(type.value.tsType);
    default:
      return [type];
  }
}

function listOf(type: Type): Type | undefined {
  if (type.kind === "array") return type.value as Type;
  return type.kind === "typeRef" && type.value.typeName === "Iterable"
    ? type.value.typeParams[0]
    : undefined;
}

// deno-lint-ignore no-explicit-any
function membersOf(def: any, file: string): ObjectType | undefined {
  const functions = (def.methods ?? []).length + (def.callSignatures ?? []).length;
  if (functions > 0 || (def.indexSignatures ?? []).length > 0) return undefined;
  const named = (def.properties ?? []) as { name: string; tsType?: Type }[];
  return { properties: new Map(named.map(({ name, tsType }) => [name, { type: tsType, file }])) };
}

function merged(objects: readonly (ObjectType | undefined)[]): ObjectType | undefined {
  const known = objects.filter((object) => object !== undefined);
  return known.length === 0
    ? undefined
    : { properties: new Map(known.flatMap(({ properties }) => [...properties])) };
}

/** `Omit` and `Pick` with literal names. */
function withoutOmitted(type: string, names: Type | undefined, object: ObjectType): ObjectType {
  if (names === undefined || (type !== "Omit" && type !== "Pick")) return object;
  const literal = new Set(alternatives(names).map(({ value }) => value?.string as string));
  return {
    properties: new Map(
      [...object.properties].filter(([name]) => literal.has(name) === (type === "Pick")),
    ),
  };
}
