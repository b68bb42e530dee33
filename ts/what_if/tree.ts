// A tree of branches over one recorded run. Each branch has its parent's edits and its own; so what was tried is kept, and can be gone on from.
import type { Edit } from "./edits.ts";
import type { BranchResult } from "./branch.ts";

/** One branch of a tree. */
export interface BranchNode {
  /** From 1, in the order of making. */
  readonly id: number;
  /** 0: the recorded run. */
  readonly parent: number;
  /** Its one change, for people. */
  readonly title: string;
  /** Its own, without its parent's. */
  readonly edits: readonly Edit[];
  /** What came of it, once it has run. */
  readonly result: BranchResult | undefined;
}

/** Branches as they were made; a value: what changes it answers another one. */
export class BranchTree {
  /** The branches, parents before children. */
  readonly nodes: readonly BranchNode[];

  constructor(nodes: readonly BranchNode[] = []) {
    this.nodes = nodes;
  }

  /** The branch of an id. Throws a RangeError where there is none. */
  node(id: number): BranchNode {
    const node = this.nodes.find((each) => each.id === id);
    if (node === undefined) throw new RangeError(`there is no branch ${id}`);
    return node;
  }

  /** All edits of a branch: its ancestors' first. */
  editsOf(id: number): readonly Edit[] {
    if (id === 0) return [];
    const { parent, edits } = this.node(id);
    return [...this.editsOf(parent), ...edits];
  }

  /** Children of a branch, or of the recorded run (0). */
  childrenOf(id: number): readonly BranchNode[] {
    return this.nodes.filter(({ parent }) => parent === id);
  }

  /** With one more branch; the last of `nodes` is that one. */
  add(parent: number, title: string, edits: readonly Edit[]): BranchTree {
    if (parent !== 0) this.node(parent);
    const id = this.nodes.reduce((most, each) => Math.max(most, each.id), 0) + 1;
    return new BranchTree([...this.nodes, { id, parent, title, edits, result: undefined }]);
  }

  /** With other edits of a branch; what came of it and of those below is to be found again. */
  withEdits(id: number, edits: readonly Edit[]): BranchTree {
    const stale = this.#below(id);
    return new BranchTree(
      this.nodes.map((node) =>
        node.id === id ? { ...node, edits, result: undefined } : stale.has(node.id) ? { ...node, result: undefined } : node
      ),
    );
  }

  /** The tree with the result of a branch. */
  withResult(id: number, result: BranchResult): BranchTree {
    return new BranchTree(this.nodes.map((node) => (node.id === id ? { ...node, result } : node)));
  }

  /** Without a branch and those below it. */
  remove(id: number): BranchTree {
    const gone = this.#below(id);
    return new BranchTree(this.nodes.filter((node) => node.id !== id && !gone.has(node.id)));
  }

  #below(id: number): ReadonlySet<number> {
    const found = new Set<number>();
    for (const child of this.childrenOf(id)) {
      found.add(child.id);
      for (const each of this.#below(child.id)) found.add(each);
    }
    return found;
  }
}
