import type { JSX } from "preact";
import { dismiss, notices } from "./notices.ts";

export function Notices(): JSX.Element {
  return (
    <div class="notices" role="alert">
      {notices.value.map((notice) => (
        <div class="notice" key={`${notice.title} ${notice.text}`}>
          <p>
            <b>{notice.title}</b> {notice.text}
          </p>
          <button type="button" class="button small" onClick={() => dismiss(notice)}>Close</button>
        </div>
      ))}
    </div>
  );
}
