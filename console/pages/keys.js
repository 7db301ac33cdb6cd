// The keys of the operator's page.

import { byId } from "./dom.js";

const isField = (element) => Boolean(element?.closest?.("input:not([type=checkbox], [type=radio]), select, textarea"));

/** Wires the keys. `current()` is the open view's `key` function, or undefined; `toSearch()` opens the search. */
export function wireKeys({ current, toSearch }) {
  byId("show-keys").addEventListener("click", () => byId("keys").showModal());
  byId("keys-close").addEventListener("click", () => byId("keys").close());
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
      return;
    }
    const inField = isField(event.target);
    if (event.key === "/" && !inField) {
      event.preventDefault();
      toSearch();
    } else if (event.key === "?" && !inField) {
      byId("keys").showModal();
    } else if (!inField || event.target.id === "find" && (event.key === "ArrowDown" || event.key === "Escape")) {
      current()?.(event);
    }
  });
}
