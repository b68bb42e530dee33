// Table of fields in which code and history differ. Fields that replay compares are highlighted.
import type { FieldDifference } from "temporalex/debug";
import type { JSX } from "preact";

export function DifferencesTable({ rows }: { rows: readonly FieldDifference[] }): JSX.Element {
  return (
    <table class="differences">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Field</span>
          </th>
          <th scope="col">Your code</th>
          <th scope="col">History</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ field, code, history, counts }) => (
          <tr
            key={field}
            title={counts ? undefined : "Replay does not compare this field, so it may change"}
          >
            <th scope="row">{field}</th>
            <td class={counts ? "counts" : ""}>{code}</td>
            <td class={counts ? "counts" : ""}>{history}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
