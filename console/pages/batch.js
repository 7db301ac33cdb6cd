// Changes of several tenants: a preview of each, then one change after another.

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
