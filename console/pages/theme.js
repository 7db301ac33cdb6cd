// Runs before the first paint, so that the page does not flash in the other scheme.
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const forced = matchMedia("(forced-colors: active)");
  // Colours that the system forces are light or dark, whatever was chosen here: charts must fit them.
  const chosen = () => {
    try {
      return forced.matches ? null : localStorage.getItem("theme");
    } catch {
      return null; // Storage may be forbidden; the system's scheme applies then.
    }
  };
  const show = (theme) => {
    root.dataset.theme = theme;
    const toggle = document.getElementById("theme");
    if (toggle) {
      toggle.setAttribute("aria-pressed", String(theme === "dark"));
    }
  };
  const current = () => chosen() ?? (prefersDark.matches ? "dark" : "light");

  show(current());
  prefersDark.addEventListener("change", () => show(current()));
  forced.addEventListener("change", () => show(current()));
  addEventListener("storage", () => show(current()));
  document.addEventListener("DOMContentLoaded", () => {
    show(current());
    document.getElementById("theme").addEventListener("click", () => {
      const theme = root.dataset.theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // Storage is forbidden: the choice lasts until the page is reloaded.
      }
      show(theme);
    });
  });
})();
