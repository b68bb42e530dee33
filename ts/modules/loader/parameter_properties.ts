// Orders class fields and TypeScript parameter properties like the official bundler: parameters are
// assigned before field initializers run. sucrase assigns them in the constructor's body, so
// initializers would read `undefined`. Initializers move into private methods (`#$tp0() { this.t =
// this.n; }`), which the constructor calls, in derived classes after super(). Lines keep their
// numbers.
import {
  type AnyNode,
  type CallExpression,
  type Class,
  type Comment,
  parse,
  type PropertyDefinition,
} from "acorn";
import { Edits } from "./edits.ts";
import { freePrefix, Lines, textGap } from "./module_code.ts";
import { children, patternNames } from "./scope.ts";
import { UnsupportedSyntaxError } from "./unsupported_syntax.ts";

const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`;
/** The statements that sucrase writes for parameter properties. */
const ASSIGNMENTS = new RegExp(
  String.raw`;this\.(?<first>${NAME}) = \k<first>(?:;this\.(${NAME}) = \2)*;`,
  "gu",
);
/**
 * sucrase omits the assignments if the first super() in a constructor belongs to a nested class.
 */
const LOST = /\bconstructor\b[^]*?\bclass\b[^]*?\bsuper\s*\(/;
const MODIFIER = "(?:public|private|protected|readonly|override)";

/** Statements of sucrase that were cut out; a comment marks the place. */
interface Mark {
  readonly names: readonly string[];
  readonly text: string;
}

interface Constructor {
  readonly node: Extract<AnyNode, { type: "FunctionExpression" }>;
  readonly of: Class;
  /** Offset of its name. */
  readonly start: number;
}

/**
 * Returns the JavaScript of a TypeScript module with parameter properties assigned before fields.
 * `source`: the same module with types, on the same lines. Throws acorn's errors and an
 * UnsupportedSyntaxError.
 */
export function orderParameterProperties(source: string, js: string): string {
  if (!new RegExp(String.raw`\b${MODIFIER}\b`).test(source)) return js;
  const marks: Mark[] = [];
  const prefix = freePrefix(js, ["tp"]);
  const marked = js.replace(ASSIGNMENTS, (text) => {
    const names = [...text.matchAll(/;this\.([^ ]+) = /g)].map(([, name]) => name!);
    if (!names.every((name) => hasModifier(source, name))) return text;
    return `/*${prefix}tp${marks.push({ names, text }) - 1}*/`;
  });
  if (marks.length === 0 && !LOST.test(js)) return js;
  return new Classes(source, marked, marks, prefix).rewrite();
}

const hasModifier = (text: string, name: string): boolean =>
  new RegExp(
    String.raw`\b${MODIFIER}${textGap}${name.replaceAll("$", "\\$")}(?![\p{ID_Continue}$])`,
    "u",
  ).test(text);

class Classes {
  readonly #sourceLines: readonly string[];
  readonly #text: string;
  readonly #lines: Lines;
  readonly #marks: readonly Mark[];
  readonly #prefix: string;
  readonly #edits: Edits;
  readonly #constructors: Constructor[] = [];
  #methods = 0;

  constructor(source: string, text: string, marks: readonly Mark[], prefix: string) {
    this.#sourceLines = source.split("\n");
    this.#text = text;
    this.#lines = new Lines(text);
    this.#marks = marks;
    this.#prefix = `${prefix}tp`;
    this.#edits = new Edits(text);
  }

  rewrite(): string {
    const comments: Comment[] = [];
    const options = {
      ecmaVersion: "latest",
      sourceType: "module",
      allowHashBang: true,
      onComment: comments,
    } as const;
    const program = parse(this.#text, options) as AnyNode;
    this.#collect(program);
    const isMark = new RegExp(`^${this.#prefix.replaceAll("$", "\\$")}(\\d+)$`);
    const found = new Set<number>();
    const done = new Set<Constructor>();
    for (const { value, start } of comments) {
      const match = isMark.exec(value);
      if (match === null) continue;
      const { names } = this.#marks[Number(match[1])]!;
      const owner = this.#ownerOf(names, start);
      if (owner === undefined) continue;
      found.add(Number(match[1]));
      done.add(owner);
      this.#class(owner, names, program);
    }
    for (const each of this.#constructors) {
      if (done.has(each) || !hasClassWithSuper(each.node.body as AnyNode, false)) continue;
      const names = this.#parameters(each).filter(({ hasModifier }) => hasModifier).map((
        { name },
      ) => name);
      if (names.length > 0) this.#class(each, names, program);
    }
    const text = this.#edits.apply();
    // A mark outside of a constructor was part of the author's text.
    const mark = new RegExp(String.raw`/\*${this.#prefix.replaceAll("$", "\\$")}(\d+)\*/`, "g");
    return text.replace(
      mark,
      (_, n: string) => found.has(Number(n)) ? "" : this.#marks[Number(n)]!.text,
    );
  }

  #collect(node: AnyNode): void {
    if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
      for (const member of node.body.body) {
        if (member.type !== "MethodDefinition" || member.kind !== "constructor") continue;
        this.#constructors.push({ node: member.value, of: node, start: member.start });
      }
    }
    for (const child of children(node)) this.#collect(child);
  }

  /**
   * Returns the innermost constructor with these parameters around a mark: sucrase may place it at
   * the super() of a nested class.
   */
  #ownerOf(names: readonly string[], at: number): Constructor | undefined {
    const around = this.#constructors.filter(({ start, node }) => start <= at && at < node.end);
    return around.reverse().find((each) => {
      const parameters = this.#parameters(each);
      return names.every((name) =>
        parameters.some((parameter) => parameter.name === name && parameter.hasModifier)
      );
    });
  }

  #parameters(
    { node, start }: Constructor,
  ): { readonly name: string; readonly hasModifier: boolean }[] {
    return node.params.flatMap((param) =>
      [...patternNames(param)].map(({ name, end }) => {
        const written = this.#sourceLines.slice(this.#lines.line(start) - 1, this.#lines.line(end))
          .join("\n");
        return { name, hasModifier: hasModifier(written, name) };
      })
    );
  }

  #class({ of, node }: Constructor, names: readonly string[], program: AnyNode): void {
    this.#edits.insert(of.body.start + 1, names.map((name) => ` ${name};`).join(""));
    const calls = of.body.body.flatMap((member) =>
      member.type === "PropertyDefinition" && !member.static && member.value
        ? [this.#field(member, program)]
        : []
    );
    const work = [...names.map((name) => `this.${name} = ${name};`), ...calls].join("");
    const directives = node.body.body.filter((statement) =>
      "directive" in statement && statement.directive !== undefined
    );
    const head = directives.at(-1)?.end ?? node.body.start + 1;
    if (of.superClass === null || of.superClass === undefined) {
      return this.#edits.insert(head, `;${work}`);
    }
    const initialize = `${this.#prefix}${this.#methods++}`;
    this.#edits.insert(head, `;const ${initialize} = () => {${work}};`);
    this.#supers(node.body as AnyNode, [], `${initialize}()`);
  }

  /** Moves a field's initializer into a private method and returns the call of the method. */
  #field(member: PropertyDefinition, program: AnyNode): string {
    const key = member.key as AnyNode;
    const named = this.#text.slice(key.start, key.end);
    if (member.computed && !isConstant(key, program)) {
      const message =
        "a field with a computed name in a class with parameter properties: put the name into a top-level constant";
      throw new UnsupportedSyntaxError(message, this.#lines.line(member.start));
    }
    const place = member.computed || key.type === "Literal" ? `this[${named}]` : `this.${named}`;
    const before =
      new RegExp(String.raw`^(?:${textGap}[\])]?)*=`).exec(this.#text.slice(key.end))![0].length;
    const method = `#${this.#prefix}${this.#methods++}`;
    this.#edits.replace(key.end + before - 1, key.end + before, `; ${method}() { ${place} =`);
    this.#edits.insert(this.#text[member.end - 1] === ";" ? member.end - 1 : member.end, " }");
    return `this.${method}();`;
  }

  /** Inserts the call after each super() of a constructor's own code. */
  #supers(node: AnyNode, parents: readonly AnyNode[], call: string): void {
    if (node.type === "FunctionDeclaration" || node.type === "FunctionExpression") return;
    if (node.type === "ClassDeclaration" || node.type === "ClassExpression") return;
    const inside = [...parents, node];
    for (const child of children(node)) this.#supers(child, inside, call);
    if (node.type === "CallExpression" && (node.callee as AnyNode).type === "Super") {
      this.#afterSuper(node, parents, call);
    }
  }

  #afterSuper(node: CallExpression, parents: readonly AnyNode[], call: string): void {
    const parent = parents.at(-1)!;
    if (parent.type === "ExpressionStatement") return this.#edits.insert(node.end, `,${call}`);
    // A statement that began with a parenthesis would continue the previous one.
    const begins = parents.some(({ type, start }) =>
      type === "ExpressionStatement" && start === node.start
    );
    this.#edits.insert(node.start, begins ? "void 0,(" : "(");
    this.#edits.insert(node.end, `,${call},this)`);
  }
}

function hasClassWithSuper(node: AnyNode, inClass: boolean): boolean {
  if (inClass && node.type === "CallExpression" && (node.callee as AnyNode).type === "Super") {
    return true;
  }
  const inside = inClass || node.type === "ClassDeclaration" || node.type === "ClassExpression";
  return [...children(node)].some((child) => hasClassWithSuper(child, inside));
}

/** Whether a computed name always has the same value. */
function isConstant(key: AnyNode, program: AnyNode): boolean {
  if (key.type === "Literal") return true;
  if (key.type === "MemberExpression") {
    return key.object.type === "Identifier" && key.object.name === "Symbol" && !key.computed &&
      !isDeclared("Symbol", program);
  }
  return key.type === "Identifier" && isDeclared(key.name, program) &&
    !isDeclared(key.name, program, true);
}

/**
 * Whether the module declares the name anywhere. `variable`: other than by `const` or an import.
 */
function isDeclared(name: string, node: AnyNode, variable = false): boolean {
  const has = (...patterns: Parameters<typeof patternNames>[0][]) =>
    patterns.some((pattern) => [...patternNames(pattern)].some((id) => id.name === name));
  const own = (): boolean => {
    switch (node.type) {
      case "VariableDeclaration":
        return !(variable && node.kind === "const") &&
          has(...node.declarations.map(({ id }) => id));
      case "ImportDeclaration":
        return !variable && node.specifiers.some(({ local }) => local.name === name);
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return has(...node.params) || ("id" in node && node.id?.name === name);
      case "ClassDeclaration":
      case "ClassExpression":
        return node.id?.name === name;
      case "CatchClause":
        return node.param !== null && node.param !== undefined && has(node.param);
      default:
        return false;
    }
  };
  return own() || [...children(node)].some((child) => isDeclared(name, child, variable));
}
