// A tree of branches of one recorded run. A branch has the edits of its parent and its own, so that
// earlier branches are kept and can be extended.
import type { Edit } from "./edits.ts";
import type { BranchResult } from "./branch.ts";

/** A branch of a tree. */
export interface BranchNode {
  /** Counted from 1, in order of creation. */
  readonly id: number;
  /** 0: the recorded run. */
  readonly parent: number;
  /** Readable description of its change. */
  readonly title: string;
  /** Its own edits, without those of its parent. */
  readonly edits: readonly Edit[];
  /** Undefined until the branch has run. */
  readonly result: BranchResult | undefined;
}

/** An immutable tree of branches; changes return a new tree. */
export class BranchTree {
  /** The branches, parents before children. */
  readonly nodes: readonly BranchNode[];

  constructor(nodes: readonly BranchNode[] = []) {
    this.nodes = nodes;
  }

  /** Returns the branch with an ID. Throws a RangeError if it does not exist. */
  node(id: number): BranchNode {
    const node = this.nodes.find((each) => each.id === id);
    if (node === undefined) throw new RangeError(`branch ${id} does not exist`);
    return node;
  }

  /** Returns all edits of a branch, those of its ancestors first. */
  editsOf(id: number): readonly Edit[] {
    if (id === 0) return [];
    const { parent, edits } = this.node(id);
    return [...this.editsOf(parent), ...edits];
  }

  /** Returns the children of a branch, or of the recorded run (0). */
  childrenOf(id: number): readonly BranchNode[] {
    return this.nodes.filter(({ parent }) => parent === id);
  }

  /** Adds a branch, which is the last of `nodes`. */
  add(parent: number, title: string, edits: readonly Edit[]): BranchTree {
    if (parent !== 0) this.node(parent);
    const id = this.nodes.reduce((most, each) => Math.max(most, each.id), 0) + 1;
    return new BranchTree([...this.nodes, { id, parent, title, edits, result: undefined }]);
  }

  /** Replaces the edits of a branch and removes the results of the branch and its descendants. */
  withEdits(id: number, edits: readonly Edit[]): BranchTree {
    const stale = this.#below(id);
    return new BranchTree(
      this.nodes.map((node) =>
        node.id === id
          ? { ...node, edits, result: undefined }
          : stale.has(node.id)
          ? { ...node, result: undefined }
          : node
      ),
    );
  }

  /** Sets the result of a branch. */
  withResult(id: number, result: BranchResult): BranchTree {
    return new BranchTree(this.nodes.map((node) => (node.id === id ? { ...node, result } : node)));
  }

  /** Removes a branch with its descendants. */
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
