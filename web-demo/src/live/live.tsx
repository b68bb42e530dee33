// A workflow that lives in this tab.
import type { JSX } from "preact";

export function Live(): JSX.Element {
  return (
    <section class="section">
      <h1 class="run-name">Live</h1>
      <p class="say">
        <a href="./index.html#/shop">The shopping cart</a> is a workflow that lives in this tab.
      </p>
    </section>
  );
}
