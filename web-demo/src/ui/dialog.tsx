// A modal dialog that follows a signal. The browser keeps the focus in it, closes it on Escape and
// restores the focus.
import type { Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  readonly id: string;
  readonly title: string;
  readonly isOpen: Signal<boolean>;
  readonly children: ComponentChildren;
}

export function Dialog({ id, title, isOpen, children }: Props): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const open = isOpen.value;
  // Before the next frame, because keys in between would still move the run.
  useLayoutEffect(() => {
    const dialog = element.current!;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={element}
      id={id}
      aria-labelledby={`${id}-title`}
      onClose={() => (isOpen.value = false)}
    >
      {open && (
        <>
          <h2 id={`${id}-title`}>{title}</h2>
          {children}
        </>
      )}
    </dialog>
  );
}
