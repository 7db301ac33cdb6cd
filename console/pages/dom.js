// Creates and finds elements. Text is only ever inserted as text, never as markup.

import { CallFailed } from "./api.js";

export const byId = (id) => document.getElementById(id);

/** Creates an element with attributes, listeners (`onclick`) and children (elements or text). */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children);
  return element;
}

/** Sets a text if it differs, so that screen readers announce only changes. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** How long a message that is no error stays. */
const NOTICE_MS = 15_000;
let fading;

/** Shows a message until it is closed or replaced; `kind` is good, bad or info. Only an error stays until then. */
export function notice(kind, text) {
  const region = byId("notices");
  clearTimeout(fading);
  if (kind !== "bad") {
    fading = setTimeout(() => region.replaceChildren(), NOTICE_MS);
  }
  if (region.querySelector(`.notice.${kind} span`)?.textContent === text) {
    return;
  }
  const close = el("button", {
    type: "button",
    class: "close",
    "aria-label": "Close this message",
    onclick: () => region.replaceChildren(),
  }, "×");
  region.replaceChildren(el("p", { class: `notice ${kind}` }, el("span", {}, text), close));
}

// Unexpected errors appear on the page, too, not only on the browser's console.
export const unexpected = (error) => `${error?.message ?? "Unexpected error in this page."} Reload the page to continue.`;
const showUnexpected = (error) => notice("bad", unexpected(error));
addEventListener("error", (event) => showUnexpected(event.error));
addEventListener("unhandledrejection", (event) => showUnexpected(event.reason));

/** Shows the error of a failed call unless it is shown already; rethrows any other error. */
export function showError(failed) {
  if (!(failed instanceof CallFailed)) {
    throw failed;
  }
  if (!failed.shown) {
    notice("bad", failed.message);
  }
}

/** A listener that runs an action and shows its errors on the page. */
export const handling = (action) => async (event) => {
  event.preventDefault();
  try {
    await action(event);
  } catch (failed) {
    showError(failed);
  }
};
