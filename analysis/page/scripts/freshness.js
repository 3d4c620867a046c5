// A page that is kept fresh says how old it is, and loads itself again; where a reader was is remembered meanwhile.
const PLACE = 'rse-study-place';

const freshness = () => {
  const {reload, written} = document.documentElement.dataset;
  if (!reload) return [];
  const age = make('span', {class: 'age'}), pause = make('input', {type: 'checkbox'});
  const tell = () => {
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(written)) / 1000));
    age.textContent = `written ${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} ago`;
  };
  setInterval(tell, 1000);
  tell();
  let left = null;
  try { left = JSON.parse(sessionStorage.getItem(PLACE)); } catch { /* not allowed here */ }
  for (const id of left?.closed ?? []) document.querySelector(`#${CSS.escape(id)} > details`)?.removeAttribute('open');
  // Seconds count from here: a page slower to load than its interval would give way before it is whole, for ever.
  addEventListener('load', () => {
    setInterval(() => { if (!pause.checked) location.reload(); }, 1000 * Number(reload));
    if (left && !location.hash) scrollTo(0, left.y);
    addEventListener('pagehide', () => {
      const closed = folds().filter(one => !one.open).map(one => one.parentElement.id);
      try { sessionStorage.setItem(PLACE, JSON.stringify({closed, y: scrollY})); } catch { /* not allowed here */ }
    });
  });
  return [age, make('label', {}, pause, ' stay')];
};
