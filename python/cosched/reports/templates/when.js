const field = document.querySelector('input'), rows = [...document.querySelectorAll('tbody tr')];
const words = rows.map(row => row.innerText.toLowerCase());
function look() {
  const wanted = field.value.trim().toLowerCase();
  rows.forEach((row, k) => {
    row.hidden = wanted !== '' && !words[k].includes(wanted);
    row.classList.toggle('mine', wanted !== '' && row.dataset.job === wanted);
  });
  document.querySelector('output').textContent =
    `${rows.filter(row => !row.hidden).length} of ${rows.length} jobs`;
}
field.value = new URLSearchParams(location.search).get('job') ?? '';
field.addEventListener('input', look);
document.querySelectorAll('time').forEach(place => {
  const date = new Date(place.dateTime);
  if (!isNaN(date)) place.title = `${date.toLocaleString()} in your time zone`;
});
look();
