// The page as it was written can be read without any of this; here it becomes one to work with.
document.querySelector('.controls')?.append(...freshness(), foldAll(), themeSwitch());
dressSections();
dressTables();
unpackAll().then(isWhole => { if (isWhole) dressFigures(); });
