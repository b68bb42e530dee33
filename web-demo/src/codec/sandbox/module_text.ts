// Turns a codec module into a function body, because the sandbox cannot import modules by URL.
// Types are removed, imports become calls, exports become assignments; line numbers stay.
import { type ModuleDeclaration, parse, type Statement } from "acorn";
import { transform } from "sucrase";
import { orderParameterProperties } from "../../../../ts/modules/loader/parameter_properties.ts";

type Edit = readonly [from: number, to: number, text: string];

/**
 * The body of `async ($import, $exports) => {...}`. Throws errors of the parser, with line and
 * column.
 */
export function functionBody(text: string): string {
  const stripped =
    transform(text, { transforms: ["typescript"], disableESTransforms: true, production: true })
      .code;
  const js = orderParameterProperties(text, stripped);
  const { body } = parse(js, { ecmaVersion: "latest", sourceType: "module" });
  const edits: Edit[] = [];
  // Exports are assigned at the end: a name can be defined after its export.
  const last: string[] = [];
  for (const node of body) edit(node, js, edits, last);
  let made = "", at = 0;
  for (const [from, to, replacement] of edits) {
    made += js.slice(at, from) + replacement +
      "\n".repeat(js.slice(from, to).split("\n").length - 1);
    at = to;
  }
  return `${made}${js.slice(at)}\n;${last.join("")}`;
}

function edit(
  node: Statement | ModuleDeclaration,
  js: string,
  edits: Edit[],
  last: string[],
): void {
  switch (node.type) {
    case "ImportDeclaration": {
      const parts = node.specifiers.flatMap((each) =>
        each.type === "ImportNamespaceSpecifier" ? [] : [
          [
            each.type === "ImportDefaultSpecifier" ? "default" : nameOf(each.imported),
            each.local.name,
          ] as const,
        ]
      );
      const namespace = node.specifiers.find(({ type }) => type === "ImportNamespaceSpecifier")
        ?.local.name;
      const call = callOf(node.source.value, parts.map(([name]) => name), js, node.start);
      const names = `{ ${
        parts.map(([name, local]) => `${JSON.stringify(name)}: ${local}`).join(", ")
      } }`;
      edits.push([
        node.start,
        node.end,
        namespace === undefined ? `const ${names} = ${call};` : `const ${namespace} = ${call};`,
      ]);
      if (namespace !== undefined && parts.length > 0) {
        last.unshift(`const ${names} = ${namespace};`);
      }
      return;
    }
    case "ExportDefaultDeclaration": {
      const { declaration } = node;
      const isNamed = /^(?:Function|Class)Declaration$/.test(declaration.type) &&
        "id" in declaration && declaration.id !== null;
      edits.push([node.start, declaration.start, isNamed ? "" : "$exports.default = "]);
      if (isNamed) {
        last.push(`$exports.default = ${(declaration.id as { readonly name: string }).name};`);
      }
      return;
    }
    case "ExportNamedDeclaration": {
      const { declaration, specifiers, source } = node;
      if (declaration !== null && declaration !== undefined) {
        edits.push([node.start, declaration.start, ""]);
        const ids = declaration.type === "VariableDeclaration"
          ? declaration.declarations.map(({ id }) => id)
          : [declaration.id];
        for (const id of ids) {
          if (id.type === "Identifier") last.push(`$exports.${id.name} = ${id.name};`);
        }
        return;
      }
      const from = source === null || source === undefined
        ? undefined
        : callOf(source.value, [], js, node.start);
      edits.push([node.start, node.end, ""]);
      for (const { local, exported } of specifiers) {
        const value = from === undefined
          ? nameOf(local)
          : `${from}[${JSON.stringify(nameOf(local))}]`;
        last.push(`$exports[${JSON.stringify(nameOf(exported))}] = ${value};`);
      }
      return;
    }
    case "ExportAllDeclaration":
      edits.push([node.start, node.end, `${callOf(node.source.value, [], js, node.start)};`]);
  }
}

const nameOf = (
  node: { readonly type: string; readonly name?: string; readonly value?: unknown },
): string => node.type === "Identifier" ? node.name! : String(node.value);

function callOf(specifier: unknown, names: readonly string[], js: string, at: number): string {
  const line = js.slice(0, at).split("\n").length;
  return `$import(${JSON.stringify(specifier)}, ${line}, ${JSON.stringify(names)})`;
}
