// What the other scripts are made of: elements, their text, files a reader saves.
const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

const button = (text, hint, act) => {
  const made = make('button', {type: 'button', title: hint, 'aria-label': hint}, text);
  made.addEventListener('click', act);
  return made;
};

// Without the links that these scripts add.
const textOf = cell => [...cell.childNodes].filter(node => !node.classList?.contains('link'))
  .map(node => node.textContent).join('').trim();

const quoted = value => {
  let text = String(value ?? '').replace(/\u2212(?=[\d.])/g, '-');  // a minus that other programs read
  if (/^[=+@-]/.test(text) && isNaN(text)) text = `'${text}`;  // a spreadsheet would compute it
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csv = rows => rows.map(row => row.map(quoted).join(',') + '\r\n').join('');

const save = (name, text, kind = 'text/csv') => {
  const address = URL.createObjectURL(new Blob([text], {type: `${kind};charset=utf-8`}));
  const link = make('a', {href: address, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};

const linkTo = (anchor, what) => make('a', {class: 'link', href: `#${anchor}`, title: `Link to this ${what}`,
  'aria-label': `Link to this ${what}`}, '#');
