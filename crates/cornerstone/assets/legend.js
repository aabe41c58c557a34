// One legend for all charts of a benchmark: runs by colour, lines within a run by marker and dash.

const LINES_SHOWN = 8;

/** At most `room` labels of several lists: the first of each, then the second of each, so that no chart begins empty. */
function firstOfEach(lists, room) {
  const chosen = new Set();
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let place = 0; place < longest; place++) {
    for (const list of lists) if (chosen.size < room && place < list.length) chosen.add(list[place]);
  }
  return chosen;
}

class Legend {
  /** `changed` is called when a reader switches something. */
  constructor(charts, changed) {
    this.labels = [...new Set(charts.flatMap((chart) => chart.lines.map((line) => line.label)))];
    this.runs = [...new Set(charts.flatMap((chart) => chart.lines.map((line) => line.run)))].sort((a, b) => a - b);
    this.changed = changed;
    this.hiddenRuns = new Set();
    this.tail = charts.some((chart) => chart.lines.some((line) => line.p99));
    // Dotted limits of many lines would hide the lines.
    this.hasLimit = charts.some((chart) => chart.lines.some((line) => line.limit));
    this.hasTail = this.tail;
    this.tail &&= this.runs.length === 1 && this.labels.length <= 4;
    this.limit = this.hasLimit && this.runs.length * this.labels.length <= 3;
    const room = Math.max(1, Math.floor(LINES_SHOWN / this.runs.length));
    const shown = firstOfEach(charts.map((chart) => chart.lines.map((line) => line.label)), room);
    this.hiddenLabels = new Set(this.labels.filter((label) => !shown.has(label)));
  }

  shown(line) {
    return !this.hiddenRuns.has(line.run) && !this.hiddenLabels.has(line.label);
  }

  styleOf(line) {
    return lineStyle(line.run, this.labels.indexOf(line.label), data.runs.length);
  }

  /** The switches, or nothing where there is nothing to switch. */
  build(charts) {
    const box = element("div", { class: "legend" });
    if (data.runs.length > 1) box.append(this.group("Runs", this.runs, this.hiddenRuns, (run) => data.runs[run], (run) => ({ ...lineStyle(run, 0, 2), marker: null })));
    if (this.labels.length > 1) {
      const style = (label) => (data.runs.length > 1
        ? { ...lineStyle(0, this.labels.indexOf(label), 2), colour: () => css("--ink") }
        : lineStyle(0, this.labels.indexOf(label), 1));
      box.append(this.group("Lines", this.labels, this.hiddenLabels, (label) => label, style));
    }
    const references = new Set(charts.flatMap((chart) => chart.references.map((r) => r.label)));
    const keys = element("div", { class: "keys" });
    for (const label of references) {
      const key = element("span", { class: "key" });
      key.append(sample({ colour: () => css("--soft"), dash: [3, 4], marker: null }), label);
      keys.append(key);
    }
    if (this.hasLimit) keys.append(this.option("limit", "dotted: the machine's limit"));
    if (this.hasTail) keys.append(this.option("tail", "shaded: from the median to the 99th percentile"));
    box.append(keys);
    if (this.hiddenLabels.size) {
      box.append(element("p", { class: "hint" }, `${this.labels.length - this.hiddenLabels.size} of ${this.labels.length} lines are shown; switch on others here.`));
    }
    return box;
  }

  group(title, members, hidden, name, style) {
    const group = element("div", { class: "switches", role: "group", "aria-label": title });
    for (const member of members) {
      const button = element("button", { type: "button", "aria-pressed": String(!hidden.has(member)) });
      button.append(sample(style(member)), name(member));
      button.addEventListener("click", () => {
        if (!hidden.delete(member)) hidden.add(member);
        button.setAttribute("aria-pressed", String(!hidden.has(member)));
        this.changed();
      });
      group.append(button);
    }
    return group;
  }

  /** A box to tick for something that all lines have. */
  option(name, text) {
    const label = element("label", { class: "key" });
    const box = element("input", { type: "checkbox" });
    box.checked = this[name];
    box.addEventListener("change", () => {
      this[name] = box.checked;
      this.changed();
    });
    label.append(box, text);
    return label;
  }
}
