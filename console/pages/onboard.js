// The dialog that onboards a tenant.

import { html, render } from "./lit-html.js";
import { byId, handling, notice, setText } from "./dom.js";
import { LIMITS, LINE_OVERRIDES } from "./words.js";

async function onboard({ control, store, router }) {
  const tenantId = byId("new-id").value;
  const tier = byId("new-tier").value;
  const overrides = Object.fromEntries([...byId("overrides").querySelectorAll("input, select")]
    .filter((field) => field.value !== "")
    .map((field) => [field.name, JSON.parse(field.value)]));
  try {
    await control("tenants", { method: "POST", body: { tenantId, tier, overrides } });
  } catch (failed) {
    // Shown in the dialog, which covers the page.
    setText(byId("onboard-error"), failed.message);
    byId("onboard-error").hidden = false;
    return;
  }
  byId("onboard-dialog").close();
  notice("good", `${tenantId} is onboarded. Its buckets are ready within a minute.`);
  store.refresh("tenants");
  router.go({ view: "tenant", id: tenantId });
}

const form = (tiers, app) => html`
  <form id="onboard-form" @submit=${handling(() => onboard(app))}>
    <h2 id="onboard-title">Onboard a tenant</h2>
    <div>
      <label for="new-id">Tenant id</label>
      <input id="new-id" required maxlength="36" pattern="[a-z0-9][a-z0-9\\-]*" autocomplete="off" spellcheck="false" aria-describedby="new-id-hint">
      <p class="hint" id="new-id-hint">Lower-case letters, digits and hyphens, up to 36.</p>
    </div>
    <div>
      <label for="new-tier">Tier</label>
      <select id="new-tier">${tiers.map((tier) => html`<option value=${tier}>${tier}</option>`)}</select>
    </div>
    <details>
      <summary>Overrides</summary>
      <div class="overrides" id="overrides">
        ${Object.entries(LIMITS).map(([name, label]) => html`
          <div><label for=${name}>${label}</label><input id=${name} name=${name} type="number" min="1" placeholder="tier’s value"></div>`)}
        <div>
          <label for="new-line">Line</label>
          <select id="new-line" name="line">${Object.entries(LINE_OVERRIDES).map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select>
        </div>
      </div>
    </details>
    <p class="notice bad" id="onboard-error" role="alert" hidden></p>
    <div class="actions">
      <button type="button" id="onboard-cancel" @click=${() => byId("onboard-dialog").close()}>Cancel</button>
      <button class="primary">Onboard</button>
    </div>
  </form>`;

/** Opens the dialog with a choice of tiers. */
export function openOnboarding(tiers, app) {
  render(form(tiers, app), byId("onboard-dialog"));
  byId("onboard-error").hidden = true;
  byId("onboard-form").reset();
  byId("onboard-dialog").showModal();
}
