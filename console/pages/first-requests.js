// Runs before the modules are there: asks for the view's modules and its first rows, so that both come one round trip earlier.
(() => {
  const view = /^(?:#\/(overview|tenants)(?:\?.*)?)?$/.exec(location.hash);
  if (!view || location.search || document.hidden) {
    return;
  }
  const modules = {
    overview: ["overview.js", "changes.js", "templates.js"],
    tenants: ["tenants.js", "directives/live.js"],
  };
  for (const href of modules[view[1] ?? "overview"]) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  }
  let token;
  try {
    token = sessionStorage.getItem("token");
  } catch {
    // Storage is forbidden: the page asks without a token.
  }
  const options = {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    cache: "no-store",
    credentials: "omit",
    signal: AbortSignal.timeout(35_000),
  };
  globalThis.firstAnswers = new Map(["fleet/tenants?sort=refused&window=5m&limit=100", "tenants?limit=100"].map((path) => {
    const answer = fetch(path, options);
    answer.catch(() => {}); // `call` reports it.
    return [path, answer];
  }));
})();
