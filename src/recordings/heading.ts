/** What stands on top of a recording for whoever reviews it: what was asked, and what a stream came to. */
import type { Sliced } from '../core/slices.js'
import { assembleText } from './assemble/index.js'
import { isStream, type Recording } from './recording.js'
import { subjectOf } from './subject.js'

const WIDEST = 120
const MOST_LINES = 40
const LONGEST_SAID = 80

/** Lines of comment, each with its line end. */
export function* headingOf({ request, response }: Recording): Sliced<string> {
  const { model, said } = subjectOf(request)
  const about = said === undefined ? model : `${model ?? ''}: "${beginning(said)}"`
  const first = `${request.method} ${request.path}${about === undefined ? '' : `, ${about}`}`
  const answer = isStream(response) ? yield* assembleText(response) : undefined
  const lines = [harmless(first), ...(answer ? ['', ...wrapped(answer)] : [])]
  return lines
    .map(line => `# ${line}`.trimEnd())
    .map(line => `${line}\n`)
    .join('')
}

function beginning(text: string): string {
  const line = text
    .slice(0, 10 * LONGEST_SAID)
    .trim()
    .replace(/\s+/g, ' ')
  return line.length > LONGEST_SAID ? `${line.slice(0, LONGEST_SAID)}…` : line
}

/** The text in lines of a comment's width, as far as they are allowed. */
function wrapped(text: string): readonly string[] {
  const room = WIDEST - '# '.length
  const shown = text.slice(0, (MOST_LINES + 1) * WIDEST).trimEnd()
  const lines = shown.split(/\r\n|[\n\r]/).flatMap(line => wrappedLine(harmless(line), room))
  return shown.length < text.trimEnd().length || lines.length > MOST_LINES
    ? [...lines.slice(0, MOST_LINES), '…']
    : lines
}

function wrappedLine(line: string, room: number): readonly string[] {
  if (line.length <= room) return [line]
  const space = line.lastIndexOf(' ', room)
  const middle = /[\ud800-\udbff]/.test(line.charAt(room - 1)) ? room - 1 : room
  const end = space > room / 2 ? space : middle
  return [line.slice(0, end), ...wrappedLine(line.slice(end).trimStart(), room)]
}

/** Without what ends a comment, turns writing around or cannot be seen. */
const harmless = (text: string) => text.replace(/\t/g, '  ').replace(/[\p{C}\u2028\u2029]/gu, '�')
