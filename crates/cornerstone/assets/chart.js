// A chart of lines over size (or ranks, or a parameter) with intervals, tails, values under the pointer and by keyboard.

const charts = new Set();

class LineChart {
  /**
   * figure: where to draw; chart: the data as src/report/chart.rs wrote it; shown(line): whether a line is switched on;
   * styleOf(line): its style; options(): what else to draw; pick(line, index): a reader chose a point.
   */
  constructor(figure, chart, { shown, styleOf, options, pick }) {
    Object.assign(this, { figure, chart, shown, styleOf, options, pick });
    this.values = [...new Set([...chart.lines, ...chart.references].flatMap((l) => l.x))].sort((a, b) => a - b);
    this.position = xMapping(this.values);
    this.mount = element("div", { class: "plot", tabindex: "0", role: "group", "aria-roledescription": "chart" });
    this.mount.setAttribute("aria-label", `${chart.title}. Arrow keys read the values; Enter shows the samples.`);
    this.tip = element("div", { class: "tip", hidden: "" });
    figure.append(this.mount);
    this.plot = new uPlot(this.plotOptions(), this.columns(), this.mount);
    this.plot.over.append(this.tip);
    this.listen();
    charts.add(this);
    figure.dataset.drawn = "yes";
  }

  get size() {
    const width = Math.max(240, Math.floor(this.figure.clientWidth));
    return { width, height: width < 400 ? 230 : 290 };
  }

  columns() {
    const column = (line, y) => {
      const at = new Map(line.x.map((x, index) => [x, y[index]]));
      return this.values.map((x) => {
        const value = at.get(x);
        return value == null || (this.chart.y.logarithmic && value <= 0) ? null : value;
      });
    };
    return [
      this.values.map(this.position),
      ...this.chart.lines.map((line) => column(line, line.median)),
      ...this.chart.references.map((reference) => column(reference, reference.y)),
    ];
  }

  plotOptions() {
    const { x, y } = this.chart;
    const at = this.values.map(this.position);
    const air = Math.max((at.at(-1) - at[0]) * 0.03, 0.15);
    const labels = () => xSplits(this.values, this.position, x, this.plot?.over.clientWidth || this.size.width - 70);
    const splits = y.logarithmic ? logSplits : linearSplits;
    return {
      ...this.size,
      padding: [10, 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { time: false, range: () => [at[0] - air, at.at(-1) + air] },
        y: { distr: y.logarithmic ? 3 : 1, range: () => this.range() },
      },
      axes: axisOptions(labels, splits, (v) => formatTick(v, y.unit), 68, x.title),
      series: [{}, ...this.chart.lines.map((line) => this.series(line)), ...this.chart.references.map((r) => this.reference(r))],
      hooks: {
        drawAxes: [() => this.paintBelow()],
        draw: [() => this.paintAbove()],
        setCursor: [() => this.showTip()],
      },
    };
  }

  series(line) {
    const style = this.styleOf(line);
    return {
      show: this.shown(line),
      stroke: style.colour,
      width: this.chart.lineWidth ?? 2,
      dash: style.dash,
      spanGaps: true,
      points: { show: false },
    };
  }

  reference(reference) {
    return { stroke: () => css("--soft"), width: 1.5, dash: [3, 4], spanGaps: true, points: { show: false }, show: this.shownReference(reference) };
  }

  shownReference(reference) {
    return this.chart.lines.some((line) => line.run === reference.run && this.shown(line));
  }

  range() {
    const values = [];
    for (const line of this.visible()) {
      values.push(...line.median, ...line.low, ...line.high);
      if (this.options().tail && line.p99) values.push(...line.p99);
      if (line.fit) values.push(...line.fit);
      if (this.options().limit && line.limit) values.push(...line.limit.filter((v) => v != null));
    }
    for (const reference of this.chart.references) if (this.shownReference(reference)) values.push(...reference.y);
    return yRange(values, this.chart.y.logarithmic, this.chart.y.base);
  }

  visible() {
    return this.chart.lines.filter((line) => this.shown(line));
  }

  /** Pixels on the canvas; values that a logarithmic axis cannot show lie at its foot. */
  pixel(x, y) {
    const [low] = [this.plot.scales.y.min];
    const value = this.chart.y.logarithmic ? Math.max(y, low) : y;
    return [this.plot.valToPos(this.position(x), "x", true), this.plot.valToPos(value, "y", true)];
  }

  clipped(paint) {
    const { ctx, bbox } = this.plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    paint(ctx, devicePixelRatio);
    ctx.restore();
  }

  paintBelow() {
    this.clipped((context, ratio) => {
      if (this.chart.y.base != null) this.paintBase(context, ratio);
      for (const line of this.visible()) {
        context.fillStyle = context.strokeStyle = this.styleOf(line).colour();
        if (this.options().tail && line.p99) this.paintBand(context, line);
        if (line.fit) this.paintCurve(context, ratio, line, line.fit, [5, 4]);
        if (this.options().limit && line.limit) this.paintCurve(context, ratio, line, line.limit, [1.5, 3]);
      }
    });
  }

  paintBase(context, ratio) {
    const y = this.plot.valToPos(this.chart.y.base, "y", true);
    context.strokeStyle = css("--soft");
    context.lineWidth = ratio;
    context.beginPath();
    context.moveTo(this.plot.bbox.left, y);
    context.lineTo(this.plot.bbox.left + this.plot.bbox.width, y);
    context.stroke();
  }

  /** From the median to the 99th percentile. */
  paintBand(context, line) {
    context.globalAlpha = 0.13;
    context.beginPath();
    polygon(context, [
      ...line.x.map((x, index) => this.pixel(x, line.median[index])),
      ...line.x.map((x, index) => this.pixel(x, line.p99[index])).reverse(),
    ]);
    context.fill();
    context.globalAlpha = 1;
  }

  paintCurve(context, ratio, line, values, dash) {
    context.lineWidth = 1.5 * ratio;
    context.setLineDash(dash.map((length) => length * ratio));
    context.beginPath();
    let begun = false;
    line.x.forEach((x, index) => {
      if (values[index] == null) return;
      const [left, top] = this.pixel(x, values[index]);
      if (begun) context.lineTo(left, top);
      else context.moveTo(left, top);
      begun = true;
    });
    context.stroke();
    context.setLineDash([]);
  }

  /** Intervals as bars and medians as markers: hollow where the measurement did not converge. */
  paintAbove() {
    this.clipped((context, ratio) => {
      for (const line of this.visible()) {
        const style = this.styleOf(line);
        context.strokeStyle = style.colour();
        line.x.forEach((x, index) => {
          if (line.median[index] == null || (this.chart.y.logarithmic && line.median[index] <= 0)) return;
          this.paintInterval(context, ratio, x, line.low[index], line.high[index]);
          const [left, top] = this.pixel(x, line.median[index]);
          traceMarker(context, style.marker, left, top, 3.4 * ratio);
          context.fillStyle = isOpen(line.stop?.[index]) ? css("--card") : style.colour();
          context.fill();
          context.lineWidth = 1.5 * ratio;
          context.stroke();
        });
      }
      this.paintFocus(context, ratio);
    });
  }

  paintInterval(context, ratio, x, low, high) {
    const [left, bottom] = this.pixel(x, low);
    const [, top] = this.pixel(x, high);
    const cap = 3.5 * ratio;
    // Within the marker it would only make the marker look ragged.
    if (bottom - top < 6 * ratio) return;
    context.lineWidth = 1.3 * ratio;
    context.beginPath();
    context.moveTo(left, bottom);
    context.lineTo(left, top);
    for (const y of [bottom, top]) {
      context.moveTo(left - cap, y);
      context.lineTo(left + cap, y);
    }
    context.stroke();
  }

  paintFocus(context, ratio) {
    if (!this.focus) return;
    const { line, index } = this.focus;
    const [left, top] = this.pixel(line.x[index], line.median[index]);
    context.strokeStyle = css("--ink");
    context.lineWidth = 1.5 * ratio;
    context.beginPath();
    context.arc(left, top, 8 * ratio, 0, 2 * Math.PI);
    context.stroke();
  }

  /** The visible lines that have a value at the cursor. */
  hits() {
    const x = this.values[this.plot.cursor.idx];
    return this.visible()
      .map((line) => ({ line, index: line.x.indexOf(x) }))
      .filter(({ line, index }) => index >= 0 && line.median[index] != null);
  }

  showTip() {
    const { left, top, idx } = this.plot.cursor;
    if (idx == null || left < 0) return this.hideTip();
    const hits = this.hits();
    if (!hits.length) return this.hideTip();
    const distance = ({ line, index }) => Math.abs(this.plot.valToPos(line.median[index], "y") - top);
    this.setFocus(hits.reduce((best, hit) => (distance(hit) < distance(best) ? hit : best)), hits);
  }

  hideTip() {
    this.tip.hidden = true;
    if (this.focus) {
      this.focus = null;
      this.plot.redraw(false, false);
    }
  }

  setFocus(focus, hits) {
    const moved = this.focus?.line !== focus.line || this.focus?.index !== focus.index;
    this.focus = focus;
    if (moved) {
      this.tip.replaceChildren(...this.tipContent(focus, hits));
      this.plot.redraw(false, false);
    }
    this.tip.hidden = false;
    this.placeTip(focus);
  }

  placeTip({ line, index }) {
    const x = this.plot.valToPos(this.position(line.x[index]), "x");
    const y = this.plot.valToPos(line.median[index], "y");
    this.tip.dataset.at = `${Math.round(x)},${Math.round(y)}`;
    const { clientWidth: width, clientHeight: height } = this.plot.over;
    const right = x + 14 + this.tip.offsetWidth <= width;
    const left = right ? x + 14 : Math.max(x - 14 - this.tip.offsetWidth, -60);
    const top = Math.min(Math.max(y - this.tip.offsetHeight / 2, -8), Math.max(height - this.tip.offsetHeight + 20, -8));
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  tipContent(focus, hits) {
    const { x, y } = this.chart;
    const at = focus.line.x[focus.index];
    const rows = hits.slice(0, 12).map(({ line, index }) => {
      const row = element("tr", { class: line === focus.line ? "near" : "" });
      const name = element("th", { scope: "row" });
      name.append(sample(this.styleOf(line), false), ` ${this.lineName(line)}`);
      row.append(name, element("td", {}, formatValue(line.median[index], y.unit)));
      return row;
    });
    for (const reference of this.chart.references.filter((r) => this.shownReference(r))) {
      const value = reference.y[reference.x.indexOf(at)];
      if (value == null) continue;
      const row = element("tr", {});
      row.append(element("th", { scope: "row" }, reference.label), element("td", {}, formatValue(value, y.unit)));
      rows.push(row);
    }
    const table = element("table", {});
    table.append(...rows);
    return [element("p", { class: "at" }, `${x.title} ${formatX(at, x)}`), table, this.facts(focus)];
  }

  /** What is known about the point in focus. */
  facts({ line, index }) {
    const { unit } = this.chart.y;
    const list = element("dl", {});
    const add = (name, text) => text && list.append(element("dt", {}, name), element("dd", {}, text));
    add("interval", this.interval(line, index));
    if (line.p99) add("p99, max", `${formatValue(line.p99[index], unit)}, ${formatValue(line.max[index], unit)}`);
    if (line.fit) add("straight line", formatValue(line.fit[index], unit));
    if (line.limit?.[index] != null) add("limit", `${formatValue(line.limit[index], unit)}, ${line.share[index]} reached`);
    else if (line.share?.[index]) add("against the limit", `${line.share[index]} reached`);
    if (line.n) add("samples", `${line.n[index]}, ${STOPS[line.stop[index]]}`);
    return list;
  }

  lineName(line) {
    const parts = [data.runs.length > 1 ? data.runs[line.run] : "", line.label].filter(Boolean);
    return parts.join(": ") || this.chart.y.title;
  }

  listen() {
    this.plot.over.addEventListener("click", () => this.focus && this.pick(this.focus.line, this.focus.index));
    this.plot.over.addEventListener("mouseleave", () => this.hideTip());
    this.mount.addEventListener("blur", () => this.hideTip());
    this.mount.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => {
      const { width, height } = this.size;
      if (width !== this.plot.width) this.plot.setSize({ width, height });
    }).observe(this.figure);
  }

  key(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Escape") return this.hideTip();
    if (event.key === "Enter" && this.focus) return this.pick(this.focus.line, this.focus.index);
    const step = steps[event.key];
    const lines = this.visible();
    if (!step || !lines.length) return;
    event.preventDefault();
    const current = this.focus && lines.includes(this.focus.line) ? this.focus : { line: lines[0], index: step[0] < 0 ? lines[0].x.length : -1 };
    const line = lines[Math.min(Math.max(lines.indexOf(current.line) + step[1], 0), lines.length - 1)];
    const from = step[1] ? nearestIndex(line.x, current.line.x[Math.max(current.index, 0)]) : current.index + step[0];
    const index = Math.min(Math.max(from, 0), line.x.length - 1);
    const x = line.x[index];
    const hits = lines.map((l) => ({ line: l, index: l.x.indexOf(x) })).filter((hit) => hit.index >= 0);
    this.setFocus({ line, index }, hits);
    announce(`${this.lineName(line)}, ${formatX(x, this.chart.x)}: ${formatValue(line.median[index], this.chart.y.unit)}, ` +
      `interval ${this.interval(line, index)}`);
  }

  interval(line, index) {
    const { unit } = this.chart.y;
    if (line.stop?.[index] === EXACT) return "none, the number is exact";
    return `${formatValue(line.low[index], unit)} to ${formatValue(line.high[index], unit)}`;
  }

  /** After lines were switched on or off, or the theme changed. */
  refresh() {
    this.chart.lines.forEach((line, index) => this.plot.setSeries(index + 1, { show: this.shown(line) }, false));
    this.chart.references.forEach((reference, index) =>
      this.plot.setSeries(index + 1 + this.chart.lines.length, { show: this.shownReference(reference) }, false));
    this.hideTip();
    this.plot.redraw(false, true);
  }
}

const STOPS = ["converged", "not converged: time limit", "not converged: sample limit", "exact"];
const EXACT = 3;

function isOpen(stop) {
  return stop > 0 && stop !== EXACT;
}

function nearestIndex(values, wanted) {
  return values.reduce((best, value, index) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? index : best), 0);
}
