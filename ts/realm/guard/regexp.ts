// RegExp.$1, RegExp.lastMatch and similar properties reveal the last match of any run. V8 lets them
// be deleted. SpiderMonkey does not, so there the constructor is replaced by one without them, with
// the same prototype: literals, `instanceof` and subclasses work unchanged.
import { type Globals, override } from "./patch.ts";

const LAST_MATCH = /^(?:\$.|input|multiline|lastMatch|lastParen|leftContext|rightContext)$/;

export function guardRegExp(globals: Globals): void {
  const Real = globals["RegExp"] as RegExpConstructor;
  const names = Object.getOwnPropertyNames(Real).filter((name) => LAST_MATCH.test(name));
  if (!names.every((name) => Reflect.deleteProperty(Real, name))) replace(globals, Real);
}

function replace(globals: Globals, Real: RegExpConstructor): void {
  function RegExp(pattern?: unknown, flags?: unknown): unknown {
    if (new.target !== undefined) return Reflect.construct(Real, [pattern, flags], new.target);
    // Called as a function it returns an expression without other flags unchanged.
    const same = flags === undefined && pattern instanceof Real && pattern.constructor === RegExp;
    return same ? pattern : Reflect.construct(Real, [pattern, flags], RegExp);
  }
  for (const key of Reflect.ownKeys(Real)) {
    if (typeof key === "string" && LAST_MATCH.test(key)) continue;
    Object.defineProperty(RegExp, key, Object.getOwnPropertyDescriptor(Real, key)!);
  }
  override(Real.prototype, "constructor", RegExp);
  override(globals, "RegExp", RegExp);
}
