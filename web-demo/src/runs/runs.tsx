// The runs of a store or a cluster.
import type { JSX } from "preact";

export function Runs(): JSX.Element {
  return (
    <section class="section">
      <h1 class="run-name">Runs</h1>
      <p class="say">This page was opened by itself: it has no store and no cluster to list runs of.</p>
    </section>
  );
}
