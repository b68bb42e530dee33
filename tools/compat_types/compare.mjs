// Compares the types that two versions of a module export, member by member: a module of the
// official SDK and ours, or two releases of the official one. The comparison asks the compiler
// whether the types can replace each other; it does not compare files.

/**
 * @typedef {"absent" | "missing" | "required" | "optional" | "narrower" | "wider" | "different"} Relation
 *   absent: the export is not there. missing: the member is not there. required, optional: the member is so in `after` only.
 *   narrower, wider: `after` can be used where `before` is expected, or the other way round. different: neither.
 * @typedef {{ readonly where: string, readonly relation: Relation, readonly before: string, readonly after: string }} Difference
 * @typedef {{ readonly compared: number, readonly differences: Difference[] }} Comparison
 */

/** Types that a program hands over: there, a type that takes more replaces one that takes less. */
const GIVEN =
  /(?:Options|Input|Plugin|Interceptors?|Interceptor(?:Factory)?|Config|Spec|Definition)$/;

/** Names of namespaces in printed types say nothing about the type. */
const QUALIFIER =
  /\b(?:proto|temporal|api|coresdk|google|protobuf|nexus|iface|common|long|internal|lib|wkf)\.(?=[\w.]*[A-Z])/g;

export class TypeComparer {
  #ts;
  #checker;
  #program;

  /**
   * @param {any} ts the compiler with its API, as TypeScript 5 has it
   * @param {readonly string[]} files the modules that will be compared
   * @param {object} options of the compiler
   */
  constructor(ts, files, options) {
    this.#ts = ts;
    this.#program = ts.createProgram(files, {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: [
        "lib.es2023.d.ts",
        "lib.esnext.disposable.d.ts",
        "lib.dom.d.ts",
        "lib.dom.iterable.d.ts",
      ],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      ...options,
    });
    this.#checker = this.#program.getTypeChecker();
  }

  /** The exports of a module by name, aliases followed. */
  #exportsOf(file) {
    const source = this.#program.getSourceFile(file);
    const module = source && this.#checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file}: the compiler finds no module there`);
    const { Alias } = this.#ts.SymbolFlags;
    return new Map(
      this.#checker.getExportsOfModule(module).map((symbol) => [
        symbol.name,
        symbol.flags & Alias ? this.#checker.getAliasedSymbol(symbol) : symbol,
      ]),
    );
  }

  /**
   * Compares each export of `before` with the one of that name in `after`.
   * @param {string} name of the module, the first part of each `where`
   * @returns {Comparison}
   */
  compare(name, before, after) {
    const theirs = this.#exportsOf(before), ours = this.#exportsOf(after);
    const found = { compared: 0, differences: [] };
    for (const [exported, symbol] of theirs) {
      const where = `${name}.${exported}`;
      const other = ours.get(exported);
      if (other === undefined) this.#note(found, where, "absent", "", "");
      else this.#compareSymbols(found, where, symbol, other);
    }
    return found;
  }

  #note(found, where, relation, before, after) {
    found.compared++;
    if (relation !== "equal") found.differences.push({ where, relation, before, after });
  }

  #compareSymbols(found, where, before, after) {
    const { SymbolFlags } = this.#ts;
    const named = SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.TypeAlias |
      SymbolFlags.Enum;
    const checker = this.#checker;
    if (before.flags & named) {
      if (!(after.flags & named)) this.#note(found, `${where} (type)`, "absent", "", "");
      else {
        const use = before.flags & SymbolFlags.Class
          ? "received"
          : GIVEN.test(where)
          ? "given"
          : "both";
        const types = [
          checker.getDeclaredTypeOfSymbol(before),
          checker.getDeclaredTypeOfSymbol(after),
        ];
        if (this.#hasMembers(types[0])) this.#compareMembers(found, `${where}.`, ...types, use);
        else this.#noteTypes(found, where, ...types, use);
      }
    }
    if (before.flags & SymbolFlags.Value) {
      if (!(after.flags & SymbolFlags.Value)) {
        this.#note(found, `${where} (value)`, "absent", "", "");
        return;
      }
      const types = [checker.getTypeOfSymbol(before), checker.getTypeOfSymbol(after)];
      const grouped = SymbolFlags.Class | SymbolFlags.Enum | SymbolFlags.Module;
      if (before.flags & grouped) this.#compareMembers(found, `${where}::`, ...types, "received");
      else this.#noteTypes(found, `${where}()`, ...types, "received");
    }
  }

  #hasMembers(type) {
    return (type.flags & this.#ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0;
  }

  #compareMembers(found, prefix, before, after, use) {
    const { SymbolFlags } = this.#ts;
    for (const member of this.#checker.getPropertiesOfType(before)) {
      if (this.#isInternal(member)) continue;
      const where = prefix + member.name;
      const type = this.#checker.getTypeOfSymbol(member);
      const other = this.#checker.getPropertyOfType(after, member.name);
      if (other === undefined) {
        this.#note(found, where, "missing", this.#text(type), "");
        continue;
      }
      const [was, is] = [member, other].map(({ flags }) => (flags & SymbolFlags.Optional) !== 0);
      if (was && !is && use !== "received") {
        this.#note(found, where, "required", this.#text(type), "");
      }
      if (!was && is && use !== "given") this.#note(found, where, "optional", this.#text(type), "");
      // (What is always there has a type without `undefined`; the relations "required" and
      // "optional" cover it.)
      const types = [type, this.#checker.getTypeOfSymbol(other)].map((
        t,
      ) => (was || is ? this.#defined(t) : t));
      this.#noteTypes(found, where, ...types, use);
    }
  }

  /**
   * No program may rely on it: private, protected, named as such, or inherited from the platform.
   */
  #isInternal(member) {
    const { Private, Protected } = this.#ts.ModifierFlags;
    const declaration = member.valueDeclaration ?? member.declarations?.[0];
    if (member.name === "prototype" || /^(?:_|#)/.test(member.name)) return true;
    if (declaration === undefined) return false;
    return (this.#ts.getCombinedModifierFlags(declaration) & (Private | Protected)) !== 0 ||
      /[\\/]node_modules[\\/]@types[\\/]node[\\/]/.test(declaration.getSourceFile().fileName);
  }

  #noteTypes(found, where, before, after, use) {
    const relation = this.#relation(before, after);
    const fits = (relation === "narrower" && use === "received") ||
      (relation === "wider" && use === "given");
    this.#note(found, where, fits ? "equal" : relation, this.#text(before), this.#text(after));
  }

  /** Without `undefined`. */
  #defined(type) {
    if (!type.isUnion()) return type;
    const { Undefined } = this.#ts.TypeFlags;
    const parts = type.types.filter(({ flags }) => !(flags & Undefined));
    return parts.length === 1 ? parts[0] : this.#checker.getNonNullableType(type);
  }

  /** How `after` relates to `before`. */
  #relation(before, after) {
    if (this.#text(before) === this.#text(after)) return "equal";
    const narrower = this.#checker.isTypeAssignableTo(after, before),
      wider = this.#checker.isTypeAssignableTo(before, after);
    if (narrower || wider) return narrower && wider ? "equal" : narrower ? "narrower" : "wider";
    return this.#sameSignature(before, after) ? "equal" : "different";
  }

  /** Do two functions differ in names of parameters alone, or in how an optional one is written? */
  #sameSignature(before, after) {
    const [a, b] = [before, after].map((type) => type.getCallSignatures());
    if (a.length !== 1 || b.length !== 1 || a[0].parameters.length !== b[0].parameters.length) {
      return false;
    }
    const types = (signature) => [
      ...signature.parameters.map((parameter) =>
        this.#defined(this.#checker.getTypeOfSymbol(parameter))
      ),
      signature.getReturnType(),
    ];
    const others = types(b[0]);
    return types(a[0]).every((type, i) => this.#relation(type, others[i]) === "equal");
  }

  #text(type) {
    const { NoTruncation, UseAliasDefinedOutsideCurrentScope, WriteArrayAsGenericType } =
      this.#ts.TypeFormatFlags;
    const flags = NoTruncation | UseAliasDefinedOutsideCurrentScope | WriteArrayAsGenericType;
    return this.#checker.typeToString(type, undefined, flags)
      .replace(/import\("[^"]*"\)\./g, "").replace(QUALIFIER, "").replace(/\breadonly /g, "")
      .replace(
        /\bReadonlyArray</g,
        "Array<",
      )
      .replace(/\?: ([^,;()]*?) \| undefined(?=[,;)])/g, "?: $1").replace(/\s+/g, " ");
  }
}
