// The dialog that changes several tenants: a preview, one confirmation, then the changes.

import { html, render } from "./lit-html.js";
import { apply, preview } from "./batch.js";
import { byId } from "./dom.js";
import { count, number } from "./words.js";

/** Shows the dialog of a change; resolves to the ids that were changed. */
export async function changeAll(control, ids, { title, action, body }) {
  const dialog = byId("bulk");
  let stopped = false;
  const draw = (content, buttons) => render(html`
    <div class="stack"><h2 id="bulk-title">${title}</h2><div class="bulk-text" tabindex="0" role="group" aria-label="What would change">${content}</div><div class="actions">${buttons}</div></div>`, dialog);
  const close = (text) => html`<button type="button" @click=${() => dialog.close()}>${text}</button>`;
  const progress = (words, total) => (done) => draw(html`
    <p role="status">${words} ${number(done)} of ${number(total)} …</p>
    <progress max=${total} .value=${done} aria-label=${words}></progress>`, close("Stop"));
  const options = (words, total) => ({ onprogress: progress(words, total), stopped: () => stopped });
  dialog.returnValue = "";
  dialog.addEventListener("close", () => { stopped = true; }, { once: true });
  dialog.showModal();

  progress("Previewed", ids.length)(0);
  const seen = await preview(control, ids, body, options("Previewed", ids.length));
  if (stopped) {
    return [];
  }
  const confirmed = await new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(false), { once: true });
    draw(summary(seen), html`${close("Cancel")}<button type="button" class="primary" ?disabled=${seen.changes.length === 0} @click=${() => resolve(true)}>${action} ${number(seen.changes.length)}</button>`);
  });
  if (!confirmed) {
    return [];
  }
  progress("Changed", seen.changes.length)(0);
  const result = await apply(control, seen.changes, body, options("Changed", seen.changes.length));
  draw(html`
    <p role="status">${count(result.done.length, "tenant is", "tenants are")} changed${stopped ? "; the rest was stopped" : ""}.</p>
    ${failureList(result.failures)}`, close("Close"));
  return result.done;
}

const summary = ({ changes, unchanged, failures }) => html`
  <p>${count(changes.length, "tenant changes", "tenants change")}${unchanged.length > 0 ? `, ${number(unchanged.length)} already so` : ""}.</p>
  ${changes.some(({ details }) => details.length > 0) ? html`
    <ul>${changes.filter(({ details }) => details.length > 0).map(({ id, details }) => html`<li><b>${id}</b>: ${details.join("; ")}</li>`)}</ul>` : ""}
  ${failureList(failures)}`;

const failureList = (failures) => failures.length === 0 ? "" : html`
  <p class="problem">${count(failures.length, "tenant fails", "tenants fail")}:</p>
  <ul>${failures.map(({ id, message }) => html`<li><b>${id}</b>: ${message}</li>`)}</ul>`;
