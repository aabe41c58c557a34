// Colours, dashes and markers. Colours come from the style sheet, so that they follow the theme; no line is told by
// its colour alone.

const COLOURS = 7;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const MARKERS = ["circle", "square", "triangle", "diamond", "cross"];

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function colour(index) {
  return css(`--line-${index % COLOURS}`);
}

/** The style of a line: with several runs the colour tells the run and the marker the line within it. */
function lineStyle(run, label, runs) {
  const colourIndex = runs > 1 ? run : label;
  const variant = runs > 1 ? label : label + Math.floor(label / COLOURS);
  return {
    colour: () => colour(colourIndex),
    dash: DASHES[(runs > 1 ? label : Math.floor(label / COLOURS)) % DASHES.length],
    marker: MARKERS[variant % MARKERS.length],
  };
}

/** Traces a marker's outline around (x, y) with radius r. */
function traceMarker(context, marker, x, y, r) {
  context.beginPath();
  if (marker === "circle") context.arc(x, y, r, 0, 2 * Math.PI);
  else if (marker === "square") context.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (marker === "triangle") polygon(context, [[x, y - r * 1.2], [x + r * 1.1, y + r * 0.9], [x - r * 1.1, y + r * 0.9]]);
  else if (marker === "diamond") polygon(context, [[x, y - r * 1.3], [x + r * 1.3, y], [x, y + r * 1.3], [x - r * 1.3, y]]);
  else {
    const [a, b] = [r * 0.4, r * 1.2];
    polygon(context, [[-a, -b], [a, -b], [a, -a], [b, -a], [b, a], [a, a], [a, b], [-a, b], [-a, a], [-b, a], [-b, -a], [-a, -a]]
      .map(([dx, dy]) => [x + dx, y + dy]));
  }
}

function polygon(context, points) {
  points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

/** A small picture of a line. One that stays in the page must be `lasting`, to follow the theme. */
function sample(style, lasting = true) {
  const canvas = document.createElement("canvas");
  const ratio = window.devicePixelRatio || 1;
  canvas.width = 30 * ratio;
  canvas.height = 14 * ratio;
  canvas.className = "line-sample";
  canvas.setAttribute("aria-hidden", "true");
  const paint = () => {
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, 30, 14);
    context.strokeStyle = context.fillStyle = style.colour();
    context.lineWidth = 2;
    context.setLineDash(style.dash);
    context.beginPath();
    context.moveTo(0, 7);
    context.lineTo(30, 7);
    context.stroke();
    if (style.marker) {
      traceMarker(context, style.marker, 15, 7, 4);
      context.fill();
    }
  };
  paint();
  if (lasting) onThemeChange(paint);
  return canvas;
}
