// Runs before anything is drawn, so that a page does not flash in the other scheme.
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // Storage may be forbidden; then the system's scheme it is.
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
  addEventListener("storage", () => show(current()));
  document.addEventListener("DOMContentLoaded", () => {
    show(current());
    document.getElementById("theme").addEventListener("click", () => {
      const theme = root.dataset.theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // Not remembered, but shown.
      }
      show(theme);
    });
  });
})();
