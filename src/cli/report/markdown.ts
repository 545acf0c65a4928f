/** Writes a report as Markdown, for a pull request or for a reader who knows only the platform's document. */
import type { Report, ReportItem } from './report.js'

export function markdownOf({ title, groups, summary, appendix = [] }: Report): string {
  const items = groups.flatMap(({ items }) => items)
  return `${[
    `# ${title}`,
    `${summary}.`,
    ...items.filter(({ facts, what }) => what !== undefined && facts).map(problemText),
    ...groups.flatMap(({ title, items, notes = [], columns }) => {
      const rows = items.flatMap(({ rows }) => rows)
      const table = rows.length === 0 ? [] : [markdownTable(columns, rows)]
      return [...(title === undefined ? [] : [`## ${title}`]), ...notes.map(note => `${note}.`), ...table]
    }),
    ...appendix,
  ].join('\n\n')}\n`
}

function problemText({ names, outcome, what = '', facts = [] }: ReportItem): string {
  const lines = facts.map(([name, text]) =>
    text.includes('\n') ? `- ${name}:\n\n${block(text)}` : `- ${name}: ${code(text)}`,
  )
  return [`## ${names.join(', ')}: ${outcome}`, what, lines.join('\n')].join('\n\n')
}

export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows.map(row => row.map(cell))].map(row => `| ${row.join(' | ')} |`).join('\n')

/** Escapes tags in the document's text, such as `<model_id>`, but not our own line breaks. */
const cell = (text: string) =>
  text
    .replace(/<(?!br>)/g, '&lt;')
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ')

function code(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1)
  const gap = /^`|`$/.test(text) ? ' ' : ''
  return fence + gap + text + gap + fence
}

function block(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return [fence, ...text.split('\n'), fence].map(line => `  ${line}`).join('\n')
}

const longestRun = (text: string) => Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
