// Sections fold; a link opens what it leads into; the list of contents says where one is.
const folds = () => [...document.querySelectorAll('section > details')];

const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let parent = target; parent; parent = parent.parentElement) {
    if (parent.tagName === 'DETAILS') parent.open = true;
  }
  const own = target.querySelector(':scope > details');
  if (own) own.open = true;
  target.scrollIntoView();
};

const foldAll = () => button('fold all', 'Fold or unfold all sections', event => {
  const isOpen = folds().some(fold => fold.open);
  folds().forEach(fold => { fold.open = !isOpen; });
  event.target.textContent = isOpen ? 'unfold all' : 'fold all';
});

const followContents = () => {
  const list = document.querySelector('nav.contents > details');
  if (!list) return;
  const isNarrow = matchMedia('(max-width: 64rem)');
  const settle = () => { list.open = !isNarrow.matches; };
  isNarrow.addEventListener('change', settle);
  settle();
  const links = new Map([...list.querySelectorAll('a')].map(link => [link.hash.slice(1), link]));
  links.forEach(link => link.addEventListener('click', () => { if (isNarrow.matches) list.open = false; }));
  const watch = new IntersectionObserver(seen => {
    for (const {target, isIntersecting} of seen) {
      links.get(target.id)?.[isIntersecting ? 'setAttribute' : 'removeAttribute']('aria-current', 'true');
    }
  }, {rootMargin: '-10% 0px -70% 0px'});
  document.querySelectorAll('main > section').forEach(section => watch.observe(section));
};

const dressSections = () => {
  for (const section of document.querySelectorAll('main > section[id]')) {
    section.querySelector('summary > h2')?.append(linkTo(section.id, 'section'));
  }
  followContents();
  addEventListener('hashchange', reveal);
  addEventListener('beforeprint', () => folds().forEach(fold => { fold.open = true; }));
  if (location.hash) addEventListener('load', reveal);
};
