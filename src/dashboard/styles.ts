/** The page's style sheet: system fonts, both colour schemes, one column that fits a phone. */
export const styles = `:root {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf8, #16171a);
  --card: light-dark(#ffffff, #1f2126);
  --ink: light-dark(#1c1d21, #e9e8e4);
  --quiet: light-dark(#5b5d66, #a6a8b1);
  --line: light-dark(#dedcd6, #34363d);
  --accent: light-dark(#0b6e4f, #6fd3ae);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 52rem;
  padding: 2.5rem 1.25rem 4rem;
  background: var(--paper);
  color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif;
}
h1 { margin: 0; font-size: 1.9rem; letter-spacing: -0.02em; }
h1::before { content: ''; display: inline-block; width: 0.55em; height: 0.55em; margin-right: 0.4em; border-radius: 50%; background: var(--accent); }
header p { margin: 0.25rem 0 0; color: var(--quiet); }
header strong { color: var(--accent); }
section { margin-top: 1.5rem; padding: 1.25rem 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.75rem; }
h2 { margin: 0 0 0.75rem; font-size: 1.1rem; }
section > p { margin: 0 0 0.75rem; color: var(--quiet); }
dl { margin: 0; display: grid; gap: 0.5rem; }
dl div { display: grid; grid-template-columns: 12rem 1fr; gap: 0.25rem 1rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: 0.9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--quiet); font-weight: 500; }
tr:last-child td { border-bottom: 0; }
ul { margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0.5rem; }
li { overflow-wrap: anywhere; padding: 0.15rem 0.6rem; border: 1px solid var(--line); border-radius: 999px; }
.wide, pre { overflow-x: auto; }
pre { margin: 0 0 0.75rem; padding: 0.9rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: 0.5rem; }
pre:last-child { margin-bottom: 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 36rem) {
  body { padding: 1.5rem 0.9rem 3rem; }
  section { padding: 1rem; }
  dl div { grid-template-columns: 1fr; }
  th, td { padding-right: 0.5rem; font-size: 0.9rem; }
  td { white-space: normal; overflow-wrap: anywhere; }
}
`
