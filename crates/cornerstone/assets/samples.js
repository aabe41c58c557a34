// The samples of one measurement: how they are distributed, and how they came over time.

class SampleView {
  constructor(details, benchmark) {
    Object.assign(this, { details, benchmark });
    this.entries = data.benchmarks[benchmark].details;
    this.select = element("select", {});
    this.entries.forEach((entry, index) => this.select.append(element("option", { value: String(index) }, this.name(entry))));
    this.select.addEventListener("change", () => this.show(Number(this.select.value)));
    const label = element("label", { class: "chooser" }, "Measurement ");
    label.append(this.select);
    this.facts = element("p", { class: "facts" });
    this.figures = element("div", { class: "charts" });
    details.append(label, this.facts, this.figures);
  }

  name(entry) {
    return data.runs.length > 1 ? `${data.runs[entry.run]}: ${entry.label}` : entry.label;
  }

  show(index) {
    const entry = this.entries[index];
    this.select.value = String(index);
    this.plots?.forEach((plot) => { plot.destroy(); charts.delete(plot.owner); });
    this.figures.replaceChildren();
    this.facts.textContent = sampleFacts(entry);
    this.plots = [histogram(this.figure("Distribution"), entry), trace(this.figure("Samples over time"), entry)];
  }

  figure(title) {
    const figure = element("figure", { class: "chart" });
    figure.append(element("figcaption", {}, title));
    this.figures.append(figure);
    return figure;
  }
}

function sampleFacts(entry) {
  const [lowSevere, lowMild, highMild, highSevere] = entry.outliers;
  const mild = lowMild + highMild;
  const severe = lowSevere + highSevere;
  const outside = mild + severe
    ? `${mild} mild and ${severe} severe outliers by Tukey's fences, all counted.`
    : "No outliers by Tukey's fences.";
  const { per_mark: perMark } = entry.samples.trace;
  const thinning = perMark > 1 ? ` Over time each mark spans ${perMark} neighbouring samples, from the smallest to the largest.` : "";
  return `${entry.n} samples; median ${formatValue(entry.median, entry.unit)}, p99 ${formatValue(entry.p99, entry.unit)}, ` +
    `max ${formatValue(entry.max, entry.unit)}. ${entry.how} ${outside}${thinning}`;
}

/** A plot that is not made of lines over size; it follows the theme and the width like the others. */
function simplePlot(figure, options, columns, tipText) {
  const mount = element("div", { class: "plot" });
  const tip = element("div", { class: "tip", hidden: "" });
  figure.append(mount);
  const size = () => {
    const width = Math.max(240, Math.floor(figure.clientWidth));
    return { width, height: 230 };
  };
  const setCursor = (plot) => {
    const { idx, left } = plot.cursor;
    const text = idx == null || left < 0 ? null : tipText(idx);
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const x = plot.valToPos(plot.data[0][idx], "x");
    const at = x + 12 + tip.offsetWidth > plot.over.clientWidth ? x - 12 - tip.offsetWidth : x + 12;
    tip.style.transform = `translate(${Math.round(Math.max(at, -60))}px, 4px)`;
  };
  const plot = new uPlot({
    ...size(),
    padding: [10, 26, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { show: false } },
    ...options,
    hooks: { ...options.hooks, setCursor: [setCursor] },
  }, columns, mount);
  plot.over.append(tip);
  plot.over.addEventListener("mouseleave", () => { tip.hidden = true; });
  const observer = new ResizeObserver(() => {
    const wanted = size();
    if (wanted.width !== plot.width && figure.isConnected) plot.setSize(wanted);
  });
  observer.observe(figure);
  plot.owner = { refresh: () => plot.redraw(false, true) };
  charts.add(plot.owner);
  figure.dataset.drawn = "yes";
  return plot;
}

/** Bars of equal width, and one beyond each end for the samples that lie far off. */
function histogram(figure, entry) {
  const { logarithmic, low, high, counts, below, above } = entry.samples.histogram;
  const bins = counts.length;
  const edge = (bin) => (logarithmic ? low * (high / low) ** (bin / bins) : low + ((high - low) * bin) / bins);
  const place = (value) => (high === low ? 0.5 : logarithmic
    ? (Math.log(value / low) / Math.log(high / low)) * bins
    : ((value - low) / (high - low)) * bins);
  const gap = bins * 0.06;
  const bars = [
    ...(below ? [{ from: -2 * gap, to: -gap, count: below, far: true, text: `below ${formatValue(low, entry.unit)}` }] : []),
    ...counts.map((count, bin) => ({
      from: bin, to: bin + 1, count, text: `${formatValue(edge(bin), entry.unit, 4)} to ${formatValue(edge(bin + 1), entry.unit, 4)}`,
    })),
    ...(above ? [{ from: bins + gap, to: bins + 2 * gap, count: above, far: true, text: `above ${formatValue(high, entry.unit)}, up to ${formatValue(entry.max, entry.unit)}` }] : []),
  ];
  const most = Math.max(...bars.map((bar) => bar.count));
  const labels = (width) => {
    const wanted = Math.max(2, Math.floor(width / 96));
    return Array.from({ length: wanted + 1 }, (_, k) => (k * bins) / wanted);
  };
  const paint = (plot) => {
    const { ctx } = plot;
    const foot = plot.valToPos(0, "y", true);
    ctx.save();
    for (const bar of bars) {
      if (!bar.count) continue;
      ctx.fillStyle = bar.far ? css("--caution") : colour(data.runs.length > 1 ? entry.run : 0);
      const left = plot.valToPos(bar.from, "x", true);
      const right = plot.valToPos(bar.to, "x", true);
      // A single sample among thousands must still show.
      const height = Math.max(foot - plot.valToPos(bar.count, "y", true), 2 * devicePixelRatio);
      ctx.fillRect(left + 0.5, foot - height, Math.max(right - left - 1, 1), height);
    }
    mark(plot, place(entry.median), "median", 0);
    if (entry.p99 <= high) mark(plot, place(entry.p99), "p99", 1);
    ctx.restore();
  };
  return simplePlot(figure, {
    scales: {
      x: { time: false, range: () => [below ? -2.5 * gap : 0, bins + (above ? 2.5 * gap : 0)] },
      y: { range: () => [0, most * 1.18] },
    },
    axes: axisOptions(() => labels(figure.clientWidth - 90).map((at) => [at, formatTick(edge(at), entry.unit)]),
      linearSplits, (v) => (Number.isInteger(v) ? String(v) : ""), 56, `${entry.metric}, samples in each bar`),
    series: [{}, { stroke: "transparent", points: { show: false } }],
    hooks: { draw: [paint] },
  }, [bars.map((bar) => (bar.from + bar.to) / 2), bars.map((bar) => bar.count)], (index) =>
    `${bars[index].text}: ${bars[index].count} of ${entry.n} samples`);
}

/** A labelled vertical line. */
function mark(plot, at, text, row) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const x = plot.valToPos(at, "x", true);
  ctx.strokeStyle = ctx.fillStyle = css("--ink");
  ctx.lineWidth = 1.2 * ratio;
  ctx.setLineDash([4 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  const right = x + ctx.measureText(text).width + 6 * ratio < bbox.left + bbox.width;
  ctx.textAlign = right ? "left" : "right";
  ctx.fillText(text, x + (right ? 4 : -4) * ratio, bbox.top + (10 + row * 13) * ratio);
}

function trace(figure, entry) {
  const warm = marks(entry.samples.warm_up, 0);
  const offset = warm.length ? warm.at(-1).to : 0;
  const all = [...warm.map((m) => ({ ...m, warm: true })), ...marks(entry.samples.trace, offset)];
  const values = all.flatMap((m) => [m.low, m.high]);
  const positive = values.filter((v) => v > 0);
  const logarithmic = positive.length === values.length && Math.max(...values) / Math.min(...values) > 5;
  const paint = (plot) => paintTrace(plot, all, entry);
  return simplePlot(figure, {
    scales: {
      x: { time: false, range: () => [0, Math.max(all.at(-1).to, 1)] },
      y: { distr: logarithmic ? 3 : 1, range: () => yRange(values, logarithmic) },
    },
    axes: axisOptions(
      () => linearSplits(0, Math.max(all.at(-1).to - offset, 1), figure.clientWidth / 1.6).map((v) => [v + offset, String(v)]),
      logarithmic ? logSplits : linearSplits, (v) => formatTick(v, entry.unit), 68, "sample"),
    series: [{}, { stroke: "transparent", points: { show: false } }],
    hooks: { draw: [paint] },
  }, [all.map((m) => (m.from + m.to) / 2), all.map((m) => m.high)], (index) => {
    const m = all[index];
    const first = m.from - (m.warm ? 0 : offset);
    const which = m.to - m.from > 1 ? `samples ${first} to ${first + m.to - m.from - 1}` : `sample ${first}`;
    const range = m.low === m.high ? formatValue(m.low, entry.unit) : `${formatValue(m.low, entry.unit)} to ${formatValue(m.high, entry.unit)}`;
    return `${m.warm ? "warm-up, " : ""}${which}: ${range}`;
  });
}

function marks({ per_mark: perMark, low, high }, offset) {
  return low.map((value, index) => ({
    from: offset + index * perMark,
    to: offset + (index + 1) * perMark,
    low: value,
    high: high ? high[index] : value,
  }));
}

/** A dot for a single sample, a bar from the smallest to the largest of neighbours; the warm-up in grey. */
function paintTrace(plot, all, entry) {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  for (const m of all) {
    ctx.fillStyle = m.warm ? css("--soft") : colour(data.runs.length > 1 ? entry.run : 0);
    const x = plot.valToPos((m.from + m.to) / 2, "x", true);
    const top = plot.valToPos(m.high, "y", true);
    const bottom = plot.valToPos(m.low, "y", true);
    ctx.beginPath();
    ctx.roundRect(x - 1.3 * ratio, top - 1.3 * ratio, 2.6 * ratio, bottom - top + 2.6 * ratio, 1.3 * ratio);
    ctx.fill();
  }
  ctx.restore();
}
