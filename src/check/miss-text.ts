/** Describes a miss: the request and the most similar recording, side by side. */
import type { ClosestRecording, Difference } from './finding.js'

interface Missed {
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly nearest?: ClosestRecording | undefined
}

/** How texts are shown, with control characters made harmless. */
interface Paint {
  readonly title: (text: string) => string
  readonly faint: (text: string) => string
  readonly harmless: (text: string) => string
}

/** The width of a value next to another one. */
const WIDTH = 48

export function missText({ method, path, reason, nearest }: Missed, paint: Paint = unpainted): string {
  const { title: paintTitle, harmless } = paint
  const title = paintTitle(`No recording matches ${method} ${harmless(path)}.`)
  if (!nearest || nearest.differences.length === 0) return `${title} ${harmless(reason)}`
  return [`${title} The nearest is ${harmless(nearest.file)}:`, ...table(nearest.differences, paint)].join('\n')
}

function table(differences: readonly Difference[], { faint, harmless }: Paint): readonly string[] {
  const rows = differences.map(
    ({ field, recorded, asked }) => [field, ...sideBySide(recorded ?? ABSENT, asked ?? ABSENT, WIDTH)] as const,
  )
  const fieldWidth = Math.max('field'.length, ...rows.map(([field]) => field.length))
  const line = (field: string, recorded: string, asked: string) =>
    `  ${harmless(field).padEnd(fieldWidth)}  ${harmless(recorded).padEnd(WIDTH + 2)}  ${harmless(asked)}`.trimEnd()
  return [faint(line('field', 'recorded', 'asked')), ...rows.map(row => line(...row))]
}

const ABSENT = '(absent)'

const asItIs = (text: string) => text
const unpainted: Paint = { title: asItIs, faint: asItIs, harmless: asItIs }

/** How many characters are shown before the first difference, for context. */
const BEFORE = 16

/** Cuts both texts to about `width` characters. */
export function sideBySide(one: string, other: string, width: number): readonly [string, string] {
  if (Math.max(one.length, other.length) <= width) return [one, other]
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  const start = Math.max(0, same - BEFORE)
  const shown = (text: string) => {
    const cut = text.slice(start, start + width)
    return `${start > 0 ? '…' : ''}${cut}${start + width < text.length ? '…' : ''}`
  }
  return [shown(one), shown(other)]
}
