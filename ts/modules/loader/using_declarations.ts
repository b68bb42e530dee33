// Compiles `using` and `await using` to try/finally, because Node 20 and 22 and older browsers
// cannot parse them. Disposal takes the microtask ticks of the official bundler's output in all
// runtimes. Lines keep their numbers: `{ using a = f(); work() }` becomes
//   {const $us0=$us();try{ const a =$us0.add(( f()),false); work() }catch($use){...}finally{...}}
import type { AnyNode, Program, VariableDeclaration, VariableDeclarator } from "acorn";
import { Edits } from "./edits.ts";
import { freePrefix, Lines, textGap } from "./module_code.ts";
import { children } from "./scope.ts";
import { UnsupportedSyntaxError } from "./unsupported_syntax.ts";

const MAY_USE = /\busing\b/;

/**
 * Creates the list of a block's resources. `PREFIX` becomes a name that the module does not use.
 */
const HELPER = [
  "function PREFIX(){const list=[];let error,failed=false,waits=0;",
  'const suppressed=(e,first)=>{const text="An error was suppressed during disposal.";',
  'if(typeof SuppressedError==="function")return new SuppressedError(e,first,text);',
  'return Object.assign(new Error(text),{name:"SuppressedError",error:e,suppressed:first})};',
  "const fail=(e)=>{error=failed?suppressed(e,error):e;failed=true};",
  "const end=()=>{for(let one;(one=list.pop())!==undefined;){try{",
  "if(!one.isAsync&&waits===1){waits=0;list.push(one);return Promise.resolve().then(end)}",
  "if(one.dispose===undefined){waits|=1;continue}",
  "const result=one.dispose.call(one.value);",
  "if(one.isAsync){waits|=2;return Promise.resolve(result).then(end,(e)=>{fail(e);return end()})}",
  "}catch(e){fail(e)}}",
  "if(waits===1)return failed?Promise.reject(error):Promise.resolve();if(failed)throw error};",
  "const add=(value,isAsync)=>{if(value===null||value===undefined){if(isAsync)list.push({isAsync});return value}",
  'if(typeof value!=="object"&&typeof value!=="function")throw new TypeError("using needs an object, null or undefined");',
  "let dispose=isAsync?value[Symbol.asyncDispose]:undefined;",
  "if(dispose===undefined){const own=dispose=value[Symbol.dispose];",
  'if(isAsync&&typeof own==="function")dispose=function(){try{own.call(this)}catch(e){return Promise.reject(e)}}}',
  'if(typeof dispose!=="function")throw new TypeError("using needs an object with a method [Symbol.dispose]");',
  "list.push({value,dispose,isAsync});return value};",
  "return{add,fail,end}}",
].join("");

/**
 * Returns the module without `using` declarations; unchanged if it has none. Throws an
 * UnsupportedSyntaxError for unsupported places.
 */
export function compileUsing(text: string, program: Program): string {
  return MAY_USE.test(text) ? new UsingCompiler(text).compile(program) : text;
}

const isUsing = (
  node: AnyNode | null | undefined,
): node is VariableDeclaration & { kind: "using" | "await using" } =>
  node?.type === "VariableDeclaration" && (node.kind === "using" || node.kind === "await using");

class UsingCompiler {
  readonly #text: string;
  readonly #edits: Edits;
  readonly #prefix: string;
  #blocks = 0;

  constructor(text: string) {
    this.#text = text;
    this.#edits = new Edits(text);
    this.#prefix = `${freePrefix(text, ["us"])}us`;
  }

  compile(program: Program): string {
    this.#refuse(
      program.body.find((statement) => isUsing(statement as AnyNode)) as AnyNode,
      "at the top level of a module",
    );
    this.#visit(program as AnyNode);
    if (this.#blocks === 0) return this.#text;
    return `${this.#edits.apply()};${HELPER.replace("PREFIX", () => this.#prefix)}`;
  }

  #visit(node: AnyNode): void {
    if (node.type === "BlockStatement" || node.type === "StaticBlock") this.#block(node);
    else if (node.type === "ForOfStatement" && isUsing(node.left as AnyNode)) {
      this.#loop(node.left as VariableDeclaration, node.body as AnyNode);
    } else if (node.type === "ForStatement" && isUsing(node.init as AnyNode | null)) {
      this.#refuse(node.init as AnyNode, "in the head of a `for` loop");
    }
    for (const child of children(node)) this.#visit(child);
  }

  #block(node: Extract<AnyNode, { type: "BlockStatement" | "StaticBlock" }>): void {
    const declarations = (node.body as AnyNode[]).filter(isUsing);
    if (declarations.length === 0) return;
    const list = `${this.#prefix}${this.#blocks++}`;
    const open = this.#text.indexOf("{", node.start) + 1;
    const directive = (node.body as AnyNode[]).filter((each) =>
      "directive" in each && each.directive !== undefined
    ).at(-1);
    this.#edits.insert(directive?.end ?? open, `;const ${list}=${this.#prefix}();try{`);
    for (const declaration of declarations) {
      const isAsync = declaration.kind === "await using";
      this.#keyword(declaration);
      for (const declarator of declaration.declarations) this.#value(declarator, list, isAsync);
    }
    this.#edits.insert(
      node.end - 1,
      this.#end(list, declarations.some(({ kind }) => kind === "await using")),
    );
  }

  #keyword({ start, kind }: VariableDeclaration): void {
    const length = kind === "using"
      ? kind.length
      : new RegExp(`^await${textGap}using`).exec(this.#text.slice(start))![0].length;
    this.#edits.replace(start, start + length, "const");
  }

  #value({ id, end }: VariableDeclarator, list: string, isAsync: boolean): void {
    const equals = id.end + new RegExp(`^${textGap}=`).exec(this.#text.slice(id.end))![0].length;
    this.#edits.insert(equals, `${list}.add((`);
    this.#edits.insert(end, `),${isAsync})`);
  }

  #loop(left: VariableDeclaration, body: AnyNode): void {
    const list = `${this.#prefix}${this.#blocks++}`;
    const { id } = left.declarations[0]!;
    const isAsync = left.kind === "await using";
    const name = this.#text.slice(id.start, id.end);
    this.#keyword(left);
    this.#edits.replace(id.start, id.end, `${list}v`);
    this.#edits.insert(
      body.start,
      `{const ${list}=${this.#prefix}();try{const ${name}=${list}.add(${list}v,${isAsync});`,
    );
    this.#edits.insert(body.end, `${this.#end(list, isAsync)}}`);
  }

  #end(list: string, isAsync: boolean): string {
    const e = `${this.#prefix}e`;
    const disposal = isAsync ? `const ${e}=${list}.end();if(${e})await ${e}` : `${list}.end()`;
    return `}catch(${e}){${list}.fail(${e})}finally{${disposal}}`;
  }

  #refuse(node: AnyNode | undefined, where: string): void {
    if (node === undefined) return;
    const message = `a \`using\` declaration ${where}: declare it in a block of a function`;
    throw new UnsupportedSyntaxError(message, new Lines(this.#text).line(node.start));
  }
}
