// What makes a tier of another one, and removes a tier.

import { html } from "./lit-html.js";
import { confirmed } from "./confirm.js";
import { handling, notice } from "./dom.js";
import { tierBody, tierDraft } from "./limits.js";

/** Creates a tier with the settings of another one. One that exists is not overwritten. */
async function copyTier(tier, name, { control, store, router }) {
  const { body } = await control("tiers");
  if (body.tiers.some((one) => one.tier === name)) {
    notice("bad", `Tier ${name} exists already. Choose another name.`);
    return;
  }
  await control(`tiers/${name}`, { method: "PUT", body: { ...tierBody(tierDraft(tier), tier), tier: name } });
  notice("good", `Tier ${name} is created, with the settings of ${tier.tier}. It has no tenants yet.`);
  store.refresh("tiers");
  router.go({ view: "tier", id: name });
}

async function remove({ tier, version }, { control, store, router }) {
  if (!await confirmed(`Delete tier ${tier}?`, "Its settings are removed. This cannot be undone.", "Delete", tier)) {
    return;
  }
  await control(`tiers/${tier}`, { method: "DELETE", version });
  notice("good", `Tier ${tier} is deleted.`);
  store.refresh("tiers");
  router.go({ view: "tiers" });
}

export const copyOrDelete = (tier, app) => html`
  <section class="card" aria-labelledby="copy-title">
    <h2 id="copy-title">Copy or delete</h2>
    <form class="row" id="copy-form" @submit=${handling(({ target }) => copyTier(tier, new FormData(target).get("name"), app))}>
      <div class="grow"><label for="copy-name">New tier with these settings</label><input id="copy-name" name="name" required maxlength="32" pattern="[a-z][a-z0-9\\-]*" autocomplete="off" spellcheck="false" placeholder="name"></div>
      <button id="copy">Create</button>
    </form>
    ${tier.rollout.tenants > 0 ? html`<p class="muted small">A tier that has tenants cannot be deleted.</p>` : ""}
    <div class="row actions"><button type="button" id="delete-tier" class="danger" ?disabled=${tier.rollout.tenants > 0} @click=${handling(() => remove(tier, app))}>Delete tier …</button></div>
  </section>`;
