// The limits of a tenant: what its tier gives, what it overrides, what it used. A change is previewed, then saved.

import { html } from "./lit-html.js";
import { live } from "./directives/live.js";
import { handling, notice } from "./dom.js";
import { MODES, changesTenant, largest, tenantBody, tenantDraft, tenantRows } from "./limits.js";
import { editOf, edited, previewEdit, previewResult, replaySelect } from "./preview.js";
import { format } from "./router.js";
import { usageOf } from "./history-steps.js";
import { number } from "./words.js";

/** What is edited, by tenant. */
const edits = new Map();
/** The last saved change, by tenant: `{version, before}` to undo it. */
const saved = new Map();

const preview = (tenant, edit, route, app) =>
  previewEdit(edit, `tenants/${tenant.tenantId}`, { method: "PATCH", body: tenantBody(edit.draft, tenant) }, route, app);

async function save(tenant, edit, app) {
  const { tenantId, tier, overrides } = tenant;
  const { body } = await app.control(`tenants/${tenantId}`, { method: "PATCH", body: tenantBody(edit.draft, tenant), version: edit.draft.version });
  edits.delete(tenantId);
  saved.set(tenantId, { version: body.version, before: { tier, overrides } });
  notice("good", body.tier === tier
    ? `The limits of ${tenantId} are changed. Rates change with the next fill, within a minute.`
    : `${tenantId} is now in tier ${body.tier}. The next fill, within a minute, changes its level and fill rate.`);
  app.store.refresh();
}

async function undo({ tenantId }, { control, store }) {
  const { version, before } = saved.get(tenantId);
  await control(`tenants/${tenantId}`, { method: "PATCH", body: before, version });
  saved.delete(tenantId);
  edits.delete(tenantId);
  notice("good", `The change of ${tenantId} is undone.`);
  store.refresh();
}

const shown = (value) => (value === undefined ? html`<span class="none">–</span>` : number(value));

const limitRow = (row, edit, isFixed, draw) => html`
  <tr data-limit=${row.name}>
    <th scope="row">${row.label}</th>
    <td class="number of-tier" data-label="Tier">${shown(row.ofTier)}${row.tierMode === "ENFORCE" ? "" : html` <span class="muted small">${MODES[row.tierMode].toLowerCase()}</span>`}</td>
    <td class="edit override" data-label="Override">
      <input type="number" name=${row.name} aria-label="Override: ${row.label}" min="1" max=${largest(row.name)} placeholder="tier’s" ?disabled=${isFixed}
        .value=${live(row.override)} @input=${({ target }) => { edit.draft.values[row.name] = target.value; edited(edit, draw); }}>
    </td>
    <td class="number effective" data-label="In force">${shown(row.effective)}</td>
    <td class="edit mode" data-label="Mode">${row.modes.length === 0 ? html`<span class="none">–</span>` : html`
      <select aria-label="Mode: ${row.label}" ?disabled=${isFixed} @change=${({ target }) => { edit.draft.modes[row.name] = target.value; edited(edit, draw); }}>
        <option value="" .selected=${row.mode === ""}>Tier’s (${MODES[row.tierMode].toLowerCase()})</option>
        ${row.modes.map((mode) => html`<option value=${mode} .selected=${row.mode === mode}>${MODES[mode]}</option>`)}
      </select>`}</td>
    <td class="number used" data-label="p99.9, 24 h">${shown(row.used?.p999)}${row.used?.most > row.used?.p999 ? html` <span class="muted small">most ${number(row.used.most)}</span>` : ""}</td>
  </tr>`;

export const limits = {
  text: "Limits",
  tasks: ({ id }, { sources }) => [sources.tiers(), sources.day(id)],
  show(tenant, route, app) {
    const { store, router, draw } = app;
    const edit = editOf(edits, tenant.tenantId, tenant, tenantDraft);
    const { draft, seen, progress } = edit;
    const tiers = store.value("tiers", { tiers: [] }).tiers;
    const tier = tiers.find((one) => one.tier === draft.tier);
    const day = store.value(`day/${tenant.tenantId}`);
    const isFixed = tenant.status === "OFFBOARDING";
    const isChanged = changesTenant(draft, tenant);
    const isStale = draft.version !== tenant.version;
    const isBusy = progress !== undefined;
    const last = saved.get(tenant.tenantId);
    return html`
      <form class="card limits-form" aria-label="Limits of ${tenant.tenantId}" @submit=${handling(() => preview(tenant, edit, route, app))}>
        <div class="row">
          <div class="tier-choice">
            <label for="tier">Tier</label>
            <select id="tier" ?disabled=${isFixed} @change=${({ target }) => { draft.tier = target.value; edited(edit, draw); }}>
              ${(tier ? tiers : [{ tier: draft.tier }, ...tiers]).map((one) => html`<option value=${one.tier} .selected=${one.tier === draft.tier}>${one.tier}</option>`)}
            </select>
          </div>
          <a class="button quiet" href=${format({ view: "tier", id: draft.tier })}>Limits of tier ${draft.tier}</a>
        </div>
        <table class="limits-table tenant-limits" aria-label="Limits">
          <thead><tr><th scope="col">Limit</th><th scope="col" class="number">Tier</th><th scope="col">Override</th><th scope="col" class="number">In force</th><th scope="col">Mode</th><th scope="col" class="number">p99.9, 24 h</th></tr></thead>
          <tbody>${tenantRows(draft, tier, day && usageOf(day)).map((row) => limitRow(row, edit, isFixed, draw))}</tbody>
        </table>
        ${isStale ? html`<p class="notice bad"><span>${tenant.tenantId} was changed meanwhile, to version ${tenant.version}. Discard your changes to see it.</span></p>` : ""}
        <div class="row actions">
          ${replaySelect(route, router)}
          <button id="preview" class=${seen ? "" : "primary"} ?disabled=${!isChanged || isBusy || isStale}>${isBusy ? "Previewing …" : "Preview"}</button>
          <button type="button" id="save" class="primary" ?hidden=${!seen} ?disabled=${isBusy || isStale || seen?.found.outcome === "UNCHANGED"} @click=${handling(() => save(tenant, edit, app))}>Save</button>
          <button type="button" id="discard" ?hidden=${!isChanged && !edit.isTouched} @click=${() => { edits.delete(tenant.tenantId); draw(); }}>Discard</button>
          ${last?.version === tenant.version && !isChanged ? html`<button type="button" id="undo" @click=${handling(() => undo(tenant, app))}>Undo the last change</button>` : ""}
        </div>
        <div class="preview" id="preview-result" role="status">${seen ? previewResult(seen.found, seen.replay) : ""}</div>
        <p class="muted small">A preview compares with recorded minutes: connections and messages a minute, and open connections. “p99.9” is what 99.9 % of the minutes of a day did not exceed. ${day ? "" : "Loading what was used …"}</p>
      </form>`;
  },
};
