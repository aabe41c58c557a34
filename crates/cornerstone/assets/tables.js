// Tables that can be copied into a spreadsheet, as tab-separated values.

/** The table's text; a cell may carry a form for copying in `data-copy` (bytes instead of `64 KiB`). */
function tableText(table) {
  const cell = (c) => (c.dataset.copy ?? c.textContent).replace(/\s+/g, " ").trim();
  return [...table.rows].map((row) => [...row.cells].map(cell).join("\t")).join("\n") + "\n";
}

async function copyText(text) {
  // Pages opened from a file may be refused the clipboard; then the old way.
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (_) {
      // Falls through.
    }
  }
  const area = element("textarea", { "aria-hidden": "true", class: "clipboard" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

function addCopyButton(table) {
  const button = element("button", { type: "button", class: "copy" }, "Copy table");
  button.addEventListener("click", async () => {
    const done = await copyText(tableText(table));
    button.textContent = done ? "Copied" : "Copying was refused";
    announce(button.textContent);
    setTimeout(() => { button.textContent = "Copy table"; }, 2000);
  });
  const place = table.closest(".scroll") ?? table;
  place.before(button);
}
