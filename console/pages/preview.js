// The preview of a change of limits: what it would do now, and whom it would have refused.

import { html } from "./lit-html.js";
import { REPLAY, REPLAYS, addPreview, summaryOf, replaySummary, replayText } from "./limits.js";
import { LIMITS, count, number } from "./words.js";

const SHOWN = 20;

export const replayOf = ({ query }) => (REPLAYS[query.replay] ? query.replay : REPLAY);

/**
 * Asks for a preview, page by page: `path` has the parameter `dryRun`. Resolves to what `addPreview` says of all;
 * `onprogress` gets it after each page, and no page is asked for once `stopped()`.
 */
export async function previewOf(control, path, { method, body, version, replay }, onprogress = () => {}, stopped = () => false) {
  let total;
  let cursor;
  do {
    const { body: page } = await control(`${path}&replay=${replay}${cursor ? `&cursor=${cursor}` : ""}`, { method, body, version });
    total = addPreview(total, page);
    cursor = page.next;
    onprogress(total);
  } while (cursor && !stopped());
  return { ...total, isPart: Boolean(cursor) };
}

/**
 * The edit of a tenant or a tier among `edits`: `{draft, seen, progress, run, isTouched}`, where `seen` is the preview of
 * exactly this draft. Without one, or without changes, its present state, as `draftOf` makes it.
 */
export function editOf(edits, name, subject, draftOf) {
  const edit = edits.get(name);
  if (!edit || edit.draft.version !== subject.version && !edit.isTouched) {
    edits.set(name, { draft: draftOf(subject) });
  }
  return edits.get(name);
}

/** Notes that a draft was changed: it needs another preview. */
export function edited(edit, draw) {
  edit.isTouched = true;
  edit.seen = undefined;
  edit.run = undefined;
  draw();
}

/** Previews the draft of an edit against the version that it began with. `request` is `{method, body}`. */
export async function previewEdit(edit, path, request, route, { control, draw }) {
  const replay = replayOf(route);
  const run = { isStopped: false };
  edit.run = run;
  edit.progress = 0;
  draw();
  try {
    const found = await previewOf(
      control, `${path}?dryRun=true`, { ...request, version: edit.draft.version, replay },
      ({ checked }) => { edit.progress = checked; draw(); },
      () => run.isStopped || edit.run !== run);
    // An edit meanwhile made it the preview of another draft.
    if (edit.run === run) {
      edit.seen = { found, replay };
    }
  } finally {
    edit.progress = undefined;
    draw();
  }
}

/** The select of the recorded time. */
export const replaySelect = (route, router) => html`
  <div class="replay">
    <label for="replay">Compare with the last</label>
    <select id="replay" @change=${({ target }) => router.change({ replay: target.value })}>
      ${Object.entries(REPLAYS).map(([key, words]) => html`<option value=${key} .selected=${key === replayOf(route)}>${words}</option>`)}
    </select>
  </div>`;

const more = (list) => (list.length > SHOWN ? html`<li class="muted">And ${number(list.length - SHOWN)} more.</li>` : "");

/** What a preview found. `withTenants` names the tenants, and how many there are. */
export function previewResult(found, replay, { withTenants = false } = {}) {
  const { outcome, changes, checked, changed, consequences, refused, leftOut, notKnown, isPart } = found;
  if (outcome === "UNCHANGED") {
    return html`<p>This changes nothing.</p>`;
  }
  const fields = summaryOf(changes);
  return html`
    ${fields.length > 0 ? html`<p class="fields">${fields.join(", ")}</p>` : ""}
    ${withTenants ? html`<p>${number(changed)} of ${count(checked, "tenant")} would change${isPart ? "; the others were not checked" : ""}.</p>` : ""}
    ${Object.entries(leftOut).map(([limit, n]) => html`<p>${LIMITS[limit]}: ${count(n, "tenant overrides it", "tenants override it")} and ${n === 1 ? "keeps its" : "keep their"} value.</p>`)}
    ${notKnown > 0 ? html`<p>${LIMITS.messagesPerMinute}: not known of ${count(notKnown, "tenant")}, because the history does not have their messages.</p>` : ""}
    ${consequences.length > 0 ? html`
      <ul>${consequences.slice(0, SHOWN).map(({ tenantId, detail }) => html`<li>${withTenants ? html`<b>${tenantId}</b>: ` : ""}${detail}</li>`)}${more(consequences)}</ul>` : ""}
    <p class=${refused.length > 0 ? "problem" : ""}>${replaySummary(found, REPLAYS[replay])}</p>
    ${refused.length > 0 ? html`
      <ul>${refused.slice(0, SHOWN).map((one) => html`<li>${withTenants ? html`<b>${one.tenantId}</b>: ` : ""}${replayText(one)}</li>`)}${more(refused)}</ul>` : ""}`;
}
