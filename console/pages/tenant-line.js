// The line of a tenant: who waits, and whether refused connections get a place.

import { html } from "./lit-html.js";
import { confirmed } from "./confirm.js";
import { handling, notice } from "./dom.js";
import { LINE_OVERRIDES, count, duration, number } from "./words.js";

/** The override of the line as the select's value: "true", "false", or "" for none. */
const overrideOf = ({ overrides }) => String(overrides.line ?? "");
/** What is chosen and not saved yet: `{tenantId, value}`. */
let chosen;

async function change(tenant, { control, store }) {
  const { tenantId, version, overrides: { line: before, ...overrides } } = tenant;
  const value = chosen?.tenantId === tenantId ? chosen.value : overrideOf(tenant);
  if (value !== "") {
    overrides.line = JSON.parse(value);
  }
  const { body } = await control(`tenants/${tenantId}`, { method: "PATCH", body: { overrides }, version });
  chosen = undefined;
  notice("good", body.line
    ? `The line of ${tenantId} is on. Refused connections get a place.`
    : `The line of ${tenantId} is off. Refused connections compete for the next token.`);
  store.refresh();
}

async function clear({ tenantId }, waiting, { control, store }) {
  if (!await confirmed(
    `Clear the line of ${tenantId}?`,
    `${count(waiting, "client loses its place", "clients lose their places")}. Each comes back when it was told, and is admitted or gets a new place.`,
    "Clear line")) {
    return;
  }
  await control(`tenants/${tenantId}/line`, { method: "DELETE" });
  notice("good", `The line of ${tenantId} is cleared.`);
  store.refresh();
}

export const line = {
  text: "Line",
  show(tenant, route, app) {
    const { tenantId, line: isOn, buckets, status } = tenant;
    const waiting = buckets.reduce((sum, bucket) => sum + (bucket.line?.length ?? 0), 0);
    const connect = buckets.find(({ action }) => action === "connect")?.line;
    const value = chosen?.tenantId === tenantId ? chosen.value : overrideOf(tenant);
    return html`
      <section class="card" aria-labelledby="line-title">
        <h2 id="line-title">Line</h2>
        <dl class="facts">
          <div><dt>In line</dt><dd id="in-line">${isOn ? number(connect?.length ?? 0) : "off"}</dd></div>
          <div><dt>Wait of a new one</dt><dd id="line-wait">${isOn ? duration(connect?.waitSeconds ?? 0) : "–"}</dd></div>
          ${buckets.filter(({ action, line: of }) => action !== "connect" && of?.length > 0).map(({ action, line: of }) => html`<div><dt>${action}</dt><dd>${number(of.length)}, ${duration(of.waitSeconds)}</dd></div>`)}
        </dl>
        <div class="row line-actions">
          <button type="button" id="clear-line" ?disabled=${waiting === 0} @click=${handling(() => clear(tenant, waiting, app))}>Clear line</button>
        </div>
        <form class="row" id="line-form" @submit=${handling(() => change(tenant, app))}>
          <div>
            <label for="line">A refused connection gets a place in line</label>
            <select id="line" ?disabled=${status === "OFFBOARDING"} @change=${({ target }) => { chosen = { tenantId, value: target.value }; app.draw(); }}>
              ${Object.entries(LINE_OVERRIDES).map(([key, text]) => html`<option value=${key} .selected=${key === value}>${text}</option>`)}
            </select>
          </div>
          <button id="change-line" class="primary" ?disabled=${value === overrideOf(tenant)}>Save</button>
        </form>
      </section>`;
  },
};
