import type { JSX } from "preact";
import { IconButton } from "../ui/icon.tsx";
import { dismiss, notices } from "../store/notices.ts";

export function Notices(): JSX.Element {
  return (
    <div class="notices" role="alert">
      {notices.value.map((notice) => (
        <div class="notice" key={`${notice.title} ${notice.text}`}>
          <p>
            <b>{notice.title}</b> {notice.text}{" "}
            {notice.advice !== undefined && <Advice text={notice.advice} />}
          </p>
          <IconButton icon="close" label="Close this message" onPress={() => dismiss(notice)} />
        </div>
      ))}
    </div>
  );
}

/** Text between backticks is shown as code. */
const Advice = ({ text }: { text: string }): JSX.Element => (
  <span class="advice">
    {text.split("`").map((part, i) => i % 2 === 1 ? <code key={i}>{part}</code> : part)}
  </span>
);
