/** Sets variables in the text of a .env file, and changes nothing else. */
import { parseDotEnv } from './dot-env.js'

type Variable = readonly [name: string, value: string]

export interface ChangedFile {
  readonly text: string
  /** The names that were not there. */
  readonly added: readonly string[]
  /** The names that had other values, which are comments now. */
  readonly replaced: readonly string[]
}

/** Where a variable is set: in one line, or in more if its value has them. */
interface Assignment {
  readonly from: number
  readonly count: number
  readonly value: string
}

export function withVariables(text: string, variables: readonly Variable[]): ChangedFile {
  const lines = text.split(/(?<=\n)/)
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const all = variables.map(([name, value]) => ({ name, value, assignments: assignmentsOf(name, lines) }))
  const added = all.filter(({ assignments }) => assignments.length === 0)
  // Of several, the last one counts.
  const replaced = all.filter(({ assignments, value }) => (assignments.at(-1)?.value ?? value) !== value)
  for (const { name, value, assignments } of replaced)
    for (const [i, { from, count }] of assignments.entries()) {
      const [start = ''] = /^\s*(?:export\s+)?/.exec(lines[from] ?? '') ?? []
      const comments = lines.slice(from, from + count).map(line => `# ${withEnd(line, lineEnd)}`)
      // All in its first line, so that the others keep their numbers.
      lines.fill('', from, from + count)
      lines[from] = comments.join('') + (i === 0 ? `${start}${assignment(name, value)}${lineEnd}` : '')
    }
  const before = lines.join('')
  const more = added.map(({ name, value }) => `${assignment(name, value)}${lineEnd}`)
  return {
    text: more.length === 0 || before === '' ? before + more.join('') : withEnd(before, lineEnd) + more.join(''),
    added: added.map(({ name }) => name),
    replaced: replaced.map(({ name }) => name),
  }
}

const withEnd = (line: string, lineEnd: string) => (line.endsWith('\n') ? line : `${line}${lineEnd}`)

/** Every reader takes a value of these characters as it is. */
const assignment = (name: string, value: string) =>
  `${name}=${/^[\w:/.@%+~=,[\]-]*$/.test(value) ? value : `'${value}'`}`

/** A name that no file has. */
const MARK = 'STANDIN_LOOKS_FOR_THIS_ASSIGNMENT'

/**
 * The assignments of a variable as dotenv reads them. It does not say where they are, so each line that may be one gets another name: if that is
 * read, the line is neither a comment nor part of another value, and its own value ends where fewer lines give the same.
 */
function assignmentsOf(name: string, lines: readonly string[]): readonly Assignment[] {
  const start = new RegExp(`^(\\s*(?:export\\s+)?)${name}(?=\\s*[=:])`)
  return lines.flatMap((line, from) => {
    const marked = lines.with(from, line.replace(start, `$1${MARK}`))
    const valueUpTo = (end: number) => parseDotEnv(marked.slice(0, end).join(''))[MARK]
    const value = start.test(line) ? valueUpTo(lines.length) : undefined
    if (value === undefined) return []
    let end = from + 1
    while (valueUpTo(end) !== value) end++
    return [{ from, count: end - from, value }]
  })
}
