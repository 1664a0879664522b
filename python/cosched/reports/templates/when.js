// The search field hides all jobs without the text that it holds; ?job=4711 fills it in.
const field = document.querySelector('input');
const rows = [...document.querySelectorAll('tbody tr')];
const rowTexts = rows.map(row => row.innerText.toLowerCase());
function showMatchingRows() {
  const query = field.value.trim().toLowerCase();
  rows.forEach((row, index) => {
    row.hidden = query !== '' && !rowTexts[index].includes(query);
    row.classList.toggle('mine', query !== '' && row.dataset.job === query);
  });
  document.querySelector('output').textContent =
    `${rows.filter(row => !row.hidden).length} of ${rows.length} jobs`;
}
field.value = new URLSearchParams(location.search).get('job') ?? '';
field.addEventListener('input', showMatchingRows);
document.querySelectorAll('time').forEach(element => {
  const date = new Date(element.dateTime);
  if (!isNaN(date)) element.title = `${date.toLocaleString()} in your time zone`;
});
showMatchingRows();
