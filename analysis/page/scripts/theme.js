// Light or dark: as the system says, or as the reader chose. A choice is remembered where a page may remember things.
const CHOICES = ['system', 'light', 'dark'];
const remembered = () => { try { return localStorage.getItem('rse-study-theme'); } catch { return null; } };
const remember = choice => { try { localStorage.setItem('rse-study-theme', choice); } catch { /* not allowed here */ } };
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (systemDark.matches ? 'dark' : 'light')) === 'dark';
const onTheme = [];  // what else follows the theme

const setTheme = choice => {
  if (choice === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  for (const act of onTheme) act();
};

const themeSwitch = () => {
  const list = make('select', {id: 'theme'}, ...CHOICES.map(name => make('option', {value: name}, name)));
  list.value = CHOICES.includes(remembered()) ? remembered() : 'system';
  list.addEventListener('change', () => { remember(list.value); setTheme(list.value); });
  setTheme(list.value);
  return make('label', {}, 'theme ', list);
};

systemDark.addEventListener('change', () => onTheme.forEach(act => act()));
