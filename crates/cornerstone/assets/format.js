// Numbers for people: three significant digits and a unit that fits. The same rules as src/wording/numbers.rs.

const TIME_UNITS_NS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
const TIME_STEPS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"], [1e-3, "ps"]];
const RATE_STEPS = [[1e6, "TB/s"], [1e3, "GB/s"], [1, "MB/s"], [1e-3, "kB/s"]];
const FLOATING_STEPS = [[1e6, "TFLOP/s"], [1e3, "GFLOP/s"], [1, "MFLOP/s"]];
const OPERATION_STEPS = [[1e6, "Mop/s"], [1e3, "kop/s"], [1, "op/s"]];
const SIZE_STEPS = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];

/** Halves go away from zero, step by step as in numbers.rs, so that a chart and the table under it agree. */
function significant(value, digits = 3) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  let magnitude = Math.floor(Math.log10(Math.abs(value)));
  const whole = () => Math.sign(value) * Math.round(scale(Math.abs(value), digits - 1 - magnitude));
  if (Math.abs(whole()) >= 10 ** digits) magnitude += 1;
  const decimals = digits - 1 - magnitude;
  const rounded = scale(whole(), -decimals);
  if (magnitude < -3 || magnitude > 6) return rounded.toExponential(digits - 1);
  return rounded.toFixed(Math.max(decimals, 0));
}

function scale(value, power) {
  return power < 0 ? value / 10 ** -power : value * 10 ** power;
}

function scaled(value, steps, digits) {
  const [step, name] = steps.find(([s]) => Math.abs(value) >= s * 0.9995) ?? steps.at(-1);
  return `${significant(value / step, digits)} ${name}`;
}

function formatValue(value, unit, digits = 3) {
  if (value == null) return "";
  if (value === 0) return `0 ${unit === "us" ? "µs" : unit}`;
  if (unit in TIME_UNITS_NS) return scaled(value * TIME_UNITS_NS[unit], TIME_STEPS, digits);
  if (unit === "MB/s") return scaled(value, RATE_STEPS, digits);
  if (unit === "MFLOP/s") return scaled(value, FLOATING_STEPS, digits);
  if (unit === "operations/s") return scaled(value, OPERATION_STEPS, digits);
  const gap = unit === "×" || unit === "" ? "" : " ";
  return `${significant(value, digits)}${gap}${unit}`;
}

/** A label of an axis: as short as its value allows (`10 µs`, not `10.0 µs`). */
function formatTick(value, unit) {
  return formatValue(value, unit, 3).replace(/\.0+(?=\D|$)/, "").replace(/(\.\d*?)0+(?=\D|$)/, "$1");
}

function formatSize(bytes) {
  const step = SIZE_STEPS.find(([s]) => bytes >= s && bytes % s === 0);
  return step ? `${bytes / step[0]} ${step[1]}` : `${bytes} B`;
}

function formatX(x, axis) {
  return axis.bytes ? formatSize(x) : String(x);
}
