// Changes of several tenants: a preview of each, one confirmation, then one change after another.

import { html, render } from "./lit-html.js";
import { byId } from "./dom.js";
import { count, number } from "./words.js";

/**
 * Previews a change of each tenant, one after another. Resolves to `{changes, unchanged, failures}`:
 * `changes` are `{id, version, details}` and `failures` `{id, message}`. `onprogress` gets the number of those done;
 * nothing more is asked once `stopped()`.
 */
export async function preview(control, ids, body, { onprogress = () => {}, stopped = () => false } = {}) {
  const result = { changes: [], unchanged: [], failures: [] };
  await each(ids, result.failures, stopped, onprogress, (id) => id, async (id) => {
    const { body: answer } = await control(`tenants/${id}?dryRun=true`, { method: "PATCH", body });
    if (answer.outcome === "UNCHANGED") {
      result.unchanged.push(id);
    } else {
      const details = answer.tenants.flatMap(({ consequences }) => consequences.map(({ detail }) => detail));
      result.changes.push({ id, version: answer.version, details });
    }
  });
  return result;
}

/** Makes previewed changes, each only if its tenant still has the previewed version. Resolves to `{done, failures}`. */
export async function apply(control, changes, body, { onprogress = () => {}, stopped = () => false } = {}) {
  const result = { done: [], failures: [] };
  await each(changes, result.failures, stopped, onprogress, ({ id }) => id, async ({ id, version }) => {
    await control(`tenants/${id}`, { method: "PATCH", body, version });
    result.done.push(id);
  });
  return result;
}

async function each(items, failures, stopped, onprogress, idOf, act) {
  let done = 0;
  for (const item of items) {
    if (stopped()) {
      return;
    }
    try {
      await act(item);
    } catch (failed) {
      failures.push({ id: idOf(item), message: failed.message });
    }
    onprogress(++done);
  }
}

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
