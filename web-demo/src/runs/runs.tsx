// The room of runs. Its parts are loaded when it is first shown on a page that `temporalex ui`
// serves.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { served } from "../served/about.ts";
import { Invitation } from "./invitation.tsx";

const room: Signal<ComponentType | undefined> = signal<ComponentType | undefined>(undefined);

export function Runs(): JSX.Element {
  const isServed = served?.by === "ui";
  useEffect(() => {
    if (isServed && room.value === undefined) {
      void import("./room.tsx").then(({ RunsRoom }) => room.value = RunsRoom);
    }
  }, []);
  const Room = room.value;
  if (isServed) return Room === undefined ? <div class="runs-room" /> : <Room />;
  return <Invitation />;
}
