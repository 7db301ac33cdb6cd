// The tiers, and one of them: its limits, and how far their roll-out is.

import { html } from "./lit-html.js";
import { live } from "./directives/live.js";
import { confirmed } from "./confirm.js";
import { handling, notice } from "./dom.js";
import { MODES, NAMES, changesTier, largest, modesOf, refillOf, tierBody, tierDraft } from "./limits.js";
import { editOf, edited, previewEdit, previewResult, replaySelect } from "./preview.js";
import { format } from "./router.js";
import { copyOrDelete } from "./tier-copy.js";
import { LIMITS, count, dateTime, number } from "./words.js";

/** What is edited, by tier. */
const edits = new Map();
/** The last saved change, by tier: `{version, before}` to undo it. */
const saved = new Map();
const COLUMNS = ["tenantPerMinute", "tenantConnections", "messagesPerMinute"];

const notEnforced = ({ modes = {} }) => Object.entries(modes).map(([limit, mode]) => `${limit}: ${MODES[mode].toLowerCase()}`).join(", ");

const tierRow = (tier) => html`
  <tr data-tier=${tier.tier}>
    <th scope="row"><a href=${format({ view: "tier", id: tier.tier })}>${tier.tier}</a></th>
    ${COLUMNS.map((name) => html`<td class="number" data-label=${LIMITS[name]}>${number(tier.limits[name])}</td>`)}
    <td data-label="Queue">${tier.isolation === "SILO" ? "own" : "shared"}</td>
    <td data-label="Enforced">${tier.modes ? html`<span class="badge warn">${notEnforced(tier)}</span>` : "all"}</td>
    <td data-label="Tenants"><a href=${format({ view: "tenants", query: { tier: tier.tier } })}>Tenants</a></td>
  </tr>`;

export const tiers = {
  title: () => "Tiers",
  tasks: (route, { sources }) => [sources.tiers()],
  show(route, { store }) {
    const list = store.value("tiers")?.tiers;
    return html`
      <div class="intro"><h1>Tiers</h1><p>Each tenant has one tier, and may override its limits.</p></div>
      <section class="card" aria-label="List of tiers">
        ${list === undefined ? html`<p class="empty">Loading …</p>` : html`
          <table class="tier-list" aria-label="Tiers">
            <thead><tr><th scope="col">Tier</th>${COLUMNS.map((name) => html`<th scope="col" class="number">${LIMITS[name]}</th>`)}<th scope="col">Queue</th><th scope="col">Enforced</th><th scope="col"><span class="sr-only">Tenants</span></th></tr></thead>
            <tbody>${list.map(tierRow)}</tbody>
          </table>`}
      </section>`;
  },
};

const preview = (tier, edit, route, app) =>
  previewEdit(edit, `tiers/${tier.tier}`, { method: "PUT", body: tierBody(edit.draft, tier) }, route, app);

async function put(name, body, version, { control }) {
  return (await control(`tiers/${name}`, { method: "PUT", body, version })).body;
}

async function save(tier, edit, app) {
  const { found } = edit.seen;
  const hurt = new Set(found.refused.map(({ tenantId }) => tenantId)).size;
  if (hurt > 0 && !await confirmed(`Change tier ${tier.tier}?`, `${count(hurt, "tenant")} would have been refused in the recorded time.`, "Change tier")) {
    return;
  }
  const { version } = await put(tier.tier, tierBody(edit.draft, tier), edit.draft.version, app);
  edits.delete(tier.tier);
  saved.set(tier.tier, { version, before: tierBody(tierDraft(tier), tier) });
  notice("good", `Tier ${tier.tier} is changed, and is rolled out to its tenants.`);
  app.store.refresh();
}

async function undo({ tier }, app) {
  const { version, before } = saved.get(tier);
  await put(tier, before, version, app);
  saved.delete(tier);
  edits.delete(tier);
  notice("good", `The change of tier ${tier} is undone, and is rolled out to its tenants.`);
  app.store.refresh();
}

function rollout({ rollout: { version, complete, tenants, unsettled, more } }) {
  const known = more ? `${number(tenants)} tenants or more` : count(tenants, "tenant");
  return html`
    <section class="card" aria-labelledby="rollout-title">
      <h2 id="rollout-title">Roll-out</h2>
      <p id="rollout" role="status">${complete
        ? `Version ${version} is applied everywhere: ${known}.`
        : `Version ${version} is being applied: pending for ${number(unsettled)} of ${known}.`}</p>
      <progress ?hidden=${complete} max=${Math.max(1, tenants)} .value=${tenants - unsettled} aria-label="Tenants to which the version is applied"></progress>
    </section>`;
}

const limitRow = (name, tier, edit, draw) => html`
  <tr data-limit=${name}>
    <th scope="row">${LIMITS[name]}</th>
    <td class="number" data-label="Now">${number(tier.limits[name])}</td>
    <td class="edit" data-label="New">
      <input type="number" name=${name} aria-label="New: ${LIMITS[name]}" required min="1" max=${largest(name)}
        .value=${live(edit.draft.values[name])} @input=${({ target }) => { edit.draft.values[name] = target.value; edited(edit, draw); }}>
    </td>
    <td class="edit" data-label="Mode">${modesOf(name).length === 0 ? html`<span class="none">–</span>` : html`
      <select aria-label="Mode: ${LIMITS[name]}" @change=${({ target }) => { edit.draft.modes[name] = target.value; edited(edit, draw); }}>
        ${modesOf(name).map((mode) => html`<option value=${mode} .selected=${mode === (edit.draft.modes[name] || "ENFORCE")}>${MODES[mode]}</option>`)}
      </select>`}</td>
  </tr>`;

function editor(tier, route, app) {
  const { router, draw } = app;
  const edit = editOf(edits, tier.tier, tier, tierDraft);
  const { draft, seen, progress } = edit;
  const isChanged = changesTier(draft, tier);
  const isStale = draft.version !== tier.version;
  const isBusy = progress !== undefined;
  return html`
    <form class="card limits-form" aria-label="Limits of tier ${tier.tier}" @submit=${handling(() => preview(tier, edit, route, app))}>
      <h2>Limits</h2>
      <table class="limits-table" aria-label="Limits">
        <thead><tr><th scope="col">Limit</th><th scope="col" class="number">Now</th><th scope="col">New</th><th scope="col">Mode</th></tr></thead>
        <tbody>${NAMES.map((name) => limitRow(name, tier, edit, draw))}</tbody>
      </table>
      ${isStale ? html`<p class="notice bad"><span>Tier ${tier.tier} was changed meanwhile, to version ${tier.version}. Discard your changes to see it.</span></p>` : ""}
      <div class="row actions">
        ${replaySelect(route, router)}
        <button id="preview" class=${seen ? "" : "primary"} ?disabled=${!isChanged || isBusy || isStale}>Preview</button>
        <button type="button" id="save" class="primary" ?hidden=${!seen} ?disabled=${isStale || seen?.found.outcome === "UNCHANGED"} @click=${handling(() => save(tier, edit, app))}>Save</button>
        <button type="button" id="stop" ?hidden=${!isBusy || !edit.run} @click=${() => { edit.run.isStopped = true; }}>Stop</button>
        <button type="button" id="discard" ?hidden=${!isChanged && !edit.isTouched} @click=${() => { edits.delete(tier.tier); draw(); }}>Discard</button>
        ${saved.get(tier.tier)?.version === tier.version && !isChanged ? html`<button type="button" id="undo" @click=${handling(() => undo(tier, app))}>Undo the last change</button>` : ""}
      </div>
      <div class="preview" id="preview-result" role="status">${isBusy ? html`<p>Previewed ${count(progress, "tenant")} …</p>` : seen ? previewResult(seen.found, seen.replay, { withTenants: true }) : ""}</div>
    </form>`;
}

const fact = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
const FILLED = { PRODUCER: "by the token producer", DIRECT: "by schedules", SHARED: "by shared schedules" };
const left = new WeakSet();

export const tier = {
  title: ({ id }) => `Tier ${id}`,
  tasks: ({ id }, { sources }) => [sources.tier(id)],
  show(route, app) {
    const { id } = route;
    const { store, router } = app;
    const failure = store.failure(`tier/${id}`);
    const isGone = failure?.status === 404;
    if (isGone && !left.has(failure)) {
      left.add(failure);
      failure.shown = true;
      router.go({ view: "tiers" });
      notice("info", `Tier ${id} does not exist.`);
    }
    const found = store.value(`tier/${id}`);
    if (!found || isGone) {
      return html`<p class="empty">Loading …</p>`;
    }
    const { isolation, fillMode, hibernateAfterMinutes, onUnavailable, line, buckets, retreatAbovePercent, retreatedAt, version } = found;
    return html`
      <div class="intro between">
        <div><h1>Tier ${id}</h1><p>Version ${version}. A change applies to all its tenants, except where they override it.</p></div>
        <a href="#/tiers">All tiers</a>
      </div>
      <div class="columns tier-columns">
        ${editor(found, route, app)}
        <div class="stack">
          ${rollout(found)}
          <section class="card" aria-labelledby="settings-title">
            <h2 id="settings-title">Settings</h2>
            <dl class="facts">
              ${fact("Queue", isolation === "SILO" ? "own" : "shared")}
              ${fact("Buckets are filled", FILLED[fillMode] ?? fillMode)}
              ${fact("Sleep when full for", hibernateAfterMinutes === 0 ? "never" : `${number(hibernateAfterMinutes)} min`)}
              ${fact("If a bucket fails", onUnavailable === "ADMIT" ? "admit" : "refuse")}
              ${fact("Line", line ? "on" : "off")}
              ${fact("Stops to enforce", retreatAbovePercent ? `above ${retreatAbovePercent} % refused` : "never")}
              ${retreatedAt ? fact("Last stopped", dateTime(retreatedAt)) : ""}
              ${Object.entries(buckets).map(([action, { ratePerMinute, refill, capacity }]) => fact(`Bucket ${action}`, [(ratePerMinute || refill) && refillOf({ ratePerMinute, refill }), capacity && `capacity ${number(capacity)}`].filter(Boolean).join(", ")))}
            </dl>
            <p class="links"><a href=${format({ view: "tenants", query: { tier: id } })}>Tenants of this tier</a> <a href=${format({ view: "audit", query: { tier: id } })}>Its changes</a></p>
            <p class="muted small">To change other settings, use <code>tollgate tiers export</code>.</p>
          </section>
          ${copyOrDelete(found, app)}
        </div>
      </div>`;
  },
};
