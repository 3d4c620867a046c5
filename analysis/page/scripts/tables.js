// Tables: a click on a heading sorts, a field filters long ones, a button saves what is there.
const FEW_ROWS = 9;  // up to here nobody needs a filter
const UNITS = {s: 1, min: 60, h: 3600, d: 86400};
const compareText = new Intl.Collator('en', {numeric: true, sensitivity: 'base'}).compare;

// "4 min 05 s" in seconds; a number behind brackets and signs; none where there is none.
const numberIn = text => {
  const plain = text.replaceAll('\u2212', '-');
  if (/^\d[\d.]* (s|min|h|d)\b/.test(plain)) {
    return [...plain.matchAll(/([\d.]+) (s|min|h|d)\b/g)].reduce((sum, [, n, unit]) => sum + n * UNITS[unit], 0);
  }
  const found = /^[([<~ ]*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/i.exec(plain);
  return found ? Number(found[1]) : NaN;
};

const sorter = (rows, column, downwards) => {
  const texts = new Map(rows.map(row => [row, textOf(row.cells[column])]));
  const numbers = new Map(rows.map(row => [row, numberIn(texts.get(row))]));
  const filled = rows.filter(row => texts.get(row));
  const isNumeric = filled.filter(row => !Number.isNaN(numbers.get(row))).length > filled.length / 2;
  const isBlank = row => isNumeric ? Number.isNaN(numbers.get(row)) : !texts.get(row);
  const sign = downwards ? -1 : 1;
  const compare = (one, other) => isNumeric
    ? numbers.get(one) - numbers.get(other) : compareText(texts.get(one), texts.get(other));
  return (one, other) => isBlank(one) - isBlank(other) || (isBlank(one) ? 0 : sign * compare(one, other));
};

const headings = table => [...table.tHead.rows[table.tHead.rows.length - 1].cells];
const rowsOf = table => [...table.tBodies].flatMap(body => [...body.rows]);

// A row gets what a reader needs of it, a link to it and its box, once it is shown: a table may have thousands.
const dressed = new WeakSet();
const dress = (table, row) => {
  if (dressed.has(row)) return;
  dressed.add(row);
  if (row.id) row.cells[0].append(linkTo(row.id, 'row'));
  row.addEventListener('mouseenter', () => pointAt(keyOf(textOf(row.cells[0]))));
  addBox.get(table)?.(row);
};

// Rows as they were last sorted. Of a table with a rest those that fit come first, and as many as before are shown.
const sorted = new WeakMap();
const arrange = (table, rows = sorted.get(table) ?? rowsOf(table)) => {
  const [shown, rest] = table.tBodies, size = rest ? Number(table.dataset.shown) : rows.length;
  const ordered = rest ? [...rows.filter(row => !row.hidden), ...rows.filter(row => row.hidden)] : rows;
  sorted.set(table, rows);
  shown.replaceChildren(...ordered.slice(0, size));
  rest?.replaceChildren(...ordered.slice(size));
  [...shown.rows].forEach(row => dress(table, row));
};

const showAll = table => {
  if (!sorted.has(table)) sorted.set(table, rowsOf(table));
  table.querySelector('tbody.rest').remove();
  arrange(table);
  table.parentElement.previousElementSibling.querySelector('.all')?.remove();
};

// The row that a link or a dot leads to is shown, wherever it is.
const showRow = row => { if (row.closest('tbody.rest')) showAll(row.closest('table')); };
const revealTarget = () => {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!row?.closest('tbody.rest')) return;
  showRow(row);
  row.scrollIntoView({block: 'center'});
};
addEventListener('hashchange', revealTarget);

// Once upwards, once downwards, then as it was.
const sortable = table => {
  const original = rowsOf(table);
  headings(table).forEach((heading, column) => {
    const order = make('button', {type: 'button', class: 'sort', title: 'Sort'}, ...heading.childNodes);
    heading.append(order);
    order.addEventListener('click', () => {
      const next = {undefined: 'ascending', ascending: 'descending'}[heading.getAttribute('aria-sort') ?? undefined];
      headings(table).forEach(other => other.removeAttribute('aria-sort'));
      if (next) heading.setAttribute('aria-sort', next);
      arrange(table, next ? [...original].sort(sorter(original, column, next === 'descending')) : original);
    });
  });
};

// "alpha>1e-4" compares the numbers of a column; undefined of any other word.
const compared = (table, row, word) => {
  const [, name, sign, wanted] = /^(.+?)([<>=])(.+)$/.exec(word) ?? [];
  const column = headings(table).findIndex(heading => textOf(heading).toLowerCase().startsWith(name));
  if (!name || column < 0) return undefined;
  const text = textOf(row.cells[column]), [here, there] = [numberIn(text), numberIn(wanted)];
  return sign === '=' ? here === there || text.toLowerCase() === wanted : sign === '<' ? here < there : here > there;
};

const filterOf = (table, name) => {
  const field = make('input', {type: 'search', placeholder: 'filter rows', 'aria-label': `Filter the rows of ${name}`});
  const count = make('span', {class: 'count', role: 'status'});
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean), rows = rowsOf(table);
    const fits = row => words.every(word => compared(table, row, word) ?? row.textContent.toLowerCase().includes(word));
    rows.forEach(row => { row.hidden = !fits(row); });
    if (table.tBodies.length > 1) arrange(table);
    const left = rows.filter(row => !row.hidden).length;
    count.textContent = words.length ? `${left} of ${rows.length}` : '';
  });
  return [field, count];
};

// Two lines of headings become one: "group, name".
const headingTexts = table => {
  const lower = headings(table).map(textOf);
  if (table.tHead.rows.length < 2) return lower;
  const upper = [...table.tHead.rows[0].cells].flatMap(cell => Array(Number(cell.dataset.span ?? cell.colSpan)).fill(textOf(cell)));
  return lower.map((name, place) => upper[place] ? `${upper[place]}, ${name}` : name);
};

const tableText = table => csv([headingTexts(table),
  ...rowsOf(table).filter(row => !row.hidden).map(row => [...row.cells].map(textOf))]);

// Columns that few readers need are behind a switch; a group's heading spans those that are shown.
const columnSwitch = table => {
  const groups = table.tHead.rows.length > 1 ? [...table.tHead.rows[0].cells] : [];
  groups.forEach(cell => { cell.dataset.span = cell.colSpan; });
  const turn = () => {
    const isBrief = table.classList.toggle('brief');
    let first = 0;
    for (const cell of groups) {
      const own = headings(table).slice(first, first += Number(cell.dataset.span));
      cell.colSpan = own.filter(heading => !isBrief || !heading.matches('.extra')).length;
    }
    made.textContent = isBrief ? 'all columns' : 'fewer columns';
  };
  const made = button('', 'Show or hide columns of seeds and details', turn);
  turn();
  return made;
};

// Two ticked rows stand side by side, in what differs between them.
const addBox = new Map();
const pairOf = table => {
  const place = make('div', {role: 'status'});
  let ticked = [];
  const show = () => {
    const [one, other] = ticked.map(box => [...box.closest('tr').cells].map(textOf));
    const rows = other ? headingTexts(table).map((name, column) => [name, one[column], other[column]])
      .filter(([, here, there], column) => !column || here !== there) : [];
    const cells = rows.map(row => make('tr', {}, ...row.map(text => make('td', {class: 'text'}, text))));
    place.replaceChildren(...rows.length ? [make('table', {class: 'difference'}, make('tbody', {}, ...cells))] : []);
  };
  addBox.set(table, row => {
    if (row.matches('.baseline')) return;
    const box = make('input', {type: 'checkbox', 'aria-label': `Compare ${textOf(row.cells[0])}`});
    box.addEventListener('change', () => {
      ticked = [...ticked.filter(other => other !== box), ...box.checked ? [box] : []];
      if (ticked.length > 2) ticked.shift().checked = false;
      show();
    });
    row.cells[0].prepend(box);
  });
  table.parentElement.after(place);
};

// A table that goes on to the right fades there: what is cut off is seen to be.
const markMore = place => place.classList.toggle('more', place.scrollLeft + place.clientWidth < place.scrollWidth - 1);
const resized = new ResizeObserver(seen => seen.forEach(({target}) => {
  markMore(target);
  const groups = target.querySelectorAll('th.group > span');  // they stay beside the first column
  if (!groups.length) return;
  const width = target.querySelector('th').offsetWidth;
  groups.forEach(name => { name.style.left = `calc(${width}px + .7rem)`; });
}));

const dressTables = () => {
  const unnamed = {};
  for (const table of document.querySelectorAll('main .scroll > table')) {
    const section = table.closest('section')?.id ?? 'page';
    if (!table.id) table.id = `table-${section}-${unnamed[section] = (unnamed[section] ?? 0) + 1}`;
    const name = table.id.replace(/^table-/, '');
    table.setAttribute('aria-label', name.replaceAll('-', ' '));
    sortable(table);
    const tools = make('div', {class: 'tools'},
      button('CSV', `Download the table ${name} as CSV`, () => save(`${name}.csv`, tableText(table))),
      linkTo(table.id, 'table'));
    if (table.matches('.index') || table.rows.length > FEW_ROWS) tools.prepend(...filterOf(table, name));
    if (table.querySelector('th.extra')) tools.prepend(columnSwitch(table));
    if (table.matches('.pick')) pairOf(table);
    linkRows(table);
    if (table.tBodies.length > 1) {
      table.dataset.shown = table.tBodies[0].rows.length;
      tools.prepend(make('span', {class: 'all'}, `${table.dataset.shown} of ${rowsOf(table).length} rows are shown `,
        button('all rows', `Show all rows of ${name}`, () => showAll(table))));
    }
    [...table.tBodies[0].rows].forEach(row => dress(table, row));
    table.parentElement.before(tools);
    table.parentElement.tabIndex = 0;  // so that the keyboard can scroll it
    table.parentElement.addEventListener('scroll', event => markMore(event.target), {passive: true});
    resized.observe(table.parentElement);
  }
  revealTarget();
};
