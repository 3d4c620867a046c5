// Large contents come packed (gzip, base64) and become what they were before; a library runs as it does.
const unpack = async packed => {
  const letters = atob(packed.textContent), bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const text = await new Response(stream).text();
  packed.replaceWith(make('script', {type: packed.dataset.type, class: packed.className}, text));
};

const unpackAll = async () => {
  const all = [...document.querySelectorAll('script[type="application/gzip"]')];
  if (all.length && !globalThis.DecompressionStream) {
    const text = 'This browser cannot unpack the figures; those since 2023 can. Texts and tables are complete.';
    document.querySelector('.controls')?.after(make('p', {class: 'note'}, text));
    return false;
  }
  await Promise.all(all.map(unpack));
  return true;
};
