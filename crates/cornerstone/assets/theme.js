// Before anything is painted: the reader's earlier choice of light or dark, if there is one.
(() => {
  try {
    const chosen = localStorage.getItem("cornerstone-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch (_) {
    // A page opened from a file may have no storage; the system's choice holds.
  }
})();
