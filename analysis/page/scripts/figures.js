// Figures are drawn when they come into sight, and the rest of them while nothing else is to be done.
const COLOURS = {
  '#1f2328': '#e6edf3', '#2a3f5f': '#e6edf3', '#424a53': '#c9d1d9', '#57606a': '#a5afba', '#6e7781': '#9aa4af',
  '#8c959f': '#8c959f', '#b6bec7': '#5b6570', '#d8dee4': '#343b43', '#eaeef2': '#2a3038', '#f6f8fa': '#161b22',
  '#ffffff': '#0f1318', '#0b62c4': '#62a8ff', '#c4560b': '#f5924e', '#1a7f5a': '#44c08f', '#8250df': '#b794f6',
  '#b3246b': '#f27cb4',
  '#eaf3fd': '#14263d', '#7fb2ea': '#2f6db3', '#e8f1fb': '#14263d', '#6aa3e0': '#2f6db3', '#0b3f86': '#a9d0ff',
  '#f2b48f': '#8a4a1c', '#eef1f4': '#20262d', '#9cc4f0': '#3b6ea8',
};
const IN_THE_DARK = new RegExp(Object.keys(COLOURS).join('|'), 'gi');
const drawnAt = new WeakMap();

const themed = text => JSON.parse(isDark() ? text.replace(IN_THE_DARK, found => COLOURS[found.toLowerCase()]) : text);

// All figures' common ground; what a figure says itself goes before it.
const template = () => {
  const [ink, line] = isDark() ? ['#e6edf3', '#2a3038'] : ['#1f2328', '#e4e8ed'];
  const axis = {gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true, ticklabelstandoff: 3,
    title: {standoff: 12, font: {size: 14}}};
  const face = isDark() ? '#0f1318' : '#ffffff';
  return {layout: {
    paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', font: {color: ink}, xaxis: axis, yaxis: axis,
    hoverlabel: {bgcolor: face, bordercolor: line, font: {color: ink}}, legend: {bgcolor: 'rgba(0,0,0,0)'},
    coloraxis: {colorbar: {outlinewidth: 0}},
  }};
};

const drawingOf = place => {
  const drawing = themed(place.parentElement.querySelector('.drawing').textContent);
  drawing.layout.template = template();
  drawing.layout.autosize = true;
  return drawing;
};

// Of names of dots that would lie on each other, the first one is shown; all stand on hover.
const thinNames = place => {
  const shown = [];
  for (const name of place.querySelectorAll('.textpoint text')) {
    const box = name.getBoundingClientRect();
    const isCovered = shown.some(other => box.left < other.right && other.left < box.right
      && box.top < other.bottom && other.top < box.bottom);
    name.style.visibility = isCovered ? 'hidden' : '';
    if (!isCovered) shown.push(box);
  }
};

const draw = place => {
  const wanted = isDark() ? 'dark' : 'light';
  if (!place.clientWidth || drawnAt.get(place) === wanted) return;
  const isFirst = !drawnAt.has(place);
  drawnAt.set(place, wanted);
  const {data, layout} = drawingOf(place);
  Plotly.react(place, data, layout, {responsive: true, displaylogo: false, displayModeBar: false});
  if (!isFirst) return;
  linkFigure(place);
  place.on('plotly_afterplot', () => thinNames(place));
  thinNames(place);
};

const plots = () => [...document.querySelectorAll('.plot')];
const inSight = new IntersectionObserver(seen => {
  for (const one of seen) if (one.isIntersecting) draw(one.target);
}, {rootMargin: '300px'});

// A busy machine is never idle: after half a second the next one is drawn all the same.
const whileIdle = act => globalThis.requestIdleCallback?.(act, {timeout: 500}) ?? setTimeout(act, 50);
const drawNext = () => {
  const next = plots().find(place => place.clientWidth && !drawnAt.has(place));
  if (!next) return;
  draw(next);
  whileIdle(drawNext);
};

const whenLoaded = act => document.readyState === 'complete' ? act() : addEventListener('load', act);
const fit = () => plots().forEach(place => { if (drawnAt.has(place)) Plotly.Plots.resize(place); });

// The numbers a figure was given, or else those it shows.
const numbersOf = figure => {
  const given = figure.querySelector('.numbers');
  if (given) return JSON.parse(given.textContent).csv;
  const place = figure.querySelector('.plot');
  draw(place);
  const columns = ['x', 'y', 'z', 'text'];
  const rows = [['trace', ...columns]];
  for (const trace of place._fullData ?? []) {
    const length = Math.max(...columns.map(name => Array.isArray(trace[name]) || ArrayBuffer.isView(trace[name])
      ? trace[name].length : 0));
    for (let place = 0; place < length; place++) rows.push([trace.name, ...columns.map(name => trace[name]?.[place])]);
  }
  return csv(rows);
};

const savePicture = (figure, kind) => {
  const place = figure.querySelector('.plot'), {data, layout} = drawingOf(place);
  const ground = isDark() ? '#0f1318' : '#ffffff';
  const size = {width: place.clientWidth || 900, height: place.clientHeight || 450};
  const drawing = {data, layout: {...layout, ...size, paper_bgcolor: ground}};
  return Plotly.downloadImage(drawing, {format: kind, filename: place.id, scale: kind === 'png' ? 2 : 1, ...size});
};

const dressFigures = () => {
  for (const figure of document.querySelectorAll('figure.figure')) {
    const name = figure.querySelector('.plot').id;
    figure.append(make('div', {class: 'tools'},
      button('SVG', `Download ${name} as SVG`, () => savePicture(figure, 'svg')),
      button('PNG', `Download ${name} as PNG`, () => savePicture(figure, 'png')),
      button('CSV', `Download the numbers of ${name}`, () => save(`${name}.csv`, numbersOf(figure))),
      linkTo(figure.id, 'figure')));
  }
  plots().forEach(place => inSight.observe(place));
  onTheme.push(() => plots().forEach(place => { if (drawnAt.has(place)) draw(place); }));
  whenLoaded(() => { fit(); whileIdle(drawNext); });
  addEventListener('beforeprint', () => { plots().forEach(draw); fit(); });
};
