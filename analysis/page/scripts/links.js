// A dot and the rows of its trial or row point at each other: while one is hovered, and on a click.
const keyOf = text => String(text).replace(/^trial /, '').replace(/ \(.*\)$| ?\*$/g, '').trim();
const rowsByKey = new Map();

const linkRows = table => {
  for (const row of rowsOf(table)) {
    const key = keyOf(textOf(row.cells[0]));
    rowsByKey.set(key, [...rowsByKey.get(key) ?? [], row]);
  }
};

const isInSight = place => { const box = place.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; };

const pointAt = key => {
  for (const place of document.querySelectorAll('.plot.js-plotly-plot')) {
    if (!isInSight(place)) continue;
    const points = place._fullData.flatMap(({ids, visible}, curveNumber) => (visible === true ? [...ids ?? []] : [])
      .flatMap((id, pointNumber) => keyOf(id) === key ? [{curveNumber, pointNumber}] : []));
    if (points.length) Plotly.Fx.hover(place, points.slice(0, 1)); else Plotly.Fx.unhover(place);
  }
};

const linkFigure = place => {
  const pointed = event => event.points.flatMap(point => point.id === undefined ? [] : rowsByKey.get(keyOf(point.id)) ?? []);
  const mark = rows => {
    document.querySelectorAll('tr.linked').forEach(row => row.classList.remove('linked'));
    rows.forEach(row => row.classList.add('linked'));
  };
  place.on('plotly_hover', event => mark(pointed(event)));
  place.on('plotly_unhover', () => mark([]));
  place.on('plotly_click', event => pointed(event).slice(0, 1).forEach(row => {
    showRow(row);
    row.scrollIntoView({block: 'center'});
  }));
};
