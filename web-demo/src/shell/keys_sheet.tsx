// Dialog with all keyboard shortcuts.
import type { JSX } from "preact";
import { Dialog } from "../ui/dialog.tsx";
import { bindings, type KeyGroup, sheetIsOpen } from "../store/keys.ts";
import "./keys_sheet.css";

const GROUPS: readonly KeyGroup[] = ["Move", "Look", "Ask", "Take away"];
const NAMES: { readonly [key: string]: string } = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
};

const Key = ({ name }: { name: string }) => (
  <>
    {(name === "+" ? [name] : name.split("+")).map((part) => (
      <kbd key={part}>{NAMES[part] ?? part}</kbd>
    ))}
  </>
);

export function KeysSheet(): JSX.Element {
  return (
    <Dialog id="keys" title="Keys" isOpen={sheetIsOpen}>
      <div class="key-groups">
        {GROUPS.map((group) => {
          const ofGroup = bindings.value.filter((binding) => binding.group === group);
          return ofGroup.length > 0 && (
            <section key={group} aria-label={group}>
              <h3>{group}</h3>
              <ul>
                {ofGroup.map(({ keys, label }) => (
                  <li key={label}>
                    <span>{label}</span>
                    <span>{keys.map((key) => <Key key={key} name={key} />)}</span>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
      <p class="soft">
        Keys work while the run has the focus. They do not change typing, selecting or keys of the
        browser.
      </p>
      <button type="button" class="button" onClick={() => (sheetIsOpen.value = false)}>
        Close
      </button>
    </Dialog>
  );
}
