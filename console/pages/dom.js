// Creates and finds elements. Text is only ever inserted as text, never as markup.

import { CallFailed } from "./api.js";

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function filled(element, attributes, children) {
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

/** Creates an element with attributes, listeners (`onclick`) and children (elements or text). */
export const el = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

/** Sets a text if it differs, so that screen readers announce only changes. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Sets the value of a meter. */
export function setMeter(meter, value, max) {
  meter.max = Math.max(max, 1);
  meter.value = Math.min(value, max);
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
const showUnexpected = (error) =>
  notice("bad", `${error?.message ?? "Unexpected error in this page."} Reload the page to continue.`);
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

/** Asks for confirmation in a dialog; resolves to the answer. With `name`, the user must type it to confirm. */
export function confirmed(title, text, action, name) {
  const dialog = byId("confirm");
  const yes = byId("confirm-yes");
  setText(byId("confirm-title"), title);
  setText(byId("confirm-text"), text);
  setText(yes, action);
  const field = name === undefined ? undefined : nameField(name, yes);
  if (field) {
    byId("confirm-text").after(field);
  }
  yes.disabled = field !== undefined;
  dialog.returnValue = "";
  byId("confirm-no").onclick = () => dialog.close();
  yes.onclick = () => dialog.close("yes");
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      field?.remove();
      resolve(dialog.returnValue === "yes");
    }, { once: true });
  });
}

/** A field that enables a button while it contains a name. The Enter key clicks the button. */
const nameField = (name, button) => el(
  "form",
  {
    onsubmit: (event) => {
      event.preventDefault();
      button.click();
    },
  },
  el(
    "div", {},
    el("label", { for: "confirm-name" }, `Type ${name} to confirm`),
    el("input", {
      id: "confirm-name",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      oninput: ({ target }) => {
        button.disabled = target.value !== name;
      },
    })));

/** Runs `look` every two seconds while the page is visible, and at once when it becomes visible. */
export function poll(look, everyMs = 2000) {
  let timer;
  let running = false;
  const turn = async () => {
    clearTimeout(timer);
    if (document.hidden || running) {
      return;
    }
    running = true;
    try {
      await look();
    } finally {
      running = false;
      clearTimeout(timer);
      timer = setTimeout(turn, everyMs);
    }
  };
  document.addEventListener("visibilitychange", turn);
  turn();
  return turn;
}
