/** A miss in words: what was asked and what is recorded, side by side. */
import { sideBySide } from '../core/side-by-side.js'
import type { Difference, Miss } from '../recordings/index.js'
import { type Colors, harmless } from './output.js'

/** Of a value beside another one. */
const WIDTH = 48

export function missText({ method, path, reason, nearest }: Miss, colors: Colors): string {
  const title = colors.red(`No recording matches ${method} ${harmless(path)}.`)
  if (!nearest || nearest.differences.length === 0) return `${title} ${harmless(reason)}`
  return [`${title} The nearest is ${harmless(nearest.file)}:`, ...table(nearest.differences, colors)].join('\n')
}

function table(differences: readonly Difference[], colors: Colors): readonly string[] {
  const rows = differences.map(
    ({ field, recorded, asked }) => [field, ...sideBySide(recorded ?? ABSENT, asked ?? ABSENT, WIDTH)] as const,
  )
  const fieldWidth = Math.max('field'.length, ...rows.map(([field]) => field.length))
  const line = (field: string, recorded: string, asked: string) =>
    `  ${harmless(field).padEnd(fieldWidth)}  ${harmless(recorded).padEnd(WIDTH + 2)}  ${harmless(asked)}`.trimEnd()
  return [colors.dim(line('field', 'recorded', 'asked')), ...rows.map(row => line(...row))]
}

const ABSENT = '(absent)'
