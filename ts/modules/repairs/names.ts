// Names in a module that a repair needs: the local name of `patched`, and a call of the old step by
// the module's proxy.
import type { AnyNode, CallExpression, Program } from "acorn";
import type { Step, StepKind } from "../../debug/divergence/types.ts";
import { children, patternNames } from "../loader/scope.ts";
import type { ParsedText } from "./parsed_text.ts";

const WORKFLOW = /^(?:temporalex|@temporalio)\/workflow$/;

/** Local name of a workflow API function, and the import to add if the module lacks it. */
export interface ApiName {
  readonly name: string;
  /** Lines to replace; undefined if no import must be added. */
  readonly added: {
    readonly first: number;
    readonly last: number;
    readonly lines: readonly string[];
  } | undefined;
}

export function apiName(text: ParsedText, name: string): ApiName {
  const imports = text.program.body.flatMap((one) =>
    one.type === "ImportDeclaration" && WORKFLOW.test(String(one.source.value)) ? [one] : []
  );
  for (const { specifiers } of imports) {
    for (const one of specifiers) {
      if (one.type === "ImportNamespaceSpecifier") {
        return { name: `${one.local.name}.${name}`, added: undefined };
      }
    }
  }
  // An unused name was removed with the types.
  const listed = listedName(text.lines.join("\n"), name);
  if (listed !== undefined) return { name: listed, added: undefined };
  const required = requiredName(text.program, name);
  if (required !== undefined) return { name: required, added: undefined };
  // `import type { ... }` was removed with the types.
  const lists = imports.filter(({ specifiers }) =>
    specifiers.some(({ type }) => type === "ImportSpecifier")
  );
  for (const { loc, source } of lists) {
    const [first, last] = [loc!.start.line, loc!.end.line];
    const lines = withImport(text.lines.slice(first - 1, last).join("\n"), name);
    if (lines !== undefined) return { name, added: { first, last, lines: lines.split("\n") } };
    return {
      name,
      added: {
        first,
        last: first - 1,
        lines: [`import { ${name} } from "${String(source.value)}";`],
      },
    };
  }
  const module = /["'](@temporalio\/workflow)["']/.exec(text.lines.join("\n"))?.[1] ??
    "temporalex/workflow";
  const at = /^#!/.test(text.lines[0] ?? "") ? 2 : 1;
  return {
    name,
    added: { first: at, last: at - 1, lines: [`import { ${name} } from "${module}";`] },
  };
}

/** Returns the local name in an import list. */
function listedName(text: string, name: string): string | undefined {
  for (
    const [, list] of text.matchAll(
      /\bimport\s*\{([^}]*)\}\s*from\s*["'](?:temporalex|@temporalio)\/workflow["']/g,
    )
  ) {
    for (const one of list!.split(",")) {
      const [, imported, as] = /^\s*([\w$]+)(?:\s+as\s+([\w$]+))?\s*$/.exec(one) ?? [];
      if (imported === name) return as ?? imported;
    }
  }
  return undefined;
}

/** `const wf = require("@temporalio/workflow")`, or its names destructured. */
function requiredName({ body }: Program, name: string): string | undefined {
  for (const one of body) {
    for (const { id, init } of one.type === "VariableDeclaration" ? one.declarations : []) {
      if (
        init?.type !== "CallExpression" || init.callee.type !== "Identifier" ||
        init.callee.name !== "require"
      ) continue;
      const [module] = init.arguments;
      if (module?.type !== "Literal" || !WORKFLOW.test(String(module.value))) continue;
      if (id.type === "Identifier") return `${id.name}.${name}`;
      if ([...patternNames(id)].some((known) => known.name === name)) return name;
    }
  }
  return undefined;
}

/** Returns the import with one more name; undefined if its list is not found. */
export function withImport(text: string, name: string): string | undefined {
  const [whole, list] = /\{([^}]*)\}/.exec(text) ?? [];
  if (whole === undefined || list === undefined) return undefined;
  const [head, tail] = [list.trimEnd().replace(/,$/, ""), /\s*$/.exec(list)![0]];
  const added = list.includes("\n")
    ? `${head},\n${/\n(\s*)/.exec(list)?.[1] ?? "  "}${name},${tail}`
    : `${head}, ${name}${tail || " "}`;
  return text.replace(whole, () => `{${added}}`);
}

const MAKERS: { readonly [kind in StepKind]?: RegExp } = {
  activity: /^(?:activities|proxyActivities)$/,
  localActivity: /^(?:localActivities|proxyLocalActivities)$/,
};

const calleeName = ({ callee }: CallExpression): string =>
  callee.type === "Identifier"
    ? callee.name
    : callee.type === "MemberExpression" && callee.property.type === "Identifier"
    ? callee.property.name
    : "";

/** A call that repeats an old step. */
export interface CallOfOld {
  readonly code: string;
  /** A comment marks where values from history belong. */
  readonly unfinished: boolean;
}

/** Returns undefined if the module has no proxy for the step. */
export function findCall(
  text: ParsedText,
  { kind, name, text: said, eventId }: Step,
): CallOfOld | undefined {
  const values = `/* as in event ${eventId} */`;
  const maker = MAKERS[kind];
  if (maker !== undefined) {
    for (const one of text.program.body) {
      const declared = one.type === "ExportNamedDeclaration" ? one.declaration : one;
      for (
        const { id, init } of declared?.type === "VariableDeclaration" ? declared.declarations : []
      ) {
        if (init?.type !== "CallExpression" || !maker.test(calleeName(init))) continue;
        if (id.type === "Identifier") {
          return { code: `await ${id.name}.${name}(${values});`, unfinished: true };
        }
      }
    }
    return undefined;
  }
  if (kind !== "timer") return undefined;
  const sleep = someCall(text.program as AnyNode, "sleep");
  const duration = /^a timer of (\S+ \S+)$/.exec(said)?.[1];
  if (sleep === undefined || duration === undefined) return undefined;
  return {
    code: `await ${text.plain(sleep.callee)}(${JSON.stringify(duration)});`,
    unfinished: false,
  };
}

function someCall(node: AnyNode, name: string): CallExpression | undefined {
  if (node.type === "CallExpression" && calleeName(node) === name) return node;
  for (const child of children(node)) {
    const found = someCall(child, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const isPatchCall = (call: CallExpression): boolean =>
  /^(?:patched|deprecatePatch)$/.test(calleeName(call));

/** Returns a predicate for calls of a step, for lines with several calls. */
export function makes(text: ParsedText, { kind, name }: Step): (call: CallExpression) => boolean {
  const named = (call: CallExpression) =>
    new RegExp(`(?<![\\w$])${escaped(name)}(?![\\w$])`).test(text.plain(call));
  switch (kind) {
    case "activity":
    case "localActivity":
      return (call) => calleeName(call) === name || (calleeName(call) !== "sleep" && named(call));
    case "timer":
      return (call) => /^(?:sleep|timer|condition|setTimeout)$/.test(calleeName(call));
    case "sideEffect":
      return (call) => /^(?:sideEffect|now|random|uuid4)$/.test(calleeName(call));
    case "child":
      return (call) => /^(?:execute|start)Child$/.test(calleeName(call));
    case "patch":
      return (call) => isPatchCall(call) && named(call);
    case "memo":
      return (call) => calleeName(call) === "upsertMemo";
    case "searchAttributes":
      return (call) => calleeName(call) === "upsertSearchAttributes";
    default:
      return () => true;
  }
}

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
