// The three rooms and what stands above them.
import type { JSX } from "preact";
import { OpenRoom } from "./open_room.tsx";
import { Notices } from "./notice_list.tsx";
import { TopBar } from "./top_bar.tsx";

export function App(): JSX.Element {
  return (
    <>
      <TopBar />
      <Notices />
      <main id="main" class="room" tabIndex={-1}>
        <OpenRoom />
      </main>
    </>
  );
}
