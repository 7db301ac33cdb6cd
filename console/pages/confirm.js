// The dialog that asks for confirmation.

import { byId, el, setText } from "./dom.js";

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
