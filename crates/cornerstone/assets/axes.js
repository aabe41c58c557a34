// Axes. Along x lies the logarithm to the base 2, with a place for zero; along y the logarithm to the base 10.

/** Maps values of x to positions and back. Zero stands one and a half octaves left of the smallest other value. */
function xMapping(values) {
  const positive = values.filter((x) => x > 0);
  const lowest = positive.length ? Math.log2(Math.min(...positive)) : 0;
  return (x) => (x > 0 ? Math.log2(x) : lowest - 1.5);
}

/** Positions of labels so that neighbours have room, zero included. */
function xSplits(values, position, axis, width) {
  const positions = [...new Set(values)].sort((a, b) => a - b);
  const low = position(positions[0]);
  const high = position(positions.at(-1));
  const pixels = width / Math.max(high - low, 1);
  // A digit is about 7.5 pixels wide.
  const room = axis.bytes ? 54 : 12 + 9 * String(positions.at(-1)).length;
  if (!axis.bytes) return thinned(positions.map((x) => [position(x), String(x)]), pixels, room);
  const step = [1, 2, 3, 4, 5, 10, 20].find((s) => s * pixels >= room) ?? 40;
  const labels = [];
  for (let power = Math.ceil(position(positions.find((x) => x > 0) ?? 1)); power <= high; power++) {
    if (power % step === 0) labels.push([power, formatSize(2 ** power)]);
  }
  if (positions[0] === 0) labels.unshift([low, "0"]);
  return thinned(labels, pixels, room * 0.8);
}

/** Drops labels that would touch the one before. */
function thinned(labels, pixels, room) {
  const kept = [];
  for (const label of labels) {
    if (!kept.length || (label[0] - kept.at(-1)[0]) * pixels >= room * 0.8) kept.push(label);
  }
  return kept;
}

/** Labels of a logarithmic axis: powers of ten, with 2 and 5 between where they have room. */
function logSplits(min, max, height) {
  const decades = Math.log10(max / min);
  const wanted = Math.max(3, height / 34);
  const between = decades * 3 <= wanted ? [1, 2, 5] : decades * 2 <= wanted ? [1, 3] : [1];
  const step = Math.max(1, Math.ceil(decades / wanted));
  const splits = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
    if (power % step !== 0) continue;
    for (const factor of between) {
      const value = factor * 10 ** power;
      if (value >= min * 0.9999 && value <= max * 1.0001) splits.push(value);
    }
  }
  return splits.length >= 2 ? splits : linearSplits(min, max, height);
}

/** Labels of a linear axis: steps of 1, 2 or 5 times a power of ten. */
function linearSplits(min, max, height) {
  const rough = (max - min) / Math.max(2, height / 44);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough);
  const splits = [];
  for (let k = Math.ceil(min / step); k * step <= max * (1 + 1e-12); k++) splits.push(k * step);
  return splits;
}

/** A range around all values with some air, and never so narrow that noise looks like a cliff. */
function yRange(values, logarithmic, base) {
  const usable = values.filter((v) => Number.isFinite(v) && (!logarithmic || v > 0));
  if (base != null) usable.push(base);
  if (!usable.length) return logarithmic ? [0.1, 10] : [0, 1];
  let [min, max] = [Infinity, -Infinity];
  for (const v of usable) [min, max] = [Math.min(min, v), Math.max(max, v)];
  if (logarithmic) {
    const middle = Math.sqrt(min * max);
    const factor = Math.max((max / min) ** 0.54, 1.4);
    return [middle / factor, middle * factor];
  }
  const span = Math.max(max - min, Math.abs(max) * 0.1, 1e-9);
  return [min - span * 0.08, max + span * 0.08];
}

/** Options of uPlot for both axes, coloured by the theme. */
function axisOptions(xLabels, ySplits, yFormat, yWidth, xTitle) {
  const common = () => ({
    stroke: () => css("--soft"),
    font: "12px system-ui, sans-serif",
    ticks: { show: false },
    border: { show: true, stroke: () => css("--edge"), width: 1 },
  });
  return [
    {
      ...common(),
      grid: { stroke: () => css("--grid"), width: 1 },
      size: 26,
      label: xTitle,
      labelSize: 20,
      labelGap: 0,
      labelFont: "12px system-ui, sans-serif",
      splits: () => xLabels().map(([at]) => at),
      values: () => xLabels().map(([, text]) => text),
    },
    {
      ...common(),
      grid: { stroke: () => css("--grid"), width: 1 },
      size: yWidth,
      splits: (u, index, min, max) => ySplits(min, max, u.bbox.height / devicePixelRatio),
      filter: (u, splits) => splits,
      values: (u, splits) => splits.map(yFormat),
    },
  ];
}
