// Brings the page to life: charts when they come into view, the theme, printing, copying.

const data = JSON.parse(document.getElementById("data").textContent);
const themeListeners = new Set();

function element(name, attributes, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text != null) made.textContent = text;
  return made;
}

function announce(text) {
  document.getElementById("announcement").textContent = text;
}

function onThemeChange(listener) {
  themeListeners.add(listener);
}

/** A benchmark's article: its legend, its charts and its samples, made when they are first needed. */
class BenchmarkView {
  constructor(article) {
    this.index = Number(article.dataset.benchmark);
    this.article = article;
    this.data = data.benchmarks[this.index];
    this.drawn = [];
    const details = article.querySelector("details.samples");
    details?.addEventListener("toggle", () => details.open && !this.samples && this.showSamples());
    const fit = article.querySelector("details.fit");
    fit?.addEventListener("toggle", () => fit.open && this.draw(fit));
  }

  /** Draws the charts that are open to view and not drawn yet. */
  draw(within = this.article) {
    if (!this.legend) {
      const inView = this.data.charts.slice(0, this.data.in_view);
      this.legend = new Legend(inView, () => this.drawn.forEach((chart) => chart.refresh()));
      if (inView.length) this.article.querySelector(".charts").before(this.legend.build(inView));
    }
    for (const figure of within.querySelectorAll("figure[data-chart]:not([data-drawn])")) {
      const folded = figure.closest("details:not([open])");
      if (folded) continue;
      this.drawn.push(new LineChart(figure, this.data.charts[Number(figure.dataset.chart)], {
        shown: (line) => this.legend.shown(line),
        styleOf: (line) => this.legend.styleOf(line),
        options: () => this.legend,
        pick: (line, index) => this.pick(line, index),
      }));
    }
  }

  pick(line, index) {
    const detail = line.detail?.[index];
    if (detail == null) return;
    this.showSamples(detail);
    this.article.querySelector("details.samples").scrollIntoView({ block: "nearest" });
  }

  showSamples(index = 0) {
    const details = this.article.querySelector("details.samples");
    this.samples ??= new SampleView(details, this.index);
    details.open = true;
    this.samples.show(index);
  }
}

function startCharts() {
  const views = new Map([...document.querySelectorAll("[data-benchmark]")].map((article) => [article, new BenchmarkView(article)]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      observer.unobserve(entry.target);
      views.get(entry.target).draw();
    }
  }, { rootMargin: "400px" });
  views.forEach((_, article) => observer.observe(article));
  return () => views.forEach((view) => view.draw());
}

function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function repaint() {
  themeListeners.forEach((listener) => listener());
  charts.forEach((chart) => chart.refresh());
}

function startTheme() {
  const button = document.getElementById("theme");
  const show = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to the ${dark() ? "light" : "dark"} theme`);
  };
  button.hidden = false;
  show();
  button.addEventListener("click", () => {
    const chosen = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    try {
      localStorage.setItem("cornerstone-theme", chosen);
    } catch (_) {
      // Without storage the choice lasts as long as the page.
    }
    show();
    repaint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { show(); repaint(); });
}

function startPrinting(drawAll) {
  const button = document.getElementById("print");
  let before;
  button.hidden = false;
  button.addEventListener("click", () => print());
  // Paper is white, and what was never scrolled to must be drawn, too.
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    drawAll();
    repaint();
  });
  addEventListener("afterprint", () => {
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    repaint();
  });
}

/** Marks in the contents where the reader is. */
function startContents() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  links.forEach((_, id) => {
    const target = document.getElementById(id);
    if (target) observer.observe(target);
  });
}

const drawAll = startCharts();
startTheme();
startPrinting(drawAll);
startContents();
document.querySelectorAll("table.numbers, table.facts, table.heat, table.key, table.fits").forEach(addCopyButton);
